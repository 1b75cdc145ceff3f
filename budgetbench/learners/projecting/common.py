"""What the Projectron and the Projectron++ have in common: their parameters, and batches of projected examples."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.arrivals import Arrivals
from budgetbench.engine.averaging import OnlineToBatch
from budgetbench.engine.base import Rounds
from budgetbench.engine.bounds import Bounds, Comparators, divided, matched_bound, shifting_bound
from budgetbench.engine.expansion import Block, Expansion
from budgetbench.engine.kernel_access import Rows, gather
from budgetbench.engine.storage import Placed, Storage
from budgetbench.errors import ParameterError
from budgetbench.kernels import Kernel
from budgetbench.kernels.given import refuse_precomputed
from budgetbench.lazy import one_thread
from budgetbench.learners.projecting.span import Batch, Span
from budgetbench.learners.projecting.substitution import Matrix
from budgetbench.parameters import USUAL_BUDGET, Budget, NonNegative, Positive, Size
from budgetbench.sparse import dense

#: In place of a budget, of a fixed threshold η, of a bound U: there is none.
UNLIMITED, EACH_ROUND, NO_BOUND = np.iinfo(np.int64).max, -1.0, 0.0

THRESHOLDS = ("bound_budget", "U", "eta")


@dataclass(kw_only=True, eq=False, repr=False)
class ProjectingLearner(OnlineToBatch):
    """A learner that projects an example onto the span of the stored ones where it can.

    A subclass gives `_pass`, which lets its compiled loop run over one batch. The loop comes back early where float32
    kernel values will not do.

    Parameters
    ----------
    bound_budget : a budget B to which U is matched: U = ¼ √((B + 1) / ln(B + 1)), the norm up to which the Forgetron
        with budget B has its bound. It does not limit the number of stored examples.
    U : the bound on the competitor's norm itself.
    eta : a fixed threshold η.
    budget : the number of examples that are stored at most; once it is reached every mistake is projected. On its own
        (η = 0): nothing is projected before, but for what lies in the span. 100 where nothing else is given.
    average : keep the mean of all hypotheses too, see `averaged_decision_function`.
    """

    discards = False
    changeable = frozenset({"budget", "bound_budget", "U", "eta"})

    bound_budget: Budget | None = None
    U: Annotated[Positive, Size(None)] | None = None
    eta: Annotated[NonNegative, Size(None)] | None = None
    budget: Budget | None = None
    average: bool = False

    @classmethod
    def _check_together(cls, values: dict[str, Any]) -> None:
        given = [name for name in THRESHOLDS if values[name] is not None]
        if len(given) > 1:
            raise ParameterError(given[1], values[given[1]], f"one of {', '.join(THRESHOLDS)}, not several")
        if not given and values["budget"] is None:
            values["budget"] = USUAL_BUDGET

    def bounds(self, g: Comparators) -> Bounds:
        """With U, Corollary 1: 2‖g‖² + 4 D₁ for ‖g‖ ≤ U; with a fixed η, Theorem 2: (‖g‖² + 2 D₁) / (2 - R² - 2η‖g‖).

        With a budget there is none: once it is reached, projections cost what they may. The Projectron++ has the same
        bounds less the progress of its margin steps (Eq. 15), which a record does not hold and which is nowhere
        negative, whatever decides when to take them.
        """
        budget, eta, U = self._thresholds()
        if budget != UNLIMITED:
            return {}
        if eta == EACH_ROUND:
            return {"online_mistakes": shifting_bound(g, U)}
        return {"online_mistakes": divided(g.norms**2 + 2 * g.losses, 2 - g.square - 2 * eta * g.norms)}

    @classmethod
    def check_kernel(cls, kernel: Kernel, values: dict[str, Any]) -> None:
        refuse_precomputed(kernel, f"{cls.title} needs some values in float64, computed from inputs; nogd takes it.")

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._span = Span()

    def _storage(self) -> Storage:
        return Placed()

    def _thresholds(self) -> tuple[int, float, float]:
        """The budget, the fixed η and the bound U, or what stands for none."""
        given = any(getattr(self, name) is not None for name in THRESHOLDS)
        budget = self.budget or (UNLIMITED if given else USUAL_BUDGET)
        if self.eta is not None:
            return budget, self.eta, NO_BOUND
        if self.U is not None:
            return budget, EACH_ROUND, self.U
        if self.bound_budget is not None:
            return budget, EACH_ROUND, matched_bound(self.bound_budget)
        return budget, 0.0, matched_bound(budget)

    def _see(self, arrivals: Arrivals) -> Rounds:
        self._X, self._meter = arrivals.access.X, arrivals.meter  # where kernel values in float64 come from
        with one_thread():  # its products are small: threads would wait for each other most of the time
            rounds = super()._see(arrivals)
        del self._X, self._meter
        return rounds

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        t = 0
        while t < len(block.order):
            arrivals = block.order[t : t + self._span.until_batch_ends(self._rounds)]
            reached = self._project_and_pass(arrivals, block, f, rounds, t)
            self._rounds += reached - t
            t = reached
        f.coefficients[: f.counts.members] = self._span.coefficients(self._span.c)

    def _project_and_pass(self, arrivals: Rows, block: Block, f: Expansion, rounds: Rounds, t: int) -> int:
        """Let the arrivals from round t on pass, as far as one batch goes; returns the round that comes next."""
        members = f.members[: f.counts.members]
        if self._span.precise:
            values: Any = self._precise(arrivals, np.concatenate([members, arrivals]))
            K, among = np.ascontiguousarray(values[:, : len(members)]), values[:, len(members) :]
            batch = self._span.open(K, np.diagonal(among), among, t, self._rounds)
        else:
            values = gather(block.K, arrivals, members)
            batch = self._span.open(values, block.diagonal[arrivals], np.empty((0, 0)), t, self._rounds)
        reached = self._pass(block, f, rounds, batch, t)
        self._span.take(batch, f.counts.members)
        if reached < t + len(arrivals):
            self._span.refine(lambda s: self._precise(f.members[s : s + 1], f.members[: s + 1])[0])
        return reached

    @abstractmethod
    def _pass(self, block: Block, f: Expansion, rounds: Rounds, batch: Batch, t: int) -> int:
        """Let the examples of a batch pass from round t on; returns the round after the last one, or the first one
        that is vague."""

    def _precise(self, positions: Rows, others: Rows) -> Matrix:
        """Kernel values in float64 between positions of the pool."""
        X, ids = self._X, self._pool.ids
        Z = dense(X[ids[others]])
        with self._meter.computing():
            return np.array([self._kernel.row(x, Z) for x in dense(X[ids[positions]])])

    def _timed_coefficients(self) -> NDArray[np.float64]:
        return self._span.coefficients(self._span.timed)


@compiled
def projection_threshold(eta: float, U: float, loss: float, squared_length: float) -> float:
    """η: as given, or by Eq. 13 from the loss and ‖P k(x, ·)‖²."""
    if eta != EACH_ROUND:
        return eta
    return (2 * loss - squared_length - 0.5) / (2 * U)
