"""Kernel values: what they are, and that they do not depend on how they are asked for."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import pairwise

from budgetbench.errors import NumericalError, ParameterError
from budgetbench.kernels import RBF, Kernel, Linear, Polynomial, kernels, make_kernel, products
from budgetbench.kernels.polynomial import Scaled

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


def reference(kernel: Kernel, X: Any, Z: Any) -> tuple[Any, Any]:
    """Kernel values in extended precision, and what their rounding errors are measured by: for an RBF the values
    themselves, for others the largest value that inputs of such lengths can have."""
    A, B = X.astype(np.longdouble), Z.astype(np.longdouble)
    products, lengths = A @ B.T, np.outer(np.sqrt((A**2).sum(axis=1)), np.sqrt((B**2).sum(axis=1)))
    if isinstance(kernel, RBF):
        distances = ((A[:, None] - B[None]) ** 2).sum(axis=2)
        values = np.exp(-np.longdouble(kernel.gamma) * distances)
        return values, values
    if isinstance(kernel, Polynomial):
        gamma, coef0 = np.longdouble(kernel.gamma), np.longdouble(kernel.coef0)
        return (gamma * products + coef0) ** kernel.degree, (gamma * lengths + coef0) ** kernel.degree
    return products, lengths


def places(kernel: Kernel, X: Any, Z: Any) -> float:
    """The largest error of a kernel value, in units of its last place."""
    expected, size = reference(kernel, X, Z)
    last = np.spacing(np.maximum(size, np.finfo(np.float32).smallest_subnormal).astype(np.float32))
    return float((np.abs(kernel.matrix(X, Z) - expected) / last).max())


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
    assert values.dtype == kernel.diagonal(X).dtype == np.float32
    assert values.shape == (60, 35)
    np.testing.assert_allclose(values, expected, rtol=2e-7, atol=1e-13 * float(np.abs(expected).max()))


@settings(max_examples=60, deadline=None)
@given(
    d=st.integers(1, 300),
    width=st.floats(-6, 3),
    offset=st.sampled_from([0, 1, 30, 1e3, 1e6]),
    decimals=st.sampled_from([None, 0, 2]),
    seed=st.integers(0, 10**6),
)
def test_an_rbf_is_right_to_the_last_place_wherever_the_data_lies(
    d: int, width: float, offset: float, decimals: int | None, seed: int
) -> None:
    random = np.random.default_rng(seed)
    X = random.normal(size=(30, d)) / np.sqrt(d)
    X = (np.round(3 * X, decimals) if decimals is not None else X) + offset * random.choice([-1, 1], d)
    X = X.astype(np.float32)
    X[:5], X[5] = X[10:15], 0
    X[6] = np.nextafter(X[7], np.float32(np.inf))
    kernel = RBF(gamma=10**width)
    assert places(kernel, X, X[:11]) <= 0.6
    values = kernel.matrix(X, X)
    assert np.array_equal(values[:5], values[10:15])
    assert (np.diagonal(values) == 1).all()


def test_an_rbf_is_right_in_its_tail() -> None:
    X = np.linspace(0, 10.5, 3000, dtype=np.float32)[:, None]
    assert places(RBF(gamma=1.0), X, np.zeros((1, 1), dtype=np.float32)) <= 0.6


@settings(max_examples=60, deadline=None)
@given(
    degree=st.integers(1, 9),
    gamma=st.floats(-6, 3),
    coef0=st.sampled_from([0.0, 1.0, 0.3]),
    d=st.integers(1, 300),
    offset=st.sampled_from([0, 1, 1e3]),
    seed=st.integers(0, 10**6),
)
def test_a_polynomial_is_right_to_the_last_place_of_its_largest_values(
    degree: int, gamma: float, coef0: float, d: int, offset: float, seed: int
) -> None:
    X = (np.random.default_rng(seed).normal(size=(12, d)) / np.sqrt(d) + offset / d).astype(np.float32)
    X[0] = 0
    kernel = Polynomial(degree=degree, gamma=10**gamma, coef0=coef0)
    if isinstance(kernel.fitted_to(X), Polynomial):
        assert places(kernel, X, X) <= 0.6


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
    kernel=st.sampled_from([*ALL, RBF(gamma=1e3), RBF(gamma=1e-6)]),
    d=st.sampled_from([1, 2, 3, 21, 64, 300]),
    n=st.integers(1, 40),
    m=st.integers(1, 40),
    kind=st.sampled_from(["normal", "far", "whole", "sparse", "mixed"]),
    seed=st.integers(0, 10**6),
)
def test_a_value_does_not_depend_on_its_block(kernel: Kernel, d: int, n: int, m: int, kind: str, seed: int) -> None:
    """Not to the last bit, whether its rows come with dense ones or with whole numbers, and so take another loop."""
    random = np.random.default_rng(seed)
    X = rows(100, d, seed)
    if kind in ("whole", "mixed"):
        X[:50] = random.integers(-3, 4, size=(50, d))
    if kind in ("sparse", "mixed"):
        X[20:70] *= random.random((50, d)) < 0.2
    if kind in ("far", "mixed"):
        X[60:] += np.float32(1000)
    if kind == "whole":
        X[50:] = X[:50][::-1]
    kernel = kernel.fitted_to(X)
    whole = kernel.matrix(X, X)
    some, others = random.integers(0, 100, n), random.integers(0, 100, m)
    assert np.array_equal(kernel.matrix(X[some], X[others]), whole[np.ix_(some, others)])
    assert np.array_equal(whole, whole.T)
    assert np.array_equal(np.diagonal(whole), kernel.diagonal(X))
    assert np.array_equal(kernel.diagonal(X[some]), kernel.diagonal(X)[some])


@pytest.mark.parametrize("whole", [False, True], ids=["normal", "whole"])
def test_lists_of_inputs_and_dense_rows_give_the_same_bits(whole: bool) -> None:
    random = np.random.default_rng(0)
    X, Z = (random.integers(-3, 4, size=(9, 41)) if whole else random.normal(size=(9, 41)) for _ in range(2))
    X[random.random(X.shape) < 0.7] = 0
    lists = products.rows_of(X.astype(np.float32))
    panel = products.panel_of(Z.astype(np.float32), lists)
    assert len(lists.starts)
    assert panel.exact == whole
    found = products.products(lists, panel, products.Scratch())
    dense = products.products(replace(lists, starts=lists.starts[:0]), panel, products.Scratch())
    assert np.array_equal(found, dense)
    np.testing.assert_allclose(found, X.astype(np.float32) @ Z.astype(np.float32).T, rtol=1e-4, atol=1e-5)


@every
def test_tiles_make_no_difference(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    X = rows(101, 5)
    expected = kernel.matrix(X, X)
    for block, columns, tile in ((4, 1, 4), (8, 100, 4), (100, 101, 8), (12, 7, 12)):
        for name, size in (("BLOCK", block), ("COLUMNS", columns), ("TILE", tile)):
            monkeypatch.setattr(products, name, size)
        assert np.array_equal(kernel.matrix(X, X), expected)


@every
@pytest.mark.parametrize("outputs", [(), (1,), (3,)])
def test_an_expansion_is_added_up_member_by_member(kernel: Kernel, outputs: tuple[int, ...]) -> None:
    X, support = rows(300, 20), rows(600, 20, seed=1)
    coefficients = np.random.default_rng(2).normal(size=(600, *outputs))
    coefficients[::3] = 0
    values = kernel.matrix(support, X).astype(np.float64)
    expected = np.zeros((300, *outputs))
    for s in range(600):
        expected += values[s].reshape(-1, *(1 for _ in outputs)) * coefficients[s]
    found = kernel.expansion(X, support, coefficients)
    assert np.array_equal(found, expected)
    assert np.array_equal(kernel.expansion(X[7:20], support, coefficients), expected[7:20])
    assert np.array_equal(kernel.expansion(X, support[:0], coefficients[:0]), np.zeros_like(expected))


BITS = """
import hashlib, numpy as np
from budgetbench.kernels import RBF, Linear, Polynomial
random = np.random.default_rng(0)
digest = hashlib.sha256()
for d in (3, 40, 256):
    X = random.normal(size=(150, d)).astype(np.float32) + 3
    for kernel in (RBF(gamma=1 / d), Linear(), Polynomial(degree=5, gamma=1 / d, coef0=1.0)):
        digest.update(kernel.matrix(X, X[:70]).tobytes())
        digest.update(kernel.expansion(X, X[:70], random.normal(size=70)).tobytes())
