"""NORMA against a transcription of its rule, and its step against the slope of its objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from budgetbench.errors import ParameterError
from budgetbench.learners import NORMA


@pytest.fixture
def twin(course: Any) -> Callable[..., Any]:
    """Kivinen, Smola, Williamson 2004, classification with a margin ρ that is given or, with ν, follows the errors."""

    def norma(
        K: Any,
        y: Any,
        order: Any,
        budget: int,
        eta: float = 0.5,
        lam: float = 0.001,
        rho: float = 1.0,
        nu: float | None = None,
        epochs: int = 1,
    ) -> Any:
        done, alpha = course(), {}
        for epoch in range(epochs):
            for t in order:
                stored = list(alpha)
                margin = float(y[t] * (K[t, stored] @ (y[stored] * list(alpha.values()))))
                for i in alpha:
                    alpha[i] *= 1 - eta * lam
                wrong = margin <= rho
                if wrong:
                    alpha[t] = alpha.get(t, 0.0) + eta
                    if len(alpha) > budget:
                        gone = next(iter(alpha))
                        del alpha[gone]
                        done.removed.append(gone)
                if nu is not None:
                    rho += eta * (nu - 1) if wrong else eta * nu
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(alpha))
        done.alpha = alpha
        return done

    return norma


@pytest.mark.parametrize(
    "parameters",
    [
        {"budget": 1},
        {"budget": 9, "rho": 0.0},
        {"budget": 15, "lam": 0.9, "eta": 0.8},
        {"budget": 12, "lam": 0.0, "epochs": 2},
        {"budget": 12, "nu": 0.4, "eta": 0.1},
    ],
    ids=str,
)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, continuous_stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        done = agree(NORMA, twin, problem(continuous_stream, seed), way, parameters, exact=False)
        assert done.removed
        assert max(done.sizes) == parameters["budget"]


@pytest.mark.parametrize("nu", [None, 0.3])
def test_a_step_goes_down_the_gradient(nu: float | None) -> None:
    """(f - f')/η is the slope of λ/2 ‖f‖² + max(0, ρ - y f(x)) - νρ in any direction, and so for ρ."""
    eta, lam, share = 0.2, 0.3, nu or 0.0
    for seed in range(6):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(31, 2)).astype(np.float32), random.choice([-1, 1], 31)
        model = NORMA(budget=99, eta=eta, lam=lam, nu=nu, gamma=0.5).fit(X[:30], y[:30])
        before, after = np.zeros(31), np.zeros(31)
        before[model.support_], rho = model.coefficients_, model.rho_
        model.partial_fit(X[30:], y[30:])
        after[model.support_] = model.coefficients_
        K = model._kernel.matrix(X, X).astype(np.float64)

        def objective(a: Any, rho: float, K: Any = K, y: Any = y) -> float:
            return float(lam / 2 * a @ K @ a + max(0.0, rho - y[30] * (K[30] @ a)) - share * rho)

        direction, h = random.normal(size=31), 1e-6
        slope = (objective(before + h * direction, rho) - objective(before - h * direction, rho)) / (2 * h)
        assert (before - after) / eta @ K @ direction == pytest.approx(slope, rel=1e-5, abs=1e-7)
        if nu is not None:
            slope = (objective(before, rho + h) - objective(before, rho - h)) / (2 * h)
            assert (rho - model.rho_) / eta == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("nu", [0.2, 0.5, 0.8])
def test_nu_is_the_share_of_margin_errors(nu: float) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 2))
    y = np.where(X[:, 0] + 0.3 * random.normal(size=2000) > 0, 1, -1)
    model = NORMA(nu=nu, budget=60, eta=0.1, lam=0.01, gamma=0.5).fit(X, y)
    errors = model.outcome().margin_errors
    assert errors == pytest.approx(nu * 2000 - (model.rho_ - model.rho) / model.eta, abs=1e-6)
    assert errors / 2000 == pytest.approx(nu, abs=0.03)


def test_margin_errors_are_counted_against_the_margin_of_their_round() -> None:
    random = np.random.default_rng(1)
    X, y = random.normal(size=(90, 2)), random.choice([-1, 1], 90)
    for epochs in (1, 3):
        model = NORMA(rho=0.7, epochs=epochs, gamma=1.0).fit(X, y)
        assert model.outcome().margin_errors == np.count_nonzero(model.margins_ <= 0.7)
    whole = NORMA(nu=0.4, gamma=1.0).fit(X, y).outcome().margin_errors
    parts = NORMA(nu=0.4, gamma=1.0)
    counts = [parts.partial_fit(X[rows], y[rows]).outcome().margin_errors for rows in (slice(0, 40), slice(40, 90))]
    assert counts[0] < counts[1] == whole


def test_coefficients_fade_with_age() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(600, 2)), random.choice([-1, 1], 600)
    model = NORMA(budget=30, eta=0.4, lam=0.1, gamma=2.0).fit(X, y)
    ages = 599 - model.support_
    np.testing.assert_allclose(np.abs(model.coefficients_), 0.4 * (1 - 0.04) ** ages, rtol=1e-9)


def test_the_learning_rate_leaves_something_of_f() -> None:
    with pytest.raises(ParameterError, match=r"lam: found 4\.0; accepted: a number below 1 / eta, 2"):
        NORMA.checked({"eta": 0.5, "lam": 4.0})
