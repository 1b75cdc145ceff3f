"""Kernel ROMMA against a transcription of its rule, and its step against the two constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from budgetbench.errors import ParameterError
from budgetbench.learners import ROMMA


@pytest.fixture
def twin(course: Any) -> Callable[..., Any]:
    """Li, Long 2002, with ‖f‖² from the kernel matrix each time."""

    def romma(K: Any, y: Any, order: Any, aggressive: bool = False, budget: int | None = None, epochs: int = 1) -> Any:
        done, a = course(), {}
        for epoch in range(epochs):
            for t in order:
                stored = list(a)
                s = float(K[t, stored] @ list(a.values())) if a else 0.0
                margin = y[t] * s
                if abs(margin - aggressive) <= 1e-11:
                    margin = float(aggressive)
                if margin <= 0 or (aggressive and margin < 1):
                    values = np.array(list(a.values()))
                    q, k = float(values @ K[np.ix_(stored, stored)] @ values) if a else 0.0, K[t, t]
                    if k * q <= margin:
                        done.removed += stored
                        a = {t: y[t] / k}
                    elif k * q - s**2 > 1e-9 * k * q:
                        c, d = (k * q - y[t] * s) / (k * q - s**2), q * (y[t] - s) / (k * q - s**2)
                        a = {i: c * value for i, value in a.items()}
                        a[t] = a.get(t, 0.0) + d
                    if budget is not None and len(a) > budget:
                        done.removed.append(next(iter(a)))
                        del a[done.removed[-1]]
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(a))
        done.alpha = {i: y[i] * value for i, value in a.items()}
        return done

    return romma


@pytest.mark.parametrize(
    "parameters",
    [{}, {"aggressive": True}, {"budget": 9}, {"budget": 1}, {"budget": 12, "aggressive": True, "epochs": 2}],
    ids=str,
)
@pytest.mark.parametrize("way", ["gram", "blocks of 7", "partial_fit"])
def test_agrees_with_the_pseudo_code(agree: Any, problem: Any, twin: Any, way: str, parameters: dict[str, Any]) -> None:
    for seed in range(2):
        done = agree(ROMMA, twin, problem("rbf", seed), way, parameters, exact=False)
        assert bool(done.removed) == ("budget" in parameters)


def test_agrees_with_other_kernels(agree: Any, problem: Any, twin: Any) -> None:
    for aggressive in (False, True):  # without noise, on which the norm explodes
        data = problem("polynomial", 0, n=60, noise=0.0)
        agree(ROMMA, twin, data, "blocks of 7", {"aggressive": aggressive}, exact=False)


def weights(model: Any) -> Any:
    return model.coefficients_ @ model.support_vectors_.astype(float)


@pytest.mark.parametrize("aggressive", [False, True])
def test_each_step_is_to_the_smallest_f_that_both_constraints_allow(aggressive: bool) -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(40, 3)).astype(np.float32)
    y = np.where(X @ [1.0, -0.5, 0.2] > 0, 1, -1)
    model: Any = ROMMA(kernel="linear", aggressive=aggressive)
    w, steps = np.zeros(3), 0
    for x, label in zip(X, y, strict=True):
        model.partial_fit(x[None], [label], classes=[-1, 1])
        if model.margins_[0] <= model.margin_threshold:
            constraints = [
                {"type": "ineq", "fun": lambda v, x=x, label=label: label * v @ x - 1},
                {"type": "ineq", "fun": lambda v, w=w: v @ w - w @ w},
            ]
            best = minimize(lambda v: v @ v, w + x * label, constraints=constraints, method="SLSQP", tol=1e-12).x
            np.testing.assert_allclose(weights(model), best, rtol=1e-4, atol=1e-4)
            steps += 1
        w = weights(model)
        assert model._squared_norm == pytest.approx(w @ w, rel=1e-6)
    assert steps > 3


def test_the_aggressive_one_forgets_what_a_short_example_outweighs() -> None:
    model: Any = ROMMA(kernel="linear", aggressive=True)
    model.partial_fit([[4.0, 0.0], [1.0, 1.0]], [1, 1], classes=[-1, 1])
    assert model.margins_.tolist() == [0.0, 0.25]  # k‖f‖² = 2/16 is below the margin
    assert model.support_.tolist() == [1]
    assert model.coefficients_.tolist() == [0.5]
    assert (model.insertions_, model.removals_) == (2, 1)


def test_what_no_f_can_have_right_is_let_pass() -> None:
    model: Any = ROMMA(kernel="linear").fit([[1.0, 0.0], [2.0, 0.0], [0.0, 0.0], [3.0, 0.0]], [1, -1, -1, -1])
    assert model.mistakes_ == 4
    assert model.support_.tolist() == [0]
    assert model.coefficients_.tolist() == [1.0]


@pytest.mark.parametrize("budget", [None, 4])
def test_the_norm_may_grow_as_long_as_the_stream_is(budget: int | None) -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(6000, 2)).astype(np.float32), random.choice([-1, 1], 6000)
    model: Any = ROMMA(kernel="linear", budget=budget).fit(X, y)
    assert np.isfinite(model.margins_).all()
    assert np.isfinite(model.decision_function(X)).all()
    assert model.mistakes_ > 2000


def test_a_budget_is_kept_from_the_beginning(problem: Any) -> None:
    data = problem("rbf", 0)
    model = ROMMA(**data.kernel).partial_fit(data.X, data.y)
    with pytest.raises(ParameterError, match="budget: found 3; accepted: None as when learning began"):
        model.set_params(budget=3).partial_fit(data.X, data.y)