print(digest.hexdigest())
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="processors that OpenBLAS can imitate")
def test_values_do_not_depend_on_the_processor_that_blas_sees() -> None:
    def bits(core: str) -> str:
        environment = os.environ | {"OPENBLAS_CORETYPE": core}
        done = subprocess.run([sys.executable, "-c", BITS], env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    first = bits("Haswell")
    assert first.strip()
    assert bits("Sandybridge") == first


@every
def test_any_memory_layout_and_type(kernel: Kernel) -> None:
    X = rows(30, 4)
    expected = kernel.matrix(X, X[:9])
    frozen = X.copy()
    frozen.flags.writeable = False
    for other in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X.astype(np.float64), frozen):
        kept = other.copy()
        assert np.array_equal(kernel.matrix(other, other[:9]), expected)
        assert np.array_equal(other, kept)
    out = np.empty((30, 9), dtype=np.float32)
    assert kernel.matrix(X, X[:9], out=out) is out
    assert np.array_equal(out, expected)


@every
def test_no_rows_give_no_values(kernel: Kernel) -> None:
    X = rows(3, 2)
    assert kernel.matrix(X[:0], X).shape == (0, 3)
    assert kernel.matrix(X, X[:0]).shape == (3, 0)


def digits() -> Any:
    return (16 * np.random.default_rng(0).random((40, 64))).astype(np.float32)


