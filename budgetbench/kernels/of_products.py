"""Kernels that are functions of the inner product."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.errors import NumericalError
from budgetbench.kernels.base import Kernel
from budgetbench.kernels.products import Floats, Panel, Rows, Scratch, Values, products, squared_norms

#: Powers of two that values may reach in float32, and in float64 before they are scaled and rounded to float32.
SINGLE, DOUBLE = 127, 1023


class OfProducts(Kernel):
    """A kernel that is a function of x·z, and so may leave the range of float32."""

    def diagonal(self, X: Floats) -> Floats:
        norms = squared_norms(np.asarray(X, dtype=np.float32))
        values = np.empty((1, len(norms)), dtype=np.float32)
        self._finish(values, norms[None], 1.0)
        self._check(values, norms)
        return values[0]

    def fitted_to(self, X: Floats) -> Kernel:
        norms = squared_norms(np.asarray(X, dtype=np.float32))
        largest = self._magnitude(float(norms.max(initial=0.0)))
        if largest <= SINGLE:
            return self
        if not largest <= DOUBLE:
            raise self._overflow(norms)
        return Scaled(self, SINGLE - math.ceil(largest))

    def _fill(self, tile: Floats, rows: Rows, panel: Panel, scratch: Scratch) -> None:
        self._finish(tile, products(rows, panel, scratch), 1.0)
        self._check(tile, rows.norms, panel.norms)

    def _check(self, values: Floats, *norms: Values) -> None:
        """Raise `NumericalError` where float32 cannot hold the values; where norms exclude that, none is looked at."""
        largest = max(float(some.max(initial=0.0)) for some in norms)
        if not (self._magnitude(largest) <= SINGLE or np.isfinite(values).all()):
            raise self._overflow(*norms)

    def _overflow(self, *norms: Values) -> NumericalError:
        length = math.sqrt(max(float(some.max()) for some in norms))
        remedy = "scale the inputs (`scale: unit`) or take a smaller degree"
        return NumericalError(f"{self}: values beyond what numbers can hold; the largest ‖x‖ is {length:.4g}: {remedy}")

    @abstractmethod
    def _finish(self, values: Floats, products: NDArray[Any], factor: float) -> None:
        """Put kernel values times a power of two in the place of `values`, from x·z."""

    @abstractmethod
    def _magnitude(self, product: float) -> float:
        """The power of two that no |K(x, z)| with |x·z| of at most `product` exceeds."""


@dataclass(frozen=True)
class Scaled(OfProducts):
    """Another kernel times 2^exponent, exactly, for its values to fit in float32 (`Kernel.fitted_to`)."""

    name: ClassVar[str] = "scaled"
    summary: ClassVar[str] = "a kernel times a power of two"
    kernel: OfProducts
    exponent: int

    def __post_init__(self) -> None:
        """Nothing to check: only `fitted_to` makes one."""

    def __str__(self) -> str:
        return f"{self.kernel} times 2^{self.exponent}"

    def row(self, x: Floats, Z: Floats) -> Values:
        return self.kernel.row(x, Z) * 2.0**self.exponent

    def _finish(self, values: Floats, products: NDArray[Any], factor: float) -> None:
        self.kernel._finish(values, products, factor * 2.0**self.exponent)

    def _magnitude(self, product: float) -> float:
        return self.kernel._magnitude(product) + self.exponent


def log2(value: float) -> float:
    return math.log2(value) if 0 < value < math.inf else -math.inf if value == 0 else math.inf


@compiled
def powers(values: Floats, products: NDArray[Any], gamma: float, coef0: float, exponent: int, factor: float) -> None:
    """factor (gamma x·z + coef0)^exponent, by repeated squaring of one row after the other; `np.power` calls the slow
    general function."""
    square, power = np.empty(products.shape[1]), np.empty(products.shape[1])
    for i in range(len(products)):
        row, target = products[i], values[i]
        for j in range(len(row)):
            square[j] = np.float64(row[j]) * gamma + coef0
            power[j] = factor
        left = exponent
        while left:
            if left & 1:
                for j in range(len(power)):
                    power[j] *= square[j]
            left >>= 1
            if left:
                for j in range(len(square)):
                    square[j] *= square[j]
        for j in range(len(target)):
            target[j] = power[j]


@compiled
def powers_of_products(x: Floats, Z: Floats, gamma: float, coef0: float, degree: int) -> Values:
    """(gamma x·z + coef0)^degree for each row of Z (m, d): of shape (m,)."""
    values = np.empty(len(Z))
    for i in range(len(Z)):
        total = 0.0
        for j in range(len(x)):
            total += np.float64(x[j]) * np.float64(Z[i, j])
        values[i] = (gamma * total + coef0) ** degree
    return values
