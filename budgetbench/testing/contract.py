"""What holds for every learner, whatever it is: each function is a check of one case, and says what it is about."""

from __future__ import annotations

import io
import pickle
from itertools import product
from typing import Any
from unittest import mock

import joblib
import numpy as np

from budgetbench.engine import arrivals
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.engine.online import drive
from budgetbench.kernels import RBF, Linear, Polynomial
from budgetbench.lazy import lazy
from budgetbench.learners import BudgetPerceptron, Perceptron
from budgetbench.testing.cases import Case, noisy, state, three_classes

base = lazy("sklearn.base")


def fitting_again_repeats_and_leaves_everything_as_it_was(case: Case) -> None:
    X, y = noisy()
    kept_X, kept_y = X.copy(), y.copy()
    model = case.make()
    before = model.get_params()
    first = state(model.fit(X, y))
    decisions = model.decision_function(X)
    assert state(model.fit(X, y)) == first
    assert np.array_equal(model.decision_function(X), decisions)
    assert model.get_params() == before
    assert np.array_equal(X, kept_X)
    assert np.array_equal(y, kept_y)


def read_only_and_odd_shaped_inputs_are_accepted(case: Case) -> None:
    X, y = noisy()
    expected = state(case.make().fit(X, y))
    frozen_X, frozen_y = X.copy(), y.copy()
    frozen_X.flags.writeable = frozen_y.flags.writeable = False
    for inputs in (frozen_X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X.astype(np.float64), X.tolist()):
        assert state(case.make().fit(inputs, frozen_y)) == expected


def negated_labels_negate_every_decision_value(case: Case) -> None:
    X, y = noisy()
    one, other = case.make().fit(X, y), case.make().fit(X, -y)
    signed, negated = one.decision_function(X), -other.decision_function(X)
    if case.learner.batch:  # a solver stops near the optimum
        np.testing.assert_allclose(signed, negated, atol=1e-2)
    else:
        assert np.array_equal(signed, negated)


def pickle_and_joblib_keep_it(case: Case) -> None:
    X, y = noisy()
    model = case.make().fit(X, y)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(file)):
        assert np.array_equal(copy.decision_function(X), model.decision_function(X))
        assert state(copy.fit(X, y)) == state(model)


def a_pickled_learner_goes_on_learning(case: Case) -> None:
    (X, y), make = noisy(), case.said.make
    whole = make().fit(X, y)
    half = make().partial_fit(X[:50], y[:50], classes=[-1, 1])
    rest = pickle.loads(pickle.dumps(half)).partial_fit(X[50:], y[50:])
    assert state(rest) == state(whole)


def parameters_are_scikit_learns(case: Case) -> None:
    model = case.make()
    copy = base.clone(model)
    assert copy.get_params() == model.get_params()
    assert {"kernel", "gamma", *case.learner.own_parameters()} <= set(model.get_params())
    assert copy.set_params(gamma=0.1).gamma == 0.1
    assert not base.clone(model.fit(*noisy())).__sklearn_is_fitted__()


def zero_rows_and_labels_of_any_kind_are_learnt(case: Case) -> None:
    X, y = noisy()
    X[::9] = 0
    X /= 1.01 * np.linalg.norm(X, axis=1).max()  # some learners need K(x, x) ≤ 1
    for kernel in filter(case.takes, (Linear(), Polynomial(degree=2), RBF(gamma=0.8))):
        model = case.make(kernel=kernel, gamma=None).fit(X, np.where(y > 0, "yes", "no"))
        assert model.classes_.tolist() == ["no", "yes"]
        assert np.isfinite(model.decision_function(X)).all()
        assert set(model.predict(X)) <= {"no", "yes"}


def three_classes_are_learnt(case: Case) -> None:
    X, y = three_classes()
    model = case.make().fit(X, y)
    assert model.classes_.tolist() == [-1, 1, 2]
    assert model.decision_function(X).shape == (len(X), 3)
    assert np.mean(model.predict(X) == y) > np.mean(y == -1)  # the largest class
    assert np.array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), model.decision_function(X))


