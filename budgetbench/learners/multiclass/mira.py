"""MIRA, the Margin Infused Relaxed Algorithm, for any number of classes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import rounding, slack
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion, note, slot_of
from budgetbench.engine.storage import Packed, Placed, Storage
from budgetbench.errors import ParameterError
from budgetbench.learners.multiclass.expansion import (
    Rivals,
    append,
    arriving_values,
    below,
    best_without_itself,
    compare,
    margin_of,
    remove,
    replace,
    rivals_of,
)
from budgetbench.learners.multiclass.simplex import simplex_step
from budgetbench.parameters import Budget, Positive

#: In place of a budget: nothing is ever discarded, or DistillCache decides.
UNLIMITED, VARIABLE = -1, -2


@learner("mira", title="MIRA", color="#0072B2", marker="o", references=("crammer2003ultraconservative", "crammer2003"))
class MIRA(ExpansionLearner):
    """The multi-class online learner that changes its hypothesis as little as a margin of β asks for.

    One score fᵣ for each class; the margin is f_y(x) - max_{r≠y} fᵣ(x). On a margin ≤ β, with y = yₜ, store xₜ with
    the coefficients τ that minimise ½ K(xₜ, xₜ) Σ τᵣ² + Σ (fᵣ(xₜ) - β[r = y]) τᵣ subject to τᵣ ≤ [r = y], Σ τᵣ = 0.
    Fixed size: if p examples are stored, first discard the one whose margin without its own contribution is the
    largest; τ is that of the pruned f. Variable size: after storing xₜ, while an example has a margin ≥ β without
    its own contribution, discard the one with the largest.

    Crammer and Singer 2003 (JMLR 3); Crammer, Kandola, Singer 2003, Figures 1 to 3, with the multi-class margin.
    A stored example counts as one support vector, whatever the number of its coefficients. A prediction is wrong when
    another class scores as high as the right one. Of equal margins the oldest example leaves. An example with τ = 0
    is not stored: a margin of exactly β (within rounding, as of an exact repeat), or one that rose above β when another
    example was discarded. In later
    epochs the coefficients of a stored example are set anew, from f without its own contribution.
    On two classes MIRA with β is the binary rule with β/2 (`BudgetPerceptron(update="mira")`) in all it does.
    Cost of an example: one kernel value for each stored one; an update sorts one number for each class; a removal
    looks at p known margins.
    When to use: on many classes, with room for most of what it errs on: there the best at equal memory. Small fixed
    caches fill with examples that it cannot get right; a variable size looks after itself.

    Parameters
    ----------
    size : ``unlimited``, ``fixed`` or ``variable``.
    budget : the number p of examples that are stored at most, where the size is fixed.
    beta : an example whose margin is at most this is stored; with 0 nothing ever would be.
    """

    multiclass = True
    effort = 10
    per_class = True
    blockwise = True
    changeable = frozenset({"budget", "beta"})

    size: Literal["unlimited", "fixed", "variable"] = "unlimited"
    budget: Budget | None = None
    beta: Positive = 0.01

    @classmethod
    def _check_together(cls, values: dict[str, Any]) -> None:
        if values["size"] == "fixed" and values["budget"] is None:
            raise ParameterError("budget", None, "an integer of at least 1 where the size is fixed")
        if values["size"] != "fixed" and values["budget"] is not None:
            raise ParameterError("budget", values["budget"], "nothing unless size: fixed")

    def _storage(self) -> Storage:
        return Packed(follow_kept=False) if self.size == "unlimited" else Placed()

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        limit = self.budget or (VARIABLE if self.size == "variable" else UNLIMITED)
        mira(block, f, rounds, self.beta, limit)


@compiled
def mira(block: Block, f: Expansion, rounds: Rounds, beta: float, budget: int) -> None:
    B, tau = np.empty(len(f.scores)), np.empty(len(f.scores))
    limited = budget != UNLIMITED
    rivals = rivals_of(f, block, f.counts.members if limited else 0)
    while budget > 0 and f.counts.members > budget:  # it was made smaller
        remove(f, block, best_without_itself(f, block, rivals), rivals)
    for t in range(len(block.order)):
        i = block.order[t]
        margin = margin_of(f.scores[:, i], block.y[i])
        if min(abs(margin), abs(margin - beta)) <= 2 * slack(f, block, i):
            arriving_values(f, block, i, B)
            margin = margin_of(B, block.y[i])
        if margin <= beta:
            if f.counts.members == budget and not f.stored[i]:
                remove(f, block, best_without_itself(f, block, rivals), rivals)
            arriving_values(f, block, i, B)
            update(f, block, i, beta, B, tau)
            if limited and f.stored[i]:
                compare(f, block, slot_of(f, i), rivals)
            if budget == VARIABLE:
                distill(f, block, beta, rivals)
        note(rounds, t, margin, f)


@compiled
def update(f: Expansion, block: Block, i: int, beta: float, B: NDArray[np.float64], tau: NDArray[np.float64]) -> None:
    """Give example i, whose scores are B, the coefficients that the rule says."""
    y, K = block.y[i], block.diagonal[i]
    missing = beta - margin_of(B, y)
    B[y] -= beta
    if f.stored[i]:
        slot = slot_of(f, i)
        B -= f.coefficients[slot] * K
        simplex_step(K, B, y, 1.0, tau)
        replace(f, block, slot, tau)
    elif missing > 2 * rounding(f, block, i):
        simplex_step(K, B, y, 1.0, tau)
        if tau[y] > 0.0:
            append(f, block, i, tau)


@compiled
def distill(f: Expansion, block: Block, beta: float, rivals: Rivals) -> None:
    """DistillCache: discard, the largest margin first, while an example has a margin of β without itself."""
    while f.counts.members > 0:
        slot = best_without_itself(f, block, rivals)
        if below(f, block, slot, beta, rivals):
            break
        remove(f, block, slot, rivals)
