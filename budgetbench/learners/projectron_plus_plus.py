"""The Projectron++."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from budgetbench.engine.base import learner
from budgetbench.engine.compiled import compiled
from budgetbench.engine.expansion import Block, Expansion, Rounds, note
from budgetbench.engine.projecting import NO_BOUND, ProjectingLearner, projection_threshold
from budgetbench.engine.span import Batch, distance, extend, lies_within, project, value
from budgetbench.errors import ParameterError


@learner("projectron_plus_plus", title="Projectron++", color="#D55E00", marker="*", aliases=("projectron++",))
class ProjectronPlusPlus(ProjectingLearner):
    """The Projectron that also learns from right predictions of low confidence, as far as projections go.

    On yₜ f(xₜ) ≤ 0 it is the Projectron. On a margin error, 0 < yₜ f(xₜ) < 1, with ℓ = 1 - yₜ f(xₜ), the projection
    P k(xₜ, ·) and what it leaves out, δ:  τ = min(ℓ / ‖P k(xₜ, ·)‖², 1), and if the progress
    τ (2ℓ - τ ‖P k(xₜ, ·)‖² - 2U ‖δ‖) is not negative:  f ← f + yₜ τ P k(xₜ, ·), a ← a + yₜ τ d. Nothing is stored.

    Orabona, Keshet, Caputo 2008, section 4.1, Eqs. 14 to 17. The rule as printed gives slightly fewer mistakes and
    stored examples than the paper reports; with the test 2ℓ - ‖P k(xₜ, ·)‖² - 2U ‖δ‖ ≥ 0, the progress of a whole step,
    it comes nearer (`progress`). With a fixed η there is no U: after Orabona, Keshet, Caputo 2009 (JMLR 10) the step
    is done where ℓ > ‖δ‖/η, with τ = min(ℓ / ‖P k‖², 2(ℓ - ‖δ‖/η) / ‖P k‖², 1). What lies in the span within
    rounding is not stored, as by the Projectron.
    Cost of an example: as for the Projectron.

    Parameters
    ----------
    bound_budget : a budget B to which U is matched: U = ¼ √((B + 1) / ln(B + 1)). It does not limit the number of
        stored examples.
    U : the bound on the competitor's norm itself.
    eta : a fixed threshold η.
    budget : the number of examples that are stored at most; once it is reached every mistake is projected. On its own:
        no mistake is projected before, but for what lies in the span, and U is matched to it for the margin errors.
    average : keep the mean of all hypotheses too, see `averaged_decision_function`.
    progress : the step whose progress must not be negative: ``printed``, the τ of Eq. 17, or ``unit_step``, τ = 1.
    """

    progress: Literal["printed", "unit_step"] = "printed"

    @classmethod
    def _check_together(cls, values: dict[str, Any]) -> None:
        super()._check_together(values)
        if values["eta"] is not None and values["progress"] != "printed":
            raise ParameterError("progress", values["progress"], "nothing where eta is given")

    @property
    def margin_threshold(self) -> float:
        return float(np.nextafter(1.0, 0.0))  # a margin error is y f < 1

    def _pass(self, block: Block, f: Expansion, rounds: Rounds, batch: Batch) -> None:
        projectron_plus_plus(block, f, rounds, batch, *self._thresholds(), self.progress == "unit_step")


@compiled
def projectron_plus_plus(
    block: Block,
    f: Expansion,
    rounds: Rounds,
    batch: Batch,
    budget: int,
    fixed_eta: float,
    U: float,
    unit_step: bool,
) -> None:
    first = batch.first[0]
    for t in range(first, first + len(batch.V)):
        i = block.order[t]
        y = block.y[i]
        v = batch.V[t - first, : f.counts[0]]  # P k(xₜ, ·)
        margin = y * value(batch, v)
        if margin < 1:
            loss, squared_length = 1 - margin, np.dot(v, v)
            delta = distance(v, block.diagonal[i])
            if margin > 0:
                tau = margin_step(loss, squared_length, delta, fixed_eta, U, unit_step)
                if tau > 0:
                    project(batch, t, v, y * tau)
            elif (
                f.counts[0] == budget
                or delta <= projection_threshold(fixed_eta, U, loss, squared_length)
                or lies_within(f, block, batch, i, v, delta)
            ):
                project(batch, t, v, y)
            else:
                extend(f, block, batch, t, v, delta, y)
        note(rounds, t, margin, f)


@compiled
def margin_step(loss: float, squared_length: float, delta: float, eta: float, U: float, unit_step: bool) -> float:
    """τ on a margin error, 0 where f is left alone."""
    tau = min(loss / squared_length, 1.0)  # Eq. 17
    if U == NO_BOUND:
        lost = delta / eta if delta > 0 else 0.0
        return min(tau, 2 * (loss - lost) / squared_length) if loss > lost else 0.0
    progress = 2 * loss - (1.0 if unit_step else tau) * squared_length - 2 * U * delta  # Eq. 16
    return tau if progress >= 0 else 0.0
