"""Kernel ROMMA."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import arriving_value, rounding, slack, value
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion, discard, note, scale, store
from budgetbench.engine.linear import BELOW_ONE
from budgetbench.engine.storage import Packed, Placed, Storage
from budgetbench.parameters import LARGEST_COUNT, Budget

#: sin² of the angle between f and K(x, ·) below which they point the same way, for all that rounding tells.
COLLINEAR = 2.0**-30
#: ‖f‖² beyond which f is scaled back, to where the margin 1 is still nothing beside it: no decision changes.
LARGEST, BACK = 2.0**400, 2.0**-100


@learner("romma", title="ROMMA", color="#A6611A", marker="<", references=("li2002",))
class ROMMA(ExpansionLearner):
    """The relaxed online maximum margin algorithm: the smallest f that two constraints allow.

    On yₜ f(xₜ) ≤ 0 (aggressive: < 1), f becomes the f′ of the smallest norm with yₜ f′(xₜ) ≥ 1 and ⟨f, f′⟩ ≥ ‖f‖², the
    half-space that stands for all constraints so far: with s = f(xₜ), q = ‖f‖² and k = K(xₜ, xₜ),

        f ← c f + d K(xₜ, ·)    c = (kq - yₜs) / (kq - s²)    d = q (yₜ - s) / (kq - s²)

    and f = yₜ/k K(xₜ, ·) where kq ≤ yₜs, as then the second constraint holds by itself: so it begins. All else is
    forgotten then, which happens later only to the aggressive one.

    Li, Long 2002 (Machine Learning 46), sections 2 and 3. Nothing bounds the number of stored examples, unless a budget
    is given: the oldest then leaves when B + 1 are stored, which is ours. If xₜ lies along f on the wrong side, or
    K(xₜ, ·) = 0, no f′ meets both constraints, and the example is let pass. On examples that no f separates the norm
    grows, with a budget by a factor every few mistakes; powers of two are taken out of it before numbers end.
    Cost of an example: one kernel value for each stored one; an update changes all coefficients.
    When to use: without a limit of memory, on separable data; the smallest budgets and noise are not for it.

    Parameters
    ----------
    aggressive : learn from every example with y f(x) < 1 and not from mistakes alone.
    budget : the number B of examples that are stored at most; by default there is no limit.
    """

    spare = 1

    aggressive: bool = False
    budget: Budget | None = None

    @property
    def margin_threshold(self) -> float:
        return BELOW_ONE if self.aggressive else 0.0

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._squared_norm = 0.0

    def _storage(self) -> Storage:
        return Packed(follow_kept=False) if self.budget is None else Placed()

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        budget, limit = self.budget or LARGEST_COUNT, float(self.aggressive)
        self._squared_norm = romma(block, f, rounds, self._squared_norm, budget, limit)


@compiled
def romma(block: Block, f: Expansion, rounds: Rounds, q: float, budget: int, limit: float) -> float:
    for t in range(len(block.order)):
        i = block.order[t]
        margin = block.y[i] * f.scores[i]
        if margin <= limit + slack(f, block, i):
            margin = block.y[i] * arriving_value(f, block, i)
            if abs(limit - margin) <= rounding(f, block, i):
                margin = limit
            if margin < limit or margin == 0.0:
                q = relaxed(f, block, i, margin, q)
                if f.counts.members > budget:
                    q = forget_oldest(f, block, q)
                if q > LARGEST:
                    scale(f, BACK)
                    q *= BACK**2
        note(rounds, t, margin, f)
    return q


@compiled
def relaxed(f: Expansion, block: Block, i: int, margin: float, q: float) -> float:
    """Take the step for an example with this margin y f(x); gives ‖f‖²."""
    y, k = block.y[i], np.float64(block.diagonal[i])
    if k == 0.0:
        return q
    if k * q <= margin:
        while f.counts.members > 0:
            discard(f, block, f.counts.members - 1)
        store(f, block, i, y / k)
        return 1.0 / k
    rest = k * q - margin**2
    if rest <= COLLINEAR * k * q:
        return q
    c, d = (k * q - margin) / rest, q * (1.0 - margin) / rest
    scale(f, c)
    store(f, block, i, y * d)
    return c * q + d  # both constraints hold with equality


@compiled
def forget_oldest(f: Expansion, block: Block, q: float) -> float:
    """Discard the oldest; gives ‖f‖²."""
    oldest, a = f.members[0], f.coefficients[0]
    q = max(0.0, q - 2.0 * a * value(f, block, oldest) + a**2 * block.diagonal[oldest])
    discard(f, block, 0)
    return q
