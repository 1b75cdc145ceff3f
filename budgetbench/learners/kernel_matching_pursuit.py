"""Kernel Matching Pursuit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.base import learner
from budgetbench.engine.kernel_access import KernelAccess, Rows
from budgetbench.engine.support import BatchLearner
from budgetbench.errors import ParameterError
from budgetbench.kernels import Floats
from budgetbench.kernels.products import column_norms
from budgetbench.lazy import lazy
from budgetbench.parameters import USUAL_BUDGET, Budget, Repeats

scipy_linalg = lazy("scipy.linalg")

Vector = NDArray[np.float64]

#: A column of kernel values lies in the span of the chosen ones if no more than this part of its squared length is
#: left: the kernel values themselves are rounded to 6e-8.
DEPENDENT = 1e-12
#: Gain in squared error for each example below which there is only rounding left.
NOTHING = 1e-20


@learner(
    "kernel_matching_pursuit",
    title="KMP",
    color="#CC79A7",
    marker="v",
    references=("vincent2002", "weston2005"),
    aliases=("kmp",),
)
class KernelMatchingPursuit(BatchLearner):
    """Greedy least squares: example after example is taken whose kernel function lowers the squared error the most.

    With r = y - f the residuals on the m training examples and kⱼ the kernel values of example j with all of them, a
    step takes j = argminⱼ minₐ ‖r - a kⱼ‖² = argmaxⱼ (kⱼ·r)² / ‖kⱼ‖², the first of equals.

    - Basic: aⱼ ← aⱼ + (kⱼ·r) / ‖kⱼ‖². An example may be taken again; once `budget` different ones are chosen, steps go
      on among them.
    - Backfitting: all coefficients are fitted anew, so r becomes the part of y orthogonal to all chosen columns.

    Vincent, Bengio 2002; Weston, Bordes, Bottou 2005, Figure 4, with the squared error of the labels ±1.
    Backfitting keeps an orthonormal basis u₁, u₂, … of the chosen columns. A step then changes r along one u only, and
    with it all kⱼ·r by one product of the matrix of kernel values and u: O(m²) for m candidates on m examples, where
    solving the least squares anew for each candidate would take O(m²) for each. Coefficients come from one triangular
    system at the end. Memory: the matrix of kernel values, 4 m² bytes, shared where it is at hand.
    When to use: offline, for a small model of a training set whose Gram matrix fits into memory.

    Parameters
    ----------
    budget : how many examples are stored at most.
    backfitting : fit all coefficients in each step, not the new one only.
    iterations : steps of the basic algorithm; by default as many as the budget, one for each example at most.
    """

    order_free = True

    budget: Budget = USUAL_BUDGET
    backfitting: bool = False
    iterations: Repeats | None = None

    @classmethod
    def _check_together(cls, values: dict[str, Any]) -> None:
        if values["backfitting"] and values["iterations"] is not None:
            raise ParameterError(
                "iterations", values["iterations"], "nothing with backfitting: a step for each example"
            )

    def _select(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        rows = np.sort(order)
        K = access.among(rows)
        y = np.where(labels[rows] == 1, 1.0, -1.0)
        if self.backfitting:
            chosen, coefficients = backfit(K, y, self.budget)
        else:
            steps = self.iterations or min(self.budget, len(rows))
            chosen, coefficients = pursue(K, y, self.budget, steps)
        self.support_, self.coefficients_ = rows[chosen], coefficients


def pursue(K: Floats, y: Vector, budget: int, iterations: int) -> tuple[Rows, Vector]:
    """Basic matching pursuit: the chosen examples in the order of their first choice, and their coefficients."""
    products, norms = combine(K, y), lengths(K)  # kⱼ·r and ‖kⱼ‖² of each candidate j
    coefficients = np.zeros(len(y))
    chosen: list[int] = []
    for _ in range(iterations):
        gains = products**2 / norms
        if len(chosen) == budget:
            gains[np.setdiff1d(np.arange(len(y)), chosen)] = 0.0
        j = int(gains.argmax())
        if gains[j] <= NOTHING * len(y):
            break
        step = products[j] / norms[j]
        if j not in chosen:
            chosen.append(j)
        coefficients[j] += step
        products -= step * combine(K, K[j].astype(np.float64))
    picked = np.array(chosen, dtype=np.int64)
    return picked, coefficients[picked]


def backfit(K: Floats, y: Vector, budget: int) -> tuple[Rows, Vector]:
    """Matching pursuit with backfitting: the chosen examples in order of choice, and their coefficients."""
    products, norms = combine(K, y), lengths(K)
    room = min(budget, len(y))
    basis, R, along = np.empty((room, len(y))), np.zeros((room, room)), np.empty(room)
    open_to_choice = np.ones(len(y), dtype=np.bool_)
    chosen: list[int] = []
    while len(chosen) < room:
        gains = np.where(open_to_choice, products**2 / norms, 0.0)
        j = int(gains.argmax())
        if gains[j] <= NOTHING * len(y):
            break
        open_to_choice[j] = False
        n = len(chosen)
        u, shares = K[j].astype(np.float64), np.zeros(n)
        for _ in range(2):  # twice is enough for a basis that is orthogonal to working precision
            share = basis[:n] @ u
            u -= share @ basis[:n]
            shares += share
        left = np.linalg.norm(u)
        if left**2 <= DEPENDENT * norms[j]:
            continue
        u /= left
        basis[n], R[:n, n], R[n, n], along[n] = u, shares, left, u @ y
        products -= along[n] * combine(K, u)
        chosen.append(j)
    n = len(chosen)
    return np.array(chosen, dtype=np.int64), scipy_linalg.solve_triangular(R[:n, :n], along[:n]) if n else np.empty(0)


def lengths(K: Floats) -> Vector:
    """‖kⱼ‖² of each column, infinite where it is 0: a step along nothing gains nothing."""
    norms = column_norms(K)
    return np.where(norms > 0, norms, np.inf)


@compiled
def combine(K: Floats, weights: Vector) -> Vector:
    """Σᵢ weights[i] K[i, ·] in float64; four rows at a time, so that the sums are fetched and put back less often."""
    sums = np.zeros(K.shape[1])
    for i in range(0, len(K) - 3, 4):
        a, b, c, d = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        first, second, third, fourth = K[i], K[i + 1], K[i + 2], K[i + 3]
        for j in range(len(sums)):
            sums[j] += a * first[j] + b * second[j] + c * third[j] + d * fourth[j]
    for i in range(len(K) - len(K) % 4, len(K)):
        row, weight = K[i], weights[i]
        for j in range(len(sums)):
            sums[j] += weight * row[j]
    return sums
