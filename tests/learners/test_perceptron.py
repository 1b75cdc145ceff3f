"""The Perceptron against a transcription of its pseudo-code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from budgetbench.learners import Perceptron


@pytest.fixture
def twin(course: Any) -> Callable[..., Any]:
    """Orabona, Keshet, Caputo 2008, Algorithm 1; Crammer, Kandola, Singer 2003, Figure 1 without DistillCache."""

    def perceptron(K: Any, y: Any, order: Any, beta: float = 0.0, epochs: int = 1) -> Any:
        done = course()
        for epoch in range(epochs):
            for t in order:
                stored = list(done.alpha)
                margin = float(y[t] * (K[t, stored] @ (y[stored] * list(done.alpha.values()))))
                if margin <= beta:
                    done.alpha[t] = done.alpha.get(t, 0.0) + 1.0
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(done.alpha))
        return done

    return perceptron


@pytest.mark.parametrize("parameters", [{}, {"beta": 0.5}, {"epochs": 3}, {"beta": 0.2, "epochs": 2}], ids=str)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        # A sum of float32 numbers in float64 is exact only while they are near enough to each other in size.
        agree(Perceptron, twin, problem(stream, seed), way, parameters, exact="ties" in stream)


def test_a_prediction_of_zero_is_a_mistake() -> None:
    model = Perceptron(kernel="linear").fit([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]], [1, -1, 1])
    assert model.mistakes_ == 3
    assert model.margins_.tolist() == [0.0, 0.0, 0.0]


def test_a_second_pass_that_changes_nothing_is_the_last() -> None:
    X, y = [[-2.0], [-1.0], [1.0], [2.0]], [-1, -1, 1, 1]
    once, often = (Perceptron(kernel="linear", epochs=epochs).fit(X, y) for epochs in (2, 10**6))
    assert np.array_equal(once.coefficients_, often.coefficients_)
