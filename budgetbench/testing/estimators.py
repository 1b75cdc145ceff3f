"""What an estimator of another package has to do to be run as a learner; see `budgetbench.foreign`."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from budgetbench.errors import ParameterError
from budgetbench.foreign import ForeignLearner
from budgetbench.testing.cases import Case, noisy, refused, three_classes


def the_same_seed_gives_the_same(case: Case) -> None:
    X, y = noisy()
    one, other = case.make().fit(X, y), case.make().fit(X, y)
    assert np.array_equal(one.decision_function(X), other.decision_function(X)), "a second instance decides otherwise"
    assert one.outcome().mistakes == other.outcome().mistakes


def inputs_and_labels_are_left_as_they_are(case: Case) -> None:
    X, y = noisy()
    kept_X, kept_y = X.copy(), y.copy()
    X.flags.writeable = y.flags.writeable = False
    case.make().fit(X, y).predict(X)
    assert np.array_equal(X, kept_X)
    assert np.array_equal(y, kept_y)


def labels_of_any_kind_are_learnt(case: Case) -> None:
    X, y = noisy()
    numbers = case.make().fit(X, y).predict(X)
    words = case.make().fit(X, np.where(y > 0, "yes", "no")).predict(X)
    assert set(words) <= {"no", "yes"}
    assert np.array_equal(words == "yes", numbers == 1), "what labels are called makes a difference"


def predicting_changes_nothing(case: Case) -> None:
    X, y = noisy()
    model = case.make().fit(X, y)
    first = model.decision_function(X)
    model.predict(X[::-1])
    assert np.array_equal(model.decision_function(X), first)


def each_example_is_predicted_before_it_is_learnt(case: Case) -> None:
    X, y = noisy()
    for chunk in (1, 7, 500):
        found = case.make(chunk=chunk).fit(X, y).outcome()
        assert len(found.rounds.margins) == len(X)
        assert found.mistakes == np.count_nonzero(found.rounds.margins <= 0)
    assert found.mistakes == len(X), "nothing can be right before anything is learnt"


def a_pickle_decides_alike(case: Case) -> None:
    X, y = noisy()
    model = case.make().fit(X, y)
    driver: Any = model._driver
    driver.estimator = pickle.loads(pickle.dumps(driver.estimator))
    assert np.array_equal(model.decision_function(X), case.make().fit(X, y).decision_function(X))
    assert model.outcome().model_bytes > 0


def three_classes_are_learnt_or_refused(case: Case) -> None:
    X, y = three_classes()
    if not case.learner.multiclass:
        with refused(ValueError, "Only binary classification is supported"):
            case.make().fit(X, y)
        return
    try:
        model = case.make().fit(X, y)
    except ValueError:
        return
    assert model.decision_function(X).shape == (len(X), 3)
    assert set(model.predict(X)) <= {-1, 1, 2}


def an_unknown_parameter_is_refused(case: Case) -> None:
    assert issubclass(case.learner, ForeignLearner)
    if case.learner.parameters_for(["bugdet"]).keys() & {"bugdet"}:
        return  # it takes any name
    with refused(ParameterError, "bugdet"):
        case.learner.checked(case.values | {"bugdet": 3})
