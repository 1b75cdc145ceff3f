"""Online learners: one pass over a stream, whoever drives it: the runner, `fit` or `partial_fit`."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from budgetbench.engine.base import KernelClassifier
from budgetbench.engine.expansion import Block, Expansion, Rounds, rescore
from budgetbench.engine.kernel_access import Blockwise, KernelAccess, Rows, Streamed, gather, read_only
from budgetbench.engine.pool import Pool
from budgetbench.errors import NumericalError, ParameterError
from budgetbench.kernels import Floats
from budgetbench.parameters import Repeats

#: Examples that arrive between two products with the support set: large enough for BLAS, small beside the support.
BLOCK = 512


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineLearner(KernelClassifier):
    """A learner that sees one example after another.

    A subclass gives `_visit`, which lets its compiled loop run over one block.

    Parameters
    ----------
    epochs : passes of `fit` over the training set; fewer when a pass changes nothing.

    Attributes
    ----------
    mistakes_ : how many predictions of the first pass were wrong, y f(x) ≤ 0.
    margins_ : y f(x) before each round's update in the first pass (for more than two classes the score of the
        right class less the best other one); after `partial_fit` the rounds of that call alone, so that nothing grows
        with a stream that has no end. All counts go on.
    sizes_ : support size after each of these rounds.
    epochs_ : how many passes were made.
    insertions_, removals_ : examples stored and discarded, over all passes.
    kernel_evaluations_ : kernel values that the rule asks for in the first pass, when those among kept examples are
        remembered: one for each prediction and stored example.
    train_seconds_ : time spent on this learner; of a block of kernel values computed for several, an equal share.
    """

    #: Scores of stored examples are needed, so kernel values among them are kept.
    follow_kept: ClassVar[bool] = False
    #: Draws one random number for each example.
    randomised: ClassVar[bool] = False
    #: Takes the stream block by block even where the Gram matrix is at hand: worth it where an update changes several
    #: scores of each example, as then few examples are followed.
    blockwise: ClassVar[bool] = False
    #: Has a rule by which stored examples leave.
    discards: ClassVar[bool] = True
    #: Parameters that may change between calls of `partial_fit`; they count from the next call on.
    changeable: ClassVar[frozenset[str]] = frozenset()

    epochs: Repeats = 1

    # -- what a learner gives --------------------------------------------------------------------------------

    @abstractmethod
    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        """Let the examples of a block pass."""

    def _capacity(self, arrivals: int) -> int:
        """How many more examples may have to be stored while `arrivals` pass."""
        return arrivals

    def _outputs(self) -> tuple[int, ...]:
        return ()

    def _targets(self, labels: NDArray[np.int64]) -> NDArray[Any]:
        return np.where(labels == 1, 1.0, -1.0)

    def _new_pool(self) -> Pool:
        return Pool(self._outputs(), self._capacity, self.follow_kept, rescore)

    @property
    def whole(self) -> bool:
        """Whether all coefficients are whole numbers."""
        return False

    @property
    def margin_threshold(self) -> float:
        """A margin of at most this is a margin error."""
        return float(getattr(self, "beta", 0.0))

    # -- one stream, driven from outside -----------------------------------------------------------------------

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._pool = self._new_pool()
        self._random = np.random.default_rng(self.random_state)
        self._passes: list[list[Rounds]] = []
        self._before = _Tally()
        self._begun_with = self.get_params()
        self.train_seconds_ = 0.0

    def learn(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        drive([self], access, labels, order)

    def _open(self, access: KernelAccess) -> None:
        if access.gram is not None:
            self._pool.spread(access)

    def _advance(self, rows: Rows, targets: NDArray[Any], access: KernelAccess, source: Any) -> None:
        """Let the examples `rows` of the data set pass."""
        pool = self._pool
        if access.gram is not None:
            order = rows
        else:
            pool.turn(rows, source)
            order = np.arange(len(rows))
        rounds = Rounds(np.empty(len(rows)), np.empty(len(rows), np.int64))
        chance = self._random.random(len(rows)) if self.randomised else np.empty(0)
        diagonal = access.diagonal[pool.ids]
        pool.doubt.exact = exact_weight(access.least, float(diagonal.max(initial=0.0))) if self.whole else -1.0
        own = np.diagonal(pool.K)
        diagonal[: len(own)] = own  # rounded as in the scores, which must be free of it after a subtraction
        block = Block(order, targets[pool.ids], read_only(pool.K), read_only(diagonal), chance)
        self._visit(block, pool.f, rounds)
        if not np.isfinite(rounds.margins).all():
            length = np.sqrt(np.square(access.X[pool.ids[order]], dtype=np.float64).sum(axis=1).max())
            raise NumericalError(
                f"{self.title}: sums of {self._kernel} values beyond what numbers can hold; the largest ‖x‖ is "
                f"{length:.4g}: scale the inputs (`scale: unit`) or take a smaller degree"
            )
        self._passes[-1].append(rounds)

    def _begin_pass(self) -> None:
        self._passes.append([])
        self._coefficients_before = self._pool.coefficients.copy()

    def _settled(self) -> bool:
        """Whether the pass just ended changed nothing: neither a margin error nor, under the SVM's rule, a step of an
        example that is stored."""
        right = all((rounds.margins > self.margin_threshold).all() for rounds in self._passes[-1])
        return right and np.array_equal(self._pool.coefficients, self._coefficients_before)

    def _close(self) -> None:
        """Make the outcome known under the public names."""
        first, self.epochs_ = self._passes[0], len(self._passes)
        self.margins_ = np.concatenate([rounds.margins for rounds in first])
        self.sizes_ = np.concatenate([rounds.sizes for rounds in first])
        self.mistakes_ = self._before.mistakes + int(np.count_nonzero(self.margins_ <= 0))
        self.insertions_, self.removals_ = int(self._pool.f.counts.insertions), int(self._pool.f.counts.removals)
        self.support_ = self._pool.ids[self._pool.members]
        self.coefficients_ = self._pool.coefficients.copy()
        asked = self._before.stored + int(self.sizes_[:-1].sum())
        self.kernel_evaluations_ = self._before.kernel_evaluations + asked

    # -- scikit-learn's conventions ----------------------------------------------------------------------------

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> KernelClassifier:
        """Go on learning from the rows of X (n, d) with labels y (n,), one after the other.

        Parameters
        ----------
        classes : all labels that will ever come; needed at the first call if its y lacks some.
        """
        first = not hasattr(self, "_pool")
        inputs: Floats = validate_data(self, X, dtype=np.float32, order="C", reset=first)
        y = column_or_1d(y)
        check_consistent_length(inputs, y)
        check_classification_targets(y)
        if not first:
            self._check_changes()
        else:
            self.start(np.unique(y if classes is None else classes), inputs.shape[1])
            self._fit_kernel(inputs)
            self._kept_X, self._kept_labels = inputs[:0], np.empty(0, dtype=np.int64)
            self._numbers = np.empty(0, dtype=np.int64)
        labels = np.searchsorted(self.classes_, y)
        if not np.array_equal(self.classes_[np.minimum(labels, len(self.classes_) - 1)], y):
            raise ValueError(f"y holds a label that is none of the classes {list(self.classes_)}")
        seen, kept = self._before.rounds, len(self._kept_X)
        rows = np.concatenate([self._kept_X, inputs])
        all_labels = np.concatenate([self._kept_labels, labels])
        access = Streamed(self._kernel, rows)
        self._begin_pass()
        for block in _blocks(np.arange(kept, len(rows))):
            self._advance(block, self._targets(all_labels), access, access)
        self._numbers = np.concatenate([self._numbers, np.arange(seen, seen + len(inputs))])
        return self._keep_from(rows, all_labels)

    def _check_changes(self) -> None:
        """Raise `ParameterError` for a parameter that has changed while learning goes on, and has no meaning then."""
        self._validate()
        now = self.get_params()
        for name, before in self._begun_with.items():
            if now[name] != before and name not in self.changeable | {"epochs"}:
                raise ParameterError(name, now[name], f"{before!r} as when learning began; for another value, fit anew")
        budget, stored = now.get("budget"), len(self.support_)
        if not self.discards and budget is not None and budget < stored:
            accepted = f"an integer of at least {stored}, the examples stored, as this learner discards none"
            raise ParameterError("budget", budget, accepted)
        self._begun_with = now

    def fit(self, X: ArrayLike, y: ArrayLike) -> KernelClassifier:
        inputs, labels = self._prepare(X, y)
        drive([self], Streamed(self._kernel, inputs), labels, np.arange(len(inputs)))
        self._numbers = np.arange(len(inputs))
        return self._keep_from(inputs, labels)

    def _keep_from(self, X: Floats, labels: NDArray[np.int64]) -> KernelClassifier:
        """Keep what the next call of `partial_fit` needs of the rows: the support set and its companions."""
        self._close()
        self._passes.clear()
        rounds = self._before.rounds + len(self.margins_)
        self._before = _Tally(rounds, self.mistakes_, self.kernel_evaluations_, len(self.support_))
        self.support_vectors_ = X[self.support_]
        self.support_ = self._numbers[self.support_]
        kept = self._pool.ids[self._pool.kept]
        self._kept_X, self._kept_labels, self._numbers = X[kept], labels[kept], self._numbers[kept]
        self._pool.renumber(np.arange(len(kept)))
        return self


def exact_weight(least: float, largest: float) -> float:
    """The weight up to which sums of whole multiples of kernel values are exact in float64.

    Parameters
    ----------
    least : no kernel value but 0 is smaller in size; it has 24 bits.
    largest : the largest K(x, x).
    """
    return 2.0**28 * least / np.sqrt(largest) if largest > 0.0 else np.inf


class _Tally(NamedTuple):
    """What `partial_fit` goes on from: counts of the first passes before it, and how many examples are stored."""

    rounds: int = 0
    mistakes: int = 0
    kernel_evaluations: int = 0
    stored: int = 0


def drive(cohort: Sequence[OnlineLearner], access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
    """Let the examples `order` of a data set pass before several learners at once.

    All see the same stream; where kernel values are computed as it passes, each is computed once for all.
    """
    if any(learner.blockwise for learner in cohort):
        access = Blockwise(access)
    targets = [learner._targets(labels) for learner in cohort]
    for learner in cohort:
        learner._open(access)
    active = list(zip(cohort, targets, strict=True))
    for epoch in range(max(learner.epochs for learner in cohort)):
        active = [(one, y) for one, y in active if epoch < one.epochs and not (epoch and one._settled())]
        if not active:
            break
        for learner, _ in active:
            learner._begin_pass()
        for rows in _blocks(order) if access.gram is None else [order]:
            begun = time.perf_counter()
            shared = access.gram is None and len(active) > 1
            source = SharedBlock(access, rows, [learner for learner, _ in active]) if shared else access
            share = (time.perf_counter() - begun) / max(1, len(active))
            for learner, y in active:
                begun = time.perf_counter()
                learner._advance(rows, y, access, source)
                learner.train_seconds_ += share + time.perf_counter() - begun
    for learner in cohort:
        learner._close()


class SharedBlock:
    """Kernel values of one block against all that any learner keeps, computed once for all of them."""

    def __init__(self, access: KernelAccess, rows: Rows, cohort: Sequence[OnlineLearner]) -> None:
        kept = [learner._pool.ids[learner._pool.kept] for learner in cohort]
        others = np.setdiff1d(np.concatenate(kept), rows)
        self._rows = rows
        self._ids = np.concatenate([rows, others])
        self._order = np.argsort(self._ids)
        self._values = access.between(rows, self._ids)

    def between(self, rows: Rows, columns: Rows) -> Floats:
        """Kernel values between the block and kept examples; either may come first."""
        if not np.array_equal(rows, self._rows):
            return np.ascontiguousarray(self.between(columns, rows).T)
        if np.array_equal(columns, self._ids):
            return self._values
        found = self._order[np.searchsorted(self._ids, columns, sorter=self._order)]
        return gather(self._values, np.arange(len(rows)), found)


def _blocks(order: Rows) -> Iterator[Rows]:
    for start in range(0, len(order), BLOCK):
        yield order[start : start + BLOCK]
