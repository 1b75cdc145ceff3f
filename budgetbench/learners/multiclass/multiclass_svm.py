"""The multi-class SVM of Crammer and Singer."""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.base import learner
from budgetbench.engine.kernel_access import KernelAccess, Rows, read_only
from budgetbench.engine.support import BatchLearner
from budgetbench.kernels import Floats
from budgetbench.learners.multiclass.simplex import simplex_step
from budgetbench.parameters import Positive, Repeats

#: Bytes of kernel values that are held where no Gram matrix is at hand.
MEMORY_LIMIT = 1 << 32
#: Pieces that would fill this memory: so finely the training set is divided where it has to be.
PIECES = 4
#: Rows of kernel values that are computed at a time.
STRIP = 512


@learner(
    "multiclass_svm", title="Multi-class SVM", color="#E69F00", marker="X", references=("crammer2001", "keerthi2008")
)
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

    The kernel values among all training examples are held where they are at hand or take no more than 4 GiB. Otherwise
    those among a working set are: the training set is gone through in pieces, the examples of a piece that violate
    their optimality condition take the places of those without coefficients, and the problem of the working set is
    solved; the end is reached when no piece has a violating example left (Osuna, Freund, Girosi 1997). Each kernel
    value is computed when a piece is looked at, so that time grows with the support set and not with all pairs.
    When to use: offline, as what MIRA is compared with: one problem for all classes, one support pattern for all
    scores.

    Parameters
    ----------
    C : bound on the coefficients.
    tolerance : by how much optimality may be missed, in units of the margin 1.
    sweeps : passes over the examples at most, each time that a working set is solved.

    Attributes
    ----------
    violation_ : by how much optimality is missed.
    sweeps_ : passes that were made, over any part of the examples.

    Raises
    ------
    MemoryError : the support set is too large for the kernel values among it to be held.
    """

    revision = 2
    effort = 7
    order_free = True
    multiclass = True

    C: Positive = 1.0
    tolerance: Positive = 0.01
    sweeps: Repeats = 1000

    def _select(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        rows = np.sort(order)  # the solution does not depend on the order of the stream, and is not to seem to
        draw = np.random.default_rng(0).permutation(len(rows))
        held = access.gram is not None and len(access.gram) == len(rows)
        room = len(rows) if held else min(len(rows), math.isqrt(MEMORY_LIMIT // 4))
        problem = Problem(access, rows, labels[rows], len(self.classes_), draw, room)
        pieces = [draw] if room == len(rows) else np.array_split(draw, -(-PIECES * len(rows) // room))
        self.sweeps_, self.violation_, optimal = 0, 0.0, 0
        for piece in itertools.cycle(pieces):
            optimal = 0 if problem.take_violating(piece, self.C, self.tolerance) else optimal + 1
            if optimal == len(pieces):
                break
            if optimal == 0:
                sweeps, self.violation_ = problem.solve(self.C, self.tolerance, self.sweeps)
                self.sweeps_ += sweeps
                if self.violation_ > self.tolerance:  # it was stopped
                    break
        support, self.coefficients_ = problem.solution()
        self.support_ = rows[support]
        if len(self.classes_) == 2:
            self.coefficients_ = self.coefficients_[:, 1] - self.coefficients_[:, 0]


class Problem:
    """The dual problem, of which the examples of a working set are solved.

    Parameters
    ----------
    rows, labels : of the training examples, (n,) each; an example is known by its place in them.
    draw : the places in the order in which the examples are gone through.
    room : how many examples the working set has at most.

    Attributes
    ----------
    working : places of the working set, (m,).
    alpha, scores : its coefficients and its scores, (m, n_classes) and (n_classes, m).
    """

    def __init__(
        self, access: KernelAccess, rows: Rows, labels: NDArray[np.int64], n_classes: int, draw: Rows, room: int
    ) -> None:
        self._access, self._rows, self._labels, self._room = access, rows, labels, room
        self._turn = np.argsort(draw)
        self._values = np.empty((0, 0), dtype=np.float32)  # kernel values: those of the working set come first
        self.working: Rows = np.empty(0, dtype=np.int64)
        self.alpha, self.scores = np.zeros((0, n_classes)), np.zeros((n_classes, 0))

    def take_violating(self, piece: Rows, C: float, tolerance: float) -> int:
        """Take the examples of a piece that violate their condition into the working set; returns how many do."""
        piece = np.setdiff1d(piece, self.working)
        if len(piece) == 0:
            return 0
        scores = np.zeros((len(self.scores), len(piece)))
        support = np.flatnonzero(self.alpha.any(axis=1))
        for some in strips(support):
            K = self._access.between(self._rows[self.working[some]], self._rows[piece])
            add_rows(scores, self.alpha[some], K)
        outside = violating(scores, self._labels[piece], C, tolerance)
        if len(outside) == 0:
            return 0
        outside = outside[: self._room - len(support)]  # the others' turn comes again
        if len(outside) == 0:
            raise MemoryError(
                f"multiclass_svm holds the kernel values among its support set, which has more than {self._room} "
                "examples here. Use svm, another C, or a dataset.limit"
            )
        self._hold(support, piece[outside])
        self.working = np.append(self.working[support], piece[outside])
        self.alpha = np.concatenate([self.alpha[support], np.zeros((len(outside), len(scores)))])
        self.scores = np.concatenate([self.scores[:, support], scores[:, outside]], axis=1)
        return len(outside)

    def _hold(self, kept: Rows, new: Rows) -> None:
        """Kernel values among the examples `kept` of the working set and new ones."""
        if len(new) == len(self._rows):
            self._values = self._access.among(self._rows)
            return
        if len(self._values) == 0:
            self._values = np.empty((self._room, self._room), dtype=np.float32)
        for k, place in enumerate(kept):
            self._values[k, : len(kept)] = self._values[place, kept]
        both = self._rows[np.append(self.working[kept], new)]
        for some in strips(np.arange(len(kept), len(both))):
            self._values[some, : len(both)] = self._access.between(both[some], both)
            self._values[: len(kept), some] = self._values[some, : len(kept)].T

    def solve(self, C: float, tolerance: float, sweeps: int) -> tuple[int, float]:
        """Solve the problem of the working set; returns the passes that were made and the violation that is left."""
        K, draw = read_only(self._values), np.argsort(self._turn[self.working])
        diagonal, labels = np.diagonal(K)[: len(draw)].copy(), self._labels[self.working]
        return multiclass_svm(K, diagonal, labels, self.alpha, self.scores, draw, C, tolerance, sweeps)

    def solution(self) -> tuple[Rows, NDArray[np.float64]]:
        """Places of the support set, which rise, and its coefficients."""
        support = np.flatnonzero(self.alpha.any(axis=1))
        support = support[np.argsort(self.working[support])]
        return self.working[support], self.alpha[support]


def strips(places: Rows) -> list[Rows]:
    """The same places, at most `STRIP` at a time."""
    return [places[start : start + STRIP] for start in range(0, len(places), STRIP)]


@compiled
def add_rows(scores: NDArray[np.float64], alpha: NDArray[np.float64], K: Floats) -> None:
    """scores[r] += Σₛ alpha[s, r] K[s], one s after the other."""
    for s in range(len(alpha)):
        row = K[s]
        for r in range(len(scores)):
            if alpha[s, r] != 0.0:
                line, coefficient = scores[r], alpha[s, r]
                for j in range(len(row)):
                    line[j] += coefficient * row[j]


@compiled
def violating(scores: NDArray[np.float64], y: NDArray[np.int64], C: float, tolerance: float) -> NDArray[np.int64]:
    """Which examples without coefficients violate their condition by more than the tolerance."""
    none = np.zeros(len(scores))
    lost = np.empty(len(y))
    for i in range(len(y)):
        lost[i] = violation(scores[:, i], none, y[i], C)
    return np.flatnonzero(lost > tolerance)


@compiled
def multiclass_svm(
    K: Floats,
    diagonal: Floats,
    y: NDArray[np.int64],
    alpha: NDArray[np.float64],
    scores: NDArray[np.float64],
    draw: NDArray[np.int64],
    C: float,
    tolerance: float,
    sweeps: int,
) -> tuple[int, float]:
    """Change coefficients and scores of n examples until none violates its condition by more than the tolerance.

    K : kernel values; those among the n examples come first.
    """
    n, n_classes = alpha.shape
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
