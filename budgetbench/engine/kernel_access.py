"""How learners get at kernel values: from a Gram matrix in shared memory, or by blocks as the stream passes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine import metering
from budgetbench.engine.metering import Meter, cost_of_value
from budgetbench.kernels import Floats, Kernel
from budgetbench.kernels.given import Precomputed, numbered
from budgetbench.sparse import Inputs, dense

Rows = NDArray[np.int64]


class Source(Protocol):
    """Kernel values between the block that passes and any rows that a learner keeps; either may come first."""

    @property
    def rate(self) -> float | None: ...

    def between(self, rows: Rows, columns: Rows) -> Floats: ...


class KernelAccess(ABC):
    """Kernel values between the rows of one data set, by row number.

    Attributes
    ----------
    X : the inputs, float32 of shape (n, d), dense or sparse, for solvers that bring their own kernels.
    kernel : whose values they are, multiplied by a power of two where need be (`Kernel.fitted_to`); None where a Gram
        matrix came without it.
    diagonal : K(x, x) for each row, float32 of shape (n,).
    least : no kernel value but 0 is smaller in size; 0 where that is not known.
    gram : all kernel values, float32 of shape (n, n), where they are at hand.
    rate : seconds that a value would take to compute, where they are at hand; see `engine.metering`.
    """

    X: Inputs
    diagonal: Floats
    least: float = 0.0
    kernel: Kernel | None = None
    gram: Floats | None = None
    rate: float | None = None

    @abstractmethod
    def between(self, rows: Rows, columns: Rows) -> Floats:
        """K(rows[i], columns[j]): float32 of shape (len(rows), len(columns))."""

    def among(self, rows: Rows) -> Floats:
        """K(rows[i], rows[j]), read-only, for row numbers that rise; without a copy where they are all there are."""
        if self.gram is not None and len(rows) == len(self.gram):
            return self.gram
        return read_only(self.between(rows, rows))


class Gram(KernelAccess):
    """The whole matrix of kernel values, computed beforehand and shared by all who learn from the data set."""

    def __init__(self, gram: Floats, X: Inputs, kernel: Kernel | None = None) -> None:
        self.X, self.kernel = X, kernel
        self.least = kernel.least(X) if kernel else 0.0
        self.gram = self._gram = read_only(gram)
        self.diagonal = np.ascontiguousarray(np.diagonal(self._gram))
        self.rate = cost_of_value(kernel, X[: len(gram)]) if kernel else 0.0

    def between(self, rows: Rows, columns: Rows) -> Floats:
        if len(rows) > len(columns):  # the matrix is symmetric: read the fewer rows of it
            return transposed(gather(self._gram, columns, rows))
        return gather(self._gram, rows, columns)


class Streamed(KernelAccess):
    """Kernel values computed when they are asked for, the same to the last bit as those of a Gram matrix."""

    kernel: Kernel

    def __init__(self, kernel: Kernel, X: Inputs) -> None:
        self.X, self.kernel = X, kernel
        self.diagonal, self.least = kernel.diagonal(X), kernel.least(X)

    def between(self, rows: Rows, columns: Rows) -> Floats:
        return self.kernel.matrix(self.X[rows], self.X[columns])


def access_to(inputs: Inputs, kernel: Kernel) -> KernelAccess:
    """Access to the kernel values among inputs (n, d), or to these where they are the values themselves."""
    if isinstance(kernel, Precomputed):
        values = dense(inputs)
        return Gram(values, numbered(values))
    return Streamed(kernel, inputs)


class Metered(KernelAccess):
    """Access for one learner, with a meter of what its kernel values cost.

    Parameters
    ----------
    source : where the values come from, if not from the access itself.
    """

    def __init__(self, access: KernelAccess, meter: Meter, source: Source | None = None) -> None:
        self.X, self.diagonal, self.least = access.X, access.diagonal, access.least
        self.kernel, self.gram, self.rate = access.kernel, access.gram, meter.rate
        self._access, self._meter, self._source = access, meter, source or access

    def between(self, rows: Rows, columns: Rows) -> Floats:
        return self._metered(len(rows) * len(columns), lambda: self._source.between(rows, columns))

    def among(self, rows: Rows) -> Floats:
        return self._metered(len(rows) ** 2, lambda: self._access.among(rows))

    def _metered(self, values: int, had: Callable[[], Floats]) -> Floats:
        if self._meter.rate is None:
            with self._meter.computing():
                return had()
        begun = metering.clock()
        found = had()
        self._meter.charge(values, metering.clock() - begun)
        return found


@compiled
def gather(values: Floats, rows: Rows, columns: Rows) -> Floats:
    """values[np.ix_(rows, columns)], several times as fast."""
    found = np.empty((len(rows), len(columns)), dtype=np.float32)
    for i in range(len(rows)):
        source, target = values[rows[i]], found[i]
        for j in range(len(columns)):
            target[j] = source[columns[j]]
    return found


@compiled
def transposed(values: Floats) -> Floats:
    """values.T, contiguous: eight rows are read at a time, for whole cache lines to be written."""
    n, m = values.shape
    found = np.empty((m, n), dtype=np.float32)
    whole = n - n % 8
    for j in range(0, whole, 8):
        a, b, c, d = values[j], values[j + 1], values[j + 2], values[j + 3]
        e, f, g, h = values[j + 4], values[j + 5], values[j + 6], values[j + 7]
        for i in range(m):
            p = found[i, j : j + 8]
            p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] = a[i], b[i], c[i], d[i], e[i], f[i], g[i], h[i]
    for j in range(whole, n):
        for i in range(m):
            found[i, j] = values[j, i]
    return found


@compiled
def mirrored(values: Floats, first: int, stop: int, out: Floats) -> None:
    """out[i, j] = values[j, first + i] for j < stop, a multiple of 8: rows of a symmetric matrix from its columns.

    Eight of its rows are read at a time, for whole cache lines to be written.
    """
    for j in range(0, stop, 8):
        a, b, c, d = values[j], values[j + 1], values[j + 2], values[j + 3]
        e, f, g, h = values[j + 4], values[j + 5], values[j + 6], values[j + 7]
        for i in range(len(out)):
            k, p = first + i, out[i, j : j + 8]
            p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] = a[k], b[k], c[k], d[k], e[k], f[k], g[k], h[k]


def read_only(array: Floats) -> Floats:
    """A plain, contiguous, read-only view of an array: one type for compiled code, mapped from a file or not."""
    view = np.ascontiguousarray(np.asarray(array)).view(np.ndarray)
    view.flags.writeable = False
    return view
