"""Nearest neighbours after multi-edit."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from budgetbench.engine.base import learner
from budgetbench.engine.kernel_access import KernelAccess, Rows
from budgetbench.learners.editing.condense import condensed
from budgetbench.learners.editing.neighbours import NeighbourClassifier, voted
from budgetbench.parameters import LARGEST_COUNT, Repeats


@learner("multi_edit", title="Multi-edited k-NN", color="#E69F00", marker="X", references=("devijver1982",))
class MultiEdit(NeighbourClassifier):
    """Nearest neighbours among the examples that agree with the others around them.

    The examples are divided at random into parts S₁, …, S_N; those of Sᵢ that their nearest neighbours in the next part
    (after the last the first) get wrong are discarded, all at once. This is repeated with what is left until it
    discards nothing in `patience` rounds on end.

    Devijver, Kittler 1982. What lies on the wrong side of the Bayes rule goes, whether its label is wrong or the
    classes overlap. All that lies on the right side stays, which is why condensing comes after.
    Distances are those in the feature space of the kernel; for an RBF they rank as those of the inputs do.
    Cost of a round: n²/N distances.
    When to use: to clean a training set of wrong labels before nearest neighbours or `condense` see it; each part has
    to have enough examples.

    Parameters
    ----------
    neighbors : the number of nearest examples that vote, while editing and after; Devijver and Kittler take 1.
    partitions : the number N of parts, at least 3 for two parts not to judge each other.
    patience : rounds without a change that end the editing.
    condense : select from what is left by Hart's rule, as `condense` does.
    """

    effort = 20

    partitions: Annotated[int, Ge(3), Le(LARGEST_COUNT)] = 3
    patience: Repeats = 5
    condense: bool = False

    def _select(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        random = np.random.default_rng(self.random_state)
        left, quiet = np.sort(order), 0
        while quiet < self.patience and len(left) >= self.partitions:
            kept = self._edited(access, labels, left, random)
            if not len(kept):
                break
            quiet = quiet + 1 if len(kept) == len(left) else 0
            left = kept
        if self.condense:
            left = condensed(access, labels, order[np.isin(order, left)], self.neighbors)
        self._store(left, labels[left])

    def _edited(self, access: KernelAccess, labels: NDArray[np.int64], rows: Rows, random: np.random.Generator) -> Rows:
        """One round: the examples that the neighbours in the next part get right, in the order of their numbers."""
        parts = np.array_split(random.permutation(rows), self.partitions)
        judged = zip(parts, [*parts[1:], parts[0]], strict=True)
        kept = [part[voted(access, part, judges, labels, self.neighbors) == labels[part]] for part, judges in judged]
        return np.sort(np.concatenate(kept))