def one_against_the_rest_is_a_learner_for_each_class(case: Case) -> None:
    X, y = three_classes()
    model = case.make().fit(X, y)
    values = model.decision_function(X)
    for k, label in enumerate(model.classes_):
        alone = case.make().fit(X, np.where(y == label, 1, -1)).decision_function(X)
        np.testing.assert_allclose(values[:, k], alone, atol=1e-12 * max(1.0, np.abs(alone).max()))


def three_classes_are_learnt_in_parts(case: Case) -> None:
    (X, y), make = three_classes(), case.said.make
    classes = np.unique(y)
    whole, parts = make().fit(X, y), make()
    for rows in np.split(np.arange(len(X)), [1, 2, 40, 47]):
        parts.partial_fit(X[rows], y[rows], classes=classes)
        assert parts.sizes_.tolist() == whole.sizes_[rows].tolist()
    for count in ("mistakes_", "insertions_", "removals_", "kernel_evaluations_"):
        assert getattr(parts, count) == getattr(whole, count), count
    assert np.array_equal(parts.decision_function(X), whole.decision_function(X))
    if case.stores:
        assert whole.insertions_ - whole.removals_ == whole.n_support_ == whole.sizes_[-1]
    if issubclass(case.learner, ExpansionLearner):
        assert len(set(whole.support_)) == whole.n_support_
        assert np.array_equal(whole.support_vectors_, X[whole.support_])
        assert (np.diff(whole.support_) > 0).all()


def three_classes_are_learnt_alike_however_the_stream_is_cut(case: Case) -> None:
    X, y = three_classes()
    classes, labels = np.unique(y, return_inverse=True)
    order = np.random.default_rng(1).permutation(len(X))
    counts, sizes, values = [], [], []
    for block, streamed in product((len(X), 16, 7), (False, True)):
        model = case.make(epochs=2)
        if not case.learner.multiclass:
            model = model.against_the_rest(model)
        model.start(classes, X.shape[1])
        kernel = model._kernel
        with mock.patch.object(arrivals, "BLOCK", block):
            model.learn(Streamed(kernel, X) if streamed else Gram(kernel.matrix(X, X), X, kernel), labels, order)
        found = model.outcome()
        if case.stores:
            assert found.insertions - found.removals == found.size == len(found.points.examples)
        counts.append((found.mistakes, found.insertions, found.removals, found.size, found.kernel_evaluations))
        sizes.append(found.rounds.sizes.tolist())
        values.append(model.decision_function(X))
    assert len(set(counts)) == 1
    assert all(one == sizes[0] for one in sizes)
    for gram, stream in zip(values[::2], values[1::2], strict=True):
        assert np.array_equal(gram, stream)
        # what comes again in a second pass may be added up elsewhere
        np.testing.assert_allclose(gram, values[0], atol=1e-12 * max(1.0, np.abs(gram).max()))


def the_support_set_is_what_the_decision_is_made_of(case: Case) -> None:
    X, y = noisy()
    model = case.make().fit(X, y)
    assert model.n_support_ == len(model.support_) == len(model.support_vectors_) == len(model.coefficients_)
    assert_examples_are_stored(model, X)
    K = np.exp(-0.8 * ((X[:, None] - model.support_vectors_[None]) ** 2).sum(axis=2, dtype=np.float64))
    coefficients = np.asarray(model.coefficients_)
    values = K @ coefficients + model.intercept_
    if values.ndim == 2:
        values = values[:, 1] - values[:, 0] if values.shape[1] == 2 else values[:, 0]
    scale = max(1.0, float(np.abs(coefficients).sum()))
    np.testing.assert_allclose(model.decision_function(X), values, atol=1e-5 * scale)


def assert_examples_are_stored(model: Any, X: Any) -> None:
    """What is stored are rows of X, each once, but for points that are no examples: their number is -1."""
    examples = model.support_ >= 0
    assert len(set(model.support_[examples].tolist())) == np.count_nonzero(examples)
    assert np.array_equal(model.support_vectors_[examples], X[model.support_[examples]])


