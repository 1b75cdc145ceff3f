"""A cohort that a stream passes in parts learns what it learns from one data set, also where it is saved in between."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from budgetbench.engine.kernel_access import Streamed
from budgetbench.engine.online import Memory, OnlineLearner, drive, go_on
from budgetbench.kernels import make_kernel
from budgetbench.learners import learners

KERNEL = make_kernel("rbf", gamma=0.7)
BUDGET = {"budget": 9}
SETS: dict[str, dict[str, Any]] = {
    "tighter_budget_perceptron": BUDGET | {"evaluate": "flips", "evaluation_size": 20},
    "tightest_perceptron": BUDGET,
    "mira": BUDGET | {"size": "fixed"},
    "norma": BUDGET | {"nu": 0.2},
    "nogd": BUDGET | {"rank": 4},
    "projectron": BUDGET,
    "projectron_plus_plus": BUDGET,
}


def cohort() -> list[Any]:
    found = []
    for name in learners:
        kind = learners[name]
        if issubclass(kind, OnlineLearner):
            takes = BUDGET if "budget" in kind.own_parameters() else {}
            found.append(kind.made(kind.checked(SETS.get(name, takes)), KERNEL, 5))
            found[-1].start(np.array([-1, 1]), 2)
    return found


@pytest.mark.parametrize("cuts", [[300], [512, 700], [1, 2, 650]])
def test_parts_of_a_stream_are_learnt_like_the_whole(cuts: list[int]) -> None:
    random = np.random.default_rng(8)
    X = random.standard_normal((900, 2)).astype(np.float32)
    labels = ((X**2).sum(axis=1) + 0.5 * random.standard_normal(900) > 1.4).astype(np.int64)
    whole, parts = cohort(), cohort()
    drive(whole, Streamed(KERNEL, X), labels, np.arange(900))
    memory: Memory | None = None
    for rows in np.split(np.arange(900), cuts):
        memory = go_on(parts, KERNEL, memory, X[rows], labels[rows])
        parts, memory = pickle.loads(pickle.dumps((parts, memory)))
    for one, other in zip(whole, parts, strict=True):
        expected, found = one.outcome(), other.outcome()
        assert found.mistakes == expected.mistakes, one.title
        assert np.array_equal(found.points.examples, expected.points.examples), one.title
        assert np.array_equal(found.points.coefficients, expected.points.coefficients), one.title
        assert np.array_equal(found.points.inputs, expected.points.inputs), one.title
        for name in ("size", "margin_errors", "insertions", "removals", "kernel_evaluations", "model_bytes"):
            assert getattr(found, name) == getattr(expected, name), (one.title, name)
