"""A stream as it arrives, and kernel values that several learners share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine import metering
from budgetbench.engine.kernel_access import KernelAccess, Rows, Source, transposed
from budgetbench.engine.metering import Meter
from budgetbench.kernels import Floats
from budgetbench.sparse import dense

#: Examples that arrive between two products with the support set: large enough for BLAS, small beside the support.
BLOCK = 512


@dataclass(frozen=True)
class Arrivals:
    """Examples of a data set that arrive, one after the other.

    rows : their row numbers.
    classes : the class index of each row of the data set, theirs among them.
    access : the data set itself.
    source : kernel values between them and what a learner has `kept`, for one that `asks` for any.
    meter : of what its kernel values cost.
    """

    rows: Rows
    classes: NDArray[np.int64]
    access: KernelAccess
    source: Source
    meter: Meter = field(default_factory=Meter)

    @property
    def inputs(self) -> Floats:
        """Of shape (n, d), dense."""
        return dense(self.access.X[self.rows])

    @property
    def labels(self) -> NDArray[np.int64]:
        """Their class indices."""
        return self.classes[self.rows]


class SharedBlock:
    """Kernel values of one block against all that any learner keeps, computed once for all of them.

    Attributes
    ----------
    rate : seconds that one of them takes to compute.
    """

    def __init__(self, source: Source, rows: Rows, kept: Sequence[Rows]) -> None:
        others = np.setdiff1d(np.concatenate(kept), rows)
        self._rows = rows
        self._ids = np.concatenate([rows, others])
        self._order = np.argsort(self._ids)
        begun = metering.clock()
        self._values = source.between(self._ids, rows)  # a row for each that is kept, for it to be copied whole
        taken = metering.clock() - begun
        self.rate = taken / self._values.size if source.rate is None else source.rate

    def between(self, rows: Rows, columns: Rows) -> Floats:
        """Kernel values between the block and kept examples; either may come first."""
        if not np.array_equal(columns, self._rows):
            return transposed(self.between(columns, rows))
        if np.array_equal(rows, self._ids):
            return self._values
        return self._values[self._places(rows)]

    def _places(self, rows: Rows) -> Rows:
        return self._order[np.searchsorted(self._ids, rows, sorter=self._order)]


def blocks(order: Rows) -> Iterator[Rows]:
    for start in range(0, len(order), BLOCK):
        yield order[start : start + BLOCK]
