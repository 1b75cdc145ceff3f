"""A pool whose kept examples stay in their places from block to block.

For learners that follow the scores of thousands of kept examples. The plain pool carries the kernel values among all
of them over to the next block, as many as the square of their number; here only those of newcomers are moved.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.kernel_access import Rows
from budgetbench.engine.pool import Pool, Rescore, Source
from budgetbench.kernels import Floats

#: How many more places than needed are made when there are too few, as a factor.
GROWTH = 1.1


class PlacedPool(Pool):
    """A pool that follows its members and has no companions.

    The first `_width` positions are the block's; a short block leaves some unused. From there on each position is a
    place, free or held by one member. Kernel values and scores of unused positions mean nothing.
    """

    def __init__(
        self, outputs: tuple[int, ...], capacity: Callable[[int], int], follow_kept: bool, rescore: Rescore
    ) -> None:
        super().__init__(outputs, capacity, follow_kept, rescore)
        self._width = 0
        self._values: Floats = np.zeros(0, dtype=np.float32)  # those of K, one row after the other

    def turn(self, rows: Rows, source: Source) -> None:
        size, members = len(rows), self.members.copy()
        known, coefficients = self.ids[members], self.coefficients.copy()
        positions = _find(known, rows)  # a member that comes again is one of the block
        staying = positions < 0
        scores, moved = self._with_room(size, int(np.count_nonzero(staying)))
        positions[staying] = self._settled(moved[members[staying]], scores)

        self.ids = np.full(len(self.K), rows[0])
        self.ids[positions] = known
        self.ids[:size] = rows
        K, width = self.K, self._width
        values = source.between(rows, np.concatenate([rows, self.ids[width:]]))
        K[:size, :size] = values[:, :size]
        K[:size, width:] = values[:, size:]
        K[width:, :size] = values[:, size:].T

        self.f = f = self._expansion(size, 0, len(members))._replace(
            scores=scores, stored=np.zeros(len(K), dtype=np.bool_)
        )
        f.members[: len(members)] = positions
        f.coefficients[: len(members)] = coefficients
        f.stored[positions] = True
        self._renew(size)

    def _with_room(self, size: int, staying: int) -> tuple[NDArray[np.float64], Rows]:
        """Scores, and where each position has gone, once there is room for a block and for the staying members."""
        before, width, n = self.f.scores, self._width, len(self.K)
        if size <= width and staying <= n - width:
            return before, np.arange(n)
        places = n - width
        if staying > places:
            places = max(staying, min(int(GROWTH * staying), self._capacity(np.iinfo(np.int64).max)))
        self._width = max(width, size)
        new = self._width + places
        # K grows where it lies, as a copy beside it would be too much memory.
        self.K = np.zeros((0, 0), dtype=np.float32)
        try:
            self._values.resize(new * new)
        except ValueError:  # someone looks at the old values
            self._values = np.concatenate([self._values, np.zeros(new * new - n * n, dtype=np.float32)])
        spread_rows(self._values, n, new, width, self._width - width)
        self.K = self._values.reshape(new, new)
        moved = np.arange(n)
        moved[width:] += self._width - width
        scores = np.zeros((*self._outputs, new))
        scores[..., moved] = before
        return scores, moved

    def _settled(self, members: Rows, scores: NDArray[np.float64]) -> Rows:
        """Move the members that are still in the block to free places; returns where all of them are then."""
        K, width = self.K, self._width
        free = np.ones(len(K), dtype=np.bool_)
        free[:width] = False
        free[members] = False
        newcomers = members < width
        sources = members[newcomers]
        targets = np.flatnonzero(free)[: len(sources)]
        K[targets] = K[sources]
        copy_columns(K, width, sources, targets)
        scores[..., targets] = scores[..., sources]
        settled = members.copy()
        settled[newcomers] = targets
        return settled

    def renumber(self, ids: Rows) -> None:
        """Give the members other row numbers and let all other examples go."""
        members = self.members
        self.ids = np.zeros(len(self.ids), dtype=np.int64)
        self.ids[members] = ids
        self.f.stored[:] = False
        self.f.stored[members] = True


@compiled
def spread_rows(values: Floats, n: int, new: int, width: int, shift: int) -> None:
    """Make an n × n matrix at the beginning of `values` the new × new one in which, from row and column `width` on,
    everything has moved on by `shift`."""
    for row in range(n - 1, -1, -1):  # backwards, so that nothing is overwritten before it is moved
        start = (row if row < width else row + shift) * new
        for column in range(n - 1, -1, -1):
            values[start + (column if column < width else column + shift)] = values[row * n + column]


@compiled
def copy_columns(K: Floats, start: int, sources: Rows, targets: Rows) -> None:
    """K[start:, targets] = K[start:, sources]"""
    for row in range(start, len(K)):
        for k in range(len(sources)):
            K[row, targets[k]] = K[row, sources[k]]


def _find(ids: Rows, rows: Rows) -> Rows:
    """The position of each id in `rows`, -1 where it is not there."""
    order = np.argsort(rows)
    nearest = order[np.minimum(np.searchsorted(rows, ids, sorter=order), len(rows) - 1)]
    return np.where(rows[nearest] == ids, nearest, -1)
