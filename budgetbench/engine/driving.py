"""A stream, and letting it pass before several learners at once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.kernel_access import KernelAccess, Rows, gather
from budgetbench.engine.storage import Source
from budgetbench.kernels import Floats

if TYPE_CHECKING:
    from budgetbench.engine.online import OnlineLearner

#: Examples that arrive between two products with the support set: large enough for BLAS, small beside the support.
BLOCK = 512


@dataclass(frozen=True)
class Arrivals:
    """Examples of a data set that arrive, one after the other.

    rows : their row numbers.
    classes : the class index of each row of the data set, theirs among them.
    access : the data set itself.
    source : kernel values between them and what a learner has `kept`, for one that `asks` for any.
    """

    rows: Rows
    classes: NDArray[np.int64]
    access: KernelAccess
    source: Source

    @property
    def inputs(self) -> Floats:
        """Of shape (n, d)."""
        return self.access.X[self.rows]

    @property
    def labels(self) -> NDArray[np.int64]:
        """Their class indices."""
        return self.classes[self.rows]


def drive(cohort: Sequence[OnlineLearner], access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
    """Let the examples `order` of a data set pass before several learners at once.

    All see the same stream; where kernel values are computed as it passes, each is computed once for all.
    """
    if any(learner.blockwise for learner in cohort):
        access = copy(access)
        access.gram = None  # kernel values are asked for block by block, never for all at once
    for learner in cohort:
        learner.open(access)
    active = list(cohort)
    for epoch in range(max(learner.epochs for learner in cohort)):
        active = [learner for learner in active if epoch < learner.epochs and not (epoch and learner.is_settled())]
        if not active:
            break
        asking = [learner for learner in active if learner.asks]
        for learner in active:
            learner.begin_pass()
        for rows in blocks(order) if access.gram is None else [order]:
            begun = time.perf_counter()
            shared = access.gram is None and len(asking) > 1
            source = SharedBlock(access, rows, [learner.kept() for learner in asking]) if shared else access
            share = (time.perf_counter() - begun) / max(1, len(asking))
            for learner in active:
                begun = time.perf_counter()
                learner.see(Arrivals(rows, labels, access, source))
                learner.train_seconds_ += time.perf_counter() - begun + (share if learner.asks else 0.0)
    for learner in cohort:
        learner.close(access)


class SharedBlock:
    """Kernel values of one block against all that any learner keeps, computed once for all of them."""

    def __init__(self, access: KernelAccess, rows: Rows, kept: Sequence[Rows]) -> None:
        others = np.setdiff1d(np.concatenate(kept), rows)
        self._rows = rows
        self._ids = np.concatenate([rows, others])
        self._order = np.argsort(self._ids)
        self._values = access.between(rows, self._ids)

    def between(self, rows: Rows, columns: Rows) -> Floats:
        """Kernel values between the block and kept examples; either may come first."""
        if not np.array_equal(rows, self._rows):
            return np.ascontiguousarray(self.between(columns, rows).T)
        if np.array_equal(columns, self._ids):
            return self._values
        found = self._order[np.searchsorted(self._ids, columns, sorter=self._order)]
        return gather(self._values, np.arange(len(rows)), found)


def blocks(order: Rows) -> Iterator[Rows]:
    for start in range(0, len(order), BLOCK):
        yield order[start : start + BLOCK]
