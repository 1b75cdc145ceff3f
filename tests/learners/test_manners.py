"""scikit-learn's conventions beyond its own checks: defaults, sparse inputs, spellings, and what is refused."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from budgetbench.errors import ParameterError
from budgetbench.kernels import RBF
from budgetbench.learners import (
    FOGD,
    BudgetPerceptron,
    Forgetron,
    KernelMatchingPursuit,
    Perceptron,
    Projectron,
    TighterBudgetPerceptron,
    learners,
)


@pytest.fixture
def data() -> tuple[Any, Any]:
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 4)).astype(np.float32)
    X[random.random(X.shape) < 0.5] = 0
    return X, np.digitize(X[:, 0] + 0.2 * random.normal(size=200), [-0.4, 0.4])


def test_every_learner_has_defaults(data: Any) -> None:
    X, y = data
    for name in learners:
        model: Any = learners[name]().fit(X[:60], y[:60] > 0)
        assert model.score(X[:60], y[:60] > 0) > 0.5, name
    assert BudgetPerceptron().fit(X, y == 1).outcome().size <= 100
    assert Projectron().fit(X, y == 1).sizes_.tolist() == Projectron(budget=100).fit(X, y == 1).sizes_.tolist()


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_matrix"])
def test_sparse_rows_are_learnt_from_as_arrays_are(kind: str, data: Any) -> None:
    X, y = data
    S = getattr(sparse, kind)(X)
    for learner in (Forgetron(budget=20), KernelMatchingPursuit(budget=5)):
        expected = learner.fit(X, y).decision_function(X)
        assert np.array_equal(learner.fit(S, y).decision_function(S), expected)
    half = Perceptron().partial_fit(S.tocsr()[:90], y[:90], classes=[0, 1, 2]).partial_fit(S.tocsr()[90:], y[90:])
    assert np.array_equal(half.predict(S), Perceptron().fit(X, y).predict(X))


def test_kernels_are_spelt_as_in_scikit_learn(data: Any) -> None:
    X, y = data
    poly = Perceptron(kernel="poly", degree=2, coef0=1.0, gamma=0.5).fit(X, y)
    assert np.array_equal(
        poly.decision_function(X),
        Perceptron(kernel="polynomial", degree=2, coef0=1.0, gamma=0.5).fit(X, y).decision_function(X),
    )
    for labels in (y, y > 0):
        scale = Perceptron(gamma="scale").fit(X, labels)
        given = Perceptron(gamma=float(1 / (X.shape[1] * X.astype(np.float64).var()))).fit(X, labels)
        np.testing.assert_allclose(scale.decision_function(X), given.decision_function(X), atol=1e-5)


def test_numbers_of_numpy_are_numbers(data: Any) -> None:
    X, y = data
    model = Forgetron(budget=np.int8(20), gamma=np.float32(0.5)).fit(X, y)
    assert np.array_equal(model.predict(X), Forgetron(budget=20, gamma=0.5).fit(X, y).predict(X))


def test_weights_of_examples_are_refused_with_a_reason(data: Any) -> None:
    X, y = data
    for teach in (Perceptron().fit, Perceptron().partial_fit, KernelMatchingPursuit().fit):
        with pytest.raises(TypeError, match="sample_weight: found weights; accepted: None, as the papers' rules"):
            teach(X, y, sample_weight=np.ones(len(X)))
        with pytest.raises(TypeError, match="sample_weights: found an argument"):
            teach(X, y, sample_weights=None)
    Perceptron().fit(X, y, sample_weight=None)


def test_a_search_over_a_pipeline_of_more_classes(data: Any) -> None:
    X, y = data
    search = GridSearchCV(make_pipeline(StandardScaler(), Forgetron()), {"forgetron__budget": [2, 60]}, cv=3)
    assert search.fit(X, y).best_params_ == {"forgetron__budget": 60}


def test_what_may_change_may_change_for_more_classes(data: Any) -> None:
    X, y = data
    model = Forgetron(budget=20).partial_fit(X, y)
    assert model.set_params(budget=5).partial_fit(X, y).n_support_ <= 15
    with pytest.raises(ParameterError, match="gamma"):
        model.set_params(gamma=3.0).partial_fit(X, y)
    assert model.set_params(gamma=None).fit(X, y > 0).decision_function(X).shape == (200,)


def test_boundaries_of_more_classes_are_drawn(data: Any) -> None:
    X, y = data
    model = Forgetron(budget=20).fit(X[:, :2], y)
    assert DecisionBoundaryDisplay.from_estimator(model, X[:, :2], grid_resolution=10).response.shape[:2] == (10, 10)


def test_a_stream_without_end_is_not_kept_unless_that_is_asked_for(data: Any) -> None:
    X, y = data
    parts, sampled = (
        TighterBudgetPerceptron(budget=4, random_state=1),
        TighterBudgetPerceptron(budget=4, evaluate="random", evaluation_size=40, random_state=1),
    )
    for rows in np.split(np.arange(len(X)), [1, 70]):
        parts.partial_fit(X[rows], y[rows] > 0, classes=[False, True])
    assert np.array_equal(parts.decision_function(X), sampled.fit(X, y > 0).decision_function(X))
    whole, asked = TighterBudgetPerceptron(budget=4), TighterBudgetPerceptron(budget=4, evaluate="all")
    assert np.array_equal(whole.fit(X, y > 0).support_, asked.fit(X, y > 0).support_)
    assert len(whole.partial_fit(X[:9], y[:9] > 0).kept()) <= 44
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(asked.partial_fit(X[:9], y[:9] > 0).kept()) == 209


def test_frequencies_bound_memory(data: Any) -> None:
    X, y = data
    model = FOGD(n_components=20)
    sizes = {len(pickle.dumps(model.partial_fit(X[rows : rows + 20], y[rows : rows + 20], classes=[0, 1, 2])))
             for rows in range(0, 200, 20)}  # fmt: skip
    assert max(sizes) - min(sizes) < 100


@pytest.mark.parametrize("name", learners)
@pytest.mark.parametrize("rule", ["scale", "median"])
def test_the_rows_tell_the_width(name: str, rule: str, data: Any) -> None:
    X, y = data
    gamma = RBF.made({"gamma": rule}).told_by(X[:80]).gamma
    told: Any = learners[name](gamma=rule, random_state=1)
    given: Any = learners[name](gamma=gamma, random_state=1)
    for labels in (y[:80], y[:80] > 0):
        assert np.array_equal(
            told.fit(X[:80], labels).decision_function(X), given.fit(X[:80], labels).decision_function(X)
        )
    if not learners[name].batch:
        told.partial_fit(X[:80], labels, classes=[False, True]).partial_fit(X[80:], y[80:] > 0)
