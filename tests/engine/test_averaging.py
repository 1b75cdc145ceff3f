"""The mean of all hypotheses against the hypotheses themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from budgetbench.engine import arrivals
from budgetbench.engine.kernel_access import Gram
from budgetbench.learners import Perceptron, Projectron, ProjectronPlusPlus

LEARNERS: list[tuple[type[Any], dict[str, Any]]] = [
    (Perceptron, {}),
    (Perceptron, {"beta": 0.3, "epochs": 3}),
    (Projectron, {"bound_budget": 20}),
    (Projectron, {"eta": 0.2, "epochs": 2}),
    (ProjectronPlusPlus, {"bound_budget": 20}),
    (ProjectronPlusPlus, {"budget": 8}),
]


@pytest.fixture
def stream() -> tuple[Any, Any, Any]:
    random = np.random.default_rng(7)
    X = random.normal(size=(120, 2)).astype(np.float32)
    return X, np.where(X[:, 0] + 0.7 * random.normal(size=120) > 0, 1, -1), random.normal(size=(30, 2))


@pytest.mark.parametrize(("learner", "parameters"), LEARNERS)
def test_it_is_the_mean_of_the_hypotheses_after_each_round(
    learner: Any, parameters: dict[str, Any], stream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, others = stream
    step = learner(**{**parameters, "epochs": 1}, gamma=0.8, average=True)
    values = []
    for t in range(len(X)):
        step.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        values.append(step.decision_function(others))
    expected = np.mean(values, axis=0)
    np.testing.assert_allclose(step.averaged_decision_function(others), expected, atol=1e-9)
    if "epochs" in parameters:
        return
    for block in (1024, 16):
        monkeypatch.setattr(arrivals, "BLOCK", block)
        model = learner(**parameters, gamma=0.8, average=True).fit(X, y)
        np.testing.assert_allclose(model.averaged_decision_function(others), expected, atol=1e-9)
        assert model.averaged_coefficients_.shape == (model.n_support_,)


@pytest.mark.parametrize(("learner", "parameters"), LEARNERS)
def test_it_is_the_same_with_a_gram_matrix_and_does_not_touch_the_learner(
    learner: Any, parameters: dict[str, Any], stream: Any
) -> None:
    X, y, _ = stream
    model = learner(**parameters, gamma=0.8, average=True).fit(X, y)
    plain = learner(**parameters, gamma=0.8).fit(X, y)
    assert model.coefficients_.tolist() == plain.coefficients_.tolist()
    other = learner(**parameters, gamma=0.8, average=True)
    other.start(np.array([-1, 1]), 2)
    other.learn(Gram(model._kernel.matrix(X, X), X), (y + 1) // 2, np.arange(len(X)))
    np.testing.assert_allclose(other.averaged_coefficients_, model.averaged_coefficients_, atol=1e-9)


def test_all_passes_count(stream: Any) -> None:
    X, y, others = stream
    twice = Perceptron(gamma=0.8, average=True, epochs=2).fit(X, y)
    step = Perceptron(gamma=0.8)
    values = []
    for t in [*range(len(X)), *range(len(X))]:
        step.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        values.append(step.decision_function(others))
    np.testing.assert_allclose(twice.averaged_decision_function(others), np.mean(values, axis=0), atol=1e-9)


def test_without_the_option_there_is_none(stream: Any) -> None:
    X, y, others = stream
    with pytest.raises(NotFittedError):
        Perceptron(gamma=0.8).fit(X, y).averaged_decision_function(others)
