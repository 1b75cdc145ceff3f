"""What the budgeted Passive-Aggressive learners have in common.

When xₜ has a loss and B examples are stored, the removal of r and the step on xₜ are one problem: minimise
½ ‖f' - f‖² + C max(0, 1 - yₜ f'(xₜ)) over r and f' = f - aᵣ K(xᵣ, ·) + Σ βⱼ K(xⱼ, ·), where j runs over a set V of
examples that has xₜ in it. Let P be the projection onto their span. What P leaves out of aᵣ K(xᵣ, ·) is lost whatever
β is, and is 0 at xₜ; so the best f' is f with aᵣ P K(xᵣ, ·) in place of aᵣ K(xᵣ, ·), followed by the step of PA-I, and
the best r the one with the least aᵣ² ‖K(xᵣ, ·) - P K(xᵣ, ·)‖². The learners differ in V.

Wang, Vucetic 2010, Online passive-aggressive algorithms on a budget (AISTATS 13), with the hinge loss. An example that
is stored already, in a later epoch, changes its coefficient and nothing is discarded for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.parameters import Budget, Positive


@dataclass(kw_only=True, eq=False, repr=False)
class BudgetedPassiveAggressive(ExpansionLearner):
    """PA-I on a budget.

    Parameters
    ----------
    budget : the number B of examples that are stored at most.
    C : bound on the step, the aggressiveness.
    """

    changeable = frozenset({"budget", "C"})
    margin_threshold = math.nextafter(1.0, 0.0)  # a margin error is y f < 1

    budget: Budget = 100
    C: Positive = 1.0
