"""Kernels given in Python as a function, or as the matrix of their values."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import kernels as sklearn_kernels
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from budgetbench.errors import NumericalError, ParameterError
from budgetbench.kernels import RBF
from budgetbench.learners import SVM, Perceptron, Projectron, learners

N, TRAINED = 150, 100
WHOLE = {"projectron", "projectron_plus_plus", "bsgd", "fogd"}
"""Those that no matrix is enough for."""


def whole_numbers(X: Any, Z: Any) -> Any:
    """A kernel whose values, and sums of a few, floating point holds exactly; none is above 1."""
    return np.minimum(np.rint(8 * X)[:, None], np.rint(8 * Z)[None]).sum(axis=2) / 512 + 0.5


@pytest.fixture
def data() -> tuple[Any, Any]:
    random = np.random.default_rng(4)
    X = random.normal(size=(N, 3)).astype(np.float32)
    return X, np.digitize(X[:, 0] * X[:, 1] + 0.2 * random.normal(size=N), [-0.4, 0.4])


def made(name: str, kernel: Any) -> Any:
    own = {"maintenance": "removal"} if name == "bsgd" else {}
    return learners[name](**own, kernel=kernel, random_state=0)


@pytest.mark.parametrize("name", sorted(set(learners) - WHOLE))
@pytest.mark.parametrize("several", [False, True])
def test_a_matrix_of_values_is_learnt_from_as_its_kernel_is(name: str, several: bool, data: Any) -> None:
    X, y = data
    labels = y if several else y > 0
    K = whole_numbers(X, X)
    function, matrix = made(name, whole_numbers), made(name, "precomputed")
    function.fit(X[:TRAINED], labels[:TRAINED])
    matrix.fit(K[:TRAINED, :TRAINED], labels[:TRAINED])
    found, expected = matrix.decision_function(K[:, :TRAINED]), function.decision_function(X)
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert np.array_equal(matrix.predict(K[:, :TRAINED]), function.predict(X))
    assert np.array_equal(matrix.support_, function.support_)
    assert matrix.n_features_in_ == TRAINED


@pytest.mark.parametrize("name", sorted(set(learners) - {"fogd"}))
def test_a_function_is_learnt_with_as_the_kernel_that_it_is(name: str, data: Any) -> None:
    X, y = data
    built_in = RBF(gamma=0.5)
    function, kernel = made(name, built_in.matrix), made(name, built_in)
    if name.startswith("projectron"):  # these ask for values in float64 too
        function = made(name, lambda X, Z: rbf_kernel(X, Z, gamma=0.5))
    found, expected = function.fit(X, y > 0).decision_function(X), kernel.fit(X, y > 0).decision_function(X)
    assert np.allclose(found, expected, atol=1e-4)


def test_kernels_of_scikit_learn_are_functions(data: Any) -> None:
    X, y = data
    for kernel in (laplacian_kernel, sklearn_kernels.RBF(2.0)):
        expected = SVC(kernel=kernel).fit(X, y == 1).decision_function(X)
        model = clone(SVM(kernel=kernel)).fit(X, y == 1)
        assert np.allclose(pickle.loads(pickle.dumps(model)).decision_function(X), expected, atol=1e-3)
        assert SVM(kernel=kernel).fit(X, y).predict(X).tolist() == SVC(kernel=kernel).fit(X, y).predict(X).tolist()


def test_a_function_goes_with_partial_fit(data: Any) -> None:
    X, y = data
    parts = Perceptron(kernel=whole_numbers).partial_fit(X[:60], y[:60], classes=[0, 1, 2]).partial_fit(X[60:], y[60:])
    assert np.array_equal(parts.decision_function(X), Perceptron(kernel=whole_numbers).fit(X, y).decision_function(X))


def test_folds_are_cut_from_both_sides_of_a_matrix(data: Any) -> None:
    X, y = data
    K = whole_numbers(X, X)
    for labels in (y, y > 0):
        by_matrix = cross_val_score(Perceptron(kernel="precomputed"), K, labels, cv=3)
        assert by_matrix.tolist() == cross_val_score(Perceptron(kernel=whole_numbers), X, labels, cv=3).tolist()


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_who_needs_inputs_refuses_a_matrix_with_a_reason(name: str, data: Any) -> None:
    X, y = data
    with pytest.raises(ParameterError, match=r"kernel: found 'precomputed'; accepted: .*nogd takes"):
        made(name, "precomputed").fit(X @ X.T, y > 0)


def test_what_is_no_matrix_of_kernel_values_is_refused(data: Any) -> None:
    X, y = data
    model = Perceptron(kernel="precomputed")
    with pytest.raises(ValueError, match=r"found values of shape \(150, 3\); accepted: a square matrix"):
        model.fit(X, y > 0)
    with pytest.raises(ValueError, match="accepted: a symmetric matrix"):
        model.fit(np.triu(X @ X.T), y > 0)
    with pytest.raises(ParameterError, match="accepted: a kernel of inputs in partial_fit"):
        model.partial_fit(X @ X.T, y > 0)
    with pytest.raises(ValueError, match="expecting 150 features"):
        model.fit(X @ X.T, y > 0).predict(X)


def test_what_is_no_kernel_is_refused(data: Any) -> None:
    X, y = data
    for function, error, message in (
        (lambda X, Z: X[:, 0], ValueError, r"found an array of shape \(\d+,\); accepted: one of shape"),
        (lambda X, Z: np.full((len(X), len(Z)), np.inf), NumericalError, "beyond what float32 can hold"),
        (lambda X, Z: X @ Z.T * np.nan, NumericalError, "no numbers"),
    ):
        with pytest.raises(error, match=message):
            Perceptron(kernel=function).fit(X, y > 0)
    for kernel in (whole_numbers, "precomputed", RBF(gamma=1.0)):
        with pytest.raises(ParameterError, match=r"gamma: found 1\.0; accepted: nothing where"):
            Projectron(kernel=kernel, gamma=1.0).fit(X @ X.T, y > 0)
