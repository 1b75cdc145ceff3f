"""Learners whose decision is a kernel expansion over examples that they store."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.base import KernelClassifier, Outcome, Points, Sums, sums_of, wrong
from budgetbench.engine.kernel_access import KernelAccess, Metered, Rows
from budgetbench.engine.metering import Meter
from budgetbench.engine.size import bytes_of_example, nbytes
from budgetbench.kernels import Floats, Values
from budgetbench.lazy import lazy
from budgetbench.sparse import Inputs

validation = lazy("sklearn.utils.validation")


@dataclass(kw_only=True, eq=False, repr=False)
class ExpansionClassifier(KernelClassifier):
    """A classifier whose decision values are kernel expansions over its support set.

    Attributes
    ----------
    support_ : numbers of the stored examples in the order in which they arrived (over all calls of `partial_fit`).
    support_vectors_ : their inputs, float32 of shape (n_support_, n_features_in_); `SparseRows` where they were learnt
        from as such.
    coefficients_ : float64, of shape (n_support_,) for two classes, (n_support_, n_classes) for more.
    intercept_ : added to every decision value; 0 for all but the SVM.
    n_support_ : how many examples are stored.
    """

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self.support_: Rows = np.empty(0, dtype=np.int64)
        self.support_vectors_: Inputs = np.empty((0, n_features), dtype=np.float32)
        self.coefficients_: Values = np.empty(0)
        self.intercept_: float | Values = 0.0

    @property
    def n_support_(self) -> int:
        validation.check_is_fitted(self)
        return len(self.support_)

    @property
    def _expands(self) -> bool:
        """Whether decision values are the sums of `coefficients_` over the support set, and the intercept."""
        return type(self)._decide is ExpansionClassifier._decide

    def _decide(self, inputs: Floats) -> Values:
        return self._kernel.expansion(inputs, self.support_vectors_, self.coefficients_) + self.intercept_

    def sums(self) -> list[Sums]:
        return sums_of(self, "coefficients_", "averaged_coefficients_") if self._expands else []

    def errs_of(self, sums: Values, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        return wrong(sums + self.intercept_, labels)

    def _points(self) -> Points:
        return Points(self.support_vectors_, self.coefficients_, self.support_)

    def _model_bytes(self) -> int:
        return nbytes([self.support_vectors_, self.coefficients_])


@dataclass(kw_only=True, eq=False, repr=False)
class BatchLearner(ExpansionClassifier):
    """A learner that sees the training set as a whole.

    A subclass gives `_select`, which sets `support_` and `coefficients_`.

    Attributes
    ----------
    bounded_ : whether anything ever came to the bound that a parameter is, see `Bound`; where that is not known it may
        have.
    """

    batch = True
    bounded_ = True

    def learn(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        self._kernel = access.kernel or self._kernel
        meter = Meter(access.rate)
        with self._charged(meter):
            self._select(Metered(access, meter), labels, order)
        self.support_vectors_ = access.X[self.support_]
        self._n_train = len(order)
        self._learnt = True

    @abstractmethod
    def _select(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        """Choose the support set among the examples `order` of a data set; see `learn`."""

    def outcome(self) -> Outcome:
        if self._stand_in is not None:
            return self._stand_in.outcome()
        state = self._n_train * bytes_of_example(self.n_features_in_)
        return Outcome(self.n_support_, self._model_bytes(), state, self._points())
