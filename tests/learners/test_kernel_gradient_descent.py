"""Kernel gradient descent against a transcription of its rule, and its step against the gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from budgetbench.errors import ParameterError
from budgetbench.learners import KernelGradientDescent


@pytest.fixture
def twin(course: Any) -> Callable[..., Any]:
    """NORMA (Kivinen, Smola, Williamson 2004) with neither λ nor truncation; sums without rounding."""

    def gradient_descent(K: Any, y: Any, order: Any, eta: float = 0.2, epochs: int = 1) -> Any:
        done = course()
        for epoch in range(epochs):
            for t in order:
                margin = math.fsum(y[t] * y[s] * a * K[t, s] for s, a in done.alpha.items())
                if max(0.0, 1 - margin) > 0:
                    done.alpha[t] = done.alpha.get(t, 0.0) + eta
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(done.alpha))
        return done

    return gradient_descent


@pytest.mark.parametrize("parameters", [{}, {"eta": 0.1}, {"eta": 2.0, "epochs": 2}], ids=str)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        agree(KernelGradientDescent, twin, problem(stream, seed), way, parameters, exact=False)


def test_a_step_goes_against_the_gradient_of_the_loss() -> None:
    """By differences: f changes by -η times the derivative of ℓ by each direction K(z, ·) of a basis."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(12, 2)), np.where(np.arange(12) % 2, 1, -1)
    before = KernelGradientDescent(gamma=0.5, eta=0.2).fit(X[:11], y[:11])
    after = KernelGradientDescent(gamma=0.5, eta=0.2).fit(X, y)
    K = before._kernel.matrix(X.astype(np.float32), X.astype(np.float32)).astype(np.float64)
    margin, h = y[11] * before.decision_function(X[11:])[0], 1e-6
    assert margin < 1
    # f + h K(zⱼ, ·) has f(x) + h K(zⱼ, x): the inner product of the gradient with K(zⱼ, ·).
    gradient = np.array([(max(0, 1 - margin - h * y[11] * K[j, 11]) - max(0, 1 - margin)) / h for j in range(12)])
    step = after.decision_function(X) - before.decision_function(X)
    np.testing.assert_allclose(step, -0.2 * gradient, atol=1e-6)


def test_a_margin_of_1_is_no_margin_error() -> None:
    model = KernelGradientDescent(kernel="linear", eta=1.0).fit([[1.0], [1.0], [-1.0]], [1, 1, -1])
    assert model.margins_.tolist() == [0.0, 1.0, 1.0]
    assert model.support_.tolist() == [0]
    assert model.outcome().margin_errors == 1


@pytest.mark.parametrize("eta", [0.0, -1.0, "fast"])
def test_eta_is_above_0(eta: Any) -> None:
    with pytest.raises(ParameterError, match="eta"):
        KernelGradientDescent.checked({"eta": eta})
