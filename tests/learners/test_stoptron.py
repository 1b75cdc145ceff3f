"""The Stoptron against a transcription of its rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from budgetbench.learners import Perceptron, Stoptron


@pytest.fixture
def twin(course: Any) -> Callable[..., Any]:
    """Orabona, Keshet, Caputo 2008, section 5."""

    def stoptron(K: Any, y: Any, order: Any, budget: int, epochs: int = 1) -> Any:
        done = course()
        for epoch in range(epochs):
            for t in order:
                stored = list(done.alpha)
                margin = float(y[t] * (K[t, stored] @ (y[stored] * list(done.alpha.values()))))
                if margin <= 0 and len(stored) < budget:
                    done.alpha[t] = done.alpha.get(t, 0.0) + 1.0
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(done.alpha))
        return done

    return stoptron


@pytest.mark.parametrize("parameters", [{"budget": 1}, {"budget": 12}, {"budget": 500, "epochs": 2}], ids=str)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        agree(Stoptron, twin, problem(stream, seed), way, parameters, exact="ties" in stream)


def test_with_room_for_all_it_is_the_perceptron_and_with_less_its_beginning(problem: Any, stream: str) -> None:
    data = problem(stream, 5)
    plain = Perceptron(**data.kernel).fit(data.X, data.y)
    roomy = Stoptron(budget=plain.mistakes_ + 1, **data.kernel).fit(data.X, data.y)
    small = Stoptron(budget=7, **data.kernel).fit(data.X, data.y)
    assert roomy.support_.tolist() == plain.support_.tolist()
    assert roomy.coefficients_.tolist() == plain.coefficients_.tolist()
    assert roomy.margins_.tolist() == plain.margins_.tolist()
    assert small.support_.tolist() == plain.support_[:7].tolist()
    assert small.sizes_.tolist() == np.minimum(plain.sizes_, 7).tolist()
    assert small.sizes_.max() == 7 < plain.sizes_.max()
