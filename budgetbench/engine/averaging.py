"""Online-to-batch conversion: the mean of all hypotheses of a pass (Cesa-Bianchi, Conconi, Gentile 2004).

With f₀ = 0, T rounds and the update Δₛ in round s,  Σₜ fₜ = Σₛ (T - s + 1) Δₛ = (T + 1) f_T - Σₛ s Δₛ : beside the
coefficients it takes one sum that changes when they do. All hypotheses share the last one's support set, so the mean
is no larger than it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetbench.engine.base import wrong
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion
from budgetbench.engine.kernel_access import KernelAccess
from budgetbench.lazy import lazy

validation = lazy("sklearn.utils.validation")


class OnlineToBatch(ExpansionLearner):
    """A learner that never discards, with the option `average`.

    Attributes
    ----------
    averaged_coefficients_ : float64 of shape (n_support_,), with `average`: the mean over the rounds of the
        coefficients after each of them. The mean is over all passes.
    """

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._rounds = 0
        self._timed = np.zeros(0)

    def averaged_decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Decision values of the mean hypothesis: of shape (n,)."""
        validation.check_is_fitted(self, "averaged_coefficients_")
        return self._kernel.expansion(self._inputs(X), self.support_vectors_, self.averaged_coefficients_)

    def averaged_errs(self, X: ArrayLike, labels: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        return wrong(self.averaged_decision_function(X), labels) if getattr(self, "average", False) else None

    def _time(self, block: Block, f: Expansion, updated: NDArray[np.bool_]) -> None:
        """Take note of the rounds of a block in which the example's label was added to its coefficient."""
        members = f.members[: f.counts.members]
        slots = np.zeros(len(f.stored), dtype=np.int64)
        slots[members] = np.arange(len(members))
        rounds = np.flatnonzero(updated)
        positions = block.order[rounds]
        self._timed = np.concatenate([self._timed, np.zeros(len(members) - len(self._timed))])
        np.add.at(self._timed, slots[positions], block.y[positions] * (self._rounds + rounds + 1))
        self._rounds += len(updated)

    def _timed_coefficients(self) -> NDArray[np.float64]:
        """Σₛ s Δₛ, slot by slot."""
        return self._timed

    def close(self, access: KernelAccess) -> None:
        super().close(access)
        if getattr(self, "average", False):
            rounds = max(1, self._rounds)
            total = (rounds + 1) * self.coefficients_ - self._timed_coefficients()
            self.averaged_coefficients_ = total / rounds
