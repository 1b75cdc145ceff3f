"""The Forgetron."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.bounds import ROUNDING, Bounds, Comparators, matched_bound, shifting_bound
from budgetbench.engine.certain import margin_against, value
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion, discard, note, scale, store
from budgetbench.engine.storage import Placed, Storage
from budgetbench.parameters import USUAL_BUDGET, Budget

#: The smallest budget for which there is a bound.
LEAST = 83


@learner("forgetron", title="Forgetron", color="#CC79A7", marker="s", references=("dekel2008",))
class Forgetron(ExpansionLearner):
    """The Perceptron that lets its stored examples fade and discards the oldest: the self-tuned Forgetron.

    On yₜ f(xₜ) ≤ 0, the M-th mistake, store xₜ: f ← f + yₜ K(xₜ, ·). If B + 1 examples are stored now, let r be the
    oldest, σ = |aᵣ|, μ = yᵣ f(xᵣ) and Ψ(φ) = (σφ)² + 2σφ - 2σφ²μ, the cost of shrinking by φ. Take the largest
    φ in (0, 1] with Ψ(φ) + Q ≤ 15/32 M, add Ψ(φ) to Q (0 at the start), let f ← φ f and discard r.

    Dekel, Shalev-Shwartz, Singer 2008 (SIAM Journal on Computing 37(5)), the self-tuned variant that Orabona, Keshet,
    Caputo 2008 compare with. The analysis needs K(x, x) ≤ 1. An example that is stored already, in a later epoch,
    changes its coefficient, and nothing shrinks. Nor does anything when the budget is made smaller and the oldest go:
    only mistakes raise what may be spent, of which mostly nothing is left, so that f would fade to 0.
    Cost of an example: one kernel value for each stored one; a mistake changes all B coefficients.
    When to use: as the baseline that has a mistake bound, and where old examples are to count less than new ones.

    Parameters
    ----------
    budget : the number B of examples that are stored at most.
    """

    spare = 1
    changeable = frozenset({"budget"})

    budget: Budget = USUAL_BUDGET

    def bounds(self, g: Comparators) -> Bounds:
        """Dekel, Shalev-Shwartz, Singer 2008: 2‖g‖² + 4 D₁ for ‖g‖ ≤ ¼ √((B + 1) / ln(B + 1)) and B ≥ 83."""
        if self.budget < LEAST:
            return {}
        return {"online_mistakes": shifting_bound(g, matched_bound(self.budget))}

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._mistakes_and_cost = 0.0, 0.0

    def _storage(self) -> Storage:
        return Placed()

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        largest = float(block.diagonal.max(initial=0.0))
        if largest > 1 + ROUNDING:
            raise ValueError(
                f"Forgetron needs K(x, x) ≤ 1 for every example; found {largest:.6g}. "
                "Scale the rows to unit length (scale: unit) or use an rbf kernel"
            )
        self._mistakes_and_cost = forgetron(block, f, rounds, *self._mistakes_and_cost, self.budget)


@compiled
def forgetron(block: Block, f: Expansion, rounds: Rounds, M: float, Q: float, budget: int) -> tuple[float, float]:
    while f.counts.members > budget:  # it was made smaller
        discard(f, block, 0)
    for t in range(len(block.order)):
        i = block.order[t]
        margin = margin_against(f, block, i, 0.0)
        if margin <= 0:
            M += 1
            store(f, block, i, block.y[i])
            if f.counts.members > budget:
                Q += forget_oldest(f, block, 15 / 32 * M - Q)
        note(rounds, t, margin, f)
    return M, Q


@compiled
def forget_oldest(f: Expansion, block: Block, allowance: float) -> float:
    """Shrink f by the largest φ whose cost the allowance covers, and discard the oldest example; gives the cost."""
    oldest = f.members[0]
    sigma, mu = abs(f.coefficients[0]), block.y[oldest] * value(f, block, oldest)
    phi = largest_factor(sigma, mu, allowance)
    if phi < 1.0:
        scale(f, phi)
    discard(f, block, 0)
    return cost(phi, sigma, mu)


@compiled
def cost(phi: float, sigma: float, mu: float) -> float:
    """Ψ(φ)"""
    return (sigma * phi) ** 2 + 2 * sigma * phi - 2 * sigma * phi**2 * mu


@compiled
def largest_factor(sigma: float, mu: float, allowance: float) -> float:
    """The largest φ in (0, 1] with Ψ(φ) ≤ allowance.

    Ψ(0) = 0 lies below the allowance. If Ψ(1) lies above it, the parabola crosses once in between; the root is taken
    in the form that does not cancel.
    """
    if cost(1.0, sigma, mu) <= allowance:
        return 1.0
    square, linear = sigma**2 - 2 * sigma * mu, 2 * sigma
    return 2 * allowance / (linear + np.sqrt(linear**2 + 4 * square * allowance))
