"""Inner products and distances of rows, the same to the last bit on every machine and in every arrangement.

Each is a sum in float64, in the order of the inputs, in loops of our own: no BLAS, whose order of summation depends on
the processor and on the shape of a block. Inputs are float32, so that a product of two is exact in float64. What
follows from that makes the loops fast and changes no bit:

- a fused multiply-add rounds like a product and a sum, so the compiler may use it (`contracted`);
- products with 0 are left out, where rows have many;
- rows of few bits, such as whole numbers, are added up in float32, where every sum is exact.

Loops run over the columns of a panel, the rows of the other side transposed, so that they need no sum across a vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from budgetbench.compiled import compiled, contracted
from budgetbench.sparse import Inputs, SparseRows, dense

Floats = NDArray[np.float32]
Values = NDArray[np.float64]

#: Columns of a panel: no power of two, for neighbouring inputs not to fall on the same places of the cache.
COLUMNS = 248
#: Rows that one pass over a panel takes: with it they stay in the second cache.
TILE = 256
#: Rows made ready at a time.
BLOCK = 2048
#: Inputs after which a loop turns to the next rows, so that their part of the panel stays in the first cache.
DEPTH = 16
#: Rows and inputs that an inner loop over dense rows takes at once, and inputs of one over rows with many zeros.
GROUP, LIST = 4, 8
#: Rows with at most so many of their inputs other than 0 are taken as lists.
SPARSE = 0.5
#: Whole multiples of powers of two down to this are looked for, to be added up in float32.
FINEST = 2.0**-8
#: Largest product of two such rows' lengths, in units of their last places: every sum of products fits in 24 bits.
EXACT = 2.0**24


@dataclass(frozen=True)
class Rows:
    """Rows made ready to be multiplied with panels.

    Attributes
    ----------
    X : inputs, float32 of shape (n, d), both padded with zeros to multiples of `GROUP`; sparse ones stay sparse.
    norms : ‖x‖² of each row, without padding.
    unit : the largest power of two of which all inputs are multiples; 0 where none is found.
    starts, inputs, values : the inputs other than 0 of row i are number starts[i] to starts[i + 1] of these lists,
        padded with zeros to multiples of `LIST`; empty where rows are dense.
    """

    X: Inputs
    norms: Values
    unit: float
    starts: NDArray[np.int64]
    inputs: NDArray[np.int64]
    values: Floats

    def tile(self, start: int) -> Rows:
        """At most `TILE` rows from `start` on, a multiple of `GROUP`."""
        stop = start + TILE
        starts = self.starts[start : stop + 1] if len(self.starts) else self.starts
        return replace(self, X=self.X[start:stop], norms=self.norms[start:stop], starts=starts)

    def __len__(self) -> int:
        return len(self.norms)


@dataclass(frozen=True)
class Panel:
    """Rows transposed, to be multiplied with others.

    Attributes
    ----------
    Z : inputs, float32 of shape (d, m), d padded with zeros.
    norms : ‖z‖² of each row.
    exact : whether no sum of products with the other rows is rounded in float32.
    """

    Z: Floats
    norms: Values
    exact: bool

    def __len__(self) -> int:
        return len(self.norms)


def rows_of(X: Inputs) -> Rows:
    """Make rows of shape (n, d) ready."""
    n, d = X.shape
    if isinstance(X, SparseRows):
        held = X.padded(_rounded(n), _rounded(d))
        lists = _padded_lists(held.starts, held.inputs, held.values)
        return Rows(held, squared_norms(X), _unit_of(X), *lists)
    padded = np.zeros((_rounded(n), _rounded(d)), dtype=np.float32)
    padded[:n, :d] = X
    norms = squared_norms(padded)[:n]
    if np.count_nonzero(X) <= SPARSE * X.size and d > LIST:
        lists = _lists(padded)
    else:
        lists = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32)
    return Rows(padded, norms, _unit_of(padded), *lists)


def panel_of(Z: Inputs, rows: Rows) -> Panel:
    """Make rows of shape (m, d) ready to be multiplied with others."""
    depth = rows.X.shape[1]
    if isinstance(Z, SparseRows):
        panel, norms = _scattered(Z.starts, Z.inputs, Z.values, depth), squared_norms(Z)
    else:
        panel = _transposed(Z, depth)
        norms = column_norms(panel)
    unit = _unit_of(Z) if rows.unit else 0.0
    lengths = np.sqrt(rows.norms.max(initial=0.0) * norms.max(initial=0.0))
    return Panel(panel, norms, bool(unit and lengths <= EXACT * rows.unit * unit))


def tiles(X: Inputs, Z: Inputs) -> Iterator[tuple[slice, slice, Rows, Panel]]:
    """The rows of X and of Z made ready to be multiplied, a tile at a time, with its place; rows of X come in order."""
    for start in range(0, len(X), BLOCK):
        block = rows_of(X[start : start + BLOCK])
        for first in range(0, len(Z), COLUMNS):
            panel = panel_of(Z[first : first + COLUMNS], block)
            for at in range(0, len(block), TILE):
                rows = block.tile(at)
                yield slice(start + at, start + at + len(rows)), slice(first, first + len(panel)), rows, panel


class Scratch:
    """Room for tiles that are made one after the other: fresh memory for each would cost as much as its values."""

    def __init__(self) -> None:
        self._bytes = np.empty(TILE * COLUMNS * 8, dtype=np.uint8)

    def tile(self, n: int, m: int, dtype: DTypeLike) -> NDArray[Any]:
        """A tile of shape (n, m) with anything in it, in the place of the one before."""
        return self._bytes.view(dtype)[: n * m].reshape(n, m)


def products(rows: Rows, panel: Panel, scratch: Scratch) -> NDArray[Any]:
    """x·z of the rows and the columns, of shape (n, m): float64, or float32 where that is exact."""
    found = scratch.tile(len(rows.X), len(panel), np.float32 if panel.exact else np.float64)
    found.fill(0)
    if len(rows.starts):
        _sparse_products(rows.starts, rows.inputs, rows.values, panel.Z, found)
    else:
        _dense_products(dense(rows.X), panel.Z, found)
    return found[: len(rows)]


def squared_norms(X: Inputs) -> Values:
    """‖x‖² of each row, rounded as the product of the row with itself is."""
    if isinstance(X, SparseRows):
        return _list_norms(X.starts, X.values)
    found = np.empty(len(X))
    for start in range(0, len(X), COLUMNS):
        part = X[start : start + COLUMNS]
        found[start : start + COLUMNS] = column_norms(_transposed(part, part.shape[1]))
    return found


def _rounded(n: int) -> int:
    return -(-n // GROUP) * GROUP


def _unit_of(X: Inputs) -> float:
    held = X.values[None] if isinstance(X, SparseRows) else X
    unit = 1.0
    while unit >= FINEST:
        if _whole(held, np.float32(1 / unit)):
            return unit
        unit /= 2
    return 0.0


@compiled
def _whole(X: Floats, factor: float) -> bool:
    """Whether all inputs times a factor are whole numbers, of at most 24 bits."""
    for i in range(len(X)):
        row, broken = X[i], 0
        for k in range(len(row)):
            value = row[k] * factor
            broken |= (np.rint(value) != value) | (abs(value) > np.float32(EXACT))
        if broken:
            return False
    return True


@compiled
def _transposed(Z: Floats, depth: int) -> Floats:
    """The rows of Z (m, d) as columns, padded with zeros to a depth; eight at a time, for whole cache lines."""
    m, d = Z.shape
    panel = np.zeros((depth, m), dtype=np.float32)
    whole = m - m % 8
    for j in range(0, whole, 8):
        z0, z1, z2, z3, z4, z5, z6, z7 = Z[j], Z[j + 1], Z[j + 2], Z[j + 3], Z[j + 4], Z[j + 5], Z[j + 6], Z[j + 7]
        for k in range(d):
            p = panel[k, j : j + 8]
            p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] = z0[k], z1[k], z2[k], z3[k], z4[k], z5[k], z6[k], z7[k]
    for j in range(whole, m):
        for k in range(d):
            panel[k, j] = Z[j, k]
    return panel


@compiled
def _scattered(starts: NDArray[Any], inputs: NDArray[Any], values: Floats, depth: int) -> Floats:
    """Sparse rows as columns, padded with zeros to a depth."""
    panel = np.zeros((depth, len(starts) - 1), dtype=np.float32)
    for j in range(len(starts) - 1):
        for e in range(starts[j], starts[j + 1]):
            panel[inputs[e], j] = values[e]
    return panel


@contracted
def _list_norms(starts: NDArray[Any], values: Floats) -> Values:
    """The norms that `column_norms` gives: what zeros add to a sum changes no bit of it."""
    norms = np.zeros(len(starts) - 1)
    for i in range(len(norms)):
        for e in range(starts[i], starts[i + 1]):
            norms[i] = norms[i] + np.float64(values[e]) * np.float64(values[e])
    return norms


@contracted
def column_norms(panel: Floats) -> Values:
    """Σₖ panel[k, ·]² in float64."""
    norms = np.zeros(panel.shape[1])
    for k in range(len(panel)):
        row = panel[k]
        for j in range(len(norms)):
            norms[j] = norms[j] + np.float64(row[j]) * np.float64(row[j])
    return norms


@compiled
def _lists(X: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    n, d = X.shape
    starts = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        count = 0
        for k in range(d):
            count += X[i, k] != 0
        starts[i + 1] = starts[i] + (count + LIST - 1) // LIST * LIST
    inputs, values = np.zeros(starts[n], dtype=np.int64), np.zeros(starts[n], dtype=np.float32)
    for i in range(n):
        at = starts[i]
        for k in range(d):
            if X[i, k] != 0:
                inputs[at], values[at] = k, X[i, k]
                at += 1
    return starts, inputs, values


@compiled
def _padded_lists(
    starts: NDArray[Any], inputs: NDArray[Any], values: Floats
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """The lists that `_lists` makes of the same rows."""
    n = len(starts) - 1
    begins = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        begins[i + 1] = begins[i] + (starts[i + 1] - starts[i] + LIST - 1) // LIST * LIST
    places, found = np.zeros(begins[n], dtype=np.int64), np.zeros(begins[n], dtype=np.float32)
    for i in range(n):
        for e in range(starts[i + 1] - starts[i]):
            places[begins[i] + e] = inputs[starts[i] + e]
            found[begins[i] + e] = values[starts[i] + e]
    return begins, places, found


@contracted
def _sparse_products(
    starts: NDArray[np.int64], inputs: NDArray[np.int64], values: Floats, Z: Floats, found: NDArray[Any]
) -> None:
    number = found.dtype.type
    for i in range(len(starts) - 1):
        f = found[i]
        for e in range(starts[i], starts[i + 1], 8):
            z0, z1, z2, z3 = Z[inputs[e]], Z[inputs[e + 1]], Z[inputs[e + 2]], Z[inputs[e + 3]]
            z4, z5, z6, z7 = Z[inputs[e + 4]], Z[inputs[e + 5]], Z[inputs[e + 6]], Z[inputs[e + 7]]
            x0, x1, x2, x3 = number(values[e]), number(values[e + 1]), number(values[e + 2]), number(values[e + 3])
            x4, x5, x6, x7 = number(values[e + 4]), number(values[e + 5]), number(values[e + 6]), number(values[e + 7])
            for j in range(len(f)):
                half = f[j] + x0 * z0[j] + x1 * z1[j] + x2 * z2[j] + x3 * z3[j]
                f[j] = half + x4 * z4[j] + x5 * z5[j] + x6 * z6[j] + x7 * z7[j]


@contracted
def _dense_products(X: Floats, Z: Floats, found: NDArray[Any]) -> None:
    number = found.dtype.type
    n, d = X.shape
    for first in range(0, d, DEPTH):
        for i in range(0, n, 4):
            f0, f1, f2, f3 = found[i], found[i + 1], found[i + 2], found[i + 3]
            for k in range(first, min(first + DEPTH, d), 4):
                z0, z1, z2, z3 = Z[k], Z[k + 1], Z[k + 2], Z[k + 3]
                a0, a1, a2, a3 = X[i, k], X[i, k + 1], X[i, k + 2], X[i, k + 3]
                b0, b1, b2, b3 = X[i + 1, k], X[i + 1, k + 1], X[i + 1, k + 2], X[i + 1, k + 3]
                c0, c1, c2, c3 = X[i + 2, k], X[i + 2, k + 1], X[i + 2, k + 2], X[i + 2, k + 3]
                d0, d1, d2, d3 = X[i + 3, k], X[i + 3, k + 1], X[i + 3, k + 2], X[i + 3, k + 3]
                for j in range(len(f0)):
                    e0, e1, e2, e3 = number(z0[j]), number(z1[j]), number(z2[j]), number(z3[j])
                    f0[j] = f0[j] + a0 * e0 + a1 * e1 + a2 * e2 + a3 * e3
                    f1[j] = f1[j] + b0 * e0 + b1 * e1 + b2 * e2 + b3 * e3
                    f2[j] = f2[j] + c0 * e0 + c1 * e1 + c2 * e2 + c3 * e3
                    f3[j] = f3[j] + d0 * e0 + d1 * e1 + d2 * e2 + d3 * e3


@contracted
def products_with(x: Floats, panel: Floats) -> Values:
    """x·z for an input x (d,) and the columns z of a panel (d, m): the values that `products` gives, of shape (m,)."""
    found = np.zeros(panel.shape[1])
    for k in range(len(x)):
        if x[k] != 0.0:
            row, factor = panel[k], np.float64(x[k])
            for j in range(len(found)):
                found[j] = found[j] + factor * np.float64(row[j])
    return found


def squared_distances(rows: Rows, panel: Panel, scratch: Scratch) -> Values:
    """‖x - z‖² of the rows and the columns by differences, right to a few last places however close they are."""
    found = scratch.tile(len(rows.X), len(panel), np.float64)
    found.fill(0)
    _distances(dense(rows.X), panel.Z, found)
    return found[: len(rows)]


@compiled
def _distances(X: Floats, Z: Floats, found: Values) -> None:
    """No fused operations here: the squares are rounded."""
    n, d = X.shape
    for first in range(0, d, DEPTH):
        for i in range(n):
            f = found[i]
            for k in range(first, min(first + DEPTH, d), 2):
                x0, x1, z0, z1 = np.float64(X[i, k]), np.float64(X[i, k + 1]), Z[k], Z[k + 1]
                for j in range(len(f)):
                    a0, a1 = x0 - z0[j], x1 - z1[j]
                    f[j] = f[j] + a0 * a0 + a1 * a1
