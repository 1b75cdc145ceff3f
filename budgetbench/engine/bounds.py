"""What theorems say of a stream: bounds on a learner's mistakes, relative to any hypothesis g.

With D₁ = Σₜ max(0, 1 - yₜ g(xₜ)), the hinge loss of g over the stream, and K(x, x) ≤ R². What a learner can promise,
`KernelClassifier.bounds` says; here are the two forms that it has. The stream is one pass: `online_mistakes` are those
of the first.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from budgetbench.kernels import Values

Bounds = dict[str, Values]
"""Measure to its largest value beside each comparator; infinite where the theorem asks something else of g."""


ROUNDING = 1e-4
"""K(x, x) above 1 by no more than this is float32's."""


STEPS = 16
"""Hypotheses that `refined` puts in place of one."""


class Comparators(NamedTuple):
    """Hypotheses g that a stream is compared with.

    norms, losses : ‖g‖, rising, and D₁ of each, of shape (m,).
    square : R², the largest K(x, x) of the stream.
    """

    norms: Values
    losses: Values
    square: float


def refined(g: Comparators) -> Comparators:
    """Those between neighbours too: a mean of two g has no more than the means of their norms and losses."""
    norms = np.unique(np.concatenate([g.norms, *(np.linspace(a, b, STEPS + 1) for a, b in pairwise(g.norms))]))
    return Comparators(norms, np.interp(norms, g.norms, g.losses), g.square)


def additive_bound(g: Comparators, step: float) -> Values:
    """The largest M with M - D₁ ≤ ‖g‖ √(step · M): ((√step ‖g‖ + √(step ‖g‖² + 4 D₁)) / 2)².

    For what adds yₜ k(xₜ, ·) M times to f, where each time raises ‖f‖² by `step` at most (R² on a mistake, as then
    yₜ f(xₜ) ≤ 0): Σ yₜ g(xₜ) over them is ⟨f, g⟩ ≤ ‖f‖ ‖g‖, and no less than M - D₁.
    """
    length = np.sqrt(step) * g.norms
    return ((length + np.sqrt(length**2 + 4 * g.losses)) / 2) ** 2


def shifting_bound(g: Comparators, U: float) -> Values:
    """2‖g‖² + 4 D₁ for ‖g‖ ≤ U, where each mistake brings f nearer to g by ½ - 2 max(0, 1 - yₜ g(xₜ)) or more.

    That is distance squared, of which there is ‖g‖² at first. For K(x, x) ≤ 1.
    """
    within = (g.norms <= U) & (g.square <= 1 + ROUNDING)
    return np.where(within, 2 * g.norms**2 + 4 * g.losses, np.inf)


def matched_bound(budget: int) -> float:
    """U = ¼ √((B + 1) / ln(B + 1)): the largest norm of g for which the Forgetron with budget B has its bound."""
    return float(np.sqrt((budget + 1) / np.log(budget + 1)) / 4)


def divided(above: Values, below: Values) -> Values:
    """above / below, infinite where a theorem's denominator is not positive: it has nothing to say of such a g."""
    return np.divide(above, below, out=np.full(len(above), np.inf), where=below > 0)
