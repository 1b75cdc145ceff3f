"""PA-I against a transcription of its rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from budgetbench.errors import ParameterError
from budgetbench.learners import PassiveAggressive


@pytest.fixture
def twin(course: Any) -> Callable[..., Any]:
    """Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006, Figure 1 (PA-I)."""

    def passive_aggressive(K: Any, y: Any, order: Any, C: float = 1.0, epochs: int = 1) -> Any:
        done = course()
        for epoch in range(epochs):
            for t in order:
                stored = list(done.alpha)
                margin = float(y[t] * (K[t, stored] @ (y[stored] * list(done.alpha.values()))))
                loss = max(0.0, 1 - margin)
                if loss > 0:
                    done.alpha[t] = done.alpha.get(t, 0.0) + min(C, loss / K[t, t])
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(done.alpha))
        return done

    return passive_aggressive


@pytest.mark.parametrize("parameters", [{}, {"C": 0.25}, {"C": 100.0, "epochs": 2}], ids=str)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, continuous_stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        agree(PassiveAggressive, twin, problem(continuous_stream, seed), way, parameters, exact=False)


def test_an_update_brings_the_margin_to_1_unless_c_is_less() -> None:
    X = np.array([[1.0, 0.0], [0.6, 0.8]])
    model = PassiveAggressive(kernel="linear", C=10.0).fit(X, [1, -1])
    assert model.decision_function(X[1:])[0] == pytest.approx(-1)
    assert model.coefficients_ == pytest.approx([1, -1.6])
    bounded = PassiveAggressive(kernel="linear", C=0.5).fit(X, [1, -1])
    assert bounded.coefficients_.tolist() == [0.5, -0.5]


def test_a_margin_of_1_is_no_margin_error() -> None:
    model = PassiveAggressive(kernel="linear", epochs=2).fit([[1.0], [-1.0]], [1, -1])
    assert model.support_.tolist() == [0]  # the second example has a margin of exactly 1
    assert np.count_nonzero(model.margins_ <= model.margin_threshold) == 1


def test_an_input_of_zeros_takes_the_largest_step() -> None:
    model = PassiveAggressive(kernel="linear", C=2.0).fit([[0.0], [1.0]], [1, -1])
    assert model.coefficients_.tolist() == [2.0, -1.0]


@pytest.mark.parametrize("C", [0.0, -1.0, "large"])
def test_c_is_above_0(C: Any) -> None:
    with pytest.raises(ParameterError, match="C"):
        PassiveAggressive.checked({"C": C})
