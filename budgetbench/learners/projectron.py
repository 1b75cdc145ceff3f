"""The Projectron."""

from __future__ import annotations

import numpy as np

from budgetbench.engine.base import learner
from budgetbench.engine.compiled import compiled
from budgetbench.engine.expansion import Block, Expansion, Rounds, note
from budgetbench.engine.projecting import ProjectingLearner, projection_threshold
from budgetbench.engine.span import Batch, distance, extend, lies_within, project, value


@learner("projectron", title="Projectron", color="#0072B2", marker="P")
class Projectron(ProjectingLearner):
    """The Perceptron that projects a mistaken example onto the span of the stored ones if little of it is lost.

    On yₜ f(xₜ) ≤ 0: let P k(xₜ, ·) = Σ dⱼ k(xⱼ, ·), d = K⁻¹k, be the projection and δ what it leaves out,
    ‖δ‖² = K(xₜ, xₜ) - k·d. If ‖δ‖ ≤ η:  f ← f + yₜ P k(xₜ, ·), a ← a + yₜ d; else store xₜ: f ← f + yₜ k(xₜ, ·).

    Orabona, Keshet, Caputo 2008, Algorithm 2 and Eqs. 8 to 11. With a bound U on the competitor's norm, η is
    Eq. 13 in each round, (2ℓ - ‖P k(xₜ, ·)‖² - ½) / 2U with ℓ = 1 - yₜ f(xₜ). Where η ≤ 0 the example is stored,
    unless it lies in the span as far as the rounding of kernel values lets one tell: then nothing is lost by
    projecting, and K would be singular. The inverse is kept in factored form, see `budgetbench.engine.span`.
    Cost of an example: one kernel value for each of the |S| stored ones, and |S|² operations, done for many examples
    at a time.

    Parameters
    ----------
    bound_budget : a budget B to which U is matched: U = ¼ √((B + 1) / ln(B + 1)), the norm up to which the Forgetron
        with budget B has its bound. It does not limit the number of stored examples.
    U : the bound on the competitor's norm itself.
    eta : a fixed threshold η.
    budget : the number of examples that are stored at most; once it is reached every mistake is projected. On its own
        (η = 0): nothing is projected before, but for what lies in the span.
    average : keep the mean of all hypotheses too, see `averaged_decision_function`.
    """

    def _pass(self, block: Block, f: Expansion, rounds: Rounds, batch: Batch) -> None:
        projectron(block, f, rounds, batch, *self._thresholds())


@compiled
def projectron(
    block: Block, f: Expansion, rounds: Rounds, batch: Batch, budget: int, fixed_eta: float, U: float
) -> None:
    first = batch.first[0]
    for t in range(first, first + len(batch.V)):
        i = block.order[t]
        y = block.y[i]
        v = batch.V[t - first, : f.counts[0]]  # P k(xₜ, ·)
        margin = y * value(batch, v)
        if margin <= 0:
            delta = distance(v, block.diagonal[i])
            eta = projection_threshold(fixed_eta, U, 1 - margin, np.dot(v, v))
            if f.counts[0] == budget or delta <= eta or lies_within(f, block, batch, i, v, delta):
                project(batch, t, v, y)
            else:
                extend(f, block, batch, t, v, delta, y)
        note(rounds, t, margin, f)
