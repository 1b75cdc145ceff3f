"""The Randomized Budget Perceptron."""

from __future__ import annotations

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import margin_against
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion, discard, note, store
from budgetbench.parameters import USUAL_BUDGET, Budget


@learner(
    "randomized_budget_perceptron",
    title="Randomized Budget Perceptron",
    color="#56B4E9",
    marker="v",
    references=("cavallanti2007",),
    aliases=("rbp",),
)
class RandomizedBudgetPerceptron(ExpansionLearner):
    """The Perceptron that discards a stored example chosen at random.

    On yₜ f(xₜ) ≤ 0: if B examples are stored, discard one of them, each with probability 1/B; then store xₜ:
    f ← f + yₜ K(xₜ, ·).

    Cavallanti, Cesa-Bianchi, Gentile 2007 (RBP); Orabona, Keshet, Caputo 2008, section 5. An example that is stored
    already, in a later epoch, changes its coefficient and nothing is discarded for it. One random number is drawn for
    each example that arrives, used or not, so that the outcome does not depend on how the stream is cut.
    Cost of an example: one kernel value for each stored one.
    When to use: as the baseline of removal: whatever chooses who leaves should do better than chance.

    Parameters
    ----------
    budget : the number B of examples that are stored at most.
    """

    randomised = True
    whole = True
    changeable = frozenset({"budget"})

    budget: Budget = USUAL_BUDGET

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        for chance in self._random.random(max(0, f.counts.members - self.budget)):  # the budget was made smaller
            discard(f, block, drawn(chance, f.counts.members))
        randomized_budget_perceptron(block, f, rounds, self.budget)


@compiled
def randomized_budget_perceptron(block: Block, f: Expansion, rounds: Rounds, budget: int) -> None:
    for t in range(len(block.order)):
        i = block.order[t]
        margin = margin_against(f, block, i, 0.0)
        if margin <= 0:
            if f.counts.members == budget and not f.stored[i]:
                discard(f, block, drawn(block.chance[t], budget))
            store(f, block, i, block.y[i])
        note(rounds, t, margin, f)


@compiled
def drawn(chance: float, n: int) -> int:
    """One of n slots, each as likely, by a random number in [0, 1)."""
    return min(int(n * chance), n - 1)
