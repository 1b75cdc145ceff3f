"""The Budget Perceptron."""

from __future__ import annotations

from typing import Any, Literal

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.bounds import Bounds, Comparators, additive_bound
from budgetbench.engine.certain import below, best_without_itself, margin_against
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion, discard, note
from budgetbench.engine.updates import RULES, UpdateRule, is_due, margin_of, update
from budgetbench.errors import ParameterError
from budgetbench.parameters import USUAL_BUDGET, Budget, NonNegative, Positive

#: In place of a budget: no fixed limit.
VARIABLE = -1


@learner(
    "budget_perceptron",
    title="Budget Perceptron",
    color="#D55E00",
    marker="s",
    references=("crammer2003", "weston2005"),
)
class BudgetPerceptron(ExpansionLearner):
    """The Perceptron that discards the stored example which stays best classified without itself.

    On yₜ f(xₜ) ≤ β. Fixed size: if p examples are stored, discard i = argmaxⱼ yⱼ(f(xⱼ) - aⱼK(xⱼ, xⱼ)), then store xₜ.
    Variable size: store xₜ, then, while some i has yᵢ(f(xᵢ) - aᵢK(xᵢ, xᵢ)) ≥ β, discard the one with the largest.

    Crammer, Kandola, Singer 2003, Figures 1 to 3; Weston, Bordes, Bottou 2005, Figure 1. Of equal margins the oldest
    example leaves. DistillCache leaves open which of several goes first: the largest margin. An example that is stored
    already, in a later epoch, changes its coefficient and nothing is discarded for it.
    Cost of an example: one kernel value for each stored one; a removal looks at p known margins.
    When to use: on data with hardly any noise, and to compare with the papers. Wrong labels stay, as what is classified
    best is discarded, so that small budgets fill with them.

    Parameters
    ----------
    budget : the number p of examples that are stored at most (fixed size); by default 100.
    size : ``fixed``, or ``variable`` for no fixed limit.
    update : rule for the coefficient of a new example: ``perceptron``, ``mira`` or ``no_bias_svm``.
    beta : an example whose margin y f(x) is at most this is stored; by default 0, 0.01 for ``mira``, 1 for
        ``no_bias_svm``, and 0.01 at least for a variable size.
    C : bound on a coefficient, for ``no_bias_svm``.
    """

    follow_kept = True
    changeable = frozenset({"budget", "beta", "C"})

    budget: Budget | None = None
    size: Literal["fixed", "variable"] = "fixed"
    update: UpdateRule = "perceptron"
    beta: NonNegative | None = None
    C: Positive = 1.0

    @classmethod
    def _check_together(cls, values: dict[str, Any]) -> None:
        values["beta"] = margin_of(values["beta"], values["update"], values["size"] == "variable")
        if values["size"] == "fixed" and values["budget"] is None:
            values["budget"] = USUAL_BUDGET
        if values["size"] == "variable" and values["budget"] is not None:
            raise ParameterError("budget", values["budget"], "nothing where the size is variable")

    @property
    def whole(self) -> bool:
        return self.update == "perceptron"

    @property
    def margin_threshold(self) -> float:
        return margin_of(self.beta, self.update, self.size == "variable")

    def bounds(self, g: Comparators) -> Bounds:
        """Crammer, Kandola, Singer 2003, Theorem 1: the variable cache holds S ≤ (R² + 2β)‖g‖² examples where D₁ = 0.

        The proof needs no more than this for D₁ > 0: an example that stays adds at most R² + 2β to ‖f‖², one that
        leaves takes along at least what it brought, and Σ yₜ g(xₜ) over the S examples is no less than S - D₁. It is
        about the Perceptron's update in one pass; other rules' coefficients may be as small as they like.
        """
        if self.size != "variable" or self.update != "perceptron" or self.epochs > 1:
            return {}
        return {"support_size": additive_bound(g, g.square + 2 * self.margin_threshold)}

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        budget = VARIABLE if self.size == "variable" else self.budget or USUAL_BUDGET
        budget_perceptron(block, f, rounds, self.margin_threshold, budget, RULES[self.update], self.C)


@compiled
def budget_perceptron(
    block: Block, f: Expansion, rounds: Rounds, beta: float, budget: int, rule: int, C: float
) -> None:
    while budget != VARIABLE and f.counts.members > budget:  # it was made smaller
        discard(f, block, best_without_itself(f, block))
    for t in range(len(block.order)):
        i = block.order[t]
        margin = margin_against(f, block, i, beta)
        if is_due(f, i, rule, margin, beta):
            if f.counts.members == budget and not f.stored[i]:
                discard(f, block, best_without_itself(f, block))
            update(f, block, i, rule, beta, C)
            if budget == VARIABLE:
                distill(f, block, beta)
        note(rounds, t, margin, f)


@compiled
def distill(f: Expansion, block: Block, beta: float) -> None:
    """DistillCache: discard, the largest margin first, while an example has a margin of β without itself."""
    while f.counts.members > 0:
        slot = best_without_itself(f, block)
        if below(f, block, slot, beta):
            break
        discard(f, block, slot)
