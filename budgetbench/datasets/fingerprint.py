"""Recognise a set of labelled examples by its content, whatever the order of its rows and the file it came in.

Besides counts, a fingerprint holds averages over the rows x with class index k of

    cos(w_m · x + (k + 1) √p_m),     w_mj = sin(j² √p_m),     j = 1 … d,  p = 2, 3, 5, 7.

An average does not depend on the order of rows. The cosine is bounded, so that no row outweighs the others; it is not
linear, so that errors in two rows do not cancel; and the label moves its phase, so that it notices labels that were
exchanged between rows. It is smooth, so that values rounded differently give nearly the same number.

One value off in thousands of rows can hide in such an average. So the known copy of a set that has no checksum, as its
copies differ in the order of rows, has a digest of its rows besides; and a copy in another rounding may differ from
it by what that rounding explains, no more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets.base import Examples
from budgetbench.datasets.parse import UnfitError

ROOTS = np.sqrt(np.array([2.0, 3.0, 5.0, 7.0]))

#: Rows worked on at a time: bounds the float64 copy of the inputs.
BLOCK = 4096

#: Agreement asked of the averages: for values that are the same but for rounding, and for the same values.
ROUNDED = 1e-5
EXACT = 1e-8

#: Standard deviations of what rounding does to an average, within which a copy in another rounding must be.
DEVIATIONS = 6
#: Decimals of the digest of examples: as many as float32 holds of values below 10.
DIGEST_DECIMALS = 5


@dataclass(frozen=True)
class Fingerprint:
    """Rows, inputs, examples of each class, and the averages (none: only the counts are known)."""

    rows: int
    inputs: int
    classes: tuple[int, ...]
    statistics: tuple[float, ...] = ()

    def difference(self, other: Fingerprint, tolerance: float = ROUNDED) -> str:
        """What is wrong with `other` if this one is right, in words; the empty string if nothing is."""
        if (other.rows, other.inputs) != (self.rows, self.inputs):
            return f"{other.rows} rows of {other.inputs} inputs instead of {self.rows} of {self.inputs}"
        if self.classes and other.classes != self.classes:
            return f"examples of each class {list(other.classes)} instead of {list(self.classes)}"
        gaps = [abs(a - b) for a, b in zip(self.statistics, other.statistics, strict=False)]
        if all(gap <= tolerance for gap in gaps):  # so written, NaN is refused
            return ""
        return f"content differs from the published one (by {max(gaps):.1g})"


def row_digest(table: NDArray[Any], decimals: int) -> str:
    """SHA-256 of the rows of a table to so many decimals, whatever their order; of no table if a value is too large."""
    whole = np.rint(np.asarray(table, dtype=np.float64) * 10.0**decimals)
    if not (np.abs(whole) < 2**31).all():  # so written, NaN is refused
        return ""
    return hashlib.sha256(b"".join(sorted(row.tobytes() for row in whole.astype("<i4")))).hexdigest()


def confirmed(table: NDArray[Any], decimals: int, digests: Collection[str]) -> NDArray[Any]:
    """The same table, if it holds the rows of a published one; UnfitError if not."""
    if row_digest(table, decimals) not in digests:
        raise UnfitError("content differs from the published one")
    return table


@dataclass(frozen=True)
class Rounding:
    """How the values of a known copy are rounded, from which other copies may depart.

    Attributes
    ----------
    unit : the largest difference between two neighbouring values that it can hold.
    low, high : the least and the greatest value.
    digest : its `row_digest`, each row followed by its class; empty where it has a checksum of another kind.
    digits : significant digits of its values, and `full`, the share of values that need them all.
    """

    unit: float
    low: float
    high: float
    digest: str = ""
    digits: int = 0
    full: float = 0.0

    def difference(self, examples: Examples, expected: Fingerprint, actual: Fingerprint) -> str:
        """What is wrong with examples that are neither the known copy nor rounded from its values; empty if nothing.

        Their counts must have been found right.
        """
        X = examples.X.astype(np.float64)
        if self.digest and row_digest(np.column_stack([X, examples.y]), DIGEST_DECIMALS) == self.digest:
            return ""
        unit = max(self.unit, _unit(X))
        low, high = X.min(), X.max()
        if not (self.low - unit <= low and high <= self.high + unit):
            return f"values from {low:.4g} to {high:.4g} instead of {self.low} to {self.high}"
        if self.digits and abs(_share_with(X, self.digits) - self.full) < 0.005:
            return "content differs from the published one, in the same rounding"
        scale = np.sqrt((_directions(X.shape[1]) ** 2).sum(axis=0) / (24 * len(X)))
        gaps = np.abs(np.subtract(expected.statistics, actual.statistics))
        if (gaps <= DEVIATIONS * unit * scale + EXACT).all():
            return ""
        return f"content differs from the published one (by {gaps.max():.1g}) by more than rounding explains"


def _unit(X: NDArray[np.float64]) -> float:
    """The unit of which all values are multiples, as a power of ten; 0 if there is none."""
    held = X.astype(np.float32)
    for decimals in range(8):
        if (np.round(X, decimals).astype(np.float32) == held).all():
            return float(10.0**-decimals)
    return 0.0


def _share_with(X: NDArray[np.float64], digits: int) -> float:
    """The share of values that have so many significant digits, no fewer and no more."""
    values = X[X != 0]
    scale = 10.0 ** (digits - 1 - np.floor(np.log10(np.abs(values))))
    held = values.astype(np.float32)
    enough = (np.rint(values * scale) / scale).astype(np.float32) == held
    fewer = (np.rint(values * scale / 10) / scale * 10).astype(np.float32) == held
    return float(np.mean(enough & ~fewer))


def fingerprint(examples: Examples, n_classes: int) -> Fingerprint:
    """The fingerprint of `examples`, whose labels lie in 0 … n_classes - 1."""
    X, y = examples.X, examples.y
    W, phases = _directions(X.shape[1]), (np.arange(n_classes) + 1)[:, None] * ROOTS
    total = np.zeros(len(ROOTS))
    for start in range(0, len(X), BLOCK):
        rows = slice(start, start + BLOCK)
        total += np.cos(X[rows].astype(np.float64) @ W + phases[y[rows]]).sum(axis=0)
    counts = np.bincount(y, minlength=n_classes)
    statistics = tuple(float(f"{value:.12f}") for value in total / max(1, len(X)))
    return Fingerprint(len(X), X.shape[1], tuple(int(n) for n in counts), statistics)


def _directions(inputs: int) -> NDArray[np.float64]:
    j = np.arange(1, inputs + 1, dtype=np.float64)
    return np.asarray(np.sin(j[:, None] ** 2 * ROOTS))
