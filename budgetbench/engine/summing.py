"""Learners that add f(x) up for each example that arrives, from the members alone.

Keeping scores up to date for a whole block takes one row of kernel values for each coefficient that changes. Where a
rule changes all of them at once, adding up f(x) = Σ aᵢK(xᵢ, x) when x comes is cheaper: one product for each member.
The sum goes from the oldest member to the youngest, so that it depends on the members alone, and decisions are the
same however the stream was cut. `Expansion.scores` and its `doubt` are left alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled, record
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import ROUNDING, Expansion, enter, slot_of
from budgetbench.errors import ParameterError
from budgetbench.kernels import Values

#: A factor below this is multiplied into the coefficients, long before numbers end.
SMALLEST = 2.0**-100


class Scale:
    """f = factor · g, where g has the coefficients of the expansion."""

    factor: float


class ShrinkingLearner(ExpansionLearner):
    """A learner that shrinks f in every round: it stores g and a factor, of which only the factor changes then."""

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._scale = record(Scale)
        self._scale.factor = 1.0

    def _state(self) -> Values:
        return self._scale.factor * super()._state()


def check_shrinking(values: dict[str, Any]) -> None:
    """Raise `ParameterError` where 1 - ηλ is no factor above 0."""
    eta, lam = values["eta"], values["lam"]
    if eta * lam >= 1:
        raise ParameterError("lam", lam, f"a number below 1 / eta, {1 / eta:g}")


@compiled
def total(f: Expansion, K: NDArray[np.float64]) -> float:
    """Σ aₛK[s], where K has the kernel values between the members and x."""
    value = 0.0
    for slot in range(len(K)):
        value += f.coefficients[slot] * K[slot]
    return value


@compiled
def rounding_of(f: Expansion, K: NDArray[np.float64]) -> float:
    """How far from f(x) its `total` may lie: a step that is no larger is none."""
    weight = 0.0
    for slot in range(len(K)):
        weight += abs(f.coefficients[slot] * K[slot])
    return ROUNDING * (len(K) + 2) * weight


@compiled
def add(f: Expansion, i: int, coefficient: float) -> None:
    """f ← f + coefficient·K(i, ·); an example that is a member already keeps its age."""
    if f.stored[i]:
        f.coefficients[slot_of(f, i)] += coefficient
    else:
        enter(f, i, coefficient)


@compiled
def shrink(f: Expansion, scale: Scale, factor: float) -> None:
    """f ← factor · f, for a factor in (0, 1]"""
    scale.factor *= factor
    if scale.factor < SMALLEST:
        f.coefficients[: f.counts.members] *= scale.factor
        scale.factor = 1.0
