"""Inputs that are nearly all 0, held as a CSR array where a dense one would be too large.

Kernels read the rows as they are held. Whoever else asks for inputs gets them dense, some rows at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from scipy import sparse
else:
    sparse = lazy("scipy.sparse")

#: Bytes of the largest array of float32 that is made of sparse inputs without a thought.
SMALL = 1_000_000_000
#: Inputs of which a larger share is not 0 are held dense: as CSR they would save little, and products take longer.
SHARE = 0.25
#: Bytes of dense rows that are made at a time.
STRIP = 64_000_000


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Inputs of shape (n, d), those other than 0 held row by row.

    Attributes
    ----------
    csr : a `scipy.sparse.csr_array` with sorted indices, each once, and no zeros among its values.
    """

    csr: Any

    @classmethod
    def of(cls, matrix: Any) -> SparseRows:
        """The inputs of any sparse matrix of scipy's, which is left as it is."""
        csr = sparse.csr_array(matrix, copy=True)
        csr.sum_duplicates()
        csr.eliminate_zeros()
        return cls(csr)

    @classmethod
    def made(cls, values: NDArray[Any], inputs: NDArray[Any], starts: NDArray[Any], n_inputs: int) -> SparseRows:
        """From what a CSR array is made of, without a copy."""
        return cls(sparse.csr_array((values, inputs, starts), shape=(len(starts) - 1, n_inputs), copy=False))

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.csr.shape
        return int(n), int(d)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.csr.dtype

    @property
    def values(self) -> NDArray[Any]:
        """The inputs other than 0, row by row."""
        return self.csr.data

    @property
    def inputs(self) -> NDArray[Any]:
        """Of each value the number of the input that it is of."""
        return self.csr.indices

    @property
    def starts(self) -> NDArray[Any]:
        """The values of row i are number starts[i] to starts[i + 1]."""
        return self.csr.indptr

    @property
    def nbytes(self) -> int:
        """Of the same inputs as an array: what a model takes does not depend on how its data set was held."""
        return self.dtype.itemsize * len(self) * self.shape[1]

    def __len__(self) -> int:
        return int(self.csr.shape[0])

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> SparseRows:
        return SparseRows(self.csr[rows])

    def with_values(self, values: NDArray[Any]) -> SparseRows:
        """The same with other values in the same places."""
        return SparseRows.made(values, self.inputs, self.starts, self.shape[1])

    def padded(self, n: int, d: int) -> SparseRows:
        """With rows and inputs of zeros added, up to so many."""
        more = np.full(n - len(self), self.starts[-1], self.starts.dtype)
        return SparseRows.made(self.values, self.inputs, np.concatenate([self.starts, more]), d)

    @property
    def without_zeros(self) -> NDArray[np.int64]:
        """The numbers of the inputs that are 0 in no row."""
        return np.flatnonzero(np.bincount(self.inputs, minlength=self.shape[1]) == len(self))

    def columns(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """These inputs of all rows, dense."""
        return self.csr[:, numbers].toarray()

    def dense(self) -> NDArray[Any]:
        return self.csr.toarray()

    def strips(self) -> Iterator[NDArray[Any]]:
        """All rows, dense, a part at a time."""
        rows = max(1, STRIP // (self.dtype.itemsize * max(1, self.shape[1])))
        for start in range(0, len(self), rows):
            yield self[start : start + rows].dense()


#: Rows of float32, of shape (n, d).
Inputs = NDArray[np.float32] | SparseRows


def is_worth_it(matrix: Any) -> bool:
    """Whether the inputs of a sparse matrix of scipy's are held sparse."""
    size = math.prod(matrix.shape)
    return 4 * size > SMALL and matrix.nnz <= SHARE * size


def held(inputs: Any) -> Inputs:
    """Rows of float32, an array or a sparse matrix of scipy's, as they are held: sparse where it is worth it."""
    if isinstance(inputs, np.ndarray | SparseRows):
        return inputs
    return SparseRows.of(inputs) if is_worth_it(inputs) else dense(inputs)


def dense(inputs: Any) -> NDArray[Any]:
    """Rows as an array, however they are held."""
    if isinstance(inputs, np.ndarray):
        return inputs
    return np.ascontiguousarray(inputs.dense() if isinstance(inputs, SparseRows) else inputs.toarray())


def bare(inputs: Any) -> Any:
    """Rows as other packages know them: an array, or scipy's CSR array."""
    return inputs.csr if isinstance(inputs, SparseRows) else inputs


def floats(inputs: Any) -> Inputs:
    """Rows of any kind, as float32."""
    if hasattr(inputs, "tocsr"):
        inputs = SparseRows.of(inputs)
    return contiguous(inputs) if isinstance(inputs, SparseRows) else np.asarray(inputs, dtype=np.float32)


def contiguous(inputs: Any, dtype: DTypeLike = np.float32) -> Any:
    """Rows of this kind of number, one after the other in memory, however they are held."""
    if isinstance(inputs, SparseRows):
        return inputs.with_values(inputs.values.astype(dtype, copy=False))
    return np.ascontiguousarray(inputs, dtype=dtype)


def joined(*parts: Any) -> Any:
    """The rows of several, sparse if some of them are."""
    if not any(isinstance(part, SparseRows) for part in parts):
        return np.concatenate(parts)
    return SparseRows(sparse.vstack([sparse.csr_array(bare(part)) for part in parts], format="csr"))


def by_strips(function: Callable[[NDArray[Any]], NDArray[Any]], inputs: Inputs) -> NDArray[Any]:
    """What a function makes of dense rows, all at once or, of sparse ones, a part at a time."""
    if not isinstance(inputs, SparseRows):
        return function(inputs)
    return np.concatenate([function(strip) for strip in inputs.strips()])
