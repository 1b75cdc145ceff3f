"""Bytes of models and of the state of learning: what is counted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from budgetbench.compiled import record
from budgetbench.engine.expansion import Counts
from budgetbench.engine.size import nbytes
from budgetbench.learners import learners

X = np.random.default_rng(0).normal(size=(80, 5)).astype(np.float32)
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0, 1, -1)
INPUTS, LABEL, COEFFICIENT, VALUE, SCORE = 5 * 4, 8, 8, 4, 8


def test_arrays_count_wherever_they_are_and_each_once() -> None:
    one, other = np.zeros(10), np.zeros(6, dtype=np.float32)
    assert nbytes([one, (one, {"a": [other]})]) == 80 + 24
    assert nbytes(SimpleNamespace(weights=one, inner=SimpleNamespace(more={1: other}))) == 104
    around = SimpleNamespace(weights=one)
    around.itself = around
    assert nbytes(around) == 80
    assert nbytes([1, "text", 2.5, None, float, object(), np.float64(2.5), record(Counts)]) == 0


def test_who_knows_its_own_size_is_believed() -> None:
    assert nbytes(SimpleNamespace(nbytes=7, spare=np.zeros(100))) == 7


def test_a_sparse_matrix_is_the_arrays_that_it_is_made_of() -> None:
    matrix = csr_array(np.eye(4))
    assert nbytes(matrix) == matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes


@pytest.mark.parametrize(
    ("name", "values", "state"),
    [
        ("perceptron", {}, lambda m: m * (INPUTS + LABEL + COEFFICIENT)),
        ("perceptron", {"average": True}, lambda m: m * (INPUTS + LABEL + 2 * COEFFICIENT)),
        ("forgetron", {"budget": 9}, lambda m: m * (INPUTS + LABEL + COEFFICIENT + SCORE + m * VALUE)),
        (
            "tighter_budget_perceptron",
            {"budget": 9},  # all 80 examples are kept to count errors on
            lambda m: 80 * (INPUTS + LABEL + SCORE + m * VALUE) + m * COEFFICIENT,
        ),
        (
            "projectron",
            {"eta": 0.1},
            lambda m: m * (INPUTS + LABEL + COEFFICIENT + SCORE + m * VALUE) + m * (m * 8 + 2 * COEFFICIENT),
        ),
        ("norma", {"budget": 9}, lambda m: m * (INPUTS + LABEL + COEFFICIENT)),
        (
            "bpa_p",
            {"budget": 9},  # the inverse of the kernel matrix
            lambda m: m * (INPUTS + LABEL + COEFFICIENT + SCORE + m * VALUE) + m * m * 8,
        ),
        ("svm", {}, lambda m: 80 * (INPUTS + LABEL)),
    ],
)
def test_what_an_expansion_holds(name: str, values: dict[str, Any], state: Any) -> None:
    model = learners[name](**values, gamma=0.5).fit(X, Y)
    found = model.outcome()
    assert found.size > 5
    assert found.model_bytes == found.size * (INPUTS + COEFFICIENT)
    assert found.state_bytes == state(found.size)


def test_what_is_noted_of_examples_that_flip_counts_too() -> None:
    flips = {"evaluate": "flips", "evaluation_size": 20}
    model: Any = learners["tighter_budget_perceptron"](budget=9, gamma=0.5, **flips).fit(X, Y)
    noted, kept, m = 20 * (1 + 8 + 8), len(model.kept()), model.n_support_
    assert 20 < kept <= 29
    expected = noted + kept * (INPUTS + LABEL + SCORE + m * VALUE) + m * COEFFICIENT
    assert model.outcome().state_bytes == expected