@pytest.mark.parametrize("degree", [7, 9])
def test_values_beyond_float32_are_refused(degree: int) -> None:
    X, kernel = 16 * digits(), Polynomial(degree=degree)
    for compute in (lambda: kernel.matrix(X, X), lambda: kernel.diagonal(X), lambda: kernel.expansion(X, X, X[:, 0])):
        with pytest.raises(NumericalError) as caught:
            compute()
        message = str(caught.value)
        assert message.startswith(f"Polynomial(degree={degree}, gamma=1.0, coef0=0.0): values beyond what numbers can")
        assert f"the largest ‖x‖ is {np.linalg.norm(X.astype(np.float64), axis=1).max():.4g}:" in message
        assert "`scale: unit`" in message
        assert "smaller degree" in message


def test_a_kernel_is_multiplied_by_a_power_of_two_to_fit() -> None:
    X, kernel = 16 * digits(), Polynomial(degree=9)
    fitted = kernel.fitted_to(X)
    assert isinstance(fitted, Scaled)
    values = fitted.matrix(X, X).astype(np.float64)
    assert 2.0**125 < values.max() < 2.0**128
    exact = (X.astype(np.float64) @ X.astype(np.float64).T) ** 9 * 2.0**fitted.exponent
    np.testing.assert_allclose(values, exact, rtol=1e-7)
    assert np.array_equal(np.diagonal(values), fitted.diagonal(X))
    coefficients = np.ones(40)
    np.testing.assert_allclose(fitted.expansion(X, X, coefficients), values.sum(axis=0))
    assert "times 2^" in str(fitted)
    assert fitted.fitted_to(X) is fitted
    assert kernel.fitted_to(X / np.float32(256)) is kernel
    huge = np.full((2, 3), 3e38, dtype=np.float32)
    assert np.isfinite(Linear().fitted_to(huge).matrix(huge, huge)).all()
    with pytest.raises(NumericalError, match="beyond what numbers can hold"):
        kernel.fitted_to(huge)


@pytest.mark.parametrize("gamma", [1e-30, 1e-3, 1e3, 1e30])
def test_no_rbf_is_anything_but_a_number(gamma: float) -> None:
    X = np.array([[0, 0], [1e-45, 0], [1, 1], [3e38, -3e38], [-3e38, 3e38], [3e38, -3e38]], dtype=np.float32)
    kernel = RBF(gamma=gamma)
    assert kernel.fitted_to(X) is kernel
    values = kernel.matrix(X, X)
    assert (np.diagonal(values) == 1).all()
    assert values[3, 5] == 1
    assert ((values >= 0) & (values <= 1)).all()


def test_widths_of_an_rbf() -> None:
    assert make_kernel("rbf", sigma=4.0) == RBF(gamma=1 / 32)
    assert make_kernel("rbf", variance=25.0) == RBF(gamma=0.02)
    assert make_kernel("rbf", gamma=0.1, sigma=None) == RBF(gamma=0.1)
    assert make_kernel("linear", gamma=None) == Linear()
    assert list(kernels) == ["linear", "polynomial", "rbf"]


def test_all_that_is_wrong_is_told() -> None:
    with pytest.raises(ParameterError) as caught:
        make_kernel("polynomial", degree=0, gamma=-1, width=2)
    assert [fault.parameter for fault in caught.value.faults] == ["width", "degree", "gamma"]


def test_numbers_of_numpy_are_numbers() -> None:
    made = make_kernel("polynomial", degree=np.int64(2), gamma=np.float32(0.5), coef0=np.int8(1))
    assert repr(made) == repr(Polynomial(degree=2, gamma=0.5, coef0=1.0))


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("rbf", {"gamma": 1.0, "sigma": 1.0}, "sigma: found 1.0; accepted: exactly one of gamma, sigma, variance"),
        ("rbf", {"gamma": 0.0}, "gamma: found 0.0; accepted: a number of at least 1e-30"),
        ("rbf", {"gamma": float("nan")}, "gamma: found nan; accepted: a number of at least 1e-30"),
        ("rbf", {"sigma": -1.0}, "sigma: found -1.0"),
        ("rbf", {"sigma": 1e-200}, "sigma: found 1e-200; accepted: a number of at least 1e-14"),
        ("rbf", {"gamma": float("inf")}, "gamma: found inf"),
        ("polynomial", {"gamma": float("inf")}, "gamma: found inf"),
        ("polynomial", {"coef0": float("nan")}, "coef0: found nan"),
        ("rbf", {"degree": 3}, "degree: found 'degree'; accepted: gamma, sigma, variance"),
        ("linear", {"gamma": 1.0}, "gamma: found 'gamma'; accepted: no parameter"),
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
