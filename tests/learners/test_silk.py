"""SILK against a transcription of its rule, and against the minimiser of its objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from budgetbench.learners import SILK, PassiveAggressive


@pytest.fixture
def twin(course: Any) -> Callable[..., Any]:
    """Cheng, Vishwanathan, Schuurmans, Wang, Caelli 2006, the hinge loss."""

    def silk(
        K: Any, y: Any, order: Any, budget: int, eta: float = 0.5, lam: float = 0.001, C: float = 1.0, epochs: int = 1
    ) -> Any:
        done, alpha = course(), {}
        for epoch in range(epochs):
            for t in order:
                stored = list(alpha)
                margin = float(y[t] * (K[t, stored] @ (y[stored] * list(alpha.values()))))
                for i in alpha:
                    alpha[i] /= 1 + eta * lam
                step = min((1 - margin / (1 + eta * lam)) / K[t, t], eta * C / (1 + eta * lam))
                if step > 1e-14:
                    alpha[t] = alpha.get(t, 0.0) + step
                    if len(alpha) > budget:
                        gone = min(alpha, key=lambda i: alpha[i])
                        del alpha[gone]
                        done.removed.append(gone)
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(alpha))
        done.alpha = alpha
        return done

    return silk


@pytest.mark.parametrize(
    "parameters",
    [
        {"budget": 1},
        {"budget": 9},
        {"budget": 15, "lam": 0.3, "eta": 0.2},
        {"budget": 12, "lam": 0.0, "C": 0.1, "epochs": 2},
    ],
    ids=str,
)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, continuous_stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        done = agree(SILK, twin, problem(continuous_stream, seed), way, parameters, exact=False)
        assert done.removed
        assert max(done.sizes) == parameters["budget"]


@pytest.mark.parametrize("eta", [0.3, 5.0])
@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_a_step_minimises_the_objective(eta: float, lam: float) -> None:
    for seed in range(4):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(12, 2)).astype(np.float32), random.choice([-1, 1], 12)
        model = SILK(budget=50, eta=eta, lam=lam, C=0.7, gamma=0.5).fit(X[:11], y[:11])
        a, after = np.zeros(12), np.zeros(12)
        a[model.support_] = model.coefficients_
        model.partial_fit(X[11:], y[11:])
        after[model.support_] = model.coefficients_
        K = model._kernel.matrix(X, X).astype(np.float64)

        def objective(z: Any, a: Any = a, K: Any = K) -> float:
            change = z[:-1] - a
            return float(0.5 * change @ K @ change + eta * (0.5 * lam * z[:-1] @ K @ z[:-1] + 0.7 * z[-1]))

        met = {"type": "ineq", "fun": lambda z, K=K, y=y: y[11] * (K[11] @ z[:-1]) - 1 + z[-1]}
        found = minimize(objective, np.append(a, 10.0), bounds=[(None, None)] * 12 + [(0, None)],
                         constraints=[met], method="SLSQP", options={"ftol": 1e-12, "maxiter": 500})  # fmt: skip
        loss = max(0.0, 1 - y[11] * (K[11] @ after))
        assert objective(np.append(after, loss)) == pytest.approx(found.fun, rel=1e-5, abs=1e-7)


def test_without_regularisation_and_with_room_for_all_it_is_pa_i(problem: Any) -> None:
    data = problem("rbf", 5)
    plain = PassiveAggressive(C=0.4, **data.kernel).fit(data.X, data.y)
    silk = SILK(budget=len(data.X), eta=0.2, C=2.0, lam=0.0, **data.kernel).fit(data.X, data.y)
    assert silk.support_.tolist() == plain.support_.tolist()
    np.testing.assert_allclose(silk.coefficients_, plain.coefficients_, rtol=1e-12)


def test_a_newcomer_that_counts_least_leaves_at_once() -> None:
    model = SILK(budget=1, kernel="linear", eta=1.0, lam=0.0).fit([[1.0], [0.4]], [1, -1])
    assert model.coefficients_.tolist() == [-1.0]  # of equal ones the oldest leaves
    model = SILK(budget=1, kernel="linear", eta=1.0, lam=0.0).fit([[1.0], [-1.05]], [1, -1])
    assert (model.support_.tolist(), model.insertions_, model.removals_) == ([0], 1, 0)  # no loss
    model = SILK(budget=1, kernel="linear", eta=1.0, lam=0.0).fit([[1.0], [-0.8]], [1, -1])
    assert (model.support_.tolist(), model.insertions_, model.removals_) == ([0], 2, 1)


def test_what_is_never_renewed_fades() -> None:
    """The factor is multiplied into the coefficients now and then, which changes nothing."""
    X, y = np.zeros((500, 1)), np.resize([1, -1], 500)
    X[0] = 1.0
    model = SILK(budget=500, kernel="linear", eta=1.0, lam=0.5, C=0.25).fit(X, y)
    np.testing.assert_allclose(np.abs(model.coefficients_), 0.25 * 1.5 ** -np.arange(500.0, 0.0, -1.0), rtol=1e-9)
    assert model._scale.factor >= 2.0**-100
