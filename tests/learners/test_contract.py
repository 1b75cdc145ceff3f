"""What holds for every registered learner, whatever it is; a new one is found and tested without a word here."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator
from support.reads import pickled

from budgetbench.engine import arrivals
from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.engine.online import OnlineLearner, drive
from budgetbench.errors import ParameterError
from budgetbench.learners import KernelClassifier, learners
from budgetbench.learners.editing.neighbours import NeighbourClassifier
from budgetbench.parameters import choices

#: What may have to be said for a learner to be complete: tried one by one, then two by two.
EXTRAS: dict[str, Any] = {
    "budget": 7,
    "bound_budget": 7,
    "evaluation_size": 9,
    "size": "variable",
    "U": 1.0,
    "eta": 0.3,
    "neighbors": 3,
    "beta": 0.2,
}


def accepted(learner: type[KernelClassifier], wish: dict[str, Any]) -> dict[str, Any] | None:
    """`wish`, with whatever else it takes for the learner to accept it; None when nothing helps."""
    own = learner.own_parameters()
    extras = [name for name in EXTRAS if name in own and name not in wish]
    for size in range(3):
        for names in combinations(extras, size):
            values = wish | {name: EXTRAS[name] for name in names}
            try:
                learner.checked(values)
            except ParameterError:
                continue
            return values
    return None


@cache
def parameter_sets(name: str) -> tuple[dict[str, Any], ...]:
    """One set with a budget where there is one, then one for each choice that the learner offers."""
    learner = learners[name]
    own = learner.own_parameters()
    wishes: list[dict[str, Any]] = [{"budget": EXTRAS["budget"]}] if "budget" in own else [{}]
    for parameter, declared in own.items():
        for choice in (True, False) if declared.annotation is bool else choices(declared.annotation):
            wishes += [{parameter: choice, "budget": EXTRAS["budget"]}] if "budget" in own else []
            wishes += [{parameter: choice}]
    found: list[dict[str, Any]] = []
    for wish in [*wishes, {}]:
        values = accepted(learner, wish)
        complete = [learner.checked(one) for one in found]
        if values is not None and learner.checked(values) not in complete:
            found.append(values)
    assert found, f"no parameters found that {name} accepts: add to EXTRAS what it needs"
    return tuple(found)


CASES = [pytest.param(name, values, id=f"{name} {values}") for name in learners for values in parameter_sets(name)]
every = pytest.mark.parametrize(("name", "values"), CASES)
one_each = pytest.mark.parametrize(("name", "values"), [(name, parameter_sets(name)[0]) for name in learners])
ONLINE = [case for case in CASES if issubclass(learners[str(case.values[0])], OnlineLearner)]
every_online = pytest.mark.parametrize(("name", "values"), ONLINE)
EXPANSIONS = [case for case in CASES if not issubclass(learners[str(case.values[0])], NeighbourClassifier)]


def make(name: str, values: dict[str, Any], **more: Any) -> Any:
    return learners[name](**({"kernel": "rbf", "gamma": 0.8, "random_state": 3} | values | more))


def noisy(n: int = 110, seed: int = 0, features: int = 3) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, features)).astype(np.float32)
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.7, 1, -1)
    y[random.random(n) < 0.15] *= -1
    X[5], y[5] = X[2], -y[2]  # one row twice, with either label
    return X, y


def state(model: Any) -> list[Any]:
    return [model.support_.tolist(), np.asarray(model.coefficients_).tolist(), np.asarray(model.intercept_).tolist()]


def test_the_suite_has_found_the_learners() -> None:
    assert {"perceptron", "budget_perceptron", "tighter_budget_perceptron", "svm"} <= set(learners)
    assert {"size": "variable", "update": "mira"} not in parameter_sets("perceptron")
    assert any(values.get("removal") == "before_insertion" for values in parameter_sets("tighter_budget_perceptron"))


@every
def test_fitting_again_repeats_and_leaves_everything_as_it_was(name: str, values: dict[str, Any]) -> None:
    X, y = noisy()
    kept_X, kept_y = X.copy(), y.copy()
    model = make(name, values)
    before = model.get_params()
    first = state(model.fit(X, y))
    decisions = model.decision_function(X)
    assert state(model.fit(X, y)) == first
    assert np.array_equal(model.decision_function(X), decisions)
    assert model.get_params() == before
    assert np.array_equal(X, kept_X)
    assert np.array_equal(y, kept_y)


@every
def test_read_only_and_odd_shaped_inputs_are_accepted(name: str, values: dict[str, Any], tmp_path: Path) -> None:
    X, y = noisy()
    expected = state(make(name, values).fit(X, y))
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    frozen = y.copy()
    frozen.flags.writeable = False
    for inputs in (mapped, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X.astype(np.float64), X.tolist()):
        assert state(make(name, values).fit(inputs, frozen)) == expected


@every
def test_negated_labels_negate_every_decision_value(name: str, values: dict[str, Any]) -> None:
    X, y = noisy()
    one, other = make(name, values).fit(X, y), make(name, values).fit(X, -y)
    signed, negated = one.decision_function(X), -other.decision_function(X)
    if learners[name].batch:  # a solver stops near the optimum
        np.testing.assert_allclose(signed, negated, atol=1e-2)
    else:
        assert np.array_equal(signed, negated)


@every
def test_pickle_and_joblib_round_trip(name: str, values: dict[str, Any], tmp_path: Path) -> None:
    X, y = noisy()
    model = make(name, values).fit(X, y)
    joblib.dump(model, tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model")):
        assert np.array_equal(copy.decision_function(X), model.decision_function(X))
        assert state(copy.fit(X, y)) == state(model)


@every_online
def test_a_pickled_learner_goes_on_learning(name: str, values: dict[str, Any]) -> None:
    X, y = noisy()
    whole = make(name, values).fit(X, y)
    half = make(name, values).partial_fit(X[:50], y[:50], classes=[-1, 1])
    rest = pickle.loads(pickle.dumps(half)).partial_fit(X[50:], y[50:])
    assert rest.support_.tolist() == whole.support_.tolist()
    assert rest.coefficients_.tolist() == whole.coefficients_.tolist()


@every
def test_parameters_are_scikit_learns(name: str, values: dict[str, Any]) -> None:
    model = make(name, values)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert {"kernel", "gamma", *learners[name].own_parameters()} <= set(model.get_params())
    assert copy.set_params(gamma=0.1).gamma == 0.1
    assert not hasattr(clone(model.fit(*noisy())), "support_")


@every
def test_zero_rows_and_labels_of_any_kind(name: str, values: dict[str, Any]) -> None:
    X, y = noisy()
    X[::9] = 0
    X /= 1.01 * np.linalg.norm(X, axis=1).max()  # some learners need K(x, x) ≤ 1
    for kernel in ({"kernel": "linear", "gamma": None}, {"kernel": "polynomial", "degree": 2}, {}):
        model = make(name, values, **kernel).fit(X, np.where(y > 0, "yes", "no"))
        assert model.classes_.tolist() == ["no", "yes"]
        assert np.isfinite(model.coefficients_).all()
        assert np.isfinite(model.decision_function(X)).all()
        assert set(model.predict(X)) <= {"no", "yes"}


@pytest.mark.parametrize(("name", "values"), EXPANSIONS)
def test_the_support_set_is_what_the_decision_is_made_of(name: str, values: dict[str, Any]) -> None:
    X, y = noisy()
    model = make(name, values).fit(X, y)
    assert model.n_support_ == len(model.support_) == len(model.support_vectors_) == len(model.coefficients_)
    assert len(set(model.support_.tolist())) == model.n_support_
    assert np.array_equal(model.support_vectors_, X[model.support_])
    K = np.exp(-0.8 * ((X[:, None] - model.support_vectors_[None]) ** 2).sum(axis=2, dtype=np.float64))
    coefficients = np.asarray(model.coefficients_)
    values_ = K @ coefficients + model.intercept_
    if values_.ndim == 2:
        values_ = values_[:, 1] - values_[:, 0] if values_.shape[1] == 2 else values_[:, 0]
    found = model.decision_function(X)
    scale = max(1.0, float(np.abs(coefficients).sum()))
    np.testing.assert_allclose(found, values_, atol=1e-5 * scale)


# -- the budget and the counts ------------------------------------------------------------------------------------


def budget_of(name: str, values: dict[str, Any]) -> int | None:
    return learners[name].checked(values).get("budget")


BUDGETED = [case for case in CASES if budget_of(*case.values) is not None]  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "values"), BUDGETED)
def test_the_budget_is_never_exceeded(name: str, values: dict[str, Any]) -> None:
    budget = budget_of(name, values)
    assert budget is not None
    X, y = noisy()
    model = make(name, values).fit(X, y)
    assert model.n_support_ <= budget
    if isinstance(model, OnlineLearner):
        assert model.sizes_.max() <= budget
        stepwise = make(name, values)
        for row in range(len(X)):
            stepwise.partial_fit(X[row : row + 1], y[row : row + 1], classes=[-1, 1])
            assert stepwise.n_support_ == model.sizes_[row] <= budget


@every_online
def test_counts_add_up(name: str, values: dict[str, Any]) -> None:
    X, y = noisy()
    for epochs in (3, 1):
        model = make(name, values, epochs=epochs).fit(X, y)
        found = model.outcome()
        assert found.insertions - found.removals == found.size == model.n_support_
        assert len(found.rounds.margins) == len(found.rounds.sizes) == len(X)
        assert found.mistakes == np.count_nonzero(found.rounds.margins <= 0) <= found.margin_errors
        assert (np.diff(found.rounds.sizes) <= 1).all()
        assert found.kernel_evaluations >= 0
        assert found.points.examples.dtype == np.int64
    assert model.sizes_[-1] == model.n_support_
    assert (np.diff(model.support_) > 0).all(), "support_ is in the order in which examples arrived"


#: Bytes that a pickle may have more than is counted: for single numbers and names, for the numbers of an example.
NAMES, NUMBERS = 3000, 60


@every
def test_model_bytes_are_those_of_a_pickle_of_what_prediction_reads(name: str, values: dict[str, Any]) -> None:
    X, y = noisy(features=40)
    model = make(name, values, gamma=0.01).fit(X, y)
    size = pickled(model, lambda model: model.decision_function(X))
    assert 0 < model.outcome().model_bytes <= size <= model.outcome().model_bytes + NAMES


@every_online
def test_state_bytes_are_those_of_a_pickle_of_what_learning_goes_on_from(name: str, values: dict[str, Any]) -> None:
    X, y = noisy(50, features=40)
    model = make(name, values, gamma=0.01)
    for row in range(len(X)):  # one by one, so that there is no room to spare for more
        model.partial_fit(X[row : row + 1], y[row : row + 1], classes=[-1, 1])
    found, kept = model.outcome(), len(model.kept())
    size = pickled(model, lambda model: model.partial_fit(X[:1], y[:1]))
    assert found.model_bytes <= found.state_bytes <= size <= 1.1 * found.state_bytes + NUMBERS * kept + NAMES


@every_online
def test_sizes_do_not_depend_on_how_the_examples_came(name: str, values: dict[str, Any]) -> None:
    X, y = noisy()
    fitted = make(name, values).fit(X, y).outcome()
    parts = make(name, values)
    for rows in np.split(np.arange(len(X)), [1, 2, 40, 47]):
        parts.partial_fit(X[rows], y[rows], classes=[-1, 1])
    gram = make(name, values)
    gram.start(np.array([-1, 1]), X.shape[1])
    gram.learn(Gram(gram._kernel.matrix(X, X), X), (y + 1) // 2, np.arange(len(X)))
    for found in (parts.outcome(), gram.outcome()):
        assert (found.model_bytes, found.state_bytes) == (fitted.model_bytes, fitted.state_bytes)


@every_online
def test_learning_in_parts_is_learning(name: str, values: dict[str, Any]) -> None:
    X, y = noisy()
    whole = make(name, values).fit(X, y)
    parts = make(name, values)
    for rows in np.split(np.arange(len(X)), [1, 2, 40, 47]):
        parts.partial_fit(X[rows], y[rows], classes=[-1, 1])
        assert parts.sizes_.tolist() == whole.sizes_[rows].tolist()
        np.testing.assert_allclose(parts.margins_, whole.margins_[rows], atol=1e-12)
    assert parts.support_.tolist() == whole.support_.tolist()
    assert parts.coefficients_.tolist() == whole.coefficients_.tolist()
    for count in ("mistakes_", "insertions_", "removals_", "kernel_evaluations_"):
        assert getattr(parts, count) == getattr(whole, count), count


@every_online
def test_it_goes_on_after_a_fit_of_several_passes(name: str, values: dict[str, Any]) -> None:
    X, y = noisy()
    model = make(name, values, epochs=2).fit(X[:60], y[:60])
    for _ in range(2):
        model.partial_fit(X[60:], y[60:])
        assert len(model.margins_) == len(model.sizes_) == 50
    assert len(set(model.support_.tolist())) == model.n_support_
    assert np.array_equal(np.concatenate([X, X[60:]])[model.support_], model.support_vectors_)


@every_online
def test_a_learner_does_not_notice_who_else_learns(
    name: str, values: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "BLOCK", 16)
    X, y = noisy()
    order = np.random.default_rng(1).permutation(len(X))
    labels = (y + 1) // 2

    def started(*which: tuple[str, dict[str, Any], int]) -> list[Any]:
        models = [make(*one[:2], epochs=one[2]) for one in which]
        for model in models:
            model.start(np.array([-1, 1]), X.shape[1])
        return models

    (alone,) = started((name, values, 2))
    drive([alone], Streamed(alone._kernel, X), labels, order)
    others = [("perceptron", {"beta": 0.5}, 3), ("budget_perceptron", {"budget": 3}, 1)]
    cohort = started(others[0], (name, values, 2), others[1])
    drive(cohort, Streamed(alone._kernel, X), labels, order)
    assert state(cohort[1]) == state(alone)
    assert cohort[1].margins_.tolist() == alone.margins_.tolist()


@every
def test_a_gram_matrix_and_a_stream_give_the_same(name: str, values: dict[str, Any]) -> None:
    X, y = noisy()
    order = np.random.default_rng(1).permutation(len(X))
    found = []
    for gram in (True, False):
        model = make(name, values)
        model.start(np.array([-1, 1]), X.shape[1])
        kernel = model._kernel
        model.learn(Gram(kernel.matrix(X, X), X) if gram else Streamed(kernel, X), (y + 1) // 2, order)
        found.append(model)
    one, other = found
    assert state(one) == state(other)
    assert np.array_equal(one.decision_function(X), other.decision_function(X))


# -- wrong use ----------------------------------------------------------------------------------------------------


@one_each
def test_unfitted_use_is_a_clear_error(name: str, values: dict[str, Any]) -> None:
    model = make(name, values)
    for use in (model.predict, model.decision_function):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            use([[0.0, 0.0, 0.0]])
    with pytest.raises(NotFittedError):
        _ = model.n_support_


def wrong_fits() -> Iterator[Any]:
    X, y = noisy(30)
    holes = X.copy()
    holes[3, 1] = np.nan
    yield pytest.param(X, np.ones(30), r"one class|1 class|classes", id="one class")
    yield pytest.param(holes, y, "NaN", id="NaN")
    yield pytest.param(np.where(np.isnan(holes), np.inf, holes), y, "infinity", id="infinity")
    yield pytest.param(X, y[:20], r"inconsistent numbers of samples", id="lengths")
    yield pytest.param(X[:, 0], y, "2D array", id="one dimension")
    yield pytest.param(X, np.linspace(0, 1, 30), r"continuous|Unknown label type", id="a number to predict")


@one_each
@pytest.mark.parametrize(("X", "y", "message"), list(wrong_fits()))
def test_wrong_data_is_refused(name: str, values: dict[str, Any], X: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(name, values).fit(X, y)


@pytest.mark.parametrize(("X", "y", "message"), list(wrong_fits())[:-1])
@pytest.mark.parametrize(("name", "values"), [case.values for case in ONLINE if case.values[1] is not None][:3])
def test_wrong_parts_are_refused(name: str, values: dict[str, Any], X: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(name, values).partial_fit(X, y)


@one_each
def test_another_number_of_inputs_is_refused(name: str, values: dict[str, Any]) -> None:
    X, y = noisy()
    model = make(name, values).fit(X, y)
    with pytest.raises(ValueError, match="expecting 3 features"):
        model.predict(X[:, :2])
    if isinstance(model, OnlineLearner):
        with pytest.raises(ValueError, match="expecting 3 features"):
            model.partial_fit(X[:, :2], y)
        with pytest.raises(ValueError, match="none of the classes"):
            model.partial_fit(X, y + 7)


@one_each
def test_three_classes_are_learnt_or_refused(name: str, values: dict[str, Any]) -> None:
    X, y = noisy()
    y = np.where(X[:, 2] > 0.8, 2, y)
    if not learners[name].multiclass:
        with pytest.raises(ValueError, match="Only binary classification is supported"):
            make(name, values).fit(X, y)
        return
    model = make(name, values).fit(X, y)
    assert model.classes_.tolist() == [-1, 1, 2]
    assert model.decision_function(X).shape == (len(X), 3)
    assert np.mean(model.predict(X) == y) > 0.5


@one_each
def test_wrong_parameters_are_refused_when_fitting(name: str, values: dict[str, Any]) -> None:
    X, y = noisy()
    for wrong in ({"kernel": "sigmoid"}, {"gamma": -1.0}, {"gamma": 1.0, "sigma": 1.0}):
        with pytest.raises(ParameterError):
            make(name, values, **wrong).fit(X, y)
    if "budget" in learners[name].own_parameters():
        for budget in (0, -3, 2.5, "many", True):
            with pytest.raises(ParameterError, match="budget"):
                make(name, values, budget=budget).fit(X, y)
    with pytest.raises(ParameterError, match="bugdet"):
        learners[name].checked(values | {"bugdet": 3})


@one_each
def test_scikit_learns_own_checks(name: str, values: dict[str, Any]) -> None:
    check_estimator(learners[name](**values), on_skip=None, on_fail="raise")
