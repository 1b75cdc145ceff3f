"""Kernel functions and the matrices of their values.

Every kernel value in the program comes from `Kernel.matrix`: tile by tile a product of two blocks of rows in float32,
then element-wise work in place. BLAS adds up each element of a large product in an order that depends on the number
of inputs alone. Small products, which would take other paths, are made large by rows of zeros. So a value does not
depend on the block in which it was computed: a Gram matrix and a streamed block agree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.compiled import compiled
from budgetbench.errors import ParameterError
from budgetbench.registry import Registry

Floats = NDArray[np.float32]

#: Rows and columns of a tile: enough for BLAS, and the element-wise steps run while it is still in the cache.
TILE = 512
#: Multiplications up to which BLAS may take a routine of its own for small products (OpenBLAS: 100³), with room.
SMALL = 1 << 20
#: Sums of up to so many terms are added up alike by all routines.
SHORT = 16

kernels: Registry[type[Kernel]] = Registry("kernel")


@dataclass(frozen=True)
class Kernel(ABC):
    """A positive definite function K(x, z) of two inputs."""

    name: ClassVar[str]
    summary: ClassVar[str]
    #: Whether no value can be below 0.
    non_negative: ClassVar[bool] = False

    def matrix(self, X: Floats, Z: Floats, out: Floats | None = None) -> Floats:
        """Kernel values between the rows of X (n, d) and of Z (m, d): float32 of shape (n, m)."""
        X, Z = np.asarray(X, dtype=np.float32), np.asarray(Z, dtype=np.float32)
        if out is None:
            out = np.empty((len(X), len(Z)), dtype=np.float32)
        if not out.size:
            return out
        for rows, columns, tile in self._by_tile(X, Z):
            out[rows, columns] = tile
        return out

    def expansion(self, X: Floats, support: Floats, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """f(x) = Σ coefficients[s] K(support[s], x) for each row of X (n, d).

        Of shape (n,) for coefficients (m,), of shape (n, k) for coefficients (m, k). No value outlives its tile, so
        that memory does not grow with n m.
        """
        X, support = np.asarray(X, dtype=np.float32), np.asarray(support, dtype=np.float32)
        values = np.zeros((len(X), *coefficients.shape[1:]))
        for rows, columns, tile in self._by_tile(X, support):
            values[rows] += tile.astype(np.float64) @ coefficients[columns]
        return values

    def _by_tile(self, X: Floats, Z: Floats) -> Iterator[tuple[slice, slice, Floats]]:
        """Kernel values between the rows of X and of Z, a tile at a time, with its place."""
        norms_x, norms_z = _squared_norms(X), _squared_norms(Z)
        for rows in _tiles(len(X)):
            for columns in _tiles(len(Z)):
                tile = _products(X[rows], Z[columns])
                self._finish(tile, norms_x[rows], norms_z[columns])
                yield rows, columns, tile

    @abstractmethod
    def row(self, x: Floats, Z: Floats) -> NDArray[np.float64]:
        """K(x, z) in float64 for each row of Z (m, d): of shape (m,).

        For what float32 cannot tell apart. Each value is added up in one order, whatever m is.
        """

    @abstractmethod
    def diagonal(self, X: Floats) -> Floats:
        """K(x, x) for each row of X (n, d): float32 of shape (n,)."""

    @abstractmethod
    def _finish(self, products: Floats, norms_x: Floats, norms_z: Floats) -> None:
        """Turn a tile of inner products into kernel values, in place."""


def _tiles(n: int) -> list[slice]:
    return [slice(start, start + TILE) for start in range(0, n, TILE)]


def _products(X: Floats, Z: Floats) -> Floats:
    """x·z for the rows of X and Z, each added up in the same order whatever the numbers of rows."""
    (n, d), m = X.shape, len(Z)
    if np.may_share_memory(X, Z):  # of a matrix with itself NumPy lets another routine compute one half
        Z = Z.copy()
    if min(n, m) > 1 and (d <= SHORT or n * m * d > SMALL):
        return X @ Z.T
    more = max(2, m)
    least = 2 if d <= SHORT else SMALL // (more * d) + 1
    return (_padded(X, max(n, least)) @ _padded(Z, more).T)[:n, :m].copy()


def _padded(X: Floats, n: int) -> Floats:
    padded = np.zeros((n, X.shape[1]), dtype=np.float32)
    padded[: len(X)] = X
    return padded


def _squared_norms(X: Floats) -> Floats:
    return np.einsum("ij,ij->i", X, X)


@kernels.register("linear")
@dataclass(frozen=True)
class Linear(Kernel):
    """K(x, z) = x·z"""

    name: ClassVar[str] = "linear"
    summary: ClassVar[str] = "x·z"

    def row(self, x: Floats, Z: Floats) -> NDArray[np.float64]:
        return _powers_of_products(x, Z, 1.0, 0.0, 1)

    def diagonal(self, X: Floats) -> Floats:
        return _squared_norms(np.asarray(X, dtype=np.float32))

    def _finish(self, products: Floats, norms_x: Floats, norms_z: Floats) -> None:
        pass


@kernels.register("polynomial")
@dataclass(frozen=True)
class Polynomial(Kernel):
    """K(x, z) = (gamma x·z + coef0)^degree"""

    name: ClassVar[str] = "polynomial"
    summary: ClassVar[str] = "(gamma x·z + coef0)^degree"
    degree: int = 3
    gamma: float = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        if self.degree < 1:
            raise ParameterError("degree", self.degree, "an integer of at least 1")
        if self.gamma <= 0:
            raise ParameterError("gamma", self.gamma, "a number above 0")
        if self.coef0 < 0:
            raise ParameterError("coef0", self.coef0, "a number of at least 0")

    def row(self, x: Floats, Z: Floats) -> NDArray[np.float64]:
        return _powers_of_products(x, Z, float(self.gamma), float(self.coef0), self.degree)

    def diagonal(self, X: Floats) -> Floats:
        norms = _squared_norms(np.asarray(X, dtype=np.float32))
        self._finish(norms[None], norms, norms)
        return norms

    def _finish(self, products: Floats, norms_x: Floats, norms_z: Floats) -> None:
        _whole_powers(products, np.float32(self.gamma), np.float32(self.coef0), self.degree)


@compiled
def _powers_of_products(x: Floats, Z: Floats, gamma: float, coef0: float, degree: int) -> NDArray[np.float64]:
    """(gamma x·z + coef0)^degree for each row of Z, in float64."""
    values = np.empty(len(Z))
    for i in range(len(Z)):
        total = 0.0
        for j in range(len(x)):
            total += np.float64(x[j]) * np.float64(Z[i, j])
        values[i] = (gamma * total + coef0) ** degree
    return values


@compiled
def _whole_powers(products: Floats, gamma: float, coef0: float, exponent: int) -> None:
    """(gamma x·z + coef0)^exponent in place, by repeated squaring of one row after the other; `np.power` calls the
    slow general function."""
    square = np.empty(products.shape[1], dtype=np.float32)
    for i in range(len(products)):
        values = products[i]
        for j in range(len(values)):
            square[j] = values[j] * gamma + coef0
            values[j] = 1
        left = exponent
        while left:
            if left & 1:
                for j in range(len(values)):
                    values[j] *= square[j]
            left >>= 1
            if left:
                for j in range(len(values)):
                    square[j] *= square[j]


@kernels.register("rbf")
@dataclass(frozen=True)
class RBF(Kernel):
    """K(x, z) = exp(-gamma ‖x - z‖²)"""

    name: ClassVar[str] = "rbf"
    summary: ClassVar[str] = "exp(-gamma ‖x - z‖²), gamma = 1/(2 sigma²) = 1/(2 variance)"
    non_negative: ClassVar[bool] = True
    gamma: float = 1.0

    def __post_init__(self) -> None:
        if not self.gamma > 0:
            raise ParameterError("gamma", self.gamma, "a number above 0")

    def row(self, x: Floats, Z: Floats) -> NDArray[np.float64]:
        return _exponentials_of_distances(x, Z, float(self.gamma))

    def diagonal(self, X: Floats) -> Floats:
        return np.ones(len(X), dtype=np.float32)

    def _finish(self, products: Floats, norms_x: Floats, norms_z: Floats) -> None:
        _exponents(products, norms_x, norms_z, np.float32(-self.gamma))
        np.exp(products, out=products)


@compiled
def _exponentials_of_distances(x: Floats, Z: Floats, gamma: float) -> NDArray[np.float64]:
    """exp(-gamma ‖x - z‖²) for each row of Z, in float64."""
    values = np.empty(len(Z))
    for i in range(len(Z)):
        squared_distance = 0.0
        for j in range(len(x)):
            squared_distance += (np.float64(x[j]) - np.float64(Z[i, j])) ** 2
        values[i] = np.exp(-gamma * squared_distance)
    return values


@compiled
def _exponents(products: Floats, norms_x: Floats, norms_z: Floats, factor: float) -> None:
    """-gamma ‖x - z‖² in place of x·z.

    ‖x - z‖² comes before the factor: exact for whole numbers. The norms are added to each other first, so that
    K(x, z) and K(z, x) are rounded alike.
    """
    zero, two = np.float32(0), np.float32(2)
    for i in range(len(products)):
        for j in range(len(norms_z)):
            squared_distance = norms_x[i] + norms_z[j] - two * products[i, j]
            products[i, j] = max(squared_distance, zero) * factor


#: The three ways to give the width of an RBF, as functions to gamma.
RBF_WIDTHS = {
    "gamma": lambda gamma: gamma,
    "sigma": lambda sigma: 1 / (2 * sigma**2),
    "variance": lambda variance: 1 / (2 * variance),
}


def make_kernel(name: str, **parameters: Any) -> Kernel:
    """The kernel of that name; parameters that are None take their defaults.

    Raises
    ------
    ParameterError
        For a parameter the kernel does not have, a value out of range, or more than one width of an RBF.
    """
    if name not in kernels:
        raise ParameterError("kernel", name, ", ".join(kernels))
    given = {key: value for key, value in parameters.items() if value is not None}
    if name == "rbf":
        widths = [key for key in RBF_WIDTHS if key in given]
        if len(widths) > 1:
            raise ParameterError(widths[1], given[widths[1]], f"exactly one of {', '.join(RBF_WIDTHS)}")
        for key in widths:
            value = given.pop(key)
            if not value > 0:
                raise ParameterError(key, value, "a number above 0")
            given["gamma"] = RBF_WIDTHS[key](value)
    known = [field.name for field in fields(kernels[name])]
    for key, value in given.items():
        if key not in known:
            accepted = ", ".join(RBF_WIDTHS) if name == "rbf" else ", ".join(known) or "no parameter"
            raise ParameterError(key, value, f"for the {name} kernel: {accepted}")
    return kernels[name](**given)
