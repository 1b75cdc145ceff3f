"""The Stoptron."""

from __future__ import annotations

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import margin_against
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion, note, store
from budgetbench.parameters import USUAL_BUDGET, Budget


@learner("stoptron", title="Stoptron", color="#999999", marker="X", references=("orabona2008",))
class Stoptron(ExpansionLearner):
    """The Perceptron that stops learning once its budget is spent.

    On yₜ f(xₜ) ≤ 0, while fewer than B examples are stored:  f ← f + yₜ K(xₜ, ·).

    Orabona, Keshet, Caputo 2008, section 5: the baseline that shows what goes on learning is worth. In later epochs a
    full set does not change either.
    Cost of an example: one kernel value for each stored one.
    When to use: as the baseline of all budgets, on a stream that stays the same; what does worse would better have
    stopped.

    Parameters
    ----------
    budget : the number B of examples that are stored at most.
    """

    whole = True
    discards = False
    changeable = frozenset({"budget"})

    budget: Budget = USUAL_BUDGET

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        stoptron(block, f, rounds, self.budget)


@compiled
def stoptron(block: Block, f: Expansion, rounds: Rounds, budget: int) -> None:
    for t in range(len(block.order)):
        i = block.order[t]
        margin = margin_against(f, block, i, 0.0)
        if margin <= 0 and f.counts.members < budget:
            store(f, block, i, block.y[i])
        note(rounds, t, margin, f)
