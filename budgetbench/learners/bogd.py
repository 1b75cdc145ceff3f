"""Bounded online gradient descent."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import kernel_values
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion, leave, note
from budgetbench.engine.summing import add, check_shrinking, total
from budgetbench.parameters import LARGEST_REAL, Budget, NonNegative, Positive


@learner("bogd", title="BOGD", color="#2CA02C", marker="d", references=("zhao2012",))
class BOGD(ExpansionLearner):
    """Gradient descent that discards stored examples at random and lets the others make up for them.

    On yₜ f(xₜ) < 1: f ← (1 - ηλ) f; if B examples are stored, discard one of them, the i-th with probability pᵢ, and
    divide the coefficient of each other one by 1 - pⱼ, the probability that it stays: the expectation of f is what f
    was. Then store xₜ: f ← f + η yₜ K(xₜ, ·), and cut each |aᵢ| to ηγ at most. `uniform` draws with pᵢ = 1/B,
    `weighted` with pᵢ = (1 - wᵢ)/(B - 1), wᵢ = |aᵢ|√K(xᵢ, xᵢ) / Σⱼ |aⱼ|√K(xⱼ, xⱼ), so that what counts little leaves.

    Zhao, Wang, Wu, Jin, Hoi 2012 (ICML 29): BOGD and BOGD++. γ is `bound` here, as `gamma` is a kernel's. It cuts what
    has been stored for long, as coefficients would grow by 1 / (1 - pⱼ) in each update; with γ = 1 all of them are η,
    but for λ. An example that is stored already, in a later epoch, changes its coefficient and nothing is discarded for
    it. One random number is drawn for each example that arrives, used or not, so that the outcome does not depend on
    how the stream is cut.
    Cost of an example: one kernel value and one product for each stored one.
    When to use: where an update has to cost no more than a kernel value for each stored example, and as a baseline of
    random removal; BPA-S loses less by a removal at the same cost.

    Parameters
    ----------
    budget : the number B of examples that are stored at most.
    eta : the learning rate η.
    lam : the weight λ of ‖f‖²; ηλ < 1.
    bound : the largest coefficient, γ, in units of η.
    sampling : who leaves: ``uniform``, each as likely, or ``weighted``, small coefficients rather than large ones.
    """

    randomised = True
    changeable = frozenset({"budget", "eta", "lam", "bound"})
    margin_threshold = math.nextafter(1.0, 0.0)  # a margin error is y f < 1

    budget: Budget = 100
    eta: Positive = 0.5
    lam: NonNegative = 0.001
    bound: Annotated[float, Ge(1), Le(LARGEST_REAL)] = 1.0
    sampling: Literal["uniform", "weighted"] = "uniform"

    @classmethod
    def _check_together(cls, values: dict[str, Any]) -> None:
        check_shrinking(values)

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        weighted = self.sampling == "weighted"
        for chance in self._random.random(max(0, f.counts.members - self.budget)):  # the budget was made smaller
            discard_one(f, probabilities(f, block, weighted), chance)
        bogd(block, f, rounds, self.budget, self.eta, self.lam, self.bound, weighted)


@compiled
def bogd(
    block: Block, f: Expansion, rounds: Rounds, budget: int, eta: float, lam: float, bound: float, weighted: bool
) -> None:
    for t in range(len(block.order)):
        i = block.order[t]
        margin = block.y[i] * total(f, kernel_values(f, block, i))
        if margin < 1:
            f.coefficients[: f.counts.members] *= 1 - eta * lam
            if f.counts.members == budget and not f.stored[i]:
                discard_one(f, probabilities(f, block, weighted), block.chance[t])
            add(f, i, eta * block.y[i])
            cut(f, eta * bound)
        note(rounds, t, margin, f)


@compiled
def probabilities(f: Expansion, block: Block, weighted: bool) -> NDArray[np.float64]:
    """For each member how likely it is to leave."""
    n = f.counts.members
    p = np.full(n, 1 / n)
    if weighted and n > 1:
        weights = np.abs(f.coefficients[:n]) * np.sqrt(block.diagonal[f.members[:n]].astype(np.float64))
        if weights.sum() > 0:
            p = (1 - weights / weights.sum()) / (n - 1)
    return p


@compiled
def discard_one(f: Expansion, p: NDArray[np.float64], chance: float) -> None:
    """Let one member leave, by a random number in [0, 1), and the others make up for it."""
    leaving, passed = 0, p[0]
    while chance >= passed and leaving < len(p) - 1:
        leaving += 1
        passed += p[leaving]
    for slot in range(len(p)):
        if slot != leaving:
            f.coefficients[slot] /= 1 - p[slot]
    leave(f, leaving)


@compiled
def cut(f: Expansion, largest: float) -> None:
    """Let no coefficient be larger than that in size."""
    for slot in range(f.counts.members):
        f.coefficients[slot] = min(largest, max(-largest, f.coefficients[slot]))
