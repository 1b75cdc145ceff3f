"""Kernel values that float32, or float64, cannot hold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from budgetbench.errors import NumericalError
from budgetbench.learners import learners

CASES: list[tuple[str, dict[str, Any]]] = [
    ("perceptron", {}),
    ("budget_perceptron", {"budget": 10}),
    ("tighter_budget_perceptron", {"budget": 10}),
    ("stoptron", {"budget": 10}),
    ("randomized_budget_perceptron", {"budget": 10}),
]


@pytest.fixture(scope="module")
def digits() -> tuple[Any, Any]:
    """Raw pixels, times 16: rows of a length of 1200."""
    X, y = load_digits(return_X_y=True)
    return 16 * X[:500], np.where(y[:500] == 0, 1, -1)


@pytest.mark.parametrize(("name", "values"), CASES, ids=str)
@pytest.mark.parametrize("degree", [7, 12, 40])
def test_a_kernel_is_scaled_by_a_power_of_two_and_nothing_else_changes(
    name: str, values: dict[str, Any], degree: int, digits: Any
) -> None:
    X, y = digits
    how = {"kernel": "polynomial", "degree": degree, "random_state": 1} | values
    with pytest.warns(UserWarning, match=r"Polynomial\(degree=.*times 2\^-\d+, as float32 cannot hold its values"):
        raw = learners[name](**how).fit(X, y)
    small = learners[name](**how).fit(X / 1024, y)  # the same values times a power of two
    assert raw.support_.tolist() == small.support_.tolist()
    assert np.array_equal(raw.margins_ <= 0, small.margins_ <= 0)
    assert 0 < raw.mistakes_ < len(y) / 4
    assert np.array_equal(raw.predict(X), small.predict(X / 1024))


@pytest.mark.parametrize("name", ["perceptron", "mira", "svm", "passive_aggressive", "kernel_matching_pursuit"])
def test_values_that_no_number_holds_are_an_error(name: str, digits: Any) -> None:
    X, y = digits
    values = {"budget": 5} if name == "kernel_matching_pursuit" else {}
    model = learners[name](kernel="polynomial", degree=100, **values)
    with pytest.raises(
        NumericalError, match=r"Polynomial\(degree=100.*largest ‖x‖ is 1196: scale the inputs .*smaller"
    ):
        model.fit(X, y)


def test_rows_that_outgrow_the_first_ones_are_an_error(digits: Any) -> None:
    X, y = digits
    model = learners["perceptron"](kernel="polynomial", degree=30).partial_fit(X[:100] / 1000, y[:100])
    with pytest.raises(NumericalError, match="largest ‖x‖ is"):
        model.partial_fit(X[100:], y[100:])


def test_sums_that_no_number_holds_are_an_error() -> None:
    X = np.array([[1e3], [1.0], [-1e3], [2e3]], dtype=np.float32)
    model = learners["passive_aggressive"](kernel="linear", C=1e30)
    model.fit(X, [1, -1, 1, -1])
    assert np.isfinite(model.margins_).all()
    learner = learners["perceptron"](kernel="polynomial", degree=12)
    learner.fit(X / 1000, [1, -1, 1, -1])
    learner._pool.f.coefficients[:] = 1e308
    with pytest.raises(NumericalError, match=r"Perceptron: sums of Polynomial\(degree=12.*scale the inputs"):
        learner.partial_fit(X[3:] / 1000, [-1])


def test_the_svm_takes_a_scaled_kernel(digits: Any) -> None:
    X, y = digits
    with pytest.warns(UserWarning, match="float32"):
        model = learners["svm"](kernel="polynomial", degree=9, C=1e10).fit(X[:300], y[:300])
    assert np.mean(model.predict(X[300:]) == y[300:]) > 0.97


def test_nothing_is_said_of_a_kernel_that_is_as_it_was(digits: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learners["perceptron"](kernel="polynomial", degree=2).fit(*digits)
