"""The support vector machine, the papers' gold standard."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetbench.engine.base import Sums, learner
from budgetbench.engine.kernel_access import KernelAccess, Rows
from budgetbench.engine.support import BatchLearner
from budgetbench.kernels import Floats, Values
from budgetbench.learners.svm.smo import Solution, solve
from budgetbench.parameters import Positive

#: By how much optimality may be missed, in units of the margin 1; libsvm's.
TOLERANCE = 1e-3
#: Steps after which the solver gives up: so many, or so many for each example; libsvm's.
MOST_STEPS, STEPS_PER_EXAMPLE = 10_000_000, 100


@learner("svm", title="SVM", color="#009E73", marker="D", references=("cortes1995", "fan2005", "chang2011"))
class SVM(BatchLearner):
    """Soft-margin SVM with bias; one against one for more than two classes.

    Cortes and Vapnik 1995, solved by sequential minimal optimisation (`smo`), step by step as libsvm does. Of several
    classes each pair has a machine of its own, and the class with most votes is predicted, the first of equals.
    Decision values are then the votes, with the pairs' decision values to tell equals apart, as in scikit-learn.
    Cost of a step: a few numbers for each example; of the kernel values those of the support set with all examples, or
    little more.
    When to use: offline, as what online learners with a budget are compared with; its support set grows with the
    training set.

    Parameters
    ----------
    C : bound on the coefficients.

    Attributes
    ----------
    coefficients_ : for k > 2 classes of shape (n_support_, k - 1): those in the machines of an example's class against
        each of the other classes, in the order of the classes.
    intercept_ : one for each pair of classes, the first class against all later ones, then the second class, and so on.

    Raises
    ------
    ArithmeticError : the solver was not done after ten million steps, or a hundred for each example.
    """

    order_free = True
    effort = 8
    multiclass = True

    C: Positive = 1.0

    def _select(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        rows = np.sort(order)  # the solution does not depend on the order of the stream, and is not to seem to
        pairs = list(combinations(range(len(self.classes_)), 2))
        coefficients = np.zeros((len(access.X), len(self.classes_) - 1))
        intercepts = np.empty(len(pairs))
        for pair, (a, b) in enumerate(pairs):
            both = rows[(labels[rows] == a) | (labels[rows] == b)]
            y = np.where(labels[both] == a, 1.0, -1.0)
            found = self._solved(access, both, y)
            coefficients[both, np.where(y > 0, b - 1, a)] = found.alpha * y
            intercepts[pair] = found.bias
        self.support_ = np.flatnonzero(coefficients.any(axis=1))
        self.coefficients_, self.intercept_ = coefficients[self.support_], intercepts
        self._class_of = labels[self.support_]
        if len(pairs) == 1:  # the decision value is then that of the second class
            self.coefficients_, self.intercept_ = -self.coefficients_[:, 0], -float(intercepts[0])

    def _solved(self, access: KernelAccess, rows: Rows, y: Values) -> Solution:
        """The machine that tells one class from another."""
        if abs(y.sum()) == len(y):  # there is one class alone, or none
            return Solution(np.zeros(len(y)), float(np.sign(y.sum())), 0, False)
        most = max(MOST_STEPS, STEPS_PER_EXAMPLE * len(rows))
        found = solve(access, rows, y, self.C, TOLERANCE, most)
        if found.steps >= most:
            raise ArithmeticError(
                f"the SVM was not solved after {most} steps: its kernel values are too large or too unlike for this C. "
                "Scale the inputs (dataset: scale: standard), or take a smaller C."
            )
        return found

    @property
    def _expands(self) -> bool:
        return len(self.classes_) == 2

    def _of_pairs(self) -> Values:
        """The coefficients in the machines of all pairs, of shape (n_support_, pairs)."""
        pairs = list(combinations(range(len(self.classes_)), 2))
        found = np.zeros((len(self.support_), len(pairs)))
        for pair, (a, b) in enumerate(pairs):
            ours, theirs = self._class_of == a, self._class_of == b
            found[ours, pair] = self.coefficients_[ours, b - 1]
            found[theirs, pair] = self.coefficients_[theirs, a]
        return found

    def _counted(self, values: Values) -> Values:
        """Decision values, made of those of the pairs, (n, pairs), above 0 for the first class of a pair."""
        votes, sums = np.zeros((2, len(values), len(self.classes_)))
        for value, (a, b) in zip(values.T, combinations(range(len(self.classes_)), 2), strict=True):
            votes[:, a] += value > 0
            votes[:, b] += value <= 0
            sums[:, a] += value
            sums[:, b] -= value
        return votes + sums / (3 * (np.abs(sums) + 1))

    def _decide(self, inputs: Floats) -> Values:
        if len(self.classes_) == 2:
            return super()._decide(inputs)
        sums = self._kernel.expansion(inputs, self.support_vectors_, self._of_pairs())
        return self._counted(sums + self.intercept_)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        self._inputs(X)  # raises where nothing is learnt yet
        if len(self.classes_) == 2:
            return super().predict(X)
        return self.classes_[voted(self.decision_function(X))]

    def errs(self, X: ArrayLike, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        if len(self.classes_) == 2:
            return super().errs(X, labels)
        return np.asarray(voted(self.decision_function(X)) != labels)  # votes decide, not decision values

    def sums(self) -> list[Sums]:
        return super().sums() or [Sums(self.support_, self._of_pairs())]

    def errs_of(self, sums: Values, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        if len(self.classes_) == 2:
            return super().errs_of(sums, labels)
        return np.asarray(voted(self._counted(sums + self.intercept_)) != labels)


def voted(values: Values) -> NDArray[np.int64]:
    """The class with most votes, the first of equals; beside its votes a decision value holds less than a half."""
    return np.rint(values).argmax(axis=1)
