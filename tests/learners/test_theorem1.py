"""Crammer, Kandola, Singer 2003, Theorem 1: the variable-size cache never holds more than (R² + 2β)/γ² examples."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from budgetbench.learners import BudgetPerceptron


def linear_problem(gamma: float, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64], float, float]:
    """Points of the unit ball which a known plane through 0 separates with a margin of about γ."""
    random = np.random.default_rng(seed)
    u = random.normal(size=5)
    u /= np.linalg.norm(u)
    X = random.normal(size=(20000, 5))
    X *= random.uniform(0.3, 1, size=(len(X), 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    X = X[np.abs(X @ u) >= gamma].astype(np.float32)[:2000]
    margins = X @ u
    return X, np.sign(margins).astype(int), float(np.abs(margins).min()), float(np.linalg.norm(X, axis=1).max())


def quadratic_problem(gamma: float, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int64], float, float]:
    """Points which a known quadratic form separates: a unit vector in the feature space of K(x, z) = (x·z)²."""
    random = np.random.default_rng(seed)
    A = random.normal(size=(3, 3))
    A += A.T
    A /= np.linalg.norm(A)
    X = random.normal(size=(40000, 3))
    X *= random.uniform(0.5, 1, size=(len(X), 1)) / np.linalg.norm(X, axis=1, keepdims=True)
    X = X[np.abs(np.einsum("ni,ij,nj->n", X, A, X)) >= gamma].astype(np.float32)[:2000]
    margins = np.einsum("ni,ij,nj->n", X, A, X)
    R = float((np.linalg.norm(X, axis=1) ** 2).max())
    return X, np.sign(margins).astype(int), float(np.abs(margins).min()), R


@pytest.mark.parametrize("gamma", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("beta", [0.001, 0.01, 0.5, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_linear(gamma: float, beta: float, seed: int) -> None:
    X, y, margin, R = linear_problem(gamma, seed)
    limit = (R**2 + 2 * beta) / margin**2
    assert limit < len(X)
    model = BudgetPerceptron(size="variable", beta=beta, kernel="linear").fit(X, y)
    assert model.sizes_.max() <= limit
    assert model.removals_ > 0 or beta < 2.0  # with few insertions there may be none to remove


@pytest.mark.parametrize("gamma", [0.1, 0.2])
@pytest.mark.parametrize("beta", [0.001, 0.01, 0.5])
def test_with_a_kernel(gamma: float, beta: float) -> None:
    X, y, margin, R = quadratic_problem(gamma, 0)
    model = BudgetPerceptron(size="variable", beta=beta, kernel="polynomial", degree=2).fit(X, y)
    assert model.sizes_.max() <= (R**2 + 2 * beta) / margin**2
