"""What the Projectron and the Projectron++ have in common: their parameters, and batches of projected examples."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.averaging import OnlineToBatch
from budgetbench.engine.compiled import compiled
from budgetbench.engine.expansion import Block, Expansion, Rounds
from budgetbench.engine.kernel_access import gather
from budgetbench.engine.parameters import Budget, NonNegative, Positive
from budgetbench.engine.span import Batch, Span
from budgetbench.errors import ParameterError

#: Examples that are projected in one product of matrices.
BATCH = 256

#: In place of a budget, of a fixed threshold η, of a bound U: there is none.
UNLIMITED, EACH_ROUND, NO_BOUND = -1, -1.0, 0.0

THRESHOLDS = ("bound_budget", "U", "eta")


@dataclass(kw_only=True, eq=False, repr=False)
class ProjectingLearner(OnlineToBatch):
    """A learner that projects an example onto the span of the stored ones where it can.

    A subclass gives `_pass`, which lets its compiled loop run over one batch.
    """

    follow_kept = True

    bound_budget: Budget | None = None
    U: Positive | None = None
    eta: NonNegative | None = None
    budget: Budget | None = None
    average: bool = False

    @classmethod
    def _check_together(cls, values: dict[str, Any]) -> None:
        given = [name for name in THRESHOLDS if values[name] is not None]
        if len(given) > 1:
            raise ParameterError(given[1], values[given[1]], f"one of {', '.join(THRESHOLDS)}, not several")
        if not given and values["budget"] is None:
            raise ParameterError("bound_budget", None, f"one of {', '.join(THRESHOLDS)}, or budget")

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._span = Span()

    def _capacity(self, arrivals: int) -> int:
        return arrivals if self.budget is None else min(arrivals, self.budget)

    def _thresholds(self) -> tuple[int, float, float]:
        """The budget, the fixed η and the bound U, or what stands for none."""
        budget = UNLIMITED if self.budget is None else self.budget
        if self.eta is not None:
            return budget, self.eta, NO_BOUND
        if self.U is not None:
            return budget, EACH_ROUND, self.U
        if self.bound_budget is not None:
            return budget, EACH_ROUND, matched_bound(self.bound_budget)
        return budget, 0.0, matched_bound(budget)

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        for first in range(0, len(block.order), BATCH):
            arrivals = block.order[first : first + BATCH]
            values = gather(block.K, arrivals, f.members[: f.counts[0]]).astype(np.float64)
            batch = self._span.open(values, first, self._rounds)
            self._pass(block, f, rounds, batch)
            self._span.take(batch, f.counts[0])
            self._rounds += len(arrivals)
        f.coefficients[: f.counts[0]] = self._span.coefficients(self._span.c)

    @abstractmethod
    def _pass(self, block: Block, f: Expansion, rounds: Rounds, batch: Batch) -> None:
        """Let the examples of a batch pass."""

    def _timed_coefficients(self) -> NDArray[np.float64]:
        return self._span.coefficients(self._span.timed)


def matched_bound(budget: int) -> float:
    """U = ¼ √((B + 1) / ln(B + 1)): the largest norm of g for which the Forgetron with budget B has its bound."""
    return float(np.sqrt((budget + 1) / np.log(budget + 1)) / 4)


@compiled
def projection_threshold(eta: float, U: float, loss: float, squared_length: float) -> float:
    """η: as given, or by Eq. 13 from the loss and ‖P k(x, ·)‖²."""
    if eta != EACH_ROUND:
        return eta
    return (2 * loss - squared_length - 0.5) / (2 * U)
