"""The Budget Perceptron, fixed and variable in size, against a transcription of its pseudo-code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from budgetbench.errors import ParameterError
from budgetbench.learners import BudgetPerceptron, Perceptron


@pytest.fixture
def twin(course: Any, rule: Any) -> Callable[..., Any]:
    """Crammer, Kandola, Singer 2003, Figures 1 to 3; Weston, Bordes, Bottou 2005, Figures 1 and 2."""

    def budget_perceptron(
        K: Any, y: Any, order: Any, budget: int | None = None, size: str = "fixed", epochs: int = 1, **how: Any
    ) -> Any:
        done, update = course(), rule(**how)
        alpha = done.alpha

        def margin(t: int) -> float:
            stored = list(alpha)
            return float(y[t] * (K[t, stored] @ (y[stored] * list(alpha.values()))))

        def without_themselves() -> Any:
            stored = list(alpha)
            others = K[np.ix_(stored, stored)] * (1 - np.eye(len(stored)))
            return y[stored] * (others @ (y[stored] * list(alpha.values())))

        def remove_best() -> None:
            best = list(alpha)[int(np.argmax(without_themselves()))]  # of equal ones the first, which is the oldest
            del alpha[best]
            done.removed.append(best)

        for epoch in range(epochs):
            for t in order:
                before = margin(t)
                if update.is_due(before, t in alpha):
                    if len(alpha) == budget and t not in alpha:
                        remove_best()
                    if update.apply(alpha, t, margin(t), K) == "removed":
                        done.removed.append(t)
                    while size == "variable" and alpha and max(without_themselves()) >= update.beta:
                        remove_best()
                if epoch == 0:
                    done.margins.append(before)
                    done.sizes.append(len(alpha))
        return done

    return budget_perceptron


FIXED = [
    {"budget": 1},
    {"budget": 2},
    {"budget": 10},
    {"budget": 10, "beta": 0.4},
    {"budget": 6, "epochs": 3},
    {"budget": 500},
]


@pytest.mark.parametrize("parameters", FIXED, ids=str)
def test_fixed_size_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        done = agree(BudgetPerceptron, twin, problem(stream, seed), way, parameters, exact="ties" in stream)
        assert done.removed or parameters["budget"] == 500


@pytest.mark.parametrize("parameters", [{"beta": 0.3}, {"beta": 1.0}, {"beta": 0.5, "epochs": 2}], ids=str)
def test_variable_size_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(1):
        how = parameters | {"size": "variable"}
        done = agree(BudgetPerceptron, twin, problem(stream, seed, n=110), way, how, exact="ties" in stream)
        assert done.removed


RULES = [
    {"update": "mira", "beta": 0.3, "budget": 8},
    {"update": "mira", "beta": 0.3, "budget": 8, "epochs": 2},
    {"update": "no_bias_svm", "budget": 8},
    {"update": "no_bias_svm", "budget": 8, "C": 0.5, "beta": 0.6, "epochs": 2},
    {"update": "no_bias_svm", "size": "variable", "C": 0.8},
]


@pytest.mark.parametrize("parameters", RULES, ids=str)
def test_other_update_rules_agree_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, continuous_stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        agree(BudgetPerceptron, twin, problem(continuous_stream, seed, n=110), way, parameters, exact=False)


@pytest.mark.parametrize("beta", [0.0, 0.3])
def test_with_room_for_all_it_is_the_perceptron(problem: Any, stream: str, beta: float) -> None:
    data = problem(stream, 5)
    roomy = BudgetPerceptron(budget=len(data.X), beta=beta, **data.kernel).fit(data.X, data.y)
    plain = Perceptron(beta=beta, **data.kernel).fit(data.X, data.y)
    assert roomy.support_.tolist() == plain.support_.tolist()
    assert roomy.coefficients_.tolist() == plain.coefficients_.tolist()
    assert roomy.margins_.tolist() == plain.margins_.tolist()


@pytest.mark.parametrize("values", [{"size": "variable", "budget": 5}, {"budget": 0}], ids=str)
def test_a_budget_exactly_where_the_size_is_fixed(values: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="budget"):
        BudgetPerceptron.checked(values)


def test_a_variable_cache_has_the_margin_of_mira_by_default() -> None:
    assert BudgetPerceptron.checked({"size": "variable"})["beta"] == 0.01
    assert BudgetPerceptron.checked({"budget": 5})["beta"] == 0.0
