"""Where a pool has its kernel values: laid out anew for each block, or with kept examples in places of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from budgetbench.compiled import compiled
from budgetbench.engine.kernel_access import Rows, Source, gather, transposed
from budgetbench.kernels import Floats, Values

#: How many more places than needed are made when there are too few, as a factor.
GROWTH = 1.1


class Storage(ABC):
    """Positions of examples, and the kernel values among them.

    Attributes
    ----------
    ids : the row number of the example in each position.
    K : kernel values, see `Block`.
    follow_kept : whether the scores of kept examples are followed too and not those of the block alone.
    """

    follow_kept: bool

    def __init__(self) -> None:
        self.ids: Rows = np.empty(0, dtype=np.int64)
        self.K: Floats = np.empty((0, 0), dtype=np.float32)

    @abstractmethod
    def turn(
        self, rows: Rows, members: Rows, kept: Rows, scores: Values, source: Source, most: int
    ) -> tuple[Values, Rows]:
        """Take in a block, whose examples get the positions 0, 1, …, and let all go that is not kept.

        Parameters
        ----------
        rows : row numbers of the examples that arrive, each once.
        members, kept : positions of the members; of all that must survive, the members first.
        scores : those at the present positions.
        most : how many members there can ever be.

        Returns
        -------
        scores, moved : the scores at the new positions, right where a kept example is followed; and for each position
            before where its example is now, -1 if it is gone.
        """

    @abstractmethod
    def renumber(self, rows: Rows, members: Rows, kept: Rows, scores: Values) -> tuple[Values, Rows]:
        """Give these rows, the kept examples' among them, the numbers 0, 1, … and let all others go; returns what
        `turn` does."""


class Packed(Storage):
    """The block first, then the kept examples, laid out anew for each block.

    Kernel values among the kept are carried over, where their scores are followed.
    """

    def __init__(self, follow_kept: bool) -> None:
        super().__init__()
        self.follow_kept = follow_kept

    def turn(
        self, rows: Rows, members: Rows, kept: Rows, scores: Values, source: Source, most: int
    ) -> tuple[Values, Rows]:
        fresh = ~np.isin(self.ids[kept], rows)  # an example that is kept and comes again is one of the block
        carried = kept[fresh]
        ids = np.concatenate([rows, self.ids[carried]])
        size, n_rows = len(rows), len(rows) + int(np.count_nonzero(fresh[: len(members)]))
        if self.follow_kept:
            # taken out first: the old matrix and the new one need not be there at once
            self.K = among = gather(self.K, carried[: n_rows - size], carried)
            K = np.empty((n_rows, len(ids)), dtype=np.float32)
            values = source.between(ids, rows)
            K[:size] = transposed(values)
            K[size:, :size] = values[size:n_rows]
            K[size:, size:] = among
        else:
            K = source.between(ids[:n_rows], rows)
        followed = np.zeros((*scores.shape[:-1], K.shape[1]))
        if self.follow_kept:
            followed[..., size:] = scores[..., carried]
        moved = positions(self.ids, ids)
        self.ids, self.K = ids, K
        return followed, moved

    def renumber(self, rows: Rows, members: Rows, kept: Rows, scores: Values) -> tuple[Values, Rows]:
        moved = np.full(len(self.ids), -1)
        moved[kept] = np.arange(len(kept))
        followed = kept if self.follow_kept else kept[:0]
        self.K = np.ascontiguousarray(self.K[np.ix_(members, followed)])
        self.ids = positions(self.ids[kept], rows)
        return np.ascontiguousarray(scores[..., followed]), moved


class Placed(Storage):
    """Kept examples stay in their places from block to block.

    For learners that follow the scores of thousands of members and keep no others. Packed, the kernel values among all
    of them are carried over for each block, as many as the square of their number; here only those of newcomers move.

    The first `_width` positions are the block's; a short block leaves some unused. From there on each position is a
    place, free or held by one member. Kernel values and scores of unused positions mean nothing.
    """

    follow_kept = True

    def __init__(self) -> None:
        super().__init__()
        self._width = 0
        self._values: Floats = np.zeros(0, dtype=np.float32)  # those of K, one row after the other

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_values"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._values = self.K.reshape(-1)  # the same memory, which two arrays of a pickle would not be

    def turn(
        self, rows: Rows, members: Rows, kept: Rows, scores: Values, source: Source, most: int
    ) -> tuple[Values, Rows]:
        assert len(kept) == len(members)
        size, known, before = len(rows), self.ids[members], len(self.ids)
        at = positions(known, rows)  # a member that comes again is one of the block
        staying = at < 0
        scores, shifted = self._with_room(size, int(np.count_nonzero(staying)), scores, most)
        at[staying] = self._settled(shifted[members[staying]], scores)
        self.ids = np.full(len(self.K), rows[0])
        self.ids[at] = known
        self.ids[:size] = rows
        K, width = self.K, self._width
        values = source.between(np.concatenate([rows, self.ids[width:]]), rows)
        K[:size, :size] = values[:size]
        K[:size, width:] = transposed(values[size:])
        K[width:, :size] = values[size:]
        moved = np.full(before, -1)
        moved[members] = at
        return scores, moved

    def _with_room(self, size: int, staying: int, before: Values, most: int) -> tuple[Values, Rows]:
        """Scores, and where each position has gone, once there is room for a block and for the staying members."""
        width, n = self._width, len(self.K)
        if size <= width and staying <= n - width:
            return before, np.arange(n)
        places = n - width
        if staying > places:
            places = max(staying, min(int(GROWTH * staying), most))
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
        scores = np.zeros((*before.shape[:-1], new))
        scores[..., moved] = before
        return scores, moved

    def _settled(self, members: Rows, scores: Values) -> Rows:
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

    def renumber(self, rows: Rows, members: Rows, kept: Rows, scores: Values) -> tuple[Values, Rows]:
        known = positions(self.ids[members], rows)
        self.ids = np.zeros(len(self.ids), dtype=np.int64)
        self.ids[members] = known
        return scores, np.arange(len(self.ids))


def positions(before: Rows, after: Rows) -> Rows:
    """For each of some row numbers where it stands in `after`, which is not empty; -1 where it does not."""
    order = np.argsort(after)
    nearest = order[np.minimum(np.searchsorted(after, before, sorter=order), len(after) - 1)]
    return np.where(after[nearest] == before, nearest, -1)


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
