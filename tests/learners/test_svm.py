"""The SVM is scikit-learn's, whichever way it gets at kernel values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.kernels import make_kernel
from budgetbench.learners import SVM, svm


@pytest.mark.parametrize("C", [0.3, 3.0])
def test_two_classes_are_as_in_scikit_learn(problem: Any, continuous_stream: str, C: float) -> None:
    data = problem(continuous_stream, 0)
    model = SVM(C=C, **data.kernel).fit(data.X, data.y)
    kernel = {key: value for key, value in data.kernel.items() if key != "kernel"}
    name = {"polynomial": "poly"}.get(data.kernel["kernel"], data.kernel["kernel"])
    plain = SVC(C=C, kernel=name, **kernel).fit(data.X.astype(np.float64), data.y)
    np.testing.assert_allclose(model.decision_function(data.X), plain.decision_function(data.X), atol=0.02)
    assert np.mean(model.predict(data.X) == plain.predict(data.X)) > 0.98
    assert (np.diff(model.support_) > 0).all()
    ours, theirs = np.zeros(len(data.X)), np.zeros(len(data.X))
    ours[model.support_], theirs[plain.support_] = model.coefficients_, plain.dual_coef_[0]
    np.testing.assert_allclose(ours, theirs, atol=0.05 * max(C, 1.0))
    assert (np.abs(model.coefficients_) <= C * (1 + 1e-6)).all()


def test_the_order_of_the_examples_changes_nothing(problem: Any) -> None:
    data = problem("rbf", 1)
    labels = (data.y + 1) // 2
    kernel = make_kernel("rbf", gamma=0.7)
    for access in (Gram(kernel.matrix(data.X, data.X), data.X), Streamed(kernel, data.X)):
        found = []
        for order in (np.arange(len(data.X)), data.order):
            model: Any = SVM(gamma=0.7)
            model.start(np.array([-1, 1]), data.X.shape[1])
            model.learn(access, labels, order)
            found.append((model.support_.tolist(), model.coefficients_.tolist(), model.intercept_))
        assert found[0] == found[1]


def test_more_classes_one_against_one() -> None:
    X, y = load_digits(return_X_y=True)
    X, names = (X[:400] / 16).astype(np.float32), np.array([f"digit {label}" for label in y[:400]])
    model = SVM(C=5.0, gamma=0.05).fit(X, names)
    plain = SVC(C=5.0, gamma=0.05).fit(X, names)
    assert np.mean(model.predict(X) == plain.predict(X)) > 0.99
    assert model.decision_function(X).shape == (400, 10)
    assert np.mean(model.classes_[model.decision_function(X).argmax(axis=1)] == names) > 0.95
    assert model.n_support_ == len(model.support_vectors_)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_solver_without_end_is_ended_and_says_what_to_do(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on inputs that nobody scaled."""
    monkeypatch.setattr(svm, "MOST_STEPS", 50)
    monkeypatch.setattr(svm, "STEPS_PER_EXAMPLE", 0)
    monkeypatch.setattr(svm, "INTEL_STEPS", 2)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)).astype(np.float32) * 1000, rng.integers(classes, size=200)
    with pytest.raises(ArithmeticError, match=r"not solved after (50|2) steps: .*scale: standard"):
        SVM(C=100.0, kernel="linear").fit(X, y)
    monkeypatch.undo()
    assert SVM(C=0.01, kernel="linear").fit(X / 1000, y).n_support_ > 0


def test_of_more_classes_votes_decide_what_is_wrong() -> None:
    X, y = load_digits(return_X_y=True)
    model = SVM(C=1.0, gamma=0.001).fit(X[:900], y[:900])
    wrong = model.errs(X[900:], y[900:])
    assert np.array_equal(wrong, model.predict(X[900:]) != y[900:])
    assert 0 < wrong.mean() < 0.1
