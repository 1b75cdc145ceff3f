"""What is measured at every commit: passes of learners against their floors and their plain transcriptions, kernel
values and predictions against the bare products by BLAS, and a whole run; with counts of what each computes.

    make bench                      times and counts of this commit, and the page of all commits measured
    make bench-counts               the counts alone, against benchmarks/counts.json
    make bench-counts ACCEPT=1      takes the counts of now for right

Decisions are the same on every machine: inputs are whole multiples of 1/8, and so are the bits of kernel values.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from floors import kernel_floor, product_floor, projections_floor, updates_floor
from measuring import Measure

from budgetbench.engine.arrivals import BLOCK
from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.engine.online import drive
from budgetbench.kernels import make_kernel
from budgetbench.learners import learners

ROOT = Path(__file__).parents[1]
TWINS = ROOT / "tests" / "learners"
GAMMA = 0.05
KERNEL = make_kernel("rbf", gamma=GAMMA)

#: Examples of a pass, those that a transcription sees, and those that are predicted.
EXAMPLES, FEW, TESTED = 6000, 1200, 2000

PERCEPTRON: dict[str, Any] = {"perceptron": {}}
REMOVAL: dict[str, Any] = {
    "forgetron": {"budget": 500},
    "randomized_budget_perceptron": {"budget": 500},
    "tighter_budget_perceptron": {"budget": 200, "evaluate": "random", "evaluation_size": 200},
    "bogd": {"budget": 500},
}
PROJECTING: dict[str, Any] = {
    "projectron": {"bound_budget": 1000},
    "projectron_plus_plus": {"bound_budget": 1000},
}
LEARNERS = PERCEPTRON | REMOVAL | PROJECTING
#: Whose transcription takes minutes.
SLOW = {"tighter_budget_perceptron"}

#: Published data, where it is at hand: a config, the learner and parameters of which one pass is made, and how it gets
#: at kernel values. Adult9's Gram matrix takes 4.2 GB.
PUBLISHED: list[tuple[str, str, dict[str, Any], str]] = [
    ("adult9", "perceptron", {}, "stream"),
    ("adult9", "forgetron", {"budget": 1500}, "stream"),
    ("adult9", "projectron_plus_plus", {"bound_budget": 1500}, "stream"),
    ("usps_noise10", "perceptron", {}, "stream"),
    ("usps_noise10", "perceptron", {}, "gram"),
    ("usps_noise10", "tighter_budget_perceptron", {"budget": 300, "evaluate": "all"}, "gram"),
]


class Problem(NamedTuple):
    """Examples with class indices, in the order in which they arrive."""

    X: np.ndarray
    labels: np.ndarray
    order: np.ndarray


@cache
def problem(n: int) -> Problem:
    """Two classes that a surface of the second degree parts, of 20 inputs; one label in ten is wrong."""
    random = np.random.default_rng(20)
    X = (random.integers(-12, 13, size=(n, 20)) / 8).astype(np.float32)
    X[:, 10:] = 0
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4] + X[:, 5] > 0.0625
    return Problem(X, (y ^ (random.random(n) < 0.1)).astype(np.int64), random.permutation(n))


@cache
def access_to(n: int, way: str) -> Any:
    X = problem(n).X
    return Gram(KERNEL.matrix(X, X), X, KERNEL) if way == "gram" else Streamed(KERNEL, X)


def made(name: str, parameters: dict[str, Any]) -> Any:
    if "random_state" in inspect.signature(learners[name]).parameters:
        parameters = parameters | {"random_state": 0}
    return learners[name](**parameters, gamma=GAMMA)


def started(name: str, inputs: int, parameters: dict[str, Any]) -> Any:
    model = made(name, parameters)
    model.start(np.array([-1, 1]), inputs)
    return model


def one_pass(name: str, parameters: dict[str, Any], n: int, way: str) -> Any:
    data = problem(n)
    model = started(name, data.X.shape[1], parameters)
    model.learn(access_to(n, way), data.labels, data.order)
    return model


def floor_of(model: Any, name: str, kernel: Any, X: Any, way: str) -> float:
    """In a stream the kernel values come on top."""
    changes = projections_floor(model) if name in PROJECTING else updates_floor(model)
    return changes + (kernel_floor(model, kernel, X) if way == "stream" else 0.0)


def decided(*models: Any) -> dict[str, int]:
    """What tells that other counts come of other decisions."""
    return {
        "mistakes": sum(model.mistakes_ for model in models),
        "stored": sum(int(model.sizes_[-1]) for model in models),
    }


@pytest.mark.parametrize("way", ["stream", "gram"])
@pytest.mark.parametrize("name", LEARNERS)
def test_pass(measure: Measure, name: str, way: str) -> None:
    parameters = LEARNERS[name]
    twin = (lambda: transcribed(name, parameters), lambda: one_pass(name, parameters, FEW, way))
    measure(
        f"{name}, {way}",
        lambda: one_pass(name, parameters, EXAMPLES, way),
        floor=lambda model: floor_of(model, name, KERNEL, problem(EXAMPLES).X, way),
        decided=decided,
        twin=twin if way == "gram" and name not in SLOW else None,  # both have their kernel values at hand
    )


def test_cohort(measure: Measure) -> None:
    """All learners share one stream; its floor has the kernel values of the one that asks for most."""
    X, labels, order = problem(EXAMPLES)

    def together() -> list[Any]:
        models = [started(name, X.shape[1], parameters) for name, parameters in LEARNERS.items()]
        drive(models, access_to(EXAMPLES, "stream"), labels, order)
        return models

    def floor(models: list[Any]) -> float:
        own = [floor_of(model, name, KERNEL, X, "gram") for name, model in zip(LEARNERS, models, strict=True)]
        return sum(own) + max(kernel_floor(model, KERNEL, X) for model in models)

    measure("all of these, one stream", together, floor, lambda models: decided(*models))


def test_kernel_values(measure: Measure) -> None:
    """Blocks of a stream against a support set."""
    X = problem(EXAMPLES).X
    arriving, stored = X[:2048], X[2048:4096]

    def values() -> None:
        for start in range(0, len(arriving), BLOCK):
            KERNEL.matrix(arriving[start : start + BLOCK], stored)

    measure("kernel values", values, lambda _: product_floor(arriving, stored))


def test_predictions(measure: Measure) -> None:
    X = problem(EXAMPLES).X
    model = one_pass("perceptron", {}, EXAMPLES, "stream")
    tested, stored = X[:TESTED], X[model.support_]
    measure("predictions", lambda: model.decision_function(tested), lambda _: product_floor(tested, stored))


def test_run(measure: Measure, tmp_path: Path) -> None:
    """All runs of the first config, in this process: plan, streams, Gram matrix, learners, predictions, records."""
    from budgetbench.runner import run

    def whole() -> Any:
        config = ROOT / "configs" / "quickstart.yaml"
        own = {"results": tmp_path, "data": tmp_path, "jobs": 1, "backend": "threading"}
        return run(config, **own, permutations=1, fresh=True)

    def recorded(trials: Any) -> dict[str, int]:
        online = trials["online_mistakes"].dropna()
        return {"mistakes": int(online.sum()), "stored": int(trials["support_size"].sum())}

    measure("run of quickstart", whole, decided=recorded)


@pytest.mark.parametrize(("config", "name", "parameters", "way"), PUBLISHED)
def test_published(
    measure: Measure, published: Any, config: str, name: str, parameters: dict[str, Any], way: str
) -> None:
    experiment, data, stream = published(config)
    kernel, X = experiment.kernel, data.X[: data.n_train]
    access = Gram(kernel.matrix(X, X), X, kernel) if way == "gram" else Streamed(kernel, X)

    def work() -> Any:
        from budgetbench.streams import make_learner

        model: Any = make_learner(experiment, name, parameters, 0, len(data.classes))
        model.start(data.classes, X.shape[1])
        model.learn(access, stream.labels, stream.order)
        return model

    measure(f"{config}: {name}, {way}", work, lambda model: floor_of(model, name, kernel, X, way), decided)


def transcribed(name: str, parameters: dict[str, Any]) -> Any:
    """The plain transcription of the tests, over few examples; what it cannot be told is how it always does."""
    data, twin = problem(FEW), twin_of(name)
    known = inspect.signature(twin).parameters
    given = {key: value for key, value in (parameters | {"random_state": 0}).items() if key in known}
    return twin(matrix(FEW), 2 * data.labels - 1, data.order, **given)


@cache
def matrix(n: int) -> np.ndarray:
    return KERNEL.matrix(problem(n).X, problem(n).X).astype(np.float64)


@cache
def twin_of(name: str) -> Any:
    """A learner's transcription: the fixture `twin` of its tests, with the fixtures that it asks for."""
    shared = module_at(TWINS / "conftest.py")
    fixture = inspect.unwrap(module_at(TWINS / f"test_{name}.py").twin)
    return fixture(
        **{asked: inspect.unwrap(getattr(shared, asked))() for asked in inspect.signature(fixture).parameters}
    )


def module_at(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"twin_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # dataclasses look it up
    spec.loader.exec_module(module)
    return module
