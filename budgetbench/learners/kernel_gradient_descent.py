"""Kernel gradient descent without a budget."""

from __future__ import annotations

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import margin_against
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion, note, store
from budgetbench.engine.linear import BELOW_ONE
from budgetbench.parameters import Positive


@learner(
    "kernel_gradient_descent",
    title="Kernel OGD",
    color="#6E6E6E",
    marker="v",
    references=("kivinen2004", "lu2016"),
    aliases=("ogd",),
)
class KernelGradientDescent(ExpansionLearner):
    """Online gradient descent on the hinge loss, in the space of the kernel: what methods with a budget approach.

    With the loss ℓ = max(0, 1 - yₜ f(xₜ)), on ℓ > 0 a step against its gradient, which is -yₜ K(xₜ, ·):
    f ← f + η yₜ K(xₜ, ·).

    Kivinen, Smola, Williamson 2004 (IEEE Transactions on Signal Processing 52(8)): NORMA with neither λ nor truncation;
    Lu, Hoi, Wang, Zhao, Liu 2016 (JMLR 17) compare with it as OGD. Nothing bounds the number of stored examples.
    Cost of an example: one kernel value for each stored one.
    When to use: as what FOGD and NOGD come to with room for all examples, to see what their approximation costs.

    Parameters
    ----------
    eta : the learning rate η.
    """

    changeable = frozenset({"eta"})
    margin_threshold = BELOW_ONE

    eta: Positive = 0.2

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        descend(block, f, rounds, self.eta)


@compiled
def descend(block: Block, f: Expansion, rounds: Rounds, eta: float) -> None:
    for t in range(len(block.order)):
        i = block.order[t]
        margin = margin_against(f, block, i, BELOW_ONE)
        if margin <= BELOW_ONE:
            store(f, block, i, eta * block.y[i])
        note(rounds, t, margin, f)
