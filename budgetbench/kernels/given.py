"""Kernels that are given whole, in Python alone: a function of two sets of rows, or the matrix of all values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from budgetbench.errors import NumericalError, ParameterError
from budgetbench.kernels.base import Kernel
from budgetbench.kernels.products import Floats, Values
from budgetbench.sparse import Inputs, dense

Function = Callable[[Values, Values], ArrayLike]

#: What scikit-learn calls a matrix of kernel values that is given in place of inputs.
PRECOMPUTED = "precomputed"
#: Rows that a function gets at a time, of each of the two sets; and of one set against itself, for K(x, x).
STRIP, FEW = 1024, 16
#: K(x, z) and K(z, x) may differ by this share of the largest value: what rounding leaves.
ROUNDING = 1e-5


@dataclass(frozen=True)
class OfFunction(Kernel):
    """K as a function gives it, for rows X (n, d) and Z (m, d) in float64 an array of shape (n, m).

    Its values are rounded to float32 once. Whether one depends on the rows that it is computed with, as sums of a BLAS
    do in their last digits, is the function's affair.
    """

    name: ClassVar[str] = "function"
    summary: ClassVar[str] = "a function of two sets of rows"
    function: Function

    def __post_init__(self) -> None:
        """Nothing to check before there are rows."""

    def row(self, x: Floats, Z: Floats) -> Values:
        return self._values(x[None], Z)[0]

    def diagonal(self, X: Inputs) -> Floats:
        found = np.empty(len(X), dtype=np.float32)
        for start in range(0, len(X), FEW):
            few = dense(X[start : start + FEW])
            found[start : start + FEW] = np.diagonal(self._values(few, few))
        return found

    def by_tile(self, X: Inputs, Z: Inputs) -> Iterator[tuple[slice, slice, Floats]]:
        for rows in strips(len(X)):
            these = dense(X[rows])
            for columns in strips(len(Z)):
                yield rows, columns, self._values(these, dense(Z[columns])).astype(np.float32)

    def _values(self, X: Floats, Z: Floats) -> Values:
        values = np.asarray(self.function(X.astype(np.float64), Z.astype(np.float64)), dtype=np.float64)
        if values.shape != (len(X), len(Z)):
            accepted = f"one of shape {(len(X), len(Z))} for so many rows"
            raise ValueError(f"kernel: found an array of shape {values.shape}; accepted: {accepted}")
        if not (np.abs(values) <= np.finfo(np.float32).max).all():
            raise NumericalError("kernel: found values that are no numbers, or beyond what float32 can hold")
        return values


@dataclass(frozen=True)
class Precomputed(Kernel):
    """Kernel values that are given: an input of `predict` is a row of them, with all training examples.

    An input that is learnt from, and stored, is the number of a training example and its K(x, x); see `numbered`.
    """

    name: ClassVar[str] = PRECOMPUTED
    summary: ClassVar[str] = "kernel values in place of inputs"

    def matrix(self, X: Inputs, Z: Inputs, out: Floats | None = None) -> Floats:
        """The values in the rows of X (n, training examples) for the numbered examples Z (m, 2): of shape (n, m)."""
        found = np.ascontiguousarray(dense(X)[:, _numbers(Z)], dtype=np.float32)
        if out is None:
            return found
        out[:] = found
        return out

    def diagonal(self, X: Inputs) -> Floats:
        return np.ascontiguousarray(dense(X)[:, 1])

    def row(self, x: Floats, Z: Floats) -> Values:
        return self._no_inputs()

    def by_tile(self, X: Inputs, Z: Inputs) -> Iterator[tuple[slice, slice, Floats]]:
        """Of numbered examples X (n, 2) and rows Z (m, training examples), as an expansion has them."""
        for rows in strips(len(X)):
            for columns in strips(len(Z)):
                yield rows, columns, np.ascontiguousarray(self.matrix(Z[columns], X[rows]).T)

    def _no_inputs(self) -> NoReturn:
        raise TypeError("kernel: precomputed: there are no inputs that more kernel values could be computed of")


def strips(n: int) -> Iterator[slice]:
    for start in range(0, n, STRIP):
        yield slice(start, min(start + STRIP, n))


def _numbers(Z: Inputs) -> np.ndarray:
    return dense(Z)[:, 0].astype(np.int64)


def numbered(K: Floats) -> Floats:
    """What stands for the inputs of n examples with kernel values K (n, n): their numbers and K(x, x), shape (n, 2).

    Raises
    ------
    ValueError : for what is no matrix of kernel values among the same examples.
    """
    n, width = K.shape
    if n != width:
        raise ValueError(f"kernel: precomputed: found values of shape {(n, width)}; accepted: a square matrix")
    largest = np.abs(K).max(initial=0.0)
    if any(np.abs(K[rows] - K[:, rows].T).max() > ROUNDING * largest for rows in strips(n)):
        raise ValueError("kernel: precomputed: K(x, z) and K(z, x) differ; accepted: a symmetric matrix")
    return np.stack([np.arange(n, dtype=np.float32), np.diagonal(K)], axis=1)


def refuse_precomputed(kernel: Kernel, why: str) -> None:
    """Raise `ParameterError` for kernel values that are given, where inputs are needed."""
    if isinstance(kernel, Precomputed):
        raise ParameterError("kernel", PRECOMPUTED, "a kernel of inputs", why)
