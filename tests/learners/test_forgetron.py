"""The self-tuned Forgetron against a transcription of its pseudo-code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from budgetbench.learners import Forgetron, Perceptron
from budgetbench.learners.forgetron import cost, largest_factor


@pytest.fixture
def twin(course: Any) -> Callable[..., Any]:
    """Dekel, Shalev-Shwartz, Singer 2008, the self-tuned Forgetron; φ by a search along the parabola."""

    def forgetron(K: Any, y: Any, order: Any, budget: int, epochs: int = 1) -> Any:
        done, alpha = course(), {}
        M, Q = 0, 0.0

        def f(t: int) -> float:
            stored = list(alpha)
            return float(K[t, stored] @ (y[stored] * list(alpha.values())))

        def psi(phi: float, sigma: float, mu: float) -> float:
            return (sigma * phi) ** 2 + 2 * sigma * phi - 2 * sigma * phi**2 * mu

        def excess(phi: float, sigma: float, mu: float, Q: float, M: int) -> float:
            return psi(phi, sigma, mu) + Q - 15 / 32 * M

        for epoch in range(epochs):
            for t in order:
                margin = float(y[t] * f(t))
                if margin <= 0:
                    M += 1
                    alpha[t] = alpha.get(t, 0.0) + 1.0
                    if len(alpha) > budget:
                        oldest = next(iter(alpha))
                        sigma, mu = alpha[oldest], float(y[oldest] * f(oldest))
                        phi = 1.0
                        if psi(1.0, sigma, mu) + Q > 15 / 32 * M:
                            phi = brentq(excess, 0, 1, args=(sigma, mu, Q, M), xtol=1e-15, rtol=1e-14)
                        Q += psi(phi, sigma, mu)
                        for i in alpha:
                            alpha[i] *= phi
                        del alpha[oldest]
                        done.removed.append(oldest)
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(alpha))
        done.alpha = alpha
        return done

    return forgetron


@pytest.mark.parametrize("way", ["gram", "blocks of 7", "partial_fit"])
@pytest.mark.parametrize(
    "parameters", [{"budget": 1}, {"budget": 9}, {"budget": 20}, {"budget": 12, "epochs": 3}], ids=str
)
def test_agrees_with_the_pseudo_code(agree: Any, problem: Any, twin: Any, way: str, parameters: dict[str, Any]) -> None:
    for seed in range(3):
        done = agree(Forgetron, twin, problem("rbf", seed, noise=0.3), way, parameters, exact=False)
        assert done.removed
        assert max(done.sizes) == parameters["budget"]


def test_with_room_for_all_it_is_the_perceptron(problem: Any) -> None:
    data = problem("rbf", 5)
    plain = Perceptron(**data.kernel).fit(data.X, data.y)
    roomy = Forgetron(budget=plain.mistakes_, **data.kernel).fit(data.X, data.y)
    assert roomy.support_.tolist() == plain.support_.tolist()
    assert roomy.coefficients_.tolist() == plain.coefficients_.tolist()
    assert roomy.margins_.tolist() == plain.margins_.tolist()


@given(
    sigma=st.floats(1e-12, 3),
    mu=st.floats(-50, 50),
    allowance=st.floats(15 / 32, 100),
)
def test_the_factor_is_the_largest_that_the_cost_allows(sigma: float, mu: float, allowance: float) -> None:
    phi = largest_factor(sigma, mu, allowance)
    assert 0 < phi <= 1
    assert cost(phi, sigma, mu) <= allowance * (1 + 1e-12)
    larger = np.linspace(phi, 1, 50)[1:] if phi < 1 else np.empty(0)
    assert (np.array([cost(p, sigma, mu) for p in larger]) > allowance * (1 - 1e-12)).all()


def test_coefficients_fade_with_age() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(600, 2)), random.choice([-1, 1], 600)
    model = Forgetron(budget=30, gamma=2).fit(X, y)
    sizes = np.abs(model.coefficients_)
    assert (np.diff(sizes) >= 0).all()
    assert 0 < sizes[0] < sizes[-1] <= 1


def test_kernel_values_above_1_are_refused() -> None:
    X, y = np.array([[3.0], [-3.0]]), [1, -1]
    with pytest.raises(ValueError, match=r"needs K\(x, x\) ≤ 1.*found 9"):
        Forgetron(budget=1, kernel="linear").fit(X, y)
    Forgetron(budget=1, kernel="linear").fit(X / 3, y)


def test_a_smaller_budget_lets_the_oldest_go_and_costs_nothing(problem: Any) -> None:
    data = problem("rbf", 2, noise=0.3)
    model: Any = Forgetron(budget=9, **data.kernel).partial_fit(data.X[:60], data.y[:60])
    coefficients, stored, spent = model.coefficients_[-3:], model.support_[-3:], model._mistakes_and_cost
    y = np.sign(model._kernel.matrix(data.X[70:71], data.X[stored]) @ coefficients)
    model.set_params(budget=3).partial_fit(data.X[70:71], y)  # no mistake: nothing is stored
    assert model.coefficients_.tolist() == coefficients.tolist()
    assert model.support_.tolist() == stored.tolist()
    assert model._mistakes_and_cost == spent
