"""The sub-problem of one example in multi-class learning, solved exactly by sorting.

minimise  ½ A Σᵣ τᵣ² + Σᵣ Bᵣ τᵣ   subject to  τᵣ ≤ C [r = y],  Σᵣ τᵣ = 0

All coefficients off their bounds have the same gradient, θ = A τᵣ + Bᵣ. Without the bound C, θ comes from B alone:
Σ_{r≠y} max(0, Bᵣ - θ) = θ - B_y = A τ_y. Where that makes τ_y larger than C, it is C, and the other classes share it:
Σ_{r≠y} max(0, Bᵣ - θ) = A C. B counts only by its differences, from B_y or from the best rival, and no sum holds
numbers of different sizes: A C may be many powers of ten larger than B. In MIRA C = 1 and B is f with β taken from the
right class; in the dual of the multi-class SVM C is that of the SVM and B the gradient without the example's own share
(Crammer and Singer, Journal of Machine Learning Research 2, 2001, and 3, 2003).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled


@compiled
def simplex_step(A: float, B: NDArray[np.float64], y: int, C: float, tau: NDArray[np.float64]) -> None:
    """Write the minimiser into `tau`.

    Parameters
    ----------
    A : above 0; where it is 0, so is the answer.
    B, tau : one number for each class.
    y : the class that may get a positive coefficient, C at most.
    """
    best = 1 if y == 0 else 0  # of the rivals
    for r in range(len(B)):
        if r != y and B[r] > B[best]:
            best = r
    if A <= 0.0 or B[best] <= B[y]:  # x = 0: nothing can change its scores; or the right class leads
        tau[:] = 0.0
        return
    lead_over(B, y, A, y, tau)
    theta = threshold(tau, 0.0, 1)
    at_bound = theta > C
    if at_bound:
        lead_over(B, best, A, y, tau)
        theta = threshold(tau, C, 0)
    total = 0.0
    for r in range(len(B)):
        tau[r] = 0.0 - max(0.0, tau[r] - theta)  # 0.0 - 0.0, as -0.0 would be seen
        total += tau[r]
    tau[y] = C if at_bound else -total  # so that neither the bound nor the sum is missed by a rounding error


@compiled
def lead_over(B: NDArray[np.float64], base: int, A: float, y: int, lead: NDArray[np.float64]) -> None:
    """(Bᵣ - B_base)/A for all classes but y, which takes no part."""
    for r in range(len(B)):
        lead[r] = (B[r] - B[base]) / A if r != y else -np.inf


@compiled
def threshold(D: NDArray[np.float64], total: float, shares: int) -> float:
    """The θ with Σ max(0, Dᵣ - θ) = total + shares·θ."""
    descending = -np.sort(-D)
    above, k = -total, 0
    while True:
        above += descending[k]
        k += 1
        theta = above / (k + shares)
        if k == len(D) or descending[k] <= theta:
            return theta
