"""Kernel functions and the matrices of their values.

Every kernel value in the program comes from here. It is a function of the inner product of two rows, or of their
distance, which `engine/products.py` computes in float64 and in a fixed order; what follows is done in float64 too, and
the outcome is rounded to float32 once. So a value depends on the two rows alone: not on the block in which it is asked
for, the machine, or its BLAS, and K(x, z) of equal rows is K(x, x) to the last bit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from budgetbench.engine.compiled import compiled
from budgetbench.engine.exponentials import exponentials, exponentials_beyond
from budgetbench.engine.precise import exponentials_of_distances, powers_of_products
from budgetbench.engine.products import (
    BLOCK,
    COLUMNS,
    TILE,
    Panel,
    Rows,
    Scratch,
    panel_of,
    products,
    rows_of,
    squared_distances,
    squared_norms,
)
from budgetbench.errors import NOTHING, NumericalError, ParameterError
from budgetbench.parameters import NonNegative, Parameter, Positive, check, declared
from budgetbench.registry import Registry

Floats = NDArray[np.float32]
Values = NDArray[np.float64]

#: Powers of two that values may reach in float32, and in float64 before they are scaled and rounded to float32.
SINGLE, DOUBLE = 127, 1023
#: Error of gamma ‖x - z‖², and so relative error of a kernel value, that is let pass: a sixteenth of a last place.
ROUNDING = 2.0**-27

#: A power that float32 can hold for some data.
Degree = Annotated[int, Ge(1), Le(100)]
#: A width whose square, and one over that, is in the range of gamma.
Width = Annotated[float, Ge(1e-14), Le(1e14)]

kernels: Registry[type[Kernel]] = Registry("kernel")


@dataclass(frozen=True)
class Kernel(ABC):
    """A positive definite function K(x, z) of two inputs."""

    name: ClassVar[str]
    summary: ClassVar[str]
    #: Whether no value can be below 0.
    non_negative: ClassVar[bool] = False

    def __post_init__(self) -> None:
        own = declared(type(self))
        for name, value in check(own, {name: getattr(self, name) for name in own}).items():
            object.__setattr__(self, name, value)

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """What may be given to make one."""
        return declared(cls)

    @classmethod
    def made(cls, given: Mapping[str, Any]) -> Kernel:
        """The kernel of these parameters; `ParameterError` says all that is wrong with them."""
        return cls(**check(cls.parameters(), given))

    def matrix(self, X: Floats, Z: Floats, out: Floats | None = None) -> Floats:
        """Kernel values between the rows of X (n, d) and of Z (m, d): float32 of shape (n, m).

        Raises
        ------
        NumericalError
            For values that are too large for float32.
        """
        X, Z = np.asarray(X, dtype=np.float32), np.asarray(Z, dtype=np.float32)
        if out is None:
            out = np.empty((len(X), len(Z)), dtype=np.float32)
        for rows, columns, tile in self._by_tile(X, Z):
            out[rows, columns] = tile
        return out

    def expansion(self, X: Floats, support: Floats, coefficients: Values) -> Values:
        """f(x) = Σ coefficients[s] K(support[s], x) for each row of X (n, d), added up in the order of s.

        Of shape (n,) for coefficients (m,), of shape (n, k) for coefficients (m, k). No value outlives its tile, so
        that memory does not grow with n m.
        """
        X, support = np.asarray(X, dtype=np.float32), np.asarray(support, dtype=np.float32)
        outputs = math.prod(coefficients.shape[1:])
        weights = np.ascontiguousarray(coefficients.reshape(len(support), outputs), dtype=np.float64)
        sums = np.zeros((outputs, len(X)))
        for members, columns, tile in self._by_tile(support, X):
            _add(tile, weights[members], sums, columns.start)
        return np.ascontiguousarray(sums.T).reshape(len(X), *coefficients.shape[1:])

    def fitted_to(self, X: Floats) -> Kernel:
        """This kernel, multiplied by a power of two where its values between such rows would leave float32.

        Raises
        ------
        NumericalError
            Where they would leave float64 too.
        """
        return self

    def least(self, X: Floats) -> float:
        """A bound: no kernel value between rows of X but 0 is smaller in size; 0 where nothing is known."""
        return 0.0

    def _by_tile(self, X: Floats, Z: Floats) -> Iterator[tuple[slice, slice, Floats]]:
        """Kernel values between the rows of X and of Z, a tile at a time, with its place; rows come in order.

        A tile is good until the next one comes.
        """
        work, place = Scratch(), Scratch()
        for start in range(0, len(X), BLOCK):
            block = rows_of(X[start : start + BLOCK])
            for first in range(0, len(Z), COLUMNS):
                panel = panel_of(Z[first : first + COLUMNS], block)
                columns = slice(first, first + len(panel))
                for at in range(0, len(block), TILE):
                    rows = block.tile(at)
                    tile = place.tile(len(rows), len(panel), np.float32)
                    self._fill(tile, rows, panel, work)
                    yield slice(start + at, start + at + len(rows)), columns, tile

    @abstractmethod
    def row(self, x: Floats, Z: Floats) -> Values:
        """K(x, z) in float64 for each row of Z (m, d): of shape (m,).

        For what float32 cannot tell apart. Each value is added up in one order, whatever m is.
        """

    @abstractmethod
    def diagonal(self, X: Floats) -> Floats:
        """K(x, x) for each row of X (n, d): float32 of shape (n,)."""

    @abstractmethod
    def _fill(self, tile: Floats, rows: Rows, panel: Panel, scratch: Scratch) -> None:
        """Put the kernel values between n rows and the m columns of a panel into a tile of shape (n, m)."""


@compiled
def _add(tile: Floats, weights: Values, sums: Values, first: int) -> None:
    """sums[c, first + j] += weights[s, c] tile[s, j], one s after the other."""
    n, k = weights.shape
    for c in range(k):
        f = sums[c, first : first + tile.shape[1]]
        for s in range(n):
            row, weight = tile[s], weights[s, c]
            if weight != 0:
                for j in range(len(row)):
                    f[j] += weight * row[j]


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


@kernels.register("linear")
@dataclass(frozen=True)
class Linear(OfProducts):
    """K(x, z) = x·z"""

    name: ClassVar[str] = "linear"
    summary: ClassVar[str] = "x·z"

    def row(self, x: Floats, Z: Floats) -> Values:
        return powers_of_products(x, Z, 1.0, 0.0, 1)

    def _finish(self, values: Floats, products: NDArray[Any], factor: float) -> None:
        _powers(values, products, 1.0, 0.0, 1, factor)

    def _magnitude(self, product: float) -> float:
        return _log2(product)


@kernels.register("polynomial")
@dataclass(frozen=True)
class Polynomial(OfProducts):
    """K(x, z) = (gamma x·z + coef0)^degree

    Parameters
    ----------
    degree : the power.
    gamma : the factor of the inner product.
    coef0 : what is added to it.
    """

    name: ClassVar[str] = "polynomial"
    summary: ClassVar[str] = "(gamma x·z + coef0)^degree"
    degree: Degree = 3
    gamma: Positive = 1.0
    coef0: NonNegative = 0.0

    def _finish(self, values: Floats, products: NDArray[Any], factor: float) -> None:
        _powers(values, products, self.gamma, self.coef0, self.degree, factor)

    def row(self, x: Floats, Z: Floats) -> Values:
        return powers_of_products(x, Z, self.gamma, self.coef0, self.degree)

    def _magnitude(self, product: float) -> float:
        return self.degree * _log2(self.gamma * product + self.coef0)


def _log2(value: float) -> float:
    return math.log2(value) if 0 < value < math.inf else -math.inf if value == 0 else math.inf


@compiled
def _powers(values: Floats, products: NDArray[Any], gamma: float, coef0: float, exponent: int, factor: float) -> None:
    """factor (gamma x·z + coef0)^exponent, by repeated squaring of one row after the other; `np.power` calls the slow
    general function."""
    square, power = np.empty(products.shape[1]), np.empty(products.shape[1])
    for i in range(len(products)):
        row, target = products[i], values[i]
        for j in range(len(row)):
            square[j] = row[j] * gamma + coef0
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


@kernels.register("rbf")
@dataclass(frozen=True)
class RBF(Kernel):
    """K(x, z) = exp(-gamma ‖x - z‖²)

    Parameters
    ----------
    gamma : the inverse of the width, 1/(2 sigma²).
    """

    name: ClassVar[str] = "rbf"
    summary: ClassVar[str] = "exp(-gamma ‖x - z‖²), gamma = 1/(2 sigma²) = 1/(2 variance)"
    non_negative: ClassVar[bool] = True
    gamma: Positive

    #: The other ways to give the width: what it is, and gamma as its function.
    widths: ClassVar[dict[str, tuple[Parameter, Callable[[float], float]]]] = {
        "sigma": (Parameter("sigma", Width, None, "the standard deviation"), lambda sigma: 1 / (2 * sigma**2)),
        "variance": (Parameter("variance", Width, None, "sigma²"), lambda variance: 1 / (2 * variance)),
    }

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        gamma = replace(declared(cls)["gamma"], default=None)
        return {"gamma": gamma} | {name: parameter for name, (parameter, _) in cls.widths.items()}

    @classmethod
    def made(cls, given: Mapping[str, Any]) -> Kernel:
        """From exactly one width: a default would be a guess about the data."""
        values = check(cls.parameters(), given)
        if len(given) != 1:
            name = next((name for name in reversed(cls.parameters()) if name in given), "gamma")
            raise ParameterError(name, given.get(name, NOTHING), f"exactly one of {', '.join(cls.parameters())}")
        (name,) = given
        return cls(values[name] if name == "gamma" else cls.widths[name][1](values[name]))

    def row(self, x: Floats, Z: Floats) -> Values:
        return exponentials_of_distances(x, Z, self.gamma)

    def diagonal(self, X: Floats) -> Floats:
        return np.ones(len(X), dtype=np.float32)

    def least(self, X: Floats) -> float:
        """Two rows are no farther apart than twice the largest distance from their mean."""
        if not len(X):
            return 1.0
        mean, radius = X.mean(axis=0, dtype=np.float64), 0.0
        for start in range(0, len(X), BLOCK):
            radius = max(radius, float(np.square(X[start : start + BLOCK] - mean).sum(axis=1).max()))
        value = math.exp(-self.gamma * 4.004 * radius)
        return value if value > 2.0**-120 else 0.0  # below it float32 has fewer bits

    def _fill(self, tile: Floats, rows: Rows, panel: Panel, scratch: Scratch) -> None:
        """By ‖x‖² + ‖z‖² - 2 x·z, and by differences where that is not exact enough: of a pair far from the origin."""
        exponentials(tile, products(rows, panel, scratch), rows.norms, panel.norms, self.gamma)
        # The sums leave an error of at most (d + 3) (‖x‖² + ‖z‖²) 2⁻⁵² in the squared distance.
        farthest = ROUNDING / self.gamma / (rows.X.shape[1] + 3) * 2.0**52
        if not panel.exact and rows.norms.max() + panel.norms.max() > farthest:
            distances = squared_distances(rows, panel, scratch)
            exponentials_beyond(farthest, tile, distances, rows.norms, panel.norms, self.gamma)


def make_kernel(name: str, **parameters: Any) -> Kernel:
    """The kernel of that name; parameters that are None take their defaults.

    Raises
    ------
    ParameterError
        For whatever `Kernel.made` refuses, or a name that no kernel has.
    """
    if name not in kernels:
        raise ParameterError("kernel", name, ", ".join(kernels), names=kernels)
    return kernels[name].made({key: value for key, value in parameters.items() if value is not None})
