"""Parameters that change while a learner goes on learning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from budgetbench.errors import ParameterError
from budgetbench.learners import (
    MIRA,
    BudgetPerceptron,
    PassiveAggressive,
    Perceptron,
    RandomizedBudgetPerceptron,
    learners,
)

BUDGETED: list[tuple[str, dict[str, Any]]] = [
    ("budget_perceptron", {}),
    ("budget_perceptron", {"update": "mira"}),
    ("randomized_budget_perceptron", {}),
    ("forgetron", {}),
    ("tighter_budget_perceptron", {}),
    ("tighter_budget_perceptron", {"removal": "before_insertion", "evaluate": "support"}),
    ("tighter_budget_perceptron", {"evaluate": "flips", "evaluation_size": 7}),
    ("mira", {"size": "fixed"}),
    ("tightest_perceptron", {}),
    ("bpa_s", {}),
    ("bpa_nn", {}),
    ("bpa_p", {}),
    ("bogd", {}),
    ("norma", {}),
    ("silk", {}),
    ("bsgd", {"maintenance": "removal"}),
    ("bsgd", {"maintenance": "projection"}),
    ("bsgd", {"maintenance": "merging"}),
]
KEEPING: list[tuple[str, dict[str, Any]]] = [("stoptron", {}), ("projectron", {}), ("projectron_plus_plus", {})]


@pytest.fixture
def data() -> tuple[Any, Any]:
    random = np.random.default_rng(4)
    X = random.normal(size=(400, 3)).astype(np.float32)
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * random.normal(size=400) > 0, 1, -1)


def half_learnt(name: str, values: dict[str, Any], data: tuple[Any, Any], budget: int = 20) -> Any:
    X, y = data
    model = learners[name](**values, budget=budget, gamma=1.0, random_state=1)
    return model.partial_fit(X[:200], y[:200])


@pytest.mark.parametrize(("name", "values"), BUDGETED, ids=str)
def test_a_smaller_budget_holds_from_the_next_call_on(name: str, values: dict[str, Any], data: Any) -> None:
    X, y = data
    model = half_learnt(name, values, data)
    assert model.n_support_ == 20
    before = set(model.support_.tolist())
    model.set_params(budget=5).partial_fit(X[200:201], y[200:201])
    assert len(set(model.support_.tolist()) - before) <= 1
    model.partial_fit(X[201:], y[201:])
    assert model.sizes_.max() == model.n_support_ == 5
    assert model.insertions_ - model.removals_ == 5
    examples = model.support_ >= 0  # others are merged points
    assert np.array_equal(model.support_vectors_[examples], X[model.support_[examples]])
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(("name", "values"), [*BUDGETED, *KEEPING], ids=str)
def test_a_larger_budget_is_used(name: str, values: dict[str, Any], data: Any) -> None:
    X, y = data
    model = half_learnt(name, values, data, budget=5)
    model.set_params(budget=9).partial_fit(X[200:], y[200:])
    assert model.n_support_ == 9


@pytest.mark.parametrize(("name", "values"), KEEPING, ids=str)
def test_a_learner_that_discards_nothing_refuses_a_smaller_budget(name: str, values: dict[str, Any], data: Any) -> None:
    X, y = data
    model = half_learnt(name, values, data)
    before = model.support_.tolist(), model.coefficients_.tolist()
    with pytest.raises(ParameterError, match="budget: found 5; accepted: an integer of at least 20"):
        model.set_params(budget=5).partial_fit(X[200:], y[200:])
    assert (model.support_.tolist(), model.coefficients_.tolist()) == before
    model.set_params(budget=20).partial_fit(X[200:], y[200:])
    assert model.sizes_.tolist() == [20] * 200


def test_the_budget_perceptron_lets_go_those_that_stay_best_classified(data: Any) -> None:
    X, y = data
    model = half_learnt("budget_perceptron", {}, data)
    stored, signs = model.support_.tolist(), model.coefficients_.tolist()
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    while len(stored) > 5:
        margins = [sign * sum(b * K[i, j] for j, b in zip(stored, signs, strict=True) if j != i)
                   for i, sign in zip(stored, signs, strict=True)]  # fmt: skip
        worst = int(np.argmax(margins))
        del stored[worst], signs[worst]
    row = next(row for row in range(200, 400) if y[row] * (K[row, stored] @ np.array(signs)) > 0)
    model.set_params(budget=5).partial_fit(X[row : row + 1], y[row : row + 1])
    assert model.support_.tolist() == stored


@pytest.mark.parametrize(("name", "values"), [*BUDGETED, *KEEPING], ids=str)
@pytest.mark.parametrize("budget", [0, -1, 2.5, "many"])
def test_a_budget_that_is_none_is_refused(name: str, values: dict[str, Any], budget: Any, data: Any) -> None:
    X, y = data
    model = half_learnt(name, values, data)
    with pytest.raises(ParameterError, match="budget"):
        model.set_params(budget=budget).partial_fit(X[200:], y[200:])
    assert model.set_params(budget=20).partial_fit(X[200:], y[200:]).n_support_ == 20


@pytest.mark.parametrize(
    ("learner", "changed"),
    [
        (Perceptron(gamma=1.0), {"gamma": 2.0}),
        (Perceptron(gamma=1.0), {"kernel": "linear", "gamma": None}),
        (Perceptron(gamma=1.0), {"average": True}),
        (BudgetPerceptron(budget=20, gamma=1.0), {"update": "mira"}),
        (RandomizedBudgetPerceptron(budget=20, gamma=1.0, random_state=1), {"random_state": 2}),
        (MIRA(size="fixed", budget=20, gamma=1.0), {"size": "unlimited", "budget": None}),
    ],
    ids=str,
)
def test_a_change_without_a_meaning_is_refused(learner: Any, changed: dict[str, Any], data: Any) -> None:
    X, y = data
    learner.partial_fit(X[:200], y[:200])
    with pytest.raises(ParameterError, match=f"({'|'.join(changed)}): found .*; accepted: .* as when learning began"):
        learner.set_params(**changed).partial_fit(X[200:], y[200:])
    learner.fit(X, y)  # fitting anew takes any


def test_a_number_to_predict_is_refused(data: Any) -> None:
    X, _ = data
    for learner in (MIRA(), Perceptron()):
        with pytest.raises(ValueError, match="continuous"):
            learner.partial_fit(X, np.linspace(0, 1, len(X)))


def test_exact_repeats_are_not_stored_by_mira(data: Any) -> None:
    X, y = data
    once = MIRA(gamma=1.0, beta=0.3).fit(X, y)
    twice = MIRA(gamma=1.0, beta=0.3).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert (twice.support_ // 3).tolist() == once.support_.tolist()
    assert np.abs(twice.coefficients_).min() > 1e-12


def test_exact_repeats_are_not_stored_by_pa(data: Any) -> None:
    X, y = data
    for kernel in ({"gamma": 1.0}, {"kernel": "linear"}):
        once = PassiveAggressive(C=1e6, **kernel).fit(X, y)
        twice = PassiveAggressive(C=1e6, **kernel).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
        assert (twice.support_ // 2).tolist() == once.support_.tolist()
        assert (twice.margins_[1::2] >= 1.0).all()
