"""The sub-problem of one example against a general solver."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from budgetbench.learners.multiclass.simplex import simplex_step

Vector = NDArray[np.float64]


def solve(A: float, B: Vector, y: int, C: float) -> Vector:
    tau = np.empty(len(B))
    simplex_step(A, B, y, C, tau)
    return tau


def objective(tau: Vector, A: float, B: Vector) -> float:
    return float(A / 2 * tau @ tau + B @ tau)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10, 26])
@pytest.mark.parametrize("seed", range(8))
def test_no_worse_than_a_general_solver(n_classes: int, seed: int) -> None:
    random = np.random.default_rng([n_classes, seed])
    A, C, y = float(np.exp(random.normal())), float(np.exp(random.normal())), int(random.integers(n_classes))
    B = random.normal(size=n_classes)
    tau = solve(A, B, y, C)
    found = minimize(
        objective,
        np.zeros(n_classes),
        (A, B),
        jac=lambda tau, A, B: A * tau + B,
        method="SLSQP",
        bounds=[(None, C if r == y else 0.0) for r in range(n_classes)],
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like},
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert found.success
    assert objective(tau, A, B) <= found.fun + 1e-12
    assert tau == pytest.approx(found.x, abs=1e-5)


number = st.floats(-1e3, 1e3)


@given(st.lists(number, min_size=2, max_size=12), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.data())
def test_feasible_and_optimal(scores: list[float], A: float, C: float, data: st.DataObject) -> None:
    """The optimum is where the gradient is the same for all coefficients off their bound, and no larger at a bound."""
    B, y = np.array(scores), data.draw(st.integers(0, len(scores) - 1))
    tau = solve(A, B, y, C)
    bound = np.where(np.arange(len(B)) == y, C, 0.0)
    scale = np.abs(B).max() + A * C
    assert (tau <= bound).all()
    assert abs(tau.sum()) <= 1e-14 * tau[y]
    gradient = A * tau + B
    free = tau < bound
    assert np.ptp(gradient[free]) <= 1e-12 * scale
    assert (gradient[~free] <= gradient[free].max() + 1e-12 * scale).all()


def test_nothing_to_do() -> None:
    assert not solve(1.0, np.array([0.5, 0.2, 0.1]), 0, 1.0).any()  # the right class leads
    assert not solve(1.0, np.array([0.5, 0.5, 0.1]), 0, 1.0).any()  # by exactly nothing
    assert not solve(0.0, np.array([-0.1, 0.5, 0.1]), 0, 1.0).any()  # x = 0


def test_the_bound_is_met_exactly() -> None:
    tau = solve(0.1, np.array([-50.0, 3.3, 3.1, -7.0]), 0, 0.3)
    assert tau[0] == 0.3
    assert tau[1:] == pytest.approx([-0.3, 0, 0])


def test_equal_rivals_share() -> None:
    assert solve(1.0, np.array([-0.01, 0.0, 0.0]), 0, 1.0) == pytest.approx([0.02 / 3, -0.01 / 3, -0.01 / 3])


def exact(A: Fraction, B: list[Fraction], y: int, C: Fraction) -> list[Fraction]:
    """The minimiser; that it is one the caller can tell from the gradient."""
    rivals = sorted((b for r, b in enumerate(B) if r != y), reverse=True)
    if A == 0 or rivals[0] <= B[y]:
        return [Fraction(0)] * len(B)
    for bounded in (False, True):
        for k in range(1, len(B)):
            theta = (sum(rivals[:k]) - A * C) / k if bounded else (sum(rivals[:k]) + B[y]) / (k + 1)
            if k == len(rivals) or rivals[k] <= theta:
                break
        if bounded or theta - B[y] <= A * C:
            break
    tau = [-max(Fraction(0), b - theta) / A for b in B]
    tau[y] = C if bounded else (theta - B[y]) / A
    return tau


sizes = st.floats(-40.0, 40.0).map(lambda exponent: 10.0**exponent)
moderate = st.lists(number, min_size=2, max_size=8)
signed = st.tuples(st.sampled_from([-1.0, 0.0, 1.0]), sizes).map(lambda both: both[0] * both[1])
far_apart = st.lists(signed, min_size=2, max_size=8)


@given(st.one_of(moderate, far_apart), sizes, sizes, st.data())
def test_as_in_exact_arithmetic(scores: list[float], A: float, C: float, data: st.DataObject) -> None:
    y = data.draw(st.integers(0, len(scores) - 1))
    found = solve(A, np.array(scores), y, C)
    expected = exact(Fraction(A), [Fraction(b) for b in scores], y, Fraction(C))
    assert sum(expected) == 0
    bounds = [Fraction(C) if r == y else Fraction(0) for r in range(len(scores))]
    gradient = [Fraction(A) * t + Fraction(b) for t, b in zip(expected, scores, strict=True)]
    free = {g for g, t, most in zip(gradient, expected, bounds, strict=True) if t < most}
    assert len(free) == 1
    assert all(t <= most and g <= max(free) for g, t, most in zip(gradient, expected, bounds, strict=True))
    off = max(abs(Fraction(float(t)) - e) for t, e in zip(found, expected, strict=True))
    assert off <= len(scores) * Fraction(2) ** -50 * expected[y]


@given(moderate, st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.integers(-120, 120), st.data())
def test_a_power_of_two_on_the_kernel_and_the_targets_changes_nothing(
    scores: list[float], A: float, C: float, power: int, data: st.DataObject
) -> None:
    B, y = np.array(scores), data.draw(st.integers(0, len(scores) - 1))
    assert np.array_equal(solve(np.ldexp(A, power), np.ldexp(B, power), y, C), solve(A, B, y, C))
    assert np.array_equal(solve(np.ldexp(A, power), B, y, np.ldexp(C, -power)), np.ldexp(solve(A, B, y, C), -power))


def test_a_bound_that_is_many_powers_of_ten_away() -> None:
    """A C of 1e18 beside a β of 0.01: all of τ was lost."""
    tau = solve(1e18, np.array([-0.01, 0.0, 0.0]), 0, 1.0)
    assert tau == pytest.approx([0.02e-18 / 3, -0.01e-18 / 3, -0.01e-18 / 3], rel=1e-12, abs=0)
    assert solve(1e-18, np.array([-0.01, 0.0, 0.0]), 0, 1.0) == pytest.approx([1.0, -0.5, -0.5])
    assert solve(1e-18, np.array([-0.01, 0.0, -1e-3]), 0, 1.0).tolist() == [1.0, -1.0, 0.0]
