"""The examples at hand while a block passes: those of the block, then those that the learner keeps.

With a Gram matrix the pool is the whole data set, laid out once. In a stream it is laid out anew for each block:
kernel values between the block and what is kept come in as one matrix product, those among the kept are carried
over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.expansion import Counts, Doubt, Expansion, rescored
from budgetbench.engine.kernel_access import KernelAccess, Rows, gather
from budgetbench.kernels import Floats
from budgetbench.record import record


class Source(Protocol):
    """Kernel values between the block that passes and any rows that a learner keeps; either may come first."""

    def between(self, rows: Rows, columns: Rows) -> Floats: ...


#: Scores that are off by more than this share of the support set's weight are all computed anew.
TOLERATED = 1e-9

Rescore = Callable[[Expansion, Floats, int], None]


class Pool:
    """Positions, kernel values and the expansion over them.

    Parameters
    ----------
    outputs : shape of one score: () for two classes, (n_classes,) for more.
    capacity : how many members may be stored when n more examples pass.
    follow_kept : whether scores are followed for kept examples too, not for the block's alone.
    rescore : computes the scores of the block's examples from the members.
    """

    def __init__(
        self, outputs: tuple[int, ...], capacity: Callable[[int], int], follow_kept: bool, rescore: Rescore
    ) -> None:
        self._outputs = outputs
        self._capacity = capacity
        self._follow_kept = follow_kept
        self._rescore = rescore
        self.ids: Rows = np.empty(0, dtype=np.int64)
        self.K: Floats = np.empty((0, 0), dtype=np.float32)
        self.companions: Rows = np.empty(0, dtype=np.int64)
        self.counts, self.doubt = record(Counts), record(Doubt)
        self.f = self._expansion(0, 0)

    def _expansion(self, size: int, columns: int, members: int = 0) -> Expansion:
        slots = members + self._capacity(size)
        return Expansion(
            np.zeros(slots, dtype=np.int64),
            np.zeros((slots, *self._outputs)),
            np.zeros((*self._outputs, columns)),
            np.zeros(size, dtype=np.bool_),
            self.counts,
            self.doubt,
        )

    @property
    def members(self) -> Rows:
        """Pool positions of the stored examples."""
        return self.f.members[: self.f.counts.members]

    @property
    def coefficients(self) -> NDArray[np.float64]:
        return self.f.coefficients[: self.f.counts.members]

    @property
    def kept(self) -> Rows:
        """Pool positions of all that must survive the block: the members, then companions that are none."""
        return np.concatenate([self.members, self.companions[~self.f.stored[self.companions]]])

    def spread(self, access: KernelAccess) -> None:
        """Lay the pool out over a whole data set whose Gram matrix is at hand."""
        assert access.gram is not None
        n = len(access.gram)
        self.ids, self.K = np.arange(n), access.gram
        self.f = self._expansion(n, n)

    def turn(self, rows: Rows, source: Source) -> None:
        """Let the block before go and take in the next one, whose examples get the positions 0, 1, ….

        Parameters
        ----------
        rows : row numbers of the examples that arrive, each once.
        """
        old, members, kept = self.f, self.members, self.kept
        fresh = ~np.isin(self.ids[kept], rows)  # an example that is kept and comes again is one of the block
        carried = kept[fresh]
        ids = np.concatenate([rows, self.ids[carried]])
        size, n_rows = len(rows), len(rows) + int(np.count_nonzero(fresh[: len(members)]))
        if self._follow_kept:
            # taken out first: the old matrix and the new one need not be there at once
            self.K = among = gather(self.K, carried[: n_rows - size], carried)
            K = np.empty((n_rows, len(ids)), dtype=np.float32)
            K[:size] = source.between(rows, ids)
            K[size:, :size] = K[:size, size:n_rows].T
            K[size:, size:] = among
        else:
            K = source.between(ids[:n_rows], rows)

        place = _positions(self.ids, ids)
        self.f = f = self._expansion(len(ids), K.shape[1], len(members))
        f.members[: len(members)] = place[members]
        f.coefficients[: len(members)] = old.coefficients[: len(members)]
        f.stored[place[members]] = True
        self.companions = place[self.companions]
        self.ids, self.K = ids, K
        if self._follow_kept:
            f.scores[..., size:] = old.scores[..., carried]
        self._renew(size)

    def _renew(self, size: int) -> None:
        """Compute the scores of a block that has just come; those of kept examples too, once they are much in doubt."""
        columns = self.K.shape[1]
        if self.doubt.error <= TOLERATED * self.doubt.weight:
            columns = size
        self._rescore(self.f, self.K, columns)
        rescored(self.f, columns == self.K.shape[1])

    def renumber(self, ids: Rows) -> None:
        """Give the kept examples other row numbers and let all others go."""
        kept = self.kept
        if self._follow_kept:
            self.K = np.ascontiguousarray(self.K[np.ix_(self.members, kept)])
        else:
            self.K = np.empty((len(kept), 0), dtype=np.float32)
        old = self.f
        place = np.full(len(self.ids), -1)
        place[kept] = np.arange(len(kept))
        self.f = f = self._expansion(len(kept), self.K.shape[1], len(self.members))
        f.members[: old.counts.members] = place[old.members[: old.counts.members]]
        f.coefficients[: old.counts.members] = old.coefficients[: old.counts.members]
        f.stored[f.members[: old.counts.members]] = True
        if self._follow_kept:
            f.scores[...] = old.scores[..., kept]
        self.companions = place[self.companions]
        self.ids = ids


def _positions(before: Rows, after: Rows) -> Rows:
    """For each position of `before` the position of the same id in `after`, -1 where it is gone."""
    order = np.argsort(after)
    nearest = np.minimum(np.searchsorted(after, before, sorter=order), len(after) - 1)
    found = order[nearest]
    return np.where(after[found] == before, found, -1)
