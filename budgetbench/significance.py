"""What is significant: one level for every test of the program, and the correction where many are made."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: What chance makes in fewer cases is significant; every test is two-sided.
ALPHA = 0.05


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """p of several tests, adjusted so that the chance of any false finding stays below the level (Holm 1979)."""
    given = np.asarray(p, dtype=float)
    order = np.argsort(given, kind="stable")
    adjusted = np.empty(len(given))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1)))
    return adjusted
