"""The sub-problem of one example against a general solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from budgetbench.engine.simplex import simplex_step

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
    assert abs(tau.sum()) <= 1e-14 * scale / A
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
