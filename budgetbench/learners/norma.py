"""NORMA."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from budgetbench.compiled import compiled, record
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import kernel_values
from budgetbench.engine.expansion import Block, Expansion, leave, note
from budgetbench.engine.kernel_access import KernelAccess
from budgetbench.engine.summing import Scale, ShrinkingLearner, add, check_shrinking, shrink, total
from budgetbench.parameters import Budget, Fraction, NonNegative, Positive


class Target:
    """The margin ρ that is asked for now, and how many margin errors y f(x) ≤ ρ there were so far."""

    rho: float
    errors: int


@learner("norma", title="NORMA", color="#8C9A00", marker="P", references=("kivinen2004",))
class NORMA(ShrinkingLearner):
    """Stochastic gradient descent on the regularised hinge loss, truncated: the oldest leaves.

    In every round f ← (1 - ηλ) f; on yₜ f(xₜ) ≤ ρ, with f before it shrinks, store xₜ: f ← f + η yₜ K(xₜ, ·), and if
    B + 1 examples are stored now, discard the oldest. That is a step down the gradient of
    λ/2 ‖f‖² + max(0, ρ - yₜ f(xₜ)). With ν the loss is max(0, ρ - yₜ f(xₜ)) - νρ and ρ goes down its gradient too:
    ρ ← ρ - η(1 - ν) on a margin error, else ρ ← ρ + ην, so that of T rounds νT - (ρ_T - ρ₀)/η are margin errors.

    Kivinen, Smola, Williamson 2004 (IEEE Transactions on Signal Processing 52(8)), sections II and III, without the
    offset b, and with a step η that stays the same. There examples leave after τ rounds, margin errors or not; here B
    are stored. Nothing keeps ρ from going below 0 where more than a share ν of the examples is wrong.
    An example that is stored already, in a later epoch, changes its coefficient and keeps its age.
    Cost of an example: one kernel value and one product for each stored one.
    When to use: where the best hypothesis moves, as old examples fade and leave; with `nu`, where the share of margin
    errors is to be fixed rather than the margin.

    Parameters
    ----------
    budget : the number B of examples that are stored at most.
    eta : the learning rate η.
    lam : the weight λ of ‖f‖²; ηλ < 1.
    rho : the margin ρ; with nu where it begins.
    nu : the share ν of margin errors that is aimed at; left out, ρ stays as it is.

    Attributes
    ----------
    rho_ : the margin ρ that is asked for in the end.
    """

    spare = 1
    changeable = frozenset({"budget", "eta", "lam"})

    budget: Budget = 100
    eta: Positive = 0.5
    lam: NonNegative = 0.001
    rho: NonNegative = 1.0
    nu: Fraction | None = None

    @classmethod
    def _check_together(cls, values: dict[str, Any]) -> None:
        check_shrinking(values)

    @property
    def margin_threshold(self) -> float:
        return self.rho

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._target = record(Target)
        self._target.rho = self.rho
        self._margin_errors = 0

    def begin_pass(self) -> None:
        super().begin_pass()
        self._target.errors = 0

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        learning_rate, nu = (0.0, 0.0) if self.nu is None else (self.eta, self.nu)
        norma(block, f, rounds, self._scale, self._target, self.budget, self.eta, self.lam, learning_rate, nu)
        if self._course.passes == 1:
            self._margin_errors = int(self._target.errors)

    def is_settled(self) -> bool:
        return self.nu is None and super().is_settled()

    def close(self, access: KernelAccess) -> None:
        super().close(access)
        self.rho_ = float(self._target.rho)

    def _count_margin_errors(self) -> int:
        return self._margin_errors


@compiled
def norma(
    block: Block,
    f: Expansion,
    rounds: Rounds,
    scale: Scale,
    target: Target,
    budget: int,
    eta: float,
    lam: float,
    learning_rate: float,
    nu: float,
) -> None:
    while f.counts.members > budget:  # it was made smaller
        leave(f, 0)
    for t in range(len(block.order)):
        i = block.order[t]
        y = block.y[i]
        margin = y * scale.factor * total(f, kernel_values(f, block, i))
        wrong = margin <= target.rho
        shrink(f, scale, 1 - eta * lam)
        if wrong:
            target.errors += 1
            add(f, i, y * eta / scale.factor)
            if f.counts.members > budget:
                leave(f, 0)  # the oldest
        target.rho += learning_rate * (nu - wrong)
        note(rounds, t, margin, f)
