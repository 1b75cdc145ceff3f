"""The Projectron."""

from __future__ import annotations

from budgetbench.engine.base import learner
from budgetbench.learners.projecting.common import ProjectingLearner


@learner("projectron", title="Projectron", color="#0072B2", marker="P")
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
    """

    revision = 2
