"""Gradient descent with a weight vector: its step against the gradient, and one order of summation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from budgetbench.engine.linear import descend, inner_products


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 4, 7, 40])
def test_a_step_goes_against_the_gradient_of_the_loss(kind: Any, k: int) -> None:
    random = np.random.default_rng(k)
    Z, y, eta = random.normal(size=(60, k)).astype(kind), random.choice([-1.0, 1.0], 60), 0.05

    def loss(w: Any, t: int) -> float:
        return max(0.0, 1 - y[t] * float(w @ Z[t].astype(np.float64)))

    w, stepped = np.zeros(k), 0
    for t in range(60):
        before, margins = w.copy(), np.empty(1)
        descend(Z[t : t + 1], y[t : t + 1], w, margins, eta)
        assert margins[0] == pytest.approx(y[t] * (before @ Z[t]), abs=1e-12)
        gradient = [(loss(before + h, t) - loss(before - h, t)) / 2e-6 for h in 1e-6 * np.eye(k)]
        if abs(margins[0] - 1) > 1e-4:  # where the loss has one
            np.testing.assert_allclose(w - before, -eta * np.array(gradient), atol=1e-8)
        stepped += bool((w != before).any())
    assert 0 < stepped < 60 or k == 1


def test_a_margin_of_1_is_no_loss() -> None:
    w, margins = np.array([0.5, 0.5]), np.empty(2)
    descend(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([1.0, 1.0]), w, margins, 1.0)
    assert margins.tolist() == [1.0, 0.5]
    assert w.tolist() == [1.5, 0.5]


def test_margins_are_decision_values_to_the_last_bit() -> None:
    random = np.random.default_rng(0)
    Z, w = random.normal(size=(50, 11)).astype(np.float32), random.normal(size=11)
    margins = np.empty(1)
    for z, value in zip(Z, inner_products(Z, w), strict=True):
        descend(z[None], np.array([1.0]), w.copy(), margins, 0.1)
        assert margins[0] == value
