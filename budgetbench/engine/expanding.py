"""Online learners whose decision is an expansion over stored examples: a pool, and a support set in it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.arrivals import Arrivals
from budgetbench.engine.base import Rounds
from budgetbench.engine.expansion import Block, Expansion
from budgetbench.engine.kernel_access import KernelAccess, Rows, read_only
from budgetbench.engine.online import OnlineLearner
from budgetbench.engine.pool import Changes, Pool
from budgetbench.engine.storage import Packed, Storage
from budgetbench.engine.support import ExpansionClassifier
from budgetbench.errors import NumericalError
from budgetbench.kernels import Values


@dataclass(kw_only=True, eq=False, repr=False)
class ExpansionLearner(ExpansionClassifier, OnlineLearner):
    """An online learner that stores examples, with a coefficient each.

    A subclass gives `_visit`, which lets its compiled loop run over one block.
    """

    asks = True
    reported = OnlineLearner.reported | {"support_", "support_vectors_", "coefficients_", "averaged_coefficients_"}
    #: Scores of stored examples are needed, so kernel values among them are kept.
    follow_kept: ClassVar[bool] = False
    #: Draws one random number for each example.
    randomised: ClassVar[bool] = False
    #: How many examples beyond its budget it stores for a moment.
    spare: ClassVar[int] = 0
    #: Has a score for each class, where others have one that tells two classes apart.
    per_class: ClassVar[bool] = False

    @abstractmethod
    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        """Let the examples of a block pass."""

    def _capacity(self, arrivals: int) -> int:
        """How many more examples may have to be stored while `arrivals` pass."""
        budget = getattr(self, "budget", None)
        return arrivals if budget is None else min(arrivals, budget) + self.spare

    def _storage(self) -> Storage:
        return Packed(self.follow_kept)

    @property
    def whole(self) -> bool:
        """Whether all coefficients are whole numbers."""
        return False

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        outputs = (len(classes),) if self.per_class else ()
        self._pool = Pool(outputs, self._storage())

    def open(self, access: KernelAccess, labels: NDArray[np.int64]) -> None:
        super().open(access, labels)
        if access.gram is not None:
            self._pool.spread(access.gram, self._capacity)
            self._look_up(access, labels)

    def _look_up(self, access: KernelAccess, labels: NDArray[np.int64]) -> None:
        """Get what there is to know of the examples in the pool: once, where it is the whole data set."""
        pool = self._pool
        pool.look_up(access, labels)
        pool.doubt.exact = exact_weight(access.least, float(pool.diagonal.max(initial=0.0))) if self.whole else -1.0

    def see(self, arrivals: Arrivals) -> Rounds:
        # here, as a learner that overrides `_see` may let the pool alone: its changes are not to be told twice
        self._pool.counts.ended = self._pool.counts.changes = 0
        return super().see(arrivals)

    def _see(self, arrivals: Arrivals) -> Rounds:
        pool, n = self._pool, len(arrivals.rows)
        if arrivals.access.gram is not None:
            order = arrivals.rows
            arrivals.meter.charge(pool.asks(arrivals.rows))
        else:
            pool.turn(arrivals.rows, arrivals.source, self._capacity)
            self._look_up(arrivals.access, arrivals.classes)
            order = np.arange(n)
        chance = self._random.random(n) if self.randomised else np.empty(0)
        rounds = Rounds(np.empty(n), np.empty(n, np.int64))
        self._visit(Block(order, pool.y, read_only(pool.K), pool.diagonal, chance), pool.f, rounds)
        self._check_finite(arrivals, rounds)
        return rounds

    def _check_finite(self, arrivals: Arrivals, rounds: Rounds) -> None:
        """Raise `NumericalError` where margins have left what numbers can hold."""
        if not np.isfinite(rounds.margins).all():
            length = np.sqrt(np.square(arrivals.inputs, dtype=np.float64).sum(axis=1).max())
            raise NumericalError(
                f"{self.title}: sums of {self._kernel} values beyond what numbers can hold; the largest ‖x‖ is "
                f"{length:.4g}: scale the inputs (`scale: unit`) or take a smaller degree"
            )

    def trace(self) -> None:
        """Take note from now on of who is stored and discarded in which round, see `changes`."""
        self._pool.traced = True

    def changes(self) -> Changes:
        """Who was stored and discarded in the last block."""
        return self._pool.changes

    def members(self) -> Rows:
        """Row numbers of the stored examples."""
        return self._pool.ids[self._pool.members]

    def _state(self) -> Values:
        return self._pool.coefficients

    def _size(self) -> int:
        return int(self._pool.counts.members)

    def kept(self) -> Rows:
        return self._pool.ids[self._pool.kept]

    def _renumber(self, numbers: Rows, kept: Rows) -> None:
        self.support_ = numbers[self.support_]
        self._pool.renumber(kept, self._capacity)

    def close(self, access: KernelAccess) -> None:
        super().close(access)
        pool = self._pool
        self.insertions_, self.removals_ = int(pool.counts.insertions), int(pool.counts.removals)
        self.support_ = self.members()
        self.support_vectors_ = access.X[self.support_]
        self.coefficients_ = self._state().copy()
        if self.per_class and len(self.classes_) == 2:  # the decision value is then the margin of the second class
            self.coefficients_ = self.coefficients_[:, 1] - self.coefficients_[:, 0]


def exact_weight(least: float, largest: float) -> float:
    """The weight up to which sums of whole multiples of kernel values are exact in float64.

    Parameters
    ----------
    least : no kernel value but 0 is smaller in size; it has 24 bits.
    largest : the largest K(x, x).
    """
    return 2.0**28 * least / np.sqrt(largest) if largest > 0.0 else np.inf
