"""Nearest neighbours in the feature space of a kernel, where ‖φ(x) - φ(z)‖² = K(x, x) - 2 K(x, z) + K(z, z)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from budgetbench.engine.kernel_access import KernelAccess, Rows
from budgetbench.engine.support import BatchLearner
from budgetbench.kernels import Floats, Values

#: Distances computed at a time.
TILE = 1 << 22
#: Weight of the nearest neighbour's vote beyond 1: it decides where votes are equal, and nothing else.
CASTING = 0.5

Neighbours = Annotated[int, Ge(1), Le(1000)]


@dataclass(kw_only=True, eq=False, repr=False)
class NeighbourClassifier(BatchLearner):
    """A vote of the k nearest among the stored examples.

    `coefficients_` are what each stored example votes for: ±1, or one of the classes with a 1. Decision values are the
    mean vote of the k nearest, the nearest one having the casting vote.

    Parameters
    ----------
    neighbors : the number k of examples that vote; all, where fewer are stored.
    """

    multiclass = True

    neighbors: Neighbours = 1

    def _store(self, rows: Rows, labels: NDArray[np.int64]) -> None:
        """Keep the examples `rows`, whose class indices are `labels`."""
        self.support_ = rows
        n = len(self.classes_)
        self.coefficients_ = np.where(labels == 1, 1.0, -1.0) if n == 2 else np.eye(n)[labels]

    def _decide(self, inputs: Floats) -> Values:
        """Mean vote of the nearest examples."""
        values = np.zeros((len(inputs), *self.coefficients_.shape[1:]))
        diagonal = self._kernel.diagonal(self.support_vectors_)
        for rows in _slices(len(inputs), len(self.support_)):
            apart = _apart(self._kernel.matrix(inputs[rows], self.support_vectors_), diagonal)
            nearest = _nearest(apart, self.neighbors)
            values[rows] = mean_vote(self.coefficients_[nearest])
        return values


def mean_vote(votes: Values) -> Values:
    """The mean of votes of shape (n, k, …) over the k, the nearest one's counted 1 + `CASTING` times."""
    return (votes.sum(axis=1) + CASTING * votes[:, 0]) / (votes.shape[1] + CASTING)


def voted(access: KernelAccess, rows: Rows, among: Rows, labels: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """The class to which the k nearest of the examples `among` assign each of `rows`; `labels` are those of all."""
    ballots = np.eye(int(labels.max()) + 1)
    found = np.empty(len(rows), dtype=np.int64)
    for part in _slices(len(rows), len(among)):
        apart = _apart(access.between(rows[part], among), access.diagonal[among])
        found[part] = mean_vote(ballots[labels[among[_nearest(apart, k)]]]).argmax(axis=1)
    return found


def _apart(values: Floats, diagonal: Floats) -> Values:
    """‖φ(x) - φ(z)‖² - K(x, x) from K(x, z) and K(z, z): of each x, the order is the same."""
    return diagonal.astype(np.float64) - 2.0 * values


def _nearest(apart: Values, k: int) -> NDArray[np.int64]:
    """Columns of the k smallest numbers of each row, the smallest first, of equal ones the first; uses `apart` up."""
    found = np.empty((len(apart), min(k, apart.shape[1])), dtype=np.int64)
    every = np.arange(len(apart))
    for rank in range(found.shape[1]):  # k is small: faster than sorting
        found[:, rank] = apart.argmin(axis=1)
        apart[every, found[:, rank]] = np.inf
    return found


def _slices(n: int, width: int) -> Any:
    step = max(2, TILE // max(1, width))
    return (slice(start, start + step) for start in range(0, n, step))
