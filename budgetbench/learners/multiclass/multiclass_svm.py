"""The multi-class SVM of Crammer and Singer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.base import learner
from budgetbench.engine.kernel_access import KernelAccess, Rows
from budgetbench.engine.support import BatchLearner
from budgetbench.kernels import Floats
from budgetbench.learners.multiclass.simplex import simplex_step
from budgetbench.parameters import Positive, Repeats

#: Bytes of kernel values that the solver computes for itself where no Gram matrix is at hand.
MEMORY_LIMIT = 1 << 32


@learner("multiclass_svm", title="Multi-class SVM", color="#E69F00", marker="X")
class MulticlassSVM(BatchLearner):
    """The SVM that separates all classes at once, without bias and without a reduction to two classes.

    minimise  ½ Σᵣ ‖wᵣ‖² + C Σᵢ ξᵢ   subject to  f_{yᵢ}(xᵢ) - fᵣ(xᵢ) ≥ 1 - ξᵢ for all r ≠ yᵢ,  ξᵢ ≥ 0

    by the sequential dual method: one example after the other gets the coefficients that are best while all others
    stay as they are, which is the sub-problem of MIRA with C as the bound on τ and 1 as the margin. The examples are
    gone through in random order, those that are optimal being left out until the others are; the end is reached when
    no example violates its optimality condition by more than `tolerance`.

    Crammer and Singer 2001 (JMLR 2), which picks the most violating example each time; Keerthi, Sundararajan, Chang,
    Hsieh, Lin 2008 (KDD), for going through them in turn. Their C is our 1/β.
    Cost of a step: the kernel values of one example against all, times the number of coefficients that change.
    The kernel values among all training examples are held in memory.

    Parameters
    ----------
    C : bound on the coefficients.
    tolerance : by how much optimality may be missed, in units of the margin 1.
    sweeps : passes over the examples at most.

    Attributes
    ----------
    violation_ : by how much optimality is missed.
    sweeps_ : passes that were made.
    """

    revision = 2
    order_free = True
    multiclass = True

    C: Positive = 1.0
    tolerance: Positive = 0.01
    sweeps: Repeats = 1000

    def _select(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        rows = np.sort(order)  # the solution does not depend on the order of the stream, and is not to seem to
        held = access.gram is not None and len(access.gram) == len(rows)
        if not held and 4 * len(rows) ** 2 > MEMORY_LIMIT:
            needed = 4e-9 * len(rows) ** 2
            raise MemoryError(f"multiclass_svm holds all kernel values: {needed:.1f} GB. Use svm, or a dataset.limit")
        K = access.among(rows)
        alpha = np.zeros((len(rows), len(self.classes_)))
        draw = np.random.default_rng(0).permutation(len(rows))
        self.sweeps_, self.violation_ = multiclass_svm(
            K, np.diagonal(K).copy(), labels[rows], alpha, draw, self.C, self.tolerance, self.sweeps
        )
        support = np.flatnonzero(alpha.any(axis=1))
        self.support_ = rows[support]
        self.coefficients_ = alpha[support]
        if len(self.classes_) == 2:
            self.coefficients_ = self.coefficients_[:, 1] - self.coefficients_[:, 0]


@compiled
def multiclass_svm(
    K: Floats,
    diagonal: Floats,
    y: NDArray[np.int64],
    alpha: NDArray[np.float64],
    draw: NDArray[np.int64],
    C: float,
    tolerance: float,
    sweeps: int,
) -> tuple[int, float]:
    n, n_classes = alpha.shape
    scores = np.zeros((n_classes, n))
    B, tau = np.empty(n_classes), np.empty(n_classes)
    waiting, n_waiting, whole = draw.copy(), n, True
    worst = np.inf
    for sweep in range(sweeps):
        worst, n_left = 0.0, 0
        for k in range(n_waiting):
            i = waiting[k]
            lost = violation(scores[:, i], alpha[i], y[i], C)
            worst = max(worst, lost)
            if lost > tolerance:
                waiting[n_left] = i
                n_left += 1
                for r in range(n_classes):
                    B[r] = scores[r, i] - alpha[i, r] * diagonal[i]
                B[y[i]] -= 1.0
                simplex_step(diagonal[i], B, y[i], C, tau)
                for r in range(n_classes):
                    step = tau[r] - alpha[i, r]
                    if step != 0.0:
                        alpha[i, r] = tau[r]
                        line, row = scores[r], K[i]
                        for j in range(n):
                            line[j] += step * row[j]
        n_waiting = n_left
        if n_left == 0:
            if whole:
                return sweep + 1, worst
            waiting[:], n_waiting, whole = draw, n, True
        else:
            whole = False
    return sweeps, worst


@compiled
def violation(scores: NDArray[np.float64], alpha: NDArray[np.float64], y: int, C: float) -> float:
    """How far one example is from optimal: largest gradient less the smallest one among coefficients free to grow.

    The gradient is fᵣ - [r = y]; a coefficient may grow up to C [r = y].
    """
    largest, smallest = -np.inf, np.inf
    for r in range(len(scores)):
        gradient = scores[r] - (1.0 if r == y else 0.0)
        largest = max(largest, gradient)
        if alpha[r] < (C if r == y else 0.0):
            smallest = min(smallest, gradient)
    return largest - smallest if smallest < np.inf else 0.0