# -- the budget and the counts ------------------------------------------------------------------------------------


def the_budget_is_never_exceeded(case: Case) -> None:
    budget = case.budget
    assert budget is not None
    X, y = noisy()
    model = case.make().fit(X, y)
    assert model.outcome().size <= budget
    if case.online:
        assert model.sizes_.max() <= budget
        stepwise = case.said.make()
        for row in range(len(X)):
            stepwise.partial_fit(X[row : row + 1], y[row : row + 1], classes=[-1, 1])
            assert stepwise.outcome().size == model.sizes_[row] <= budget


def counts_add_up(case: Case) -> None:
    X, y = noisy()
    for epochs in (3, 1):
        model = case.make(epochs=epochs).fit(X, y)
        found = model.outcome()
        assert len(found.rounds.margins) == len(found.rounds.sizes) == len(X)
        assert found.mistakes == np.count_nonzero(found.rounds.margins <= 0) <= found.margin_errors
        assert found.kernel_evaluations >= 0
        assert found.points.examples.dtype == np.int64
        if found.insertions is not None:
            assert (np.diff(found.rounds.sizes) <= 1).all()
        if case.stores:
            assert found.insertions - found.removals == found.size == model.n_support_
    assert model.sizes_[-1] == found.size
    if case.stores:
        examples = model.support_[model.support_ >= 0]
        assert (np.diff(examples) > 0).all(), "support_ is in the order in which examples arrived"


def learning_in_parts_is_learning(case: Case) -> None:
    (X, y), make = noisy(), case.said.make
    whole = make().fit(X, y)
    parts = make()
    for rows in np.split(np.arange(len(X)), [1, 2, 40, 47]):
        parts.partial_fit(X[rows], y[rows], classes=[-1, 1])
        assert parts.sizes_.tolist() == whole.sizes_[rows].tolist()
        np.testing.assert_allclose(parts.margins_, whole.margins_[rows], atol=1e-12)
    assert state(parts) == state(whole)
    for count in ("mistakes_", "insertions_", "removals_", "kernel_evaluations_"):
        assert getattr(parts, count) == getattr(whole, count), count


def it_goes_on_after_a_fit_of_several_passes(case: Case) -> None:
    X, y = noisy()
    model = case.make(epochs=2).fit(X[:60], y[:60])
    for _ in range(2):
        model.partial_fit(X[60:], y[60:])
        assert len(model.margins_) == len(model.sizes_) == 50
    if case.stores:
        assert_examples_are_stored(model, np.concatenate([X, X[60:]]))


def a_learner_does_not_notice_who_else_learns(case: Case) -> None:
    X, y = noisy()
    order, labels = np.random.default_rng(1).permutation(len(X)), (y + 1) // 2
    with mock.patch.object(arrivals, "BLOCK", 16):
        alone = case.started(3, epochs=2)
        drive([alone], Streamed(alone._kernel, X), labels, order)
        others: list[Any] = [Case(Perceptron, {"beta": 0.5, "epochs": 3}), Case(BudgetPerceptron, {"budget": 3})]
        first, second = (other.started(3) for other in others)
        shared = case.started(3, epochs=2)
        drive([first, shared, second], Streamed(alone._kernel, X), labels, order)
    assert state(shared) == state(alone)
    assert shared.margins_.tolist() == alone.margins_.tolist()


def a_gram_matrix_and_a_stream_give_the_same(case: Case) -> None:
    X, y = noisy()
    order = np.random.default_rng(1).permutation(len(X))
    one, other = case.started(3), case.started(3)
    kernel = one._kernel
    one.learn(Gram(kernel.matrix(X, X), X), (y + 1) // 2, order)
    other.learn(Streamed(kernel, X), (y + 1) // 2, order)
    assert state(one) == state(other)
    assert np.array_equal(one.decision_function(X), other.decision_function(X))
