"""Predictions of several learners at once: those that each makes alone, at the charge of each alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from budgetbench.engine import metering, predictions
from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.engine.one_vs_rest import OneVsRest
from budgetbench.kernels import RBF
from budgetbench.learners import learners

N, TEST, CLASSES = 160, 70, 3
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N + TEST, 3)).astype(np.float32)
LABELS = ((X[:, 0] * X[:, 1] > 0) + (X[:, 2] > 0.7)).astype(np.int64)
ORDER, ROWS = RANDOM.permutation(N)[:150], np.arange(N, N + TEST)
KERNEL = RBF(gamma=0.5)

BINARY: list[tuple[str, dict[str, Any]]] = [
    ("perceptron", {"average": True}),
    ("passive_aggressive", {}),
    ("forgetron", {"budget": 20}),
    ("projectron", {"bound_budget": 20}),
    ("budget_perceptron", {"budget": 10, "epochs": 3}),  # examples that left come again: in an order of its own
    ("svm", {}),  # in the order of the data set
    ("svm", {"C": 10.0}),
    ("kernel_matching_pursuit", {"budget": 9}),
    ("bsgd", {"budget": 9, "maintenance": "merging"}),  # points that are no examples
    ("fogd", {"n_components": 20}),
    ("multi_edit", {}),
]
SEVERAL: list[tuple[str, dict[str, Any]]] = [
    ("mira", {}),
    ("mira", {"size": "fixed", "budget": 12}),
    ("multiclass_svm", {}),
    ("svm", {}),
]


def learnt(name: str, values: dict[str, Any], labels: Any, n_classes: int) -> Any:
    model: Any = learners[name](**values, kernel=KERNEL, random_state=0)
    if n_classes > 2 and not model.multiclass:
        model = model.against_the_rest(model)
    model.start(np.arange(n_classes), X.shape[1])
    model.learn(Gram(KERNEL.matrix(X[:N], X[:N]), X, KERNEL), labels, ORDER)
    return model


def binary() -> list[Any]:
    return [learnt(name, values, (LABELS > 0).astype(np.int64), 2) for name, values in BINARY]


def several() -> list[Any]:
    against_the_rest = [one for one in BINARY if learners[one[0]].against_the_rest and one[0] != "svm"]
    return [learnt(name, values, LABELS, CLASSES) for name, values in SEVERAL + against_the_rest]


@pytest.fixture
def values(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many kernel values each tile has; a clock goes on by one second for each of them."""
    made, by_tile = [0], RBF.by_tile

    def counted(kernel: RBF, A: Any, B: Any) -> Iterator[Any]:
        for tile in by_tile(kernel, A, B):
            made.append(tile[2].size)
            yield tile

    monkeypatch.setattr(RBF, "by_tile", counted)
    monkeypatch.setattr(metering, "clock", lambda: float(sum(made)))
    return made


@pytest.mark.parametrize(("make", "n_classes"), [(binary, 2), (several, CLASSES)], ids=["two classes", "several"])
def test_each_errs_where_it_errs_alone(make: Any, n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictions, "STRIP", 32)
    labels = np.minimum(LABELS, n_classes - 1)
    models = make()
    assert any(isinstance(model, OneVsRest) for model in models) == (n_classes > 2)
    found = predictions.predictions(models, Streamed(KERNEL, X), ROWS, labels, ORDER)
    for model, one in zip(models, found, strict=True):
        assert np.array_equal(one.errs, model.errs(X[ROWS], labels[ROWS]))
        averaged = model.averaged_errs(X[ROWS], labels[ROWS])
        assert (averaged is None) == (one.averaged_errs is None)
        assert averaged is None or np.array_equal(one.averaged_errs, averaged)
    assert any(one.averaged_errs is not None for one in found)


@pytest.mark.parametrize("make", [binary, several])
def test_sums_are_to_the_last_bit_those_of_each_alone(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    models = [model for model in make() if model.sums()]
    told: list[Any] = []
    for model in models:
        monkeypatch.setattr(model, "errs_of", lambda sums, labels: told.append(sums) or labels > 0)
    predictions.predictions(models, Streamed(KERNEL, X), ROWS, LABELS, ORDER)
    last = [model.sums()[0] for model in models]
    alone = [KERNEL.expansion(X[ROWS], X[one.support], one.coefficients).tobytes() for one in last]
    assert sorted(np.ascontiguousarray(sums).tobytes() for sums in told) == sorted(alone)


def test_what_learners_store_in_one_order_is_computed_once(values: list[int]) -> None:
    models = binary()[:4]
    del values[1:]
    predictions.predictions(models, Streamed(KERNEL, X), ROWS, LABELS, ORDER)
    union = np.unique(np.concatenate([model.support_ for model in models]))
    assert sum(values) == len(union) * TEST < 0.8 * sum(model.n_support_ for model in models) * TEST


def test_each_is_charged_for_the_values_that_it_needs_alone(values: list[int]) -> None:
    models = [model for model in binary() if model.sums()]
    found = predictions.predictions(models, Streamed(KERNEL, X), ROWS, LABELS, ORDER)
    assert [one.seconds for one in found] == pytest.approx([model.n_support_ * TEST for model in models])


def test_orders_that_have_nothing_in_common_stay_apart() -> None:
    arrived = np.array([3, 1, 0, 2])
    supports = {
        0: np.array([2, 1]),
        1: np.array([1, 2]),
        2: np.array([1, 0]),
        3: np.array([0, 1, 3, 2]),
        4: np.array([3]),
    }
    found = [(places, union.tolist()) for places, union in predictions.in_common_order(supports, arrived, np.arange(4))]
    assert found == [([0, 2, 4], [2, 1, 3, 0]), ([1], [1, 2]), ([3], [0, 1, 3, 2])]
