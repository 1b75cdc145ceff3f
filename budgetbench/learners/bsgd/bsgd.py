"""Budgeted stochastic gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.arrivals import Arrivals
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.kernel_access import KernelAccess
from budgetbench.engine.linear import BELOW_ONE
from budgetbench.engine.online import OnlineLearner
from budgetbench.engine.support import ExpansionClassifier
from budgetbench.errors import ParameterError
from budgetbench.kernels import RBF, Kernel, Values
from budgetbench.kernels.given import refuse_precomputed
from budgetbench.kernels.products import column_norms
from budgetbench.learners.bsgd.merging import Merging, merge, table_of_h
from budgetbench.learners.bsgd.points import (
    Passing,
    Points,
    by_age,
    enter,
    leave,
    no_points,
    place_of,
    smallest,
    value,
    with_room,
)
from budgetbench.learners.bsgd.projection import border, project
from budgetbench.parameters import Budget, Positive
from budgetbench.sparse import dense

#: Examples whose kernel values with the points are computed at once.
BATCH = 128

#: Numbers for the compiled loop.
MAINTENANCE = {"removal": 0, "projection": 1, "merging": 2}
REMOVAL, PROJECTION, MERGING = 0, 1, 2


@learner(
    "bsgd", title="BSGD", color="#B2182B", marker="p", references=("wang2012", "shalevshwartz2007", "glasmachers2018")
)
class BSGD(ExpansionClassifier, OnlineLearner):
    """Stochastic gradient descent on the SVM's objective, Pegasos, with at most B points.

    Round t takes a step of 1/(λt) down the gradient of λ/2 ‖f‖² + max(0, 1 - yₜ f(xₜ)): f ← (1 - 1/t) f, and on
    yₜ f(xₜ) < 1, with f as it was before, f ← f + yₜ/(λt) K(xₜ, ·). If there are B + 1 points now, the one with the
    smallest a² K(z, z), the oldest of equals, makes room by

    - ``removal``: it goes, and its share of f with it;
    - ``projection``: its share is projected onto the span of the others;
    - ``merging``: it and another one of its sign become one point between them, which is no example. The other one is
      that with which f loses least (Glasmachers, Qaadan 2018; the 2012 paper tries some). If none has its sign, it
      goes. An RBF kernel alone has such a point: with a linear one all of f is a single point, and for a polynomial
      one h is no function of m and κ.

    Wang, Crammer, Vucetic 2012 (JMLR 13), Algorithm 1, without the projection onto ‖f‖ ≤ 1/√λ; Shalev-Shwartz,
    Singer, Srebro 2007 (Pegasos). As the shrinking factors multiply to 1/t, f = g/(λt) with steps of ±1 in g, and no
    step is ever rescaled. All |a| of examples are then equal until they are projected or merged, so that `removal`
    discards the oldest. An example that is stored already, in a later epoch, changes its coefficient.
    Cost of an example: one kernel value for each point. Of one that makes room: B² operations for projection; for
    merging one more kernel value for each point, and for each example that is still to come of a batch.
    When to use: with an RBF kernel and little memory: merging loses less than any removal, and is best at small sizes.
    λ has to suit the number of examples. Take BPA-P for other kernels, or where what is stored has to be examples.

    Parameters
    ----------
    budget : the number B of points that are stored at most.
    maintenance : ``removal``, ``projection`` or ``merging``: how the smallest point makes room.
    lam : the weight λ of ‖f‖²; 1/(Cn) for n examples and the SVM's C.

    Attributes
    ----------
    support_ : as for other learners; -1 for a merged point.
    """

    changeable: ClassVar[frozenset[str]] = frozenset({"budget"})
    reported = OnlineLearner.reported | {"support_", "support_vectors_", "coefficients_"}
    margin_threshold = BELOW_ONE

    budget: Budget = 100
    maintenance: Literal["removal", "projection", "merging"] = "merging"
    lam: Positive = 1e-4

    @classmethod
    def check_kernel(cls, kernel: Kernel, values: dict[str, Any]) -> None:
        refuse_precomputed(kernel, f"{cls.title} makes points of its own, which no matrix has; nogd takes it.")
        if values["maintenance"] == "merging" and not isinstance(kernel, RBF):
            hint = "Points of an RBF kernel alone merge in BSGD; maintenance: removal or projection takes any kernel."
            raise ParameterError("kernel", kernel.name, RBF.name, hint)

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._stored = no_points(n_features)

    def _see(self, arrivals: Arrivals) -> Rounds:
        n = len(arrivals.rows)
        rounds = Rounds(np.empty(n), np.empty(n, dtype=np.int64))
        for start in range(0, n, BATCH):
            part = slice(start, start + BATCH)
            self._pass(arrivals, part, Rounds(rounds.margins[part], rounds.sizes[part]))
        return rounds

    def _pass(self, arrivals: Arrivals, part: slice, rounds: Rounds) -> None:
        """Let a part of the arrivals pass."""
        rows = arrivals.rows[part]
        most = min(self.budget, self._size() + len(rows))
        self._stored = points = with_room(self._stored, most + 1, self.maintenance == "projection")
        X = dense(arrivals.access.X[rows])
        columns = np.ascontiguousarray(X.T)
        with arrivals.meter.computing():
            K, among = self._kernel.matrix(X, np.ascontiguousarray(points.inputs.T)), self._kernel.matrix(X, X)
        passing = Passing(
            columns,
            column_norms(columns),
            arrivals.access.diagonal[rows],
            np.where(arrivals.classes[rows] == 1, 1.0, -1.0),
            self._course.rounds + rows,
            K,
            among,
        )
        merging = Merging(self._kernel.gamma, table_of_h()) if isinstance(self._kernel, RBF) else NOTHING_MERGES
        bsgd(passing, points, rounds, merging, self.lam, self.budget, MAINTENANCE[self.maintenance])

    def _state(self) -> Values:
        return self._stored.coefficients[by_age(self._stored)] / (self.lam * max(1, self._stored.counts.rounds))

    def _size(self) -> int:
        return int(self._stored.counts.members)

    def close(self, access: KernelAccess) -> None:
        super().close(access)
        points, places = self._stored, by_age(self._stored)
        self.insertions_, self.removals_ = int(points.counts.insertions), int(points.counts.removals)
        self.support_, self.coefficients_ = points.examples[places], self._state()
        self.support_vectors_ = np.ascontiguousarray(points.inputs.T[places])


NOTHING_MERGES = Merging(0.0, np.empty((0, 0)))


@compiled
def bsgd(
    passing: Passing, points: Points, rounds: Rounds, merging: Merging, lam: float, budget: int, maintenance: int
) -> None:
    while points.counts.members > budget:  # it was made smaller
        make_room(points, passing, merging, maintenance)
    for i in range(len(passing.y)):
        y = passing.y[i]
        margin = y * value(points, passing.K[i]) / (lam * max(1, points.counts.rounds))
        points.counts.rounds += 1
        if margin < 1.0:
            place = place_of(points, passing.numbers[i])
            if place < 0:
                place = enter(points, passing, i)
                if maintenance == PROJECTION:
                    border(points, place, passing.K[i])
            points.coefficients[place] += y
            if points.counts.members > budget:
                make_room(points, passing, merging, maintenance)
        rounds.margins[i], rounds.sizes[i] = margin, points.counts.members


@compiled
def make_room(points: Points, passing: Passing, merging: Merging, maintenance: int) -> None:
    """Let the smallest point go."""
    if maintenance == MERGING:
        merge(points, passing, merging)
    elif maintenance == PROJECTION:
        project(points, smallest(points))
    else:
        leave(points, smallest(points))
