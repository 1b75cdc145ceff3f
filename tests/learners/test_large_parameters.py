"""Parameters as large as they may be cost no more than the data, and NumPy's numbers are numbers."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from budgetbench.errors import ParameterError
from budgetbench.learners import KernelMatchingPursuit, learners
from budgetbench.learners.kernel_matching_pursuit import pursue
from budgetbench.parameters import LARGEST_COUNT, Repeats, describe

N = 60
#: Each counts stored or looked-at examples, so that more of them than there are change nothing.
SIZES: list[tuple[str, dict[str, Any], str]] = [
    ("kernel_matching_pursuit", {"backfitting": True}, "budget"),
    ("kernel_matching_pursuit", {}, "budget"),
    ("bogd", {}, "budget"),
    ("bpa_nn", {}, "budget"),
    ("bpa_p", {}, "budget"),
    ("bpa_s", {}, "budget"),
    ("budget_perceptron", {}, "budget"),
    ("bsgd", {}, "budget"),
    ("bsgd", {"maintenance": "projection"}, "budget"),
    ("forgetron", {}, "budget"),
    ("mira", {"size": "fixed"}, "budget"),
    ("nogd", {}, "budget"),
    ("nogd", {"budget": 5}, "rank"),
    ("norma", {}, "budget"),
    ("projectron", {"eta": 0.1}, "budget"),
    ("projectron_plus_plus", {"U": 2.0}, "budget"),
    ("randomized_budget_perceptron", {}, "budget"),
    ("romma", {}, "budget"),
    ("silk", {}, "budget"),
    ("stoptron", {}, "budget"),
    ("tightest_perceptron", {}, "budget"),
    ("tighter_budget_perceptron", {}, "budget"),
    ("tighter_budget_perceptron", {"budget": 5}, "candidates"),
    ("tighter_budget_perceptron", {"budget": 5, "evaluate": "random"}, "evaluation_size"),
    ("tighter_budget_perceptron", {"budget": 5, "evaluate": "flips"}, "evaluation_size"),
]


def cloud() -> tuple[Any, Any]:
    random = np.random.default_rng(3)
    X = random.normal(size=(N, 2))
    return X, np.where(X[:, 0] + random.normal(scale=0.7, size=N) > 0, 1, -1)


def learnt(name: str, **values: Any) -> Any:
    return learners[name](gamma=0.7, random_state=0, **values).fit(*cloud())


def course(model: Any) -> list[Any]:
    return [model.support_.tolist(), model.coefficients_.tolist()]


def test_every_budget_is_among_them() -> None:
    budgeted = {name for name in learners if "budget" in learners[name].own_parameters()}
    assert budgeted == {name for name, _, parameter in SIZES if parameter == "budget"}


@pytest.mark.parametrize(("name", "others", "size"), SIZES)
def test_a_size_beyond_the_data_is_that_of_the_data(name: str, others: dict[str, Any], size: str) -> None:
    expected = course(learnt(name, **others, **{size: N}))
    tracemalloc.start()
    largest = learnt(name, **others, **{size: LARGEST_COUNT})
    needed = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert course(largest) == expected
    assert needed < 1 << 28  # an array of one byte for each example of the budget would be eight times as large


def test_as_many_steps_as_the_budget_or_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    def counted(K: Any, y: Any, budget: int, iterations: int) -> Any:
        steps.append(iterations)
        return pursue(K, y, budget, iterations)

    monkeypatch.setattr("budgetbench.learners.kernel_matching_pursuit.pursue", counted)
    for budget in (7, N, N + 1, LARGEST_COUNT):
        KernelMatchingPursuit(budget=budget, gamma=0.7).fit(*cloud())
    assert steps == [7, N, N, N]


def test_condense_looks_at_as_many_neighbours_as_there_are() -> None:
    assert course(learnt("condense", neighbors=1000)) == course(learnt("condense", neighbors=N))


def test_what_is_repeated_is_repeated_no_more_than_so_often() -> None:
    repeated = {
        (name, parameter)
        for name in learners
        for parameter, declared in learners[name].own_parameters().items()
        if parameter in ("epochs", "iterations", "patience", "sweeps") and declared.accepted == describe(Repeats)
    }
    assert {parameter for _, parameter in repeated} == {"epochs", "iterations", "patience", "sweeps"}
    for name, parameter in repeated:
        given = {"budget": 5} if "budget" in learners[name].own_parameters() else {}
        with pytest.raises(ParameterError, match=f"{parameter}: found {10**18}"):
            learners[name].checked({**given, parameter: 10**18})


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("name", ["forgetron", "tighter_budget_perceptron", "kernel_matching_pursuit", "mira"])
def test_budgets_of_numpy(name: str, kind: Any) -> None:
    size = {"size": "fixed"} if name == "mira" else {}
    model = learners[name](budget=kind(5), gamma=np.float64(0.5), random_state=0, **size)
    expected = learners[name](budget=5, gamma=0.5, random_state=0, **size).fit(*cloud())
    assert course(clone(model).fit(*cloud())) == course(expected)
    assert learners[name].checked({"budget": kind(5), **size})["budget"] == 5
    assert type(learners[name].checked({"budget": kind(5), **size})["budget"]) is int


def test_the_shortest_integer_of_numpy_is_long_enough() -> None:
    assert course(learnt("forgetron", budget=np.int8(127))) == course(learnt("forgetron", budget=127))


def test_truth_is_no_budget() -> None:
    for budget in (True, np.bool_(True)):
        with pytest.raises(ParameterError, match=r"budget: found .*True.*; accepted: an integer of at least 1"):
            learnt("stoptron", budget=budget)
