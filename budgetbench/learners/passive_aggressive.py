"""The Passive-Aggressive learner PA-I."""

from __future__ import annotations

import math

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import arriving_value, rounding, slack
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion, note, store
from budgetbench.parameters import Positive


@learner(
    "passive_aggressive",
    title="PA-I",
    color="#E69F00",
    marker="D",
    references=("crammer2006",),
    aliases=("pa1", "pa-i"),
)
class PassiveAggressive(ExpansionLearner):
    """The smallest change of f that gives an example its margin, bounded by C.

    With the loss ℓ = max(0, 1 - yₜ f(xₜ)), on ℓ > 0:  f ← f + yₜ min(C, ℓ / K(xₜ, xₜ)) K(xₜ, ·).

    Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006 (PA-I); Orabona, Keshet, Caputo 2008, section 5, with C = 1.
    Nothing bounds the number of stored examples.
    Cost of an example: one kernel value for each stored one.
    When to use: without a limit of memory, as what the BPA learners and the Projectron++ come close to. A small C helps
    where labels are wrong.

    Parameters
    ----------
    C : bound on the step, the aggressiveness.
    """

    changeable = frozenset({"C"})
    margin_threshold = math.nextafter(1.0, 0.0)  # a margin error is y f < 1

    C: Positive = 1.0

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        passive_aggressive(block, f, rounds, self.C)


@compiled
def passive_aggressive(block: Block, f: Expansion, rounds: Rounds, C: float) -> None:
    for t in range(len(block.order)):
        i = block.order[t]
        margin = block.y[i] * f.scores[i]
        if margin <= 1.0 + slack(f, block, i):
            margin = block.y[i] * arriving_value(f, block, i)
            if abs(1.0 - margin) <= rounding(f, block, i):
                margin = 1.0
            if margin < 1.0:
                store(f, block, i, block.y[i] * min(C, (1.0 - margin) / block.diagonal[i]))
        note(rounds, t, margin, f)
