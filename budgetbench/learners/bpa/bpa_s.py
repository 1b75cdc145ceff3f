"""BPA-S, budgeted Passive-Aggressive learning in which the newcomer takes over."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import kernel_values
from budgetbench.engine.expansion import Block, Expansion, leave, note
from budgetbench.engine.summing import add, rounding_of, total
from budgetbench.learners.bpa.common import BudgetedPassiveAggressive


@learner("bpa_s", title="BPA-S", color="#08306B", marker="<", references=("wang2010",))
class BPAS(BudgetedPassiveAggressive):
    """PA-I in which a newcomer takes over what it can of the example that leaves.

    On ℓ = 1 - yₜ f(xₜ) > 0 the step is yₜ min(C, ℓ / k), k = K(xₜ, xₜ). If B examples are stored, discard
    r = argmin aⱼ² (K(xⱼ, xⱼ) - K(xⱼ, xₜ)² / k), and the newcomer gets aᵣ K(xᵣ, xₜ) / k on top of it.

    Wang, Vucetic 2010 (BPA-S), V = {xₜ}: see `budgetbench.learners.bpa.common`. Of equal ones the oldest leaves. When
    the budget is made smaller no newcomer takes over, and r = argmin aⱼ² K(xⱼ, xⱼ).
    Cost of an example: one kernel value and one product for each stored one.
    When to use: where even a look at neighbours is too dear; BPA-NN errs less, above all with small budgets.
    """

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        bpa_s(block, f, rounds, self.budget, self.C)


@compiled
def bpa_s(block: Block, f: Expansion, rounds: Rounds, budget: int, C: float) -> None:
    while f.counts.members > budget:  # it was made smaller
        leave(f, cheapest(f, block, np.zeros(f.counts.members)))
    for t in range(len(block.order)):
        i = block.order[t]
        K, own = kernel_values(f, block, i), float(block.diagonal[i])
        margin = block.y[i] * total(f, K)
        if 1 - margin > rounding_of(f, K):
            step = block.y[i] * min(C, (1 - margin) / own)
            if f.counts.members == budget and not f.stored[i]:
                share = K / own if own > 0 else K  # those of xₜ = 0 in K(xₛ, ·): none
                r = cheapest(f, block, share * K)
                step += f.coefficients[r] * share[r]
                leave(f, r)
            add(f, i, step)
        note(rounds, t, margin, f)


@compiled
def cheapest(f: Expansion, block: Block, kept: NDArray[np.float64]) -> int:
    """The slot of the member whose removal changes f least, where so much of each ‖K(xₛ, ·)‖² is kept."""
    best, least = 0, np.inf
    for slot in range(f.counts.members):
        cost = f.coefficients[slot] ** 2 * (block.diagonal[f.members[slot]] - kept[slot])
        if cost < least:
            best, least = slot, cost
    return best
