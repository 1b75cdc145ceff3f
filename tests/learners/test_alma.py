"""Kernel ALMA₂ against a transcription of its rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from budgetbench.errors import ParameterError
from budgetbench.learners import ALMA


@pytest.fixture
def twin(course: Any) -> Callable[..., Any]:
    """Gentile 2001, Figure 1 with p = 2, on rows divided by their lengths; ‖f‖ from the kernel matrix each time."""

    def alma(K: Any, y: Any, order: Any, alpha: float = 0.9, epochs: int = 1) -> Any:
        done, j, a = course(), 1, {}
        unit = K / np.sqrt(np.outer(np.diag(K), np.diag(K)))
        B, C = np.sqrt(8) / alpha, np.sqrt(2)
        for epoch in range(epochs):
            for t in order:
                stored = list(a)
                margin = y[t] * float(unit[t, stored] @ list(a.values())) if a else 0.0
                if margin <= (1 - alpha) * B / np.sqrt(j):
                    a[t] = a.get(t, 0.0) + C / np.sqrt(j) * y[t]
                    stored, values = list(a), np.array(list(a.values()))
                    norm = np.sqrt(values @ unit[np.ix_(stored, stored)] @ values)
                    a = {i: value / max(1.0, norm) for i, value in a.items()}
                    j += 1
                if epoch == 0:
                    done.margins.append(margin * np.sqrt(K[t, t]))
                    done.sizes.append(len(a))
        done.alpha = {i: y[i] * value / np.sqrt(K[i, i]) for i, value in a.items()}
        return done

    return alma


@pytest.mark.parametrize("parameters", [{}, {"alpha": 1.0}, {"alpha": 0.5}, {"alpha": 0.7, "epochs": 3}], ids=str)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, continuous_stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        agree(ALMA, twin, problem(continuous_stream, seed), way, parameters, exact=False)


@pytest.mark.parametrize("alpha", [1.0, 0.6])
def test_the_norm_stays_at_most_1(problem: Any, alpha: float) -> None:
    data = problem("polynomial", 1)
    model: Any = ALMA(alpha=alpha, **data.kernel)
    for rows in np.split(np.arange(len(data.X)), 20):
        model.partial_fit(data.X[rows], data.y[rows], classes=[-1, 1])
        K = model._kernel.matrix(model.support_vectors_, model.support_vectors_).astype(float)
        squared = model.coefficients_ @ K @ model.coefficients_
        assert squared <= 1 + 1e-6
        assert model._progress.squared_norm == pytest.approx(squared, rel=1e-6)


def test_passes_come_to_a_margin_near_the_largest() -> None:
    """Theorem 3: (1 - α)γ, where γ is the largest margin of any f of norm 1; α = 0.2 here."""
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 2))
    X = X[np.abs(X @ [0.6, 0.8]) > 0.3]
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.where(X @ [0.6, 0.8] > 0, 1, -1)
    angles = np.linspace(0, 2 * np.pi, 20001)
    largest = (y[:, None] * (X @ np.stack([np.cos(angles), np.sin(angles)]))).min(axis=0).max()
    model: Any = ALMA(kernel="linear", alpha=0.2, epochs=5000).fit(X, y)
    assert model.epochs_ < 5000
    w = model.coefficients_ @ model.support_vectors_
    assert (y * (X @ w)).min() / np.linalg.norm(w) >= 0.8 * largest


def test_margin_errors_are_those_against_the_margin_of_the_round() -> None:
    X, y = np.array([[1.0], [2.0], [-1.0], [0.0], [1.0]]), np.array([1, 1, -1, 1, -1])
    model: Any = ALMA(kernel="linear", alpha=0.5)
    limits = [0.5 * np.sqrt(8) / 0.5 / np.sqrt(j) for j in (1, 2, 3, 4, 4)]
    model.fit(X, y)
    assert model.margins_.tolist() == [0.0, 2.0, 1.0, 0.0, -1.0]  # |f| is 1 at 1 throughout
    asked = [margin <= limit * abs(x) for margin, limit, x in zip(model.margins_, limits, X[:, 0], strict=True)]
    assert model.outcome().margin_errors == sum(asked) == 5
    assert model.mistakes_ == 3
    assert 3 not in model.support_.tolist()  # it has no direction
    model.partial_fit(X[:1] * 9, [1])
    assert model.outcome().margin_errors == 6


@pytest.mark.parametrize("alpha", [0.0, -0.5, 1.5, "large"])
def test_alpha_is_a_share(alpha: Any) -> None:
    with pytest.raises(ParameterError, match=r"alpha: found .*; accepted: a number above 0 and at most 1"):
        ALMA.checked({"alpha": alpha})
