"""Kernel values: what they are, and that they do not depend on how they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import pairwise

from budgetbench import kernels as module
from budgetbench.errors import ParameterError
from budgetbench.kernels import RBF, Kernel, Linear, Polynomial, kernels, make_kernel

ALL: list[Kernel] = [
    RBF(gamma=0.3),
    Linear(),
    Polynomial(degree=3, gamma=0.5, coef0=1.0),
    Polynomial(degree=9),
    Polynomial(degree=1, coef0=2.0),
]
every = pytest.mark.parametrize("kernel", ALL, ids=str)


def rows(n: int, d: int, seed: int = 0) -> Any:
    X = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True) if d > 20 else X


def scale_of(values: Any) -> float:
    """What a rounding error is measured by: float32 keeps about seven digits of the largest value."""
    return float(np.abs(values).max())


@every
@pytest.mark.parametrize("d", [1, 2, 21, 256])
def test_values_are_scikit_learns(kernel: Kernel, d: int) -> None:
    X, Z = rows(60, d), rows(35, d, seed=1)
    A, B = X.astype(np.float64), Z.astype(np.float64)
    if isinstance(kernel, RBF):
        expected = pairwise.rbf_kernel(A, B, gamma=kernel.gamma)
    elif isinstance(kernel, Polynomial):
        expected = pairwise.polynomial_kernel(A, B, kernel.degree, kernel.gamma, kernel.coef0)
    else:
        expected = pairwise.linear_kernel(A, B)
    values = kernel.matrix(X, Z)
    assert values.dtype == np.float32
    assert values.shape == (60, 35)
    np.testing.assert_allclose(values, expected, rtol=2e-4, atol=2e-6 * scale_of(expected))
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(kernel.matrix(X, X)), rtol=2e-4, atol=2e-6)
    assert kernel.diagonal(X).dtype == np.float32


@pytest.mark.parametrize("degree", range(1, 14))
def test_whole_powers_are_exact_for_whole_numbers(degree: int) -> None:
    X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]], dtype=np.float32)
    values = Polynomial(degree=degree).matrix(X, np.ones((2, 1), dtype=np.float32))
    assert values[:, 0].tolist() == [float(x) ** degree for x in (-2, -1, 0, 1, 2)]


@every
@pytest.mark.parametrize("d", [1, 3, 64, 256])
def test_a_matrix_is_symmetric_to_the_last_bit(kernel: Kernel, d: int) -> None:
    X = rows(300, d)
    values = kernel.matrix(X, X)
    assert np.array_equal(values, values.T)


@settings(max_examples=60, deadline=None)
@given(
    kernel=st.sampled_from(ALL),
    d=st.sampled_from([1, 2, 3, 21, 64, 256]),
    n=st.integers(1, 40),
    m=st.integers(1, 40),
    seed=st.integers(0, 10**6),
)
def test_a_value_does_not_depend_on_its_block(kernel: Kernel, d: int, n: int, m: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    X = rows(200, d, seed)
    whole = kernel.matrix(X, X)
    some, others = random.integers(0, 200, n), random.integers(0, 200, m)
    part = kernel.matrix(X[some], X[others])
    np.testing.assert_allclose(part, whole[np.ix_(some, others)], rtol=1e-4, atol=1e-6 * scale_of(whole))


@settings(max_examples=60, deadline=None)
@given(
    kernel=st.sampled_from([RBF(gamma=0.25), Linear(), Polynomial(degree=2, coef0=1.0)]),
    d=st.integers(1, 6),
    n=st.integers(1, 30),
    m=st.integers(1, 30),
    seed=st.integers(0, 10**6),
)
def test_of_whole_numbers_it_is_the_same_to_the_last_bit(kernel: Kernel, d: int, n: int, m: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, size=(100, d)).astype(np.float32)
    some, others = random.integers(0, 100, n), random.integers(0, 100, m)
    assert np.array_equal(kernel.matrix(X[some], X[others]), kernel.matrix(X, X)[np.ix_(some, others)])


@every
def test_tiles_make_no_difference(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    X = rows(101, 5)
    expected = kernel.matrix(X, X)
    for tile in (1, 101 * 2, 101 * 7, 101 * 50, 101 * 100):
        monkeypatch.setattr(module, "TILE", tile)
        np.testing.assert_allclose(kernel.matrix(X, X), expected, rtol=1e-5, atol=1e-6 * scale_of(expected))


@every
def test_any_memory_layout_and_type(kernel: Kernel) -> None:
    X = rows(30, 4)
    expected = kernel.matrix(X, X[:9])
    frozen = X.copy()
    frozen.flags.writeable = False
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X.astype(np.float64), frozen):
        kept = other.copy()
        np.testing.assert_allclose(kernel.matrix(other, other[:9]), expected, rtol=1e-5, atol=1e-6)
        assert np.array_equal(other, kept)
    out = np.empty((30, 9), dtype=np.float32)
    assert kernel.matrix(X, X[:9], out=out) is out
    assert np.array_equal(out, expected)


@every
def test_no_rows_give_no_values(kernel: Kernel) -> None:
    X = rows(3, 2)
    assert kernel.matrix(X[:0], X).shape == (0, 3)
    assert kernel.matrix(X, X[:0]).shape == (3, 0)


def test_an_rbf_stays_between_0_and_1_far_from_the_origin() -> None:
    X = rows(50, 3) + np.float32(300)
    values = RBF(gamma=2.0).matrix(X, X)
    assert values.min() >= 0
    assert values.max() <= 1


def test_widths_of_an_rbf() -> None:
    assert make_kernel("rbf", sigma=4.0) == RBF(gamma=1 / 32)
    assert make_kernel("rbf", variance=25.0) == RBF(gamma=0.02)
    assert make_kernel("rbf", gamma=0.1, sigma=None) == RBF(gamma=0.1)
    assert make_kernel("linear", gamma=None) == Linear()
    assert list(kernels) == ["linear", "polynomial", "rbf"]


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("rbf", {"gamma": 1.0, "sigma": 1.0}, "sigma: found 1.0; accepted: exactly one of gamma, sigma, variance"),
        ("rbf", {"gamma": 0.0}, "gamma: found 0.0; accepted: a number of at least 1e-30"),
        ("rbf", {"gamma": float("nan")}, "gamma: found nan; accepted: a number of at least 1e-30"),
        ("rbf", {"sigma": -1.0}, "sigma: found -1.0"),
        ("rbf", {"degree": 3}, "degree: found 3; accepted: for the rbf kernel: gamma, sigma, variance"),
        ("linear", {"gamma": 1.0}, "for the linear kernel: no parameter"),
        ("polynomial", {"degree": 0}, "degree: found 0; accepted: an integer of at least 1"),
        ("polynomial", {"gamma": -2.0}, "gamma: found -2.0"),
        ("polynomial", {"coef0": -1.0}, "coef0: found -1.0"),
        ("sigmoid", {}, "kernel: found 'sigmoid'; accepted: linear, polynomial, rbf"),
    ],
)
def test_wrong_parameters_are_refused(name: str, parameters: dict[str, float], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        make_kernel(name, **parameters)
    assert message in str(caught.value)
