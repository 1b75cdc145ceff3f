"""The Perceptron."""

from __future__ import annotations

from budgetbench.compiled import compiled
from budgetbench.engine.averaging import OnlineToBatch
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.bounds import Bounds, Comparators, additive_bound
from budgetbench.engine.certain import margin_against
from budgetbench.engine.expansion import Block, Expansion, note, store
from budgetbench.parameters import NonNegative


@learner("perceptron", title="Perceptron", color="#000000", marker="o", references=("rosenblatt1958",))
class Perceptron(OnlineToBatch):
    """Rosenblatt's Perceptron with a kernel; with beta > 0 the aggressive Perceptron.

    On yₜ f(xₜ) ≤ β, the example is stored with the coefficient aₜ = yₜ:  f ← f + yₜ K(xₜ, ·).

    Rosenblatt 1958; Orabona, Keshet, Caputo 2008, Algorithm 1; Crammer, Kandola, Singer 2003, Figure 1 without
    DistillCache. A prediction of exactly 0 is a mistake, where Algorithm 1 leaves sign(0) open.
    Cost of an example: one kernel value for each stored one.
    When to use: as the baseline of all others: it stores mistakes alone, and on clean data these are few. Take the mean
    of its hypotheses (`average`) where labels are noisy.

    Parameters
    ----------
    beta : an example whose margin y f(x) is at most this is stored.
    average : keep the mean of all hypotheses too, see `averaged_decision_function`.
    """

    whole = True
    changeable = frozenset({"beta"})

    beta: NonNegative = 0.0
    average: bool = False

    def bounds(self, g: Comparators) -> Bounds:
        """Shalev-Shwartz, Singer 2005, to which Orabona, Keshet, Caputo 2008 compare their Theorem 3.

        With β every margin error adds at most R² + 2β to ‖f‖², and a mistake is one.
        """
        return {"online_mistakes": additive_bound(g, g.square + 2 * self.beta)}

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        perceptron(block, f, rounds, self.beta)
        if self.average:
            self._time(block, f, rounds.margins <= self.beta)


@compiled
def perceptron(block: Block, f: Expansion, rounds: Rounds, beta: float) -> None:
    for t in range(len(block.order)):
        i = block.order[t]
        margin = margin_against(f, block, i, beta)
        if margin <= beta:
            store(f, block, i, block.y[i])
        note(rounds, t, margin, f)
