"""The multi-class SVM against general solvers and scikit-learn's linear one."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.svm import LinearSVC

from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.kernels import make_kernel
from budgetbench.learners import MulticlassSVM

Matrix = NDArray[np.float64]


def clouds(n: int, n_classes: int, seed: int, d: int = 3) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    random = np.random.default_rng([n, n_classes, seed])
    y = random.permutation(np.arange(n) % n_classes)
    return (random.normal(size=(n_classes, d))[y] + 0.8 * random.normal(size=(n, d))).astype(np.float32), y


def dual(alpha: Matrix, K: Matrix, y: NDArray[np.int64]) -> float:
    """½ Σᵢⱼ Kᵢⱼ αᵢ·αⱼ - Σᵢ αᵢ[yᵢ], to be minimised."""
    return float(0.5 * np.sum(alpha * (K @ alpha)) - alpha[np.arange(len(y)), y].sum())


def full(model: MulticlassSVM, n: int, n_classes: int) -> Matrix:
    alpha = np.zeros((n, n_classes))
    alpha[model.support_] = model.coefficients_
    return alpha


@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("seed", range(3))
def test_against_a_general_solver(C: float, seed: int) -> None:
    n, n_classes = 14, 3
    X, y = clouds(n, n_classes, seed)
    K = make_kernel("rbf", gamma=0.5).matrix(X, X).astype(np.float64)
    model = MulticlassSVM(C=C, kernel="rbf", gamma=0.5, tolerance=1e-8, sweeps=100000).fit(X, y)
    alpha = full(model, n, n_classes)
    right = np.eye(n_classes)[y]
    found = minimize(
        lambda a: dual(a.reshape(n, -1), K, y),
        np.zeros(n * n_classes),
        jac=lambda a: (K @ a.reshape(n, -1) - right).ravel(),
        method="SLSQP",
        bounds=[(None, C if r else 0.0) for r in right.ravel()],
        constraints={
            "type": "eq",
            "fun": lambda a: a.reshape(n, -1).sum(axis=1),
            "jac": lambda a: np.kron(np.eye(n), np.ones(n_classes)),
        },
        options={"ftol": 1e-12, "maxiter": 2000},
    )
    assert found.success
    assert dual(alpha, K, y) == pytest.approx(found.fun, abs=1e-6)
    assert dual(alpha, K, y) <= found.fun + 1e-9
    assert alpha == pytest.approx(found.x.reshape(n, -1), abs=2e-3)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_against_scikit_learns_linear_one(C: float) -> None:
    X, y = clouds(200, 4, 0, d=6)
    ours = MulticlassSVM(C=C, kernel="linear", tolerance=1e-5, sweeps=100000).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs = LinearSVC(multi_class="crammer_singer", C=C, fit_intercept=False, tol=1e-7, max_iter=200000)
        theirs.fit(X, y)
    weights = ours.coefficients_.T @ ours.support_vectors_
    assert weights == pytest.approx(theirs.coef_, abs=2e-3 * np.abs(theirs.coef_).max())
    assert np.mean(ours.predict(X) == theirs.predict(X)) >= 0.995


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_two_classes_are_the_binary_svm_without_bias(C: float) -> None:
    """With w₁ = -w₀ = w/2 the objective is half of the binary one's with 2C."""
    X, y = clouds(150, 2, 1)
    ours = MulticlassSVM(C=C, kernel="linear", tolerance=1e-6, sweeps=100000).fit(X, y)
    theirs = LinearSVC(loss="hinge", C=2 * C, fit_intercept=False, tol=1e-8, max_iter=1000000).fit(X, y)
    weights = ours.coefficients_ @ ours.support_vectors_
    assert weights == pytest.approx(theirs.coef_[0], abs=1e-3)


def test_is_feasible_and_as_near_to_optimal_as_it_says() -> None:
    X, y = clouds(300, 5, 2)
    model = MulticlassSVM(C=2.0, kernel="rbf", gamma=0.5, tolerance=0.01).fit(X, y)
    alpha, right = full(model, 300, 5), np.eye(5)[y]
    assert (alpha <= 2.0 * right).all()
    assert alpha.sum(axis=1) == pytest.approx(0, abs=1e-13)
    gradient = model.decision_function(X) - right
    lowest = np.where(alpha < 2.0 * right, gradient, np.inf).min(axis=1)
    assert (gradient.max(axis=1) - lowest).max() <= 0.011
    assert model.violation_ <= 0.01


def test_neither_the_order_nor_the_access_matters() -> None:
    X, y = clouds(120, 4, 3)
    kernel = make_kernel("rbf", gamma=0.5)
    gram, streamed = Gram(kernel.matrix(X, X), X), Streamed(kernel, X)
    outcomes = []
    for access, order in ((gram, np.arange(100)), (gram, np.arange(100)[::-1]), (streamed, np.arange(100))):
        model = MulticlassSVM(kernel="rbf", gamma=0.5)
        model.start(np.arange(4), X.shape[1])
        model.learn(access, y, order)
        outcomes.append((model.support_, model.coefficients_))
    for support, coefficients in outcomes[1:]:
        assert np.array_equal(support, outcomes[0][0])
        assert np.array_equal(coefficients, outcomes[0][1])


def test_stops_after_so_many_sweeps() -> None:
    X, y = clouds(120, 4, 3)
    model = MulticlassSVM(kernel="rbf", gamma=0.5, sweeps=2).fit(X, y)
    assert model.sweeps_ == 2
    assert model.violation_ > 0.01


@pytest.mark.parametrize("C", [0.3, 20.0])
def test_solved_in_pieces_it_is_the_same_machine(C: float, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = clouds(400, 4, 0)
    kernel = make_kernel("rbf", gamma=0.5)
    how: dict[str, Any] = {"C": C, "kernel": "rbf", "gamma": 0.5, "tolerance": 1e-7, "sweeps": 100000}
    whole = MulticlassSVM(**how).fit(X, y)
    room = whole.n_support_ + 5
    assert room < len(X)
    monkeypatch.setattr(sys.modules[MulticlassSVM.__module__], "MEMORY_LIMIT", 4 * room**2)
    asked: list[int] = []

    class Counted(Streamed):
        def between(self, rows: Any, columns: Any) -> Any:
            asked.append(len(rows) * len(columns))
            return super().between(rows, columns)

    pieces = MulticlassSVM(**how)
    pieces.start(np.arange(4), X.shape[1])
    pieces.learn(Counted(kernel, X), y, np.random.default_rng(1).permutation(len(X)))
    assert max(asked) < room**2
    assert full(pieces, 400, 4) == pytest.approx(full(whole, 400, 4), abs=1e-4 * C)
    K = kernel.matrix(X, X).astype(np.float64)
    assert dual(full(pieces, 400, 4), K, y) == pytest.approx(dual(full(whole, 400, 4), K, y), rel=1e-8)
    gradient = K @ full(pieces, 400, 4) - np.eye(4)[y]
    lowest = np.where(full(pieces, 400, 4) < C * np.eye(4)[y], gradient, np.inf).min(axis=1)
    assert (gradient.max(axis=1) - lowest).max() < 2e-6  # of all examples, those left out among them


def test_in_pieces_it_stops_after_so_many_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = clouds(120, 4, 3)
    monkeypatch.setattr(sys.modules[MulticlassSVM.__module__], "MEMORY_LIMIT", 4 * 110**2)
    model = MulticlassSVM(kernel="rbf", gamma=0.5, sweeps=2).fit(X, y)
    assert model.sweeps_ == 2
    assert model.violation_ > 0.01
