"""The examples at hand while a block passes: those of the block, then those that the learner keeps.

With a Gram matrix the pool is the whole data set, laid out once. In a stream it is laid out anew for each block:
kernel values between the block and what is kept come in as one matrix product, those among the kept are carried
over (`engine.storage`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import record
from budgetbench.engine.expansion import Counts, Doubt, Expansion, rescore
from budgetbench.engine.kernel_access import KernelAccess, Rows, Source, read_only
from budgetbench.engine.storage import Storage
from budgetbench.kernels import Floats, Values

#: Scores that are off by more than this share of the support set's weight are all computed anew.
TOLERATED = 1e-9

LARGEST = int(np.iinfo(np.int64).max)

#: How many more members may be stored when so many examples pass. A pool is told, and does not keep it: a learner and
#: its pool that refer to each other would outlive their use, with all their kernel values.
Capacity = Callable[[int], int]


class Changes(NamedTuple):
    """Who became a member or ceased to be one, in turn.

    rounds : of the block, from 0.
    rows : row numbers of the examples.
    steps : 1 or -1.
    """

    rounds: NDArray[np.int64]
    rows: Rows
    steps: NDArray[np.int64]


class Pool:
    """The expansion over the positions of a storage.

    Parameters
    ----------
    outputs : shape of one score: () for two classes, (n_classes,) for more.
    storage : where the kernel values are.

    Attributes
    ----------
    companions : positions of examples that must survive a block though they may be no members.
    y, diagonal : see `Block`; looked up when the pool is laid out.
    traced : whether `changes` are noted.
    """

    def __init__(self, outputs: tuple[int, ...], storage: Storage) -> None:
        self._outputs = outputs
        self._storage = storage
        self.traced = False
        self.companions: Rows = np.empty(0, dtype=np.int64)
        self.counts, self.doubt = record(Counts), record(Doubt)
        self._forget()
        self.f = self._expansion(np.zeros((*outputs, 0)), 0)

    def _expansion(self, scores: Values, slots: int) -> Expansion:
        return Expansion(
            np.zeros(slots, dtype=np.int64),
            np.zeros((slots, *self._outputs)),
            scores,
            np.zeros(len(self.ids), dtype=np.bool_),
            # who arrives enters at most once; they, and who was there, leave at most once after that
            np.zeros((3 * len(self.ids) if self.traced else 0, 3), dtype=np.int64),
            self.counts,
            self.doubt,
        )

    @property
    def ids(self) -> Rows:
        """The row number of the example in each position."""
        return self._storage.ids

    @property
    def K(self) -> Floats:  # noqa: N802  the field's own symbol
        """Kernel values, see `Block`."""
        return self._storage.K

    @property
    def members(self) -> Rows:
        """Positions of the stored examples."""
        return self.f.members[: self.counts.members]

    @property
    def coefficients(self) -> Values:
        return self.f.coefficients[: self.counts.members]

    @property
    def changes(self) -> Changes:
        """Who became a member or ceased to be one while the last block passed."""
        ended, positions, changes = self.f.changes[: self.counts.changes].T
        return Changes(ended, self.ids[positions], changes)

    @property
    def kept(self) -> Rows:
        """Positions of all that must survive the block: the members, then companions that are none."""
        return np.concatenate([self.members, self.companions[~self.f.stored[self.companions]]])

    @property
    def nbytes(self) -> int:
        """Of what goes on when the block has passed: coefficients, and what is followed of the kept examples, their
        scores and the members' kernel values with them."""
        followed = len(self.kept) if self._storage.follow_kept else 0
        return self.coefficients.nbytes + followed * (8 * math.prod(self._outputs) + 4 * len(self.members))

    def spread(self, gram: Floats, capacity: Capacity) -> None:
        """Lay the pool out over a whole data set whose Gram matrix is at hand."""
        n = len(gram)
        self._storage.ids, self._storage.K = np.arange(n), gram
        self.f = self._expansion(np.zeros((*self._outputs, n)), capacity(n))

    def look_up(self, access: KernelAccess, classes: NDArray[np.int64]) -> None:
        """Get label and K(x, x) of the example in each position."""
        found = classes[self.ids]
        self.y: NDArray[Any] = found if self._outputs else np.where(found == 1, 1.0, -1.0)
        self.diagonal = read_only(access.diagonal[self.ids])

    def _forget(self) -> None:
        """Let labels and K(x, x) go, which are looked up again."""
        self.y, self.diagonal = np.empty(0), np.empty(0, dtype=np.float32)

    def asks(self, rows: Rows) -> int:
        """How many kernel values it takes for these examples of the data set to pass when they come as a stream."""
        needed = self.f.stored.copy()
        needed[self.companions] = True
        needed[rows] = True
        return len(rows) * int(np.count_nonzero(needed))

    def turn(self, rows: Rows, source: Source, capacity: Capacity) -> None:
        """Let the block before go and take in the next one, whose examples get the positions 0, 1, ….

        Parameters
        ----------
        rows : row numbers of the examples that arrive, each once.
        """
        most = capacity(LARGEST)
        scores, moved = self._storage.turn(rows, self.members, self.kept, self.f.scores, source, most)
        self._move(scores, moved, capacity(len(rows)))
        # Scores of a block that has just come are made; those of kept examples too, once they are much in doubt.
        much = self.doubt.error > TOLERATED * self.doubt.weight
        rescore(self.f, self.K, self.K.shape[1] if much else len(rows))

    def renumber(self, rows: Rows, capacity: Capacity) -> None:
        """Give these rows, the kept examples' among them, the numbers 0, 1, … and let all others go."""
        self._forget()
        self._move(*self._storage.renumber(rows, self.members, self.kept, self.f.scores), capacity(0))

    def _move(self, scores: Values, moved: Rows, room: int) -> None:
        """Go on with these scores, each example where it has moved to, and room for so many members more."""
        members, coefficients = moved[self.members], self.coefficients
        self.f = f = self._expansion(scores, len(members) + room)
        f.members[: len(members)] = members
        f.coefficients[: len(members)] = coefficients
        f.stored[members] = True
        self.companions = moved[self.companions]
