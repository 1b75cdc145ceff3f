"""What a learner says to wrong data and wrong parameters; the last check is scikit-learn's own suite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from budgetbench.errors import ParameterError
from budgetbench.lazy import lazy
from budgetbench.testing.cases import Case, noisy, refused

estimator_checks, exceptions = lazy("sklearn.utils.estimator_checks"), lazy("sklearn.exceptions")


def unfitted_use_is_a_clear_error(case: Case) -> None:
    model = case.make()
    for use in (model.predict, model.decision_function):
        with refused(exceptions.NotFittedError, "not fitted yet"):
            use([[0.0, 0.0, 0.0]])
    if case.stores:
        with refused(exceptions.NotFittedError, "not fitted yet"):
            _ = model.n_support_


def wrong_data() -> Iterator[tuple[Any, Any, str]]:
    """Inputs and labels that do not do, with words of which an error must say one."""
    X, y = noisy(30)
    holes = X.copy()
    holes[3, 1] = np.nan
    yield X, np.ones(30), "one class|1 class|classes"
    yield holes, y, "NaN"
    yield np.where(np.isnan(holes), np.inf, holes), y, "infinity"
    yield X, y[:20], "inconsistent numbers of samples"
    yield X[:, 0], y, "2D array"
    yield X, np.linspace(0, 1, 30), "continuous|Unknown label type"


def wrong_data_is_refused(case: Case) -> None:
    for X, y, words in wrong_data():
        with refused(ValueError, words):
            case.make().fit(X, y)
        if case.online and words != "continuous|Unknown label type":
            with refused(ValueError, words):
                case.make().partial_fit(X, y)


def another_number_of_inputs_is_refused(case: Case) -> None:
    X, y = noisy()
    model = case.make().fit(X, y)
    with refused(ValueError, "expecting 3 features"):
        model.predict(X[:, :2])
    if case.online:
        with refused(ValueError, "expecting 3 features"):
            model.partial_fit(X[:, :2], y)
        with refused(ValueError, "none of the classes"):
            model.partial_fit(X, y + 7)


def wrong_parameters_are_refused_when_fitting(case: Case) -> None:
    X, y = noisy()
    for wrong in ({"kernel": "sigmoid"}, {"gamma": -1.0}, {"gamma": 1.0, "sigma": 1.0}):
        with refused(ParameterError, "accepted"):
            case.make(**wrong).fit(X, y)
    if "budget" in case.learner.own_parameters():
        for budget in (0, -3, 2.5, "many", True):
            with refused(ParameterError, "budget"):
                case.make(budget=budget).fit(X, y)
    with refused(ParameterError, "bugdet"):
        case.learner.checked(case.values | {"bugdet": 3})


def it_passes_scikit_learns_own_checks(case: Case) -> None:
    as_it_comes = ... not in case.learner.defaults().values()
    model = case.learner() if as_it_comes else case.learner(**case.values)
    estimator_checks.check_estimator(model, on_skip=None, on_fail="raise")
