"""Kernel values to the last bit, which recorded results are made of, and the bound below them."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from budgetbench.kernels import Kernel, make_kernel

#: Beginnings of the SHA-256 of all values in `bits`. Another one means that recorded results are another kernel's.
RECORDED = ("f172db6c6f48a4fa", "b00a29045337fbe9", "349043bc50ad7527", "ebf9098681975a79", "580bba60780c68db")


def numbers(n: int, d: int, step: int = 7919) -> Any:
    """Whole numbers from -504 to 504 in no order, without a generator that may change one day."""
    return (np.arange(n * d).reshape(n, d) * step) % 1009 - 504


def data(d: int) -> list[Any]:
    """Rows near the origin and far from it, with many zeros, and whole numbers whose sums fit into float32 or not."""
    whole, holes = numbers(13, d), numbers(13, d, 31) % 4 == 0
    kinds = [whole / 700, whole / 7000 + 1000, whole / 512 * holes, whole % 7, whole // 9 * holes, whole * 61]
    return [kind.astype(np.float32) for kind in kinds]


def kernels_for(d: int) -> list[Kernel]:
    return [
        make_kernel("linear"),
        make_kernel("polynomial", degree=5, gamma=0.25, coef0=1.0),
        make_kernel("polynomial", degree=20, gamma=4096.0),
        make_kernel("rbf", gamma=1.5 / d),
        make_kernel("rbf", gamma=96.0),
    ]


def bits(number: int) -> str:
    digest = hashlib.sha256()
    for d in (2, 18):
        kernel = kernels_for(d)[number]
        for X in data(d):
            fitted = kernel.fitted_to(X)
            digest.update(fitted.matrix(X, X[:9]).tobytes())
            digest.update(fitted.diagonal(X).tobytes())
            digest.update(fitted.expansion(X[:5], X, numbers(13, 2) / 64).tobytes())
    return digest.hexdigest()[:16]


@pytest.mark.parametrize("number", range(5))
def test_values_have_the_bits_that_they_have_always_had(number: int) -> None:
    assert bits(number) == RECORDED[number]


@pytest.mark.parametrize("kernel", kernels_for(9), ids=str)
def test_a_row_in_float64_is_what_matrices_round(kernel: Kernel) -> None:
    for X in data(9):
        fitted = kernel.fitted_to(X)
        sizes = np.sqrt(fitted.diagonal(X).astype(np.float64))
        for x, size, values in zip(X, sizes, fitted.matrix(X, X), strict=True):
            assert (np.abs(fitted.row(x, X) - values) <= 1e-7 * np.abs(values) + 1e-12 * size * sizes).all()


@pytest.mark.parametrize("kernel", kernels_for(3), ids=str)
def test_no_value_but_0_is_smaller_than_the_least(kernel: Kernel) -> None:
    for X in data(3):
        fitted = kernel.fitted_to(X)
        values = np.abs(fitted.matrix(X, X))
        assert 0.0 <= fitted.least(X) <= values[values > 0].min()


def test_the_least_is_not_far_below_wherever_the_data_lies() -> None:
    """The farthest pair are two corners; their mean is far from the origin, and that says nothing."""
    X, kernel = np.array([[3, 0], [-3, 0], [0, 1]] * 800, dtype=np.float32), make_kernel("rbf", gamma=0.5)
    for offset in (0, 100):
        assert kernel.least(X + np.float32(offset)) == pytest.approx(np.exp(-0.5 * 36.04), rel=0.5)
    assert make_kernel("rbf", gamma=50.0).least(X) == 0.0  # too small to have all of float32's digits
    assert kernel.least(X[:0]) == 1.0
