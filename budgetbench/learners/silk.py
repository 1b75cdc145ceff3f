"""SILK, sparse implicit online learning with kernels."""

from __future__ import annotations

import math

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import kernel_values
from budgetbench.engine.expansion import Block, Expansion, leave, note
from budgetbench.engine.summing import Scale, ShrinkingLearner, add, rounding_of, shrink, total
from budgetbench.parameters import Budget, NonNegative, Positive


@learner("silk", title="SILK", color="#007F7A", marker="X", references=("cheng2006",))
class SILK(ShrinkingLearner):
    """Implicit steps on the regularised hinge loss; the smallest coefficient leaves.

    In every round f becomes the minimiser f' of ½ ‖f' - f‖² + η (λ/2 ‖f'‖² + C max(0, 1 - yₜ f'(xₜ))): the loss is
    that of f', where gradient descent (NORMA) takes the one of f. That is f' = f / (1 + ηλ) + a K(xₜ, ·) with
    yₜ a = (1 - yₜ f(xₜ) / (1 + ηλ)) / K(xₜ, xₜ), but at least 0 and at most ηC / (1 + ηλ). If a ≠ 0, store xₜ; if B + 1
    examples are stored now, discard the one with the smallest |a|, which may be xₜ; of equal ones the oldest.

    Cheng, Vishwanathan, Schuurmans, Wang, Caelli 2006 (NIPS 19), with a step η that stays the same. With λ = 0 and
    room for all it is PA-I with the bound ηC. An example that is stored already, in a later epoch, changes its
    coefficient.
    Cost of an example: one kernel value and one product for each stored one.
    When to use: as NORMA, where steps are to be large: an implicit step never goes beyond its minimum.

    Parameters
    ----------
    budget : the number B of examples that are stored at most.
    eta : the learning rate η.
    lam : the weight λ of ‖f‖².
    C : the weight of the loss.
    """

    spare = 1
    changeable = frozenset({"budget", "eta", "lam", "C"})
    margin_threshold = math.nextafter(1.0, 0.0)  # a margin error is y f < 1

    budget: Budget = 100
    eta: Positive = 0.5
    lam: NonNegative = 0.001
    C: Positive = 1.0

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        silk(block, f, rounds, self._scale, self.budget, self.eta, self.lam, self.C)


@compiled
def silk(
    block: Block, f: Expansion, rounds: Rounds, scale: Scale, budget: int, eta: float, lam: float, C: float
) -> None:
    while f.counts.members > budget:  # it was made smaller
        leave(f, smallest(f))
    for t in range(len(block.order)):
        i = block.order[t]
        y, K = block.y[i], kernel_values(f, block, i)
        margin = y * scale.factor * total(f, K)
        shrink(f, scale, 1 / (1 + eta * lam))
        missing = 1 - margin / (1 + eta * lam)
        if missing > scale.factor * rounding_of(f, K):
            add(f, i, y * min(missing / block.diagonal[i], eta * C / (1 + eta * lam)) / scale.factor)
            if f.counts.members > budget:
                leave(f, smallest(f))
        note(rounds, t, margin, f)


@compiled
def smallest(f: Expansion) -> int:
    """The slot of the smallest coefficient; of equal ones the oldest."""
    found = 0
    for slot in range(1, f.counts.members):
        if abs(f.coefficients[slot]) < abs(f.coefficients[found]):
            found = slot
    return found
