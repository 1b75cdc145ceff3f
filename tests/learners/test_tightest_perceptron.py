"""The Tightest Perceptron against a transcription of its rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc

from budgetbench.learners import Perceptron, TightestPerceptron
from budgetbench.learners.tighter.tightest_perceptron import doubt_about


@pytest.fixture
def twin(course: Any) -> Callable[..., Any]:
    """The rule as the docstring has it; f afresh for every candidate, the probabilities from scipy."""

    def tightest(K: Any, y: Any, order: Any, budget: int, loss: str = "hinge", epochs: int = 1) -> Any:
        done, alpha, counts = course(), {}, {}
        losses = {"hinge": lambda m: np.maximum(0, 1 - m), "zero_one": lambda m: (m <= 0).astype(float)}

        def f(t: Any, without: int | None = None) -> Any:
            stored = [i for i in alpha if i != without]
            return K[np.ix_(np.atleast_1d(t), stored)] @ (y[stored] * np.array([alpha[i] for i in stored]))

        def hand_over(t: int, labels: Any) -> None:
            if alpha:
                nearest = min(alpha, key=lambda i: K[i, i] - 2 * K[i, t])
                counts[nearest] += max(0.0, K[nearest, t] / np.sqrt(K[nearest, nearest] * K[t, t])) * labels

        def expected(without: int) -> float:
            stored = list(alpha)
            c = np.array([counts[i] for i in stored])
            positive = betainc(1 + c[:, 1], 1 + c[:, 0], 0.5)
            values = f(stored, without)
            return float((positive * losses[loss](values) + (1 - positive) * losses[loss](-values)).sum())

        for epoch in range(epochs):
            for t in order:
                margin, labels = float(y[t] * f(t)[0]), np.array([y[t] > 0, y[t] < 0], dtype=float)
                if margin <= 0:
                    alpha[t] = alpha.get(t, 0.0) + 1.0
                    counts[t] = counts.get(t, np.zeros(2)) + labels
                    if len(alpha) > budget:
                        found = {i: expected(i) for i in alpha}
                        gone = next(i for i in alpha if found[i] <= min(found.values()) + 1e-9)
                        del alpha[gone]
                        done.removed.append(gone)
                        hand_over(gone, counts.pop(gone))
                else:
                    hand_over(t, labels)
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(alpha))
        done.alpha = alpha
        return done

    return tightest


@pytest.mark.parametrize(
    "parameters",
    [{"budget": 1}, {"budget": 8}, {"budget": 8, "loss": "zero_one"}, {"budget": 12, "epochs": 2}],
    ids=str,
)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, continuous_stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        done = agree(TightestPerceptron, twin, problem(continuous_stream, seed), way, parameters, exact=False)
        assert done.removed


@given(weight=st.floats(0, 1e5), share=st.floats(0, 1))
def test_doubt_is_the_beta_distribution(weight: float, share: float) -> None:
    ahead = share * weight
    expected = betainc(1 + (weight + ahead) / 2, 1 + (weight - ahead) / 2, 0.5)
    assert doubt_about(ahead, weight) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_labels_are_kept_when_examples_leave() -> None:
    """With similarities of 1 nothing that was seen is lost but for what came before anything was stored."""
    random = np.random.default_rng(0)
    X, y = 1e-4 * random.normal(size=(200, 2)), random.choice([-1, 1], 200)
    model: Any = TightestPerceptron(budget=5, gamma=1.0).fit(X, y)
    assert model.removals_ > 20
    assert model._summary.weight.sum() == pytest.approx(200, rel=1e-4)
    assert model._summary.ahead.sum() == pytest.approx(y.sum(), abs=1e-2)


def test_the_noisy_example_leaves() -> None:
    """It is the youngest and among many of the other class; the first to be stored for its class is kept."""
    X = np.array([[0.0], [5.0], [0.1], [0.1], [0.1], [5.1], [5.1], [0.05]])
    model: Any = TightestPerceptron(budget=2, gamma=1.0).fit(X, [1, -1, 1, 1, 1, -1, -1, -1])
    assert model.margins_[-1] < 0
    assert model.support_.tolist() == [0, 1]


def test_with_room_for_all_it_is_the_perceptron(problem: Any) -> None:
    data = problem("rbf", 5)
    plain: Any = Perceptron(**data.kernel).fit(data.X, data.y)
    roomy: Any = TightestPerceptron(budget=plain.mistakes_, **data.kernel).fit(data.X, data.y)
    assert roomy.support_.tolist() == plain.support_.tolist()
    assert roomy.margins_.tolist() == plain.margins_.tolist()
