"""The polynomial kernel and the linear one, which are functions of the inner product."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.errors import NumericalError
from budgetbench.kernels.base import Kernel, Tiled, kernels
from budgetbench.kernels.products import Floats, Panel, Rows, Scratch, Values, products, squared_norms
from budgetbench.kernels.widths import ByRule, GammaOrScale
from budgetbench.parameters import NonNegative, Parameter, Positive, check, declared
from budgetbench.sparse import Inputs, floats

#: Powers of two that values may reach in float32, and in float64 before they are scaled and rounded to float32.
SINGLE, DOUBLE = 127, 1023

#: A power that float32 can hold for some data.
Degree = Annotated[int, Ge(1), Le(100)]


class OfProducts(Tiled):
    """factor (gamma x·z + coef0)^degree, which may leave the range of float32; the factor is a power of two."""

    @abstractmethod
    def _numbers(self) -> tuple[float, float, int, float]:
        """gamma, coef0, degree and factor."""

    def row(self, x: Floats, Z: Floats) -> Values:
        gamma, coef0, degree, factor = self._numbers()
        return powers_of_products(x, Z, gamma, coef0, degree) * factor

    def diagonal(self, X: Inputs) -> Floats:
        norms = squared_norms(floats(X))
        values = np.empty((1, len(norms)), dtype=np.float32)
        powers(values, norms[None], *self._numbers())
        self._check(values, norms)
        return values[0]

    def fitted_to(self, X: Inputs) -> Kernel:
        norms = squared_norms(floats(X))
        largest = self._magnitude(float(norms.max(initial=0.0)))
        if largest <= SINGLE:
            return self
        if not largest <= DOUBLE:
            raise self._overflow(norms)
        return Scaled(self, SINGLE - math.ceil(largest))

    def _fill(self, tile: Floats, rows: Rows, panel: Panel, scratch: Scratch) -> None:
        powers(tile, products(rows, panel, scratch), *self._numbers())
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

    def _magnitude(self, product: float) -> float:
        """The power of two that no |K(x, z)| with |x·z| of at most `product` exceeds."""
        gamma, coef0, degree, factor = self._numbers()
        return degree * log2(gamma * product + coef0) + log2(factor)


@kernels.register("linear")
@dataclass(frozen=True)
class Linear(OfProducts):
    """K(x, z) = x·z"""

    name: ClassVar[str] = "linear"
    summary: ClassVar[str] = "x·z"

    def _numbers(self) -> tuple[float, float, int, float]:
        return 1.0, 0.0, 1, 1.0


@kernels.register("polynomial", aliases=("poly",))
@dataclass(frozen=True)
class Polynomial(OfProducts):
    """K(x, z) = (gamma x·z + coef0)^degree

    Parameters
    ----------
    degree : the power.
    gamma : the factor of the inner product; scale: 1/(d Var(X)) of the training rows.
    coef0 : what is added to it.
    """

    name: ClassVar[str] = "polynomial"
    summary: ClassVar[str] = "(gamma x·z + coef0)^degree"
    degree: Degree = 3
    gamma: Positive = 1.0
    coef0: NonNegative = 0.0

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        own = declared(cls)
        return own | {"gamma": replace(own["gamma"], annotation=GammaOrScale)}

    @classmethod
    def made(cls, given: Mapping[str, Any]) -> Kernel:
        values = check(cls.parameters(), given)
        if isinstance(values["gamma"], str):
            return ByRule(cls(**values | {"gamma": 1.0}), values["gamma"])
        return cls(**values)

    def _numbers(self) -> tuple[float, float, int, float]:
        return self.gamma, self.coef0, self.degree, 1.0


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

    def _numbers(self) -> tuple[float, float, int, float]:
        return *self.kernel._numbers()[:3], 2.0**self.exponent


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
