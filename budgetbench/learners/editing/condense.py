"""Condensed nearest neighbours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.base import learner
from budgetbench.engine.kernel_access import KernelAccess, Rows
from budgetbench.kernels import Values
from budgetbench.learners.editing.neighbours import NeighbourClassifier, mean_vote


@learner("condense", title="Condensed k-NN", color="#56B4E9", marker="P", references=("hart1968", "devijver1982"))
class Condense(NeighbourClassifier):
    """Nearest neighbours among so few examples that they still classify all the others right.

    S = {first example}. Example by example, in the order of the stream: what the nearest neighbours in S get wrong
    joins S. This is repeated until a pass adds nothing.

    Hart 1968; Devijver, Kittler 1982. Examples far from the decision boundary are left out, wrongly
    labelled ones are not. With more than one neighbour, those that vote in S are also as many, where Hart has one.
    Distances are those in the feature space of the kernel; for an RBF they rank as those of the inputs do.
    Cost: a row of kernel values for each example that joins.
    When to use: to make a nearest-neighbour rule smaller where labels are right; after `multi_edit` where they are not.

    Parameters
    ----------
    neighbors : the number of nearest stored examples that vote; all, where fewer are stored.
    """

    effort = 5

    def _select(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        rows = condensed(access, labels, order, self.neighbors)
        self._store(rows, labels[rows])


def condensed(access: KernelAccess, labels: NDArray[np.int64], order: Rows, k: int) -> Rows:
    """Hart's selection from the examples `order`, as they joined.

    Distances from all examples to S are kept up to date, for each the k smallest, the first of equals before others.
    """
    k = min(k, len(order))
    ballots = np.eye(int(labels.max()) + 1)
    y, diagonal = labels[order], access.diagonal[order].astype(np.float64)
    apart = np.full((len(order), k), np.inf)
    classes = np.zeros((len(order), k), dtype=np.int64)
    joined: list[int] = []

    def join(t: int) -> None:
        joined.append(t)
        values = access.between(order[t : t + 1], order)[0]
        enter(apart, classes, diagonal[t] - 2.0 * values, int(y[t]))

    join(0)
    changed = True
    while changed:
        changed, t = False, 0
        while t < len(order):
            voters = min(k, len(joined))
            votes = mean_vote(ballots[classes[t:, :voters]])
            wrong = np.flatnonzero(votes.argmax(axis=1) != y[t:])
            wrong = wrong[~np.isin(wrong + t, joined)]  # an example joins once, also where its neighbours outvote it
            if not len(wrong):
                break
            t += int(wrong[0])
            join(t)
            changed, t = True, t + 1
    return order[joined]


def enter(apart: Values, classes: NDArray[np.int64], distances: Values, label: int) -> None:
    """Enter an example at these distances into the k nearest of each row, behind those as near."""
    k = apart.shape[1]
    place = (apart <= distances[:, None]).sum(axis=1)
    for column in range(k - 1, -1, -1):
        later, here = place < column, place == column
        apart[later, column], classes[later, column] = apart[later, column - 1], classes[later, column - 1]
        apart[here, column], classes[here, column] = distances[here], label
