"""Recognise a set of labelled examples by its content, whatever the order of its rows and the file it came in.

Besides counts, a fingerprint holds averages over the rows x with class index k of

    cos(w_m · x + (k + 1) √p_m),     w_mj = sin(j² √p_m),     j = 1 … d,  p = 2, 3, 5, 7.

An average does not depend on the order of rows. The cosine is bounded, so that no row outweighs the others; it is not
linear, so that errors in two rows do not cancel; and the label moves its phase, so that it notices labels that were
exchanged between rows. It is smooth, so that values rounded differently give nearly the same number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets.base import Examples

ROOTS = np.sqrt(np.array([2.0, 3.0, 5.0, 7.0]))

#: Rows worked on at a time: bounds the float64 copy of the inputs.
BLOCK = 4096

#: Agreement asked of the averages: for values that are the same but for rounding, and for the same values.
ROUNDED = 1e-5
EXACT = 1e-8


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
