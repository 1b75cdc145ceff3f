"""The support vector machine, the papers' gold standard."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetbench.engine.base import learner
from budgetbench.engine.kernel_access import KernelAccess, Rows
from budgetbench.engine.support import BatchLearner
from budgetbench.kernels import Floats, Values
from budgetbench.lazy import lazy
from budgetbench.parameters import Positive
from budgetbench.sparse import Inputs, bare, by_strips, dense

exceptions, sklearn_svm = lazy("sklearn.exceptions"), lazy("sklearn.svm")

#: Steps after which libsvm itself gives up, unless it is told otherwise: so many, or so many for each example.
MOST_STEPS, STEPS_PER_EXAMPLE = 10_000_000, 100
#: Intel's solver takes many at once.
INTEL_STEPS = 10_000
#: Bytes that a float64 copy of the Gram matrix may take; beyond, the solver computes kernel values by itself.
PRECOMPUTED_LIMIT = 1 << 30
#: The kernels that the solver has too, with the same parameters, and what it calls them.
SOLVERS_OWN = {"rbf": "rbf", "polynomial": "poly", "linear": "linear"}
#: Rows of it that are copied at a time.
STRIPE = 512


@learner("svm", title="SVM", color="#009E73", marker="D", references=("cortes1995", "chang2011", "scikit-learn"))
class SVM(BatchLearner):
    """Soft-margin SVM with bias, solved by libsvm; one against one for more than two classes.

    Cortes and Vapnik 1995. scikit-learn's `SVC`; where scikit-learn-intelex is installed (the extra ``fast``), that
    takes over wherever the solver computes kernel values by itself.

    Parameters
    ----------
    C : bound on the coefficients.

    Raises
    ------
    ArithmeticError : the solver was not done after ten million steps, or a hundred for each example.
    """

    order_free = True
    effort = 8
    multiclass = True

    C: Positive = 1.0

    def _select(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        rows = np.sort(order)  # the solution does not depend on the order; the solver's rounding does
        binary = len(self.classes_) == 2
        known = self._kernel.name in SOLVERS_OWN
        self._given = not known or (binary and 8 * len(rows) ** 2 <= PRECOMPUTED_LIMIT)
        if self._given:  # ours, whether a Gram matrix is at hand or not
            values = np.empty((len(rows), len(rows)))
            for start in range(0, len(rows), STRIPE):  # as two copies would be too much memory
                values[start : start + STRIPE] = access.between(rows[start : start + STRIPE], rows)
            machine = _solved(sklearn_svm.SVC(C=self.C, kernel="precomputed", cache_size=16), values, labels[rows])
        else:
            machine = _solved(self._solver(), bare(access.X[rows]), labels[rows])
        by_age = np.argsort(machine.support_)  # the solver has them by class
        self.support_ = rows[machine.support_[by_age]]
        coefficients = dense(machine.dual_coef_)
        if binary:
            self.coefficients_ = coefficients[0][by_age]
            self.intercept_ = float(machine.intercept_[0])
        else:
            self.coefficients_ = coefficients.T[by_age]
            self._machine, self._columns = machine, (len(rows), machine.support_[by_age])

    def _solver(self) -> Any:
        try:
            solver = importlib.import_module("sklearnex.svm").SVC
        except ImportError:
            solver = sklearn_svm.SVC
        return solver(C=self.C, kernel=SOLVERS_OWN[self._kernel.name], cache_size=500, **asdict(self._kernel))

    @property
    def _expands(self) -> bool:
        return len(self.classes_) == 2

    def _decide(self, inputs: Floats) -> Values:
        if len(self.classes_) == 2:
            return super()._decide(inputs)
        return self._told(self._machine.decision_function, inputs)

    def _told(self, function: Callable[[NDArray[Any]], NDArray[Any]], inputs: Inputs) -> NDArray[Any]:
        """What one of the solver's functions makes of inputs, or of their kernel values where it was given such."""
        if not self._given:
            return by_strips(function, inputs)
        trained, stored = self._columns
        parts = []
        for start in range(0, len(inputs), STRIPE):
            rows = inputs[start : start + STRIPE]
            values = np.zeros((len(rows), trained))  # it reads those with the examples that it stores
            values[:, stored] = self._kernel.matrix(rows, self.support_vectors_)
            parts.append(function(values))
        return np.concatenate(parts)

    def errs(self, X: ArrayLike, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        if len(self.classes_) == 2:
            return super().errs(X, labels)
        return np.asarray(self.predict(X) != self.classes_[labels])  # votes decide, not decision values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        inputs = self._inputs(X)
        if len(self.classes_) == 2:
            return super().predict(X)
        votes = self._told(self._machine.predict, inputs)  # of equal ones the first class
        return np.asarray(self.classes_)[votes]


def _solved(solver: Any, values: NDArray[Any], labels: NDArray[np.int64]) -> Any:
    intel = type(solver).__module__.startswith("sklearnex")
    most = INTEL_STEPS if intel else max(MOST_STEPS, STEPS_PER_EXAMPLE * len(labels))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", exceptions.ConvergenceWarning)
        machine = solver.set_params(max_iter=most).fit(values, labels)
    if np.max(machine.n_iter_) >= most:
        raise ArithmeticError(
            f"the SVM was not solved after {most} steps: its kernel values are too large or too unlike for this C. "
            "Scale the inputs (dataset: scale: standard), or take a smaller C."
        )
    return machine
