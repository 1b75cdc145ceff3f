"""The Projectron."""

from __future__ import annotations

import numpy as np

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.bounds import Bounds, Comparators, additive_bound, divided
from budgetbench.engine.expansion import Block, Expansion, note
from budgetbench.learners.projecting.common import ProjectingLearner, projection_threshold
from budgetbench.learners.projecting.span import Batch, distance, extend, is_vague, lies_within, project, value


@learner("projectron", title="Projectron", color="#0072B2", marker="P", references=("orabona2008",))
class Projectron(ProjectingLearner):
    """The Perceptron that projects a mistaken example onto the span of the stored ones if little of it is lost.

    On yₜ f(xₜ) ≤ 0: let P k(xₜ, ·) = Σ dⱼ k(xⱼ, ·), d = K⁻¹k, be the projection and δ what it leaves out,
    ‖δ‖² = K(xₜ, xₜ) - k·d. If ‖δ‖ ≤ η:  f ← f + yₜ P k(xₜ, ·), a ← a + yₜ d; else store xₜ: f ← f + yₜ k(xₜ, ·).

    Orabona, Keshet, Caputo 2008, Algorithm 2 and Eqs. 8 to 11. With a bound U on the competitor's norm, η is
    Eq. 13 in each round, (2ℓ - ‖P k(xₜ, ·)‖² - ½) / 2U with ℓ = 1 - yₜ f(xₜ). Where η ≤ 0 the example is stored,
    unless it lies in the span but for the rounding of float64: then K would be singular, and projecting loses less
    than 10⁻⁷ of the example's length for each unit of ‖(1, d)‖. The inverse is kept in factored form, see
    `budgetbench.learners.projecting.span`.
    Cost of an example: one kernel value for each of the |S| stored ones, and |S|² operations, done for many examples
    at a time.
    When to use: where the data says how much is to be stored: what lies in the span of the stored examples costs no
    more memory. With `budget`, where memory is fixed.
    """

    revision = 2

    def bounds(self, g: Comparators) -> Bounds:
        """With a fixed η Theorem 3 too, (R‖g‖ + √(R²‖g‖² + 4 D₁))² / (2 (1 - η‖g‖))²; the smaller of both."""
        found = super().bounds(g)
        if found and self.eta is not None:
            worst = divided(additive_bound(g, g.square), np.maximum(0.0, 1 - self.eta * g.norms) ** 2)
            found = {"online_mistakes": np.minimum(found["online_mistakes"], worst)}
        return found

    def _pass(self, block: Block, f: Expansion, rounds: Rounds, batch: Batch, t: int) -> int:
        return projectron(block, f, rounds, batch, t, *self._thresholds())


@compiled
def projectron(
    block: Block, f: Expansion, rounds: Rounds, batch: Batch, begin: int, budget: int, fixed_eta: float, U: float
) -> int:
    first, end = batch.first, batch.first + len(batch.V)
    for t in range(begin, end):
        y = block.y[block.order[t]]
        v = batch.V[t - first, : f.counts.members]  # P k(xₜ, ·)
        margin = y * value(batch, v)
        if margin <= 0:
            delta = distance(v, batch.own[t - first])
            eta = np.inf
            if f.counts.members < budget:
                eta = projection_threshold(fixed_eta, U, 1 - margin, np.dot(v, v))
            if is_vague(batch, t, delta, eta):
                return t
            if delta <= eta or lies_within(f, block, batch, t, v, delta):
                project(batch, t, v, y)
            else:
                extend(f, block, batch, t, v, delta, y)
        note(rounds, t, margin, f)
    return end
