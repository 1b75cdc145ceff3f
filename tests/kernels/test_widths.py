"""Widths that the training rows tell."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from budgetbench.errors import DataError
from budgetbench.kernels import RBF, Polynomial, make_kernel

X = np.random.default_rng(0).normal(2, 3, (40, 5)).astype(np.float32)


def test_median_is_one_over_the_median_squared_distance() -> None:
    Z = X.astype(np.float64)
    distances = [np.square(Z[i] - Z[j]).sum() for i in range(len(Z)) for j in range(i)]
    assert make_kernel("rbf", gamma="median").told_by(X) == RBF(float(f"{1 / np.median(distances):.6g}"))


def test_scale_is_that_of_scikit_learn() -> None:
    told = make_kernel("rbf", gamma="scale").told_by(X)
    fitted = SVC(gamma="scale").fit(X, np.arange(len(X)) % 2)
    assert told.plain["gamma"] == pytest.approx(fitted._gamma, rel=1e-5)
    polynomial = make_kernel("polynomial", degree=2, coef0=1.0, gamma="scale").told_by(X)
    assert polynomial == Polynomial(degree=2, coef0=1.0, gamma=told.plain["gamma"])


def test_of_many_rows_a_sample_tells_the_same_each_time() -> None:
    many = np.random.default_rng(1).normal(size=(3000, 2)).astype(np.float32)
    widths = {make_kernel("rbf", gamma="median").told_by(many).plain["gamma"] for _ in range(2)}
    assert len(widths) == 1
    assert widths.pop() == pytest.approx(1 / (4 * np.log(2)), rel=0.1)  # ‖x - z‖² is 4 times exponential


def test_where_most_rows_are_the_same_those_that_differ_tell() -> None:
    rows = np.array([[0.0]] * 20 + [[2.0]], dtype=np.float32)
    assert make_kernel("rbf", gamma="median").told_by(rows) == RBF(0.25)


@pytest.mark.parametrize("rule", ["median", "scale"])
def test_equal_rows_tell_no_width(rule: str) -> None:
    with pytest.raises(DataError, match="all inputs are equal"):
        make_kernel("rbf", gamma=rule).told_by(np.ones((5, 2), dtype=np.float32))


def test_a_kernel_has_no_values_before_it_was_told() -> None:
    with pytest.raises(TypeError, match="no number before"):
        make_kernel("rbf", gamma="median").matrix(X, X)


def test_a_learner_takes_the_width_from_what_it_is_fitted_to() -> None:
    from budgetbench.learners import Perceptron

    y = np.arange(len(X)) % 2
    model = Perceptron(kernel="rbf", gamma="scale").fit(X, y)  # type: ignore[arg-type]
    told = make_kernel("rbf", gamma="scale").told_by(X)
    assert np.array_equal(model.decision_function(X), Perceptron(kernel=told).fit(X, y).decision_function(X))
