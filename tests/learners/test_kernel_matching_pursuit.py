"""Kernel Matching Pursuit against least squares solved anew in every step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.errors import ParameterError
from budgetbench.kernels.products import column_norms
from budgetbench.learners import KernelMatchingPursuit
from budgetbench.learners.kernel_matching_pursuit import combine

Matrix = NDArray[np.float64]


def best_addition(K: Matrix, residuals: Matrix, candidates: Any) -> tuple[int, float]:
    """argmin over j and a of ‖r - a kⱼ‖², every error computed."""
    best, fewest, weight = -1, np.inf, 0.0
    for j in candidates:
        a = float(K[j] @ residuals / (K[j] @ K[j]))
        error = float(np.sum((residuals - a * K[j]) ** 2))
        if error < fewest:
            best, fewest, weight = int(j), error, a
    return best, weight


def basic(K: Matrix, y: Matrix, budget: int, iterations: int | None = None) -> dict[int, float]:
    """Weston, Bordes, Bottou 2005, Figure 4, Basic-KMP."""
    chosen: dict[int, float] = {}
    for _ in range(iterations or budget):
        f = np.array([sum(a * K[i, k] for i, a in chosen.items()) for k in range(len(y))])
        j, a = best_addition(K, y - f, range(len(y)) if len(chosen) < budget else sorted(chosen))
        chosen[j] = chosen.get(j, 0.0) + a
    return chosen


def backfitting(K: Matrix, y: Matrix, budget: int) -> dict[int, float]:
    """Weston, Bordes, Bottou 2005, Figure 4, Backfitting-KMP."""
    chosen: list[int] = []
    weights = np.empty(0)
    for _ in range(budget):
        j, _ = best_addition(K, y - weights @ K[chosen], [j for j in range(len(y)) if j not in chosen])
        chosen.append(j)
        weights = np.linalg.lstsq(K[chosen].T, y, rcond=None)[0]
    return dict(zip(chosen, weights.tolist(), strict=True))


def fitted(problem: Any, given: bool, **parameters: Any) -> Any:
    """Through a Gram matrix that is at hand, or not; on three quarters of the rows, as a split leaves them."""
    model: Any = KernelMatchingPursuit(**parameters, **problem.kernel)
    model.start(np.array([-1, 1]), problem.X.shape[1])
    access = Gram(problem.matrix, problem.X) if given else Streamed(model._kernel, problem.X)
    model.learn(access, (problem.y + 1) // 2, problem.order[: 3 * len(problem.order) // 4])
    return model


@pytest.mark.parametrize("given", [True, False], ids=["gram", "streamed"])
@pytest.mark.parametrize(
    "parameters",
    [{"budget": 1}, {"budget": 12}, {"budget": 5, "iterations": 25}, {"budget": 30, "iterations": 40}],
    ids=str,
)
def test_basic_agrees_with_the_pseudo_code(problem: Any, given: bool, parameters: dict[str, Any]) -> None:
    for seed in range(4):
        data = problem("rbf", seed, n=80)
        rows = np.sort(data.order[:60])
        expected = basic(data.K[np.ix_(rows, rows)], data.y[rows], **parameters)
        model = fitted(data, given, **parameters)
        assert model.support_.tolist() == rows[list(expected)].tolist()
        np.testing.assert_allclose(model.coefficients_, list(expected.values()), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("given", [True, False], ids=["gram", "streamed"])
@pytest.mark.parametrize("budget", [1, 2, 15])
def test_backfitting_agrees_with_least_squares_solved_anew(problem: Any, given: bool, budget: int) -> None:
    for seed in range(3):
        data = problem("rbf", seed, n=80)
        rows = np.sort(data.order[:60])
        expected = backfitting(data.K[np.ix_(rows, rows)], data.y[rows].astype(float), budget)
        model = fitted(data, given, budget=budget, backfitting=True)
        assert model.support_.tolist() == rows[list(expected)].tolist()
        np.testing.assert_allclose(model.coefficients_, list(expected.values()), rtol=1e-5)


def test_backfitting_ends_at_the_least_squares_solution(problem: Any) -> None:
    """Also where examples coincide and the kernel has a low rank: what depends on the chosen ones is not taken."""
    for stream, rank in (("linear, ties", 2), ("polynomial, ties", 6)):
        data = problem(stream, 0, n=100)
        model: Any = KernelMatchingPursuit(budget=50, backfitting=True, **data.kernel).fit(data.X, data.y)
        assert model.n_support_ == rank
        expected = data.K @ np.linalg.lstsq(data.K, data.y.astype(float), rcond=1e-9)[0]
        np.testing.assert_allclose(model.decision_function(data.X), expected, atol=1e-4)


def test_basic_returns_to_examples_and_keeps_to_the_budget(problem: Any) -> None:
    data = problem("rbf", 0)
    all_of_them: Any = KernelMatchingPursuit(budget=160, iterations=300, **data.kernel).fit(data.X, data.y)
    assert 40 < all_of_them.n_support_ < 160  # 300 steps, many of them along an example that was chosen before
    some: Any = KernelMatchingPursuit(budget=40, iterations=300, **data.kernel).fit(data.X, data.y)
    assert some.n_support_ == 40
    few: Any = KernelMatchingPursuit(budget=7, iterations=300, **data.kernel).fit(data.X, data.y)
    assert few.n_support_ == 7
    again: Any = KernelMatchingPursuit(budget=7, iterations=300, **data.kernel).fit(data.X[::-1], data.y[::-1])
    np.testing.assert_allclose(again.decision_function(data.X), few.decision_function(data.X), atol=1e-4)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 11])
def test_sums_over_rows(n: int) -> None:
    random = np.random.default_rng(n)
    K, weights = random.normal(size=(n, 7)).astype(np.float32), random.normal(size=n)
    np.testing.assert_allclose(combine(K, weights), weights @ K.astype(np.float64), rtol=1e-12)
    np.testing.assert_allclose(column_norms(K), (K.astype(np.float64) ** 2).sum(axis=0), rtol=1e-12)


def test_refuses_iterations_with_backfitting() -> None:
    with pytest.raises(ParameterError, match="nothing with backfitting"):
        KernelMatchingPursuit.checked({"budget": 3, "backfitting": True, "iterations": 5})


def test_it_stops_when_nothing_is_left_to_gain() -> None:
    model = KernelMatchingPursuit(budget=6, backfitting=False).fit([[0.0], [1.0]] * 3, [-1, 1] * 3)
    assert model.n_support_ == 2
