"""Kernel ALMA₂."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from budgetbench.compiled import compiled, record
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import arriving_value, margin_against
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion, note, scale, store
from budgetbench.parameters import SMALLEST_REAL, Accepted

Share = Annotated[float, Ge(SMALLEST_REAL), Le(1), Accepted("a number above 0 and at most 1")]


class Progress:
    """‖f‖², and how many updates there were."""

    squared_norm: float
    updates: int


@learner("alma", title="ALMA₂", color="#EF6548", marker=">", references=("gentile2001",), aliases=("alma2",))
class ALMA(ExpansionLearner):
    """The approximate large margin algorithm: steps and the margin that is asked for become smaller together.

    With x̂ = K(x, ·)/√K(x, x) and j - 1 updates so far, on yₜ⟨f, x̂ₜ⟩ ≤ (1 - α) γⱼ a step f ← f + ηⱼ yₜ x̂ₜ, then
    f ← f/‖f‖ if ‖f‖ > 1, where γⱼ = √8/(α√j) and ηⱼ = √2/√j. If some f of norm 1 separates all x̂ by the margin γ,
    passes come to one that does by (1 - α)γ.

    Gentile 2001 (JMLR 2), ALMA_p with p = 2, B = √8/α and C = √2, the values of its Theorem 3. Nothing bounds the
    number of stored examples. An input with K(x, x) = 0 has no direction and is let pass. `margins_` are y f(x),
    without the division by √K(x, x); a margin error is one for which a step is asked.
    Cost of an example: one kernel value for each stored one; an update changes all coefficients.
    When to use: without a limit of memory, on data that is nearly separable, to see what a large margin gains over the
    Perceptron.

    Parameters
    ----------
    alpha : the share of the largest margin that is given up; with 1, only mistakes are learnt from.
    """

    changeable = frozenset({"alpha"})

    alpha: Share = 0.9

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._progress = record(Progress)
        self._margin_errors = 0

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        errors = alma(block, f, rounds, self._progress, self.alpha)
        if self._course.passes == 1:
            self._margin_errors = errors + (self._margin_errors if self._course.first else 0)

    def _count_margin_errors(self) -> int:
        return self._margin_errors


@compiled
def alma(block: Block, f: Expansion, rounds: Rounds, progress: Progress, alpha: float) -> int:
    """Let a block pass; returns the number of margin errors."""
    errors = 0
    for t in range(len(block.order)):
        i = block.order[t]
        y, length, j = block.y[i], np.sqrt(np.float64(block.diagonal[i])), progress.updates + 1
        limit = (1.0 - alpha) * np.sqrt(8.0 / j) / alpha * length
        margin = margin_against(f, block, i, limit)
        if margin <= limit:
            errors += 1
            if length > 0.0:
                step(f, block, i, y * np.sqrt(2.0 / j) / length, progress)
        note(rounds, t, margin, f)
    return errors


@compiled
def step(f: Expansion, block: Block, i: int, coefficient: float, progress: Progress) -> None:
    """f ← f + coefficient·K(x, ·), back into the ball of radius 1."""
    change = 2.0 * coefficient * arriving_value(f, block, i) + coefficient**2 * block.diagonal[i]
    progress.squared_norm += change
    progress.updates += 1
    store(f, block, i, coefficient)
    if progress.squared_norm > 1.0:
        scale(f, 1.0 / np.sqrt(progress.squared_norm))
        progress.squared_norm = 1.0
