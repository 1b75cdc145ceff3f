"""The numbers behind the projections: Eq. 8 for many stored examples, and repeated rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from budgetbench.learners import Projectron, ProjectronPlusPlus
from budgetbench.learners.projecting.span import BATCH, Span
from budgetbench.learners.projecting.substitution import GROUP, substitute_panel


def values(model: Any, X: Any) -> Any:
    """Kernel values of the rows of X with the stored examples, in float64 if the factor comes of such."""
    if not model._span.precise:
        return model._kernel.matrix(X.astype(np.float32), model.support_vectors_).astype(np.float64)
    X, Z = X.astype(np.float32).astype(np.float64), model.support_vectors_.astype(np.float64)
    return np.exp(-model.gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=2))


def solve(span: Span, k: Any) -> Any:
    """d = K⁻¹k (Eq. 8)"""
    return span.coefficients(span.coordinates(k[None])[0])


def residual(model: Any, X: Any) -> float:
    """The largest ‖K d - k‖ / ‖k‖ among the rows of X."""
    K, k = values(model, model.support_vectors_), values(model, X)
    d = np.array([solve(model._span, row) for row in k])
    return float((np.linalg.norm(d @ K - k, axis=1) / np.linalg.norm(k, axis=1)).max())


def test_the_projection_is_solved_for_after_1500_stored_examples() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(3400, 10)), random.choice([-1, 1], 3400)
    model = Projectron(budget=1500, gamma=0.2).fit(X, y)
    assert model.n_support_ == 1500
    assert residual(model, random.normal(size=(50, 10))) < 1e-10
    K, k = values(model, model.support_vectors_), values(model, X[-1:])[0]
    expected = np.linalg.solve(K, k)
    assert np.linalg.norm(solve(model._span, k) - expected) < 1e-6 * np.linalg.norm(expected)


@pytest.mark.parametrize("inputs", [2, 5])
@pytest.mark.parametrize("learner", [Projectron, ProjectronPlusPlus])
def test_a_kernel_matrix_that_is_singular_but_for_rounding(learner: Any, inputs: int) -> None:
    """Smooth kernels on few inputs: the rounded values are not even positive definite as a whole, in float64 either."""
    random = np.random.default_rng(1)
    X, y = random.normal(size=(500, inputs)), random.choice([-1, 1], 500)
    model = learner(eta=0.0, gamma=0.05 if inputs == 5 else 1.0).fit(X, y)
    rounded = model._kernel.matrix(X.astype(np.float32), X.astype(np.float32)).astype(np.float64)
    assert np.linalg.eigvalsh(rounded)[0] < 0
    assert model._span.precise
    assert model.n_support_ < model.mistakes_ or inputs == 5  # where float64 tells all of them apart
    assert residual(model, random.normal(size=(50, inputs))) < 1e-6
    assert np.isfinite(model.coefficients_).all()
    squares = (np.linalg.inv(model._span.factor) ** 2).sum(axis=1)  # (1 + ‖d‖²) / ‖δ‖², by Eq. 11
    assert squares.max() < 1e15


def test_the_rows_of_the_factor_are_the_update_of_the_inverse() -> None:
    """Eq. 11: K⁻¹ grows by [d; -1] [d; -1]ᵀ / ‖δ‖² with each stored example."""
    random = np.random.default_rng(2)
    X, y = random.normal(size=(80, 3)).astype(np.float32), random.choice([-1, 1], 80)
    model = Projectron(eta=0.0, gamma=1.0).fit(X, y)
    K = model._kernel.matrix(model.support_vectors_, model.support_vectors_).astype(np.float64)
    size = model.n_support_
    inverse = np.zeros((0, 0))
    for s in range(size):
        d = inverse @ K[:s, s]
        squared = K[s, s] - K[s, :s] @ d
        column = np.append(d, -1)
        inverse = np.pad(inverse, (0, 1)) + np.outer(column, column) / squared
        assert model._span.factor[s, s] == pytest.approx(np.sqrt(squared), rel=1e-9)
    L = model._span.factor
    np.testing.assert_allclose(np.linalg.inv(L @ L.T), inverse, rtol=1e-6, atol=1e-8 * np.abs(inverse).max())


@pytest.mark.parametrize("size", [1, 7, GROUP, 2 * GROUP + 15, 77])
@pytest.mark.parametrize(("first", "m"), [(0, BATCH), (BATCH - 13, 13), (5, 1)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_triangle_is_solved_for_a_batch(size: int, first: int, m: int, dtype: Any) -> None:
    """Groups of each size that is left over; lanes in use and lanes that are not."""
    random, start = np.random.default_rng(size), 3
    T = np.tril(random.normal(size=(size, size))) / 8 + np.eye(size)
    K, known = random.normal(size=(m, start + size)).astype(dtype), np.zeros((BATCH, size))
    known[first : first + m] = random.normal(size=(m, size))
    V = np.full((BATCH, start + size + 2), np.nan)
    substitute_panel(T, K, known, V, first, start)
    expected = np.zeros((BATCH, size))
    expected[first : first + m] = solve_triangular(T, (K[:, start:] - known[first : first + m]).T, lower=True).T
    np.testing.assert_allclose(V[:, start : start + size], expected, rtol=1e-9, atol=1e-9)
    assert np.isnan(np.delete(V, np.arange(start, start + size), axis=1)).all()


def test_nothing_stored() -> None:
    span = Span()
    assert span.coordinates(np.zeros((3, 0))).shape[1] == 0
    assert solve(span, np.zeros(0)).shape == (0,)
