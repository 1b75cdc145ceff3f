"""The Projectron++."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.expansion import Block, Expansion, note
from budgetbench.errors import ParameterError
from budgetbench.learners.projecting.common import NO_BOUND, ProjectingLearner, projection_threshold
from budgetbench.learners.projecting.span import Batch, distance, extend, is_vague, lies_within, project, value


@learner(
    "projectron_plus_plus",
    title="Projectron++",
    color="#D55E00",
    marker="*",
    references=("orabona2008",),
    aliases=("projectron++",),
)
class ProjectronPlusPlus(ProjectingLearner):
    """The Projectron that also learns from right predictions of low confidence, as far as projections go.

    On yₜ f(xₜ) ≤ 0 it is the Projectron. On a margin error, 0 < yₜ f(xₜ) < 1, with ℓ = 1 - yₜ f(xₜ), the projection
    P k(xₜ, ·) and what it leaves out, δ:  τ = min(ℓ / ‖P k(xₜ, ·)‖², 1), and if the progress
    τ (2ℓ - τ ‖P k(xₜ, ·)‖²) - 2U ‖δ‖ is not negative:  f ← f + yₜ τ P k(xₜ, ·), a ← a + yₜ τ d. Nothing is stored.

    Orabona, Keshet, Caputo 2008, section 4.1, Eqs. 14 to 17, but for one thing: Eq. 16 as printed charges the cost of
    the projection times τ, τ (2ℓ - τ ‖P k(xₜ, ·)‖² - 2U ‖δ‖), and gives fewer mistakes and stored examples than the
    paper's tables have. Charged whole, 2U ‖δ‖ once for each round, it gives both tables (`progress`): Adult9 with
    B = 1500, over five permutations, 20.04 % and 986 stored where the paper has 20.04 ± 0.14 and 993 ± 10, as printed
    19.73 and 952; above PA-I on the same synthetic draw, with B = 1000 and 500, by 1.63 and 1.66 points where the paper
    has 1.51 and 1.65, as printed by 0.91 and 0.95. It asks for more than Lemma 1, whose cost is times τ ≤ 1, so that
    the bound of Eq. 15 holds for both. Eq. 17 maximises the progress that is charged whole and not Eq. 16, as the text
    has it: the maximiser of Eq. 16 is (ℓ - U ‖δ‖) / ‖P k(xₜ, ·)‖², which was tried: 19.48 % and 961 on Adult9.
    With a fixed η there is no U: after Orabona, Keshet, Caputo 2009 (JMLR 10) the step is done where ℓ > ‖δ‖/η, with
    τ = min(ℓ / ‖P k‖², 2(ℓ - ‖δ‖/η) / ‖P k‖², 1). What lies in the span within rounding is not stored, as by the
    Projectron.
    Cost of an example: as for the Projectron.
    When to use: as the Projectron, where margin errors are to teach too: fewer errors with as many examples stored, at
    small budgets above all.

    Parameters
    ----------
    budget : the number of examples that are stored at most; once it is reached every mistake is projected. On its own:
        no mistake is projected before, but for what lies in the span, and U is matched to it for the margin errors.
    progress : what must not be negative: Eq. 16 with the cost of the projection charged whole (``fixed_cost``) or as
        ``printed``, times τ.
    """

    revision = 2
    changeable = ProjectingLearner.changeable | {"progress"}
    margin_threshold = math.nextafter(1.0, 0.0)  # a margin error is y f < 1

    progress: Literal["fixed_cost", "printed"] = "fixed_cost"

    @classmethod
    def _check_together(cls, values: dict[str, Any]) -> None:
        super()._check_together(values)
        if values["eta"] is not None and values["progress"] != cls.progress:
            raise ParameterError("progress", values["progress"], "nothing where eta is given")

    def _pass(self, block: Block, f: Expansion, rounds: Rounds, batch: Batch, t: int) -> int:
        return projectron_plus_plus(block, f, rounds, batch, t, *self._thresholds(), self.progress == "fixed_cost")


@compiled
def projectron_plus_plus(
    block: Block,
    f: Expansion,
    rounds: Rounds,
    batch: Batch,
    begin: int,
    budget: int,
    fixed_eta: float,
    U: float,
    fixed_cost: bool,
) -> int:
    first, end = batch.first, batch.first + len(batch.V)
    for t in range(begin, end):
        y = block.y[block.order[t]]
        v = batch.V[t - first, : f.counts.members]  # P k(xₜ, ·)
        margin = y * value(batch, v)
        if margin < 1:
            loss, squared_length = 1 - margin, np.dot(v, v)
            delta = distance(v, batch.own[t - first])
            eta = np.inf
            if margin <= 0 and f.counts.members < budget:
                eta = projection_threshold(fixed_eta, U, loss, squared_length)
            if is_vague(batch, t, delta, eta):
                return t
            if margin > 0:
                tau = margin_step(loss, squared_length, delta, fixed_eta, U, fixed_cost)
                if tau > 0:
                    project(batch, t, v, y * tau)
            elif delta <= eta or lies_within(f, block, batch, t, v, delta):
                project(batch, t, v, y)
            else:
                extend(f, block, batch, t, v, delta, y)
        note(rounds, t, margin, f)
    return end


@compiled
def margin_step(loss: float, squared_length: float, delta: float, eta: float, U: float, fixed_cost: bool) -> float:
    """τ on a margin error, 0 where f is left alone."""
    tau = min(loss / squared_length, 1.0)  # Eq. 17
    if U == NO_BOUND:
        lost = delta / eta if delta > 0 else 0.0
        return min(tau, 2 * (loss - lost) / squared_length) if loss > lost else 0.0
    progress = tau * (2 * loss - tau * squared_length) - (1.0 if fixed_cost else tau) * 2 * U * delta  # Eq. 16
    return tau if progress >= 0 else 0.0
