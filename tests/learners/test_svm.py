"""The SVM is scikit-learn's, whichever way it gets at kernel values; its solver makes libsvm's steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from budgetbench.engine.kernel_access import Gram, KernelAccess, Streamed
from budgetbench.kernels import make_kernel
from budgetbench.learners import SVM
from budgetbench.learners.svm import smo, svm

KERNEL = make_kernel("rbf", gamma=1.0)


def noisy(n: int) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Two classes that overlap."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3)).astype(np.float32)
    y = np.where(X[:, 0] + 0.5 * np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    X[: n // 10] = X[n // 2 : n // 2 + n // 10]  # some are there twice
    return X, y


def of_libsvm(X: NDArray[np.float32], y: NDArray[np.float64], C: float) -> tuple[NDArray[np.float64], float, int]:
    """Its coefficients, bias and steps."""
    machine = SVC(C=C, kernel="precomputed").fit(KERNEL.matrix(X, X).astype(np.float64), -y)
    alpha = np.zeros(len(y))
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    return alpha, -machine.intercept_[0], machine.n_iter_[0]


def gram(X: NDArray[np.float32]) -> KernelAccess:
    return Gram(KERNEL.matrix(X, X), X)


def streamed(X: NDArray[np.float32]) -> KernelAccess:
    return Streamed(KERNEL, X)


@pytest.mark.parametrize("access", [gram, streamed])
@pytest.mark.parametrize(("n", "C"), [(40, 1e9), (400, 0.05), (400, 1.0), (1200, 300.0)])
def test_the_solver_makes_the_steps_of_libsvm(access: Callable[..., KernelAccess], n: int, C: float) -> None:
    X, y = noisy(n)
    found = smo.solve(access(X), np.arange(n), y, C, 1e-3, 10**7)
    alpha, bias, steps = of_libsvm(X, y, C)
    assert found.steps == steps
    np.testing.assert_array_equal(found.alpha, alpha)
    assert found.bias == bias


def test_with_room_for_few_rows_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where examples are to take part again whose terms come of rows that have gone."""
    X, y = noisy(600)
    whole = smo.solve(streamed(X), np.arange(600), y, 30.0, 1e-3, 10**7)
    assert np.count_nonzero(whole.alpha) > 160
    monkeypatch.setattr(smo, "MOST", 40)
    monkeypatch.setattr(smo, "MEMORY_LIMIT", 0)
    asked: list[int] = []

    class Counted(Streamed):
        def between(self, rows: Any, columns: Any) -> Any:
            asked.append(len(rows))
            return super().between(rows, columns)

    few = smo.solve(Counted(KERNEL, X), np.arange(600), y, 30.0, 1e-3, 10**7)
    np.testing.assert_array_equal(few.alpha, whole.alpha)
    assert (few.bias, few.steps) == (whole.bias, whole.steps)
    assert max(asked) <= 40
    assert sum(asked) > 600


def test_rows_are_computed_for_examples_that_are_chosen_and_few_more() -> None:
    X, y = noisy(1200)
    X = np.float32(0.3) * (X + 4 * y[:, None].astype(np.float32))
    asked: list[int] = []

    class Counted(Streamed):
        def between(self, rows: Any, columns: Any) -> Any:
            asked.append(len(rows))
            return super().between(rows, columns)

    found = smo.solve(Counted(KERNEL, X), np.arange(1200), y, 1.0, 1e-3, 10**7)
    assert np.count_nonzero(found.alpha) <= sum(asked) <= 600


def test_where_no_coefficient_comes_to_c_a_larger_one_makes_no_difference() -> None:
    X, _ = noisy(300)
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    solutions = [smo.solve(gram(X), np.arange(300), y, C, 1e-3, 10**7) for C in (1.0, 1e7, 1e8)]
    assert [found.bounded for found in solutions] == [True, False, False]
    np.testing.assert_array_equal(solutions[1].alpha, solutions[2].alpha)
    assert (solutions[0].alpha <= 1.0).all()


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


def test_more_classes_are_as_in_libsvm() -> None:
    X, y = load_digits(return_X_y=True)
    X = (X[:600] / 16).astype(np.float32)
    kernel = make_kernel("rbf", gamma=0.05)
    K = kernel.matrix(X, X).astype(np.float64)
    model = SVM(C=2.0, gamma=0.05).fit(X[:400], y[:400])
    plain = SVC(C=2.0, kernel="precomputed").fit(K[:400, :400], y[:400])
    by_age = np.argsort(plain.support_)
    np.testing.assert_array_equal(model.support_, plain.support_[by_age])
    np.testing.assert_array_equal(model.coefficients_, plain.dual_coef_.T[by_age])
    np.testing.assert_array_equal(model.intercept_, plain.intercept_)
    np.testing.assert_array_equal(model.predict(X[400:]), plain.predict(K[400:, :400]))
    np.testing.assert_allclose(model.decision_function(X[400:]), plain.decision_function(K[400:, :400]), atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_solver_without_end_is_ended_and_says_what_to_do(classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on inputs that nobody scaled."""
    monkeypatch.setattr(svm, "MOST_STEPS", 50)
    monkeypatch.setattr(svm, "STEPS_PER_EXAMPLE", 0)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)).astype(np.float32) * 1000, rng.integers(classes, size=200)
    with pytest.raises(ArithmeticError, match=r"not solved after 50 steps: .*scale: standard"):
        SVM(C=100.0, kernel="linear").fit(X, y)
    monkeypatch.undo()
    assert SVM(C=0.01, kernel="linear").fit(X / 1000, y).n_support_ > 0


def test_a_class_of_which_no_example_came_is_never_predicted() -> None:
    X, y = load_digits(return_X_y=True)
    X, order = X[:300].astype(np.float32), np.flatnonzero(y[:300] != 3)
    model: Any = SVM(gamma=0.001)
    model.start(np.arange(10), X.shape[1])
    model.learn(Streamed(make_kernel("rbf", gamma=0.001), X), y[:300], order)
    predicted = model.predict(X)
    assert 3 not in predicted
    assert np.mean(predicted[order] == y[order]) > 0.98


def test_of_more_classes_votes_decide_what_is_wrong() -> None:
    X, y = load_digits(return_X_y=True)
    model = SVM(C=1.0, gamma=0.001).fit(X[:900], y[:900])
    wrong = model.errs(X[900:], y[900:])
    assert np.array_equal(wrong, model.predict(X[900:]) != y[900:])
    assert 0 < wrong.mean() < 0.1
