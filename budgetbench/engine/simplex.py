"""The sub-problem of one example in multi-class learning, solved exactly by sorting.

minimise  ½ A Σᵣ τᵣ² + Σᵣ Bᵣ τᵣ   subject to  τᵣ ≤ C [r = y],  Σᵣ τᵣ = 0

With ρ = C e_y - τ and D = B + A C e_y it asks for the point A ρ of the simplex {ρ ≥ 0, Σ ρ = C} (scaled by A) next to
D: ρᵣ = max(0, Dᵣ - θ)/A, where θ makes the sum right. In MIRA C = 1 and B is f with β taken from the right class; in
the dual of the multi-class SVM C is that of the SVM and B the gradient without the example's own share
(Crammer and Singer, Journal of Machine Learning Research 2, 2001, and 3, 2003).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.compiled import compiled


@compiled
def simplex_step(A: float, B: NDArray[np.float64], y: int, C: float, tau: NDArray[np.float64]) -> None:
    """Write the minimiser into `tau`.

    Parameters
    ----------
    A : above 0; where it is 0, so is the answer.
    B, tau : one number for each class.
    y : the class that may get a positive coefficient, C at most.
    """
    n = len(B)
    if A <= 0.0:  # x = 0: nothing can change its scores
        tau[:] = 0.0
        return
    for r in range(n):
        tau[r] = B[r]
    tau[y] += A * C
    theta = threshold(tau, A * C)
    at_bound = tau[y] <= theta
    total = 0.0
    for r in range(n):
        tau[r] = 0.0 if r == y else 0.0 - max(0.0, B[r] - theta) / A  # 0.0 - 0.0, as -0.0 would be seen
        total += tau[r]
    tau[y] = C if at_bound else -total  # so that neither the bound nor the sum is missed by a rounding error


@compiled
def threshold(D: NDArray[np.float64], total: float) -> float:
    """The θ with Σ max(0, Dᵣ - θ) = total, for a total above 0."""
    descending = -np.sort(-D)
    above = 0.0  # of how much the k largest numbers exceed the next one, in all
    for k in range(1, len(D)):
        step = k * (descending[k - 1] - descending[k])
        if above + step >= total:
            return descending[k - 1] - (total - above) / k
        above += step
    return descending[len(D) - 1] - (total - above) / len(D)
