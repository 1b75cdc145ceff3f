"""Online learners: what sees one example after another, whoever drives it: the runner, `fit` or `partial_fit`."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self

from budgetbench.engine.arrivals import Arrivals, SharedBlock, blocks
from budgetbench.engine.base import KernelClassifier, Outcome, Points, Rounds, refuse_others
from budgetbench.engine.kernel_access import KernelAccess, Metered, Rows, Streamed
from budgetbench.engine.metering import Meter
from budgetbench.engine.size import bytes_of_example, nbytes
from budgetbench.errors import ParameterError
from budgetbench.kernels import Kernel, Values
from budgetbench.kernels.given import PRECOMPUTED
from budgetbench.lazy import lazy
from budgetbench.parameters import Repeats
from budgetbench.sparse import Inputs, held, joined

#: What a learner keeps that lets no example go.
ALL = math.inf

targets, validation = lazy("sklearn.utils.multiclass"), lazy("sklearn.utils.validation")


@dataclass
class Course:
    """How a stream went so far. Where it comes in parts counts go on, and rounds are the last part's.

    rounds, mistakes, margin_errors, kernel_evaluations : of the first passes of the parts before.
    size : what was stored when this part began.
    passes : those begun over this part.
    first : the rounds of the first of them, block by block.
    quiet : whether the present pass has had no margin error.
    """

    rounds: int = 0
    mistakes: int = 0
    margin_errors: int = 0
    kernel_evaluations: int = 0
    size: int = 0
    passes: int = 0
    first: list[Rounds] = field(default_factory=list)
    quiet: bool = True


class Memory(NamedTuple):
    """What the next part of a stream needs of the rows before: those that a learner keeps, and their numbers in all.

    rows : how many have come.
    """

    X: Inputs
    labels: NDArray[np.int64]
    numbers: Rows
    rows: int


@dataclass(kw_only=True, eq=False, repr=False)
class OnlineLearner(KernelClassifier):
    """A learner that sees one example after another.

    A subclass gives `_see`, `_state`, `_size` and `_decide`, and makes in `start` what it learns with.

    Parameters
    ----------
    epochs : passes of `fit` over the training set; fewer when a pass changes nothing.

    Attributes
    ----------
    mistakes_ : how many predictions of the first pass were wrong, y f(x) ≤ 0.
    margins_ : y f(x) before each round's update in the first pass (for more than two classes the score of the
        right class less the best other one); after `partial_fit` the rounds of that call alone, so that nothing grows
        with a stream that has no end. All counts go on.
    sizes_ : what was stored after each of these rounds.
    margin_errors_ : rounds of the first pass that the rule takes for margin errors.
    epochs_ : how many passes were made.
    insertions_, removals_ : examples stored and discarded, over all passes; None for a learner that stores none.
    kernel_evaluations_ : kernel values that the rule asks for in the first pass, when those among kept examples are
        remembered: one for each prediction and stored example.
    """

    #: Takes kernel values with what it keeps from the stream's source, where learners share them.
    asks: ClassVar[bool] = False
    #: Takes the stream block by block even where the Gram matrix is at hand: worth it where an update changes several
    #: scores of each example, as then few examples are followed.
    blockwise: ClassVar[bool] = False
    #: Has a rule by which what is stored leaves.
    discards: ClassVar[bool] = True
    #: Parameters that may change between calls of `partial_fit`; they count from the next call on.
    changeable: ClassVar[frozenset[str]] = frozenset()
    #: Attributes that learning does not go on from: they tell of the past, or hold what others hold.
    reported: ClassVar[frozenset[str]] = frozenset(
        {"classes_", "margins_", "sizes_", "margin_errors_", "_course", "_memory"}
    )

    epochs: Repeats = 1

    # -- what a learner gives --------------------------------------------------------------------------------

    @abstractmethod
    def _see(self, arrivals: Arrivals) -> Rounds:
        """Predict and learn, example by example."""

    @abstractmethod
    def _state(self) -> Values:
        """The numbers that f is made of: a pass that leaves them as they are has changed nothing."""

    @abstractmethod
    def _size(self) -> int:
        """How much is stored, in what a budget counts."""

    @classmethod
    def keeps(cls, params: Mapping[str, Any]) -> float | None:
        """How many examples a learner with these parameters keeps at most, ALL for all that come; None where they do
        not say. By default the sum of all that are sizes."""
        sizes = [params.get(name) for name, parameter in cls.own_parameters().items() if parameter.size]
        return sum(size for size in sizes if size is not None) or None

    def kept(self) -> Rows:
        """Row numbers of the examples that are still needed when the next ones arrive; see `asks`."""
        return np.empty(0, dtype=np.int64)

    def _renumber(self, numbers: Rows, kept: Rows) -> None:
        """The rows of the data set are called by these numbers from now on; these of them, among which are those of
        `kept()`, become its rows 0, 1, …."""

    @classmethod
    def check_endless(cls, values: dict[str, Any]) -> None:
        """Raise `ParameterError` for parameters with which all that comes is kept, which a stream has too much of."""

    def _expect_no_end(self) -> None:
        """Examples come in parts from now on: keep what is bounded, unless something else was asked for."""

    def _points(self) -> Points:
        """The points that f is made of, for figures; by default none."""
        return Points(np.empty((0, self.n_features_in_), np.float32), np.empty(0), np.empty(0, np.int64))

    def _own_bytes(self) -> int:
        """Of all that the learner holds beside kept examples."""
        return nbytes({name: value for name, value in vars(self).items() if name not in self.reported})

    def _model_bytes(self) -> int:
        """Of what `_decide` reads; by default all that the learner holds."""
        return self._own_bytes()

    @property
    def margin_threshold(self) -> float:
        """A margin of at most this is a margin error."""
        return float(getattr(self, "beta", 0.0))

    # -- one stream, driven from outside -----------------------------------------------------------------------

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._random = np.random.default_rng(self.random_state)
        self._course = Course()
        self._memory: Memory | None = None
        self._begun_with = self.get_params()
        self.insertions_: int | None = None
        self.removals_: int | None = None

    def learn(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        drive([self], access, labels, order)

    def open(self, access: KernelAccess, labels: NDArray[np.int64]) -> None:
        """Examples of this data set will come, whose class indices these are."""
        self._kernel = access.kernel or self._kernel

    def begin_pass(self) -> None:
        """All examples come, or come again."""
        self._course.passes += 1
        self._course.quiet = True
        self._state_before = self._state().copy()

    def see(self, arrivals: Arrivals) -> Rounds:
        """Learn from examples as they arrive."""
        rounds = self._see(arrivals)
        if self._course.passes == 1:
            self._course.first.append(rounds)
        self._course.quiet &= bool((rounds.margins > self.margin_threshold).all())
        return rounds

    def meet(
        self, rows: Rows, labels: NDArray[np.int64], access: KernelAccess, shared: SharedBlock | None = None
    ) -> None:
        """Learn from a block of examples, at one's own charge; of kernel values that are `shared`, those asked for."""
        meter = Meter(shared.rate if shared else access.rate)
        with self._charged(meter):
            self.see(Arrivals(rows, labels, access, Metered(access, meter, shared), meter))

    def is_settled(self) -> bool:
        """Whether the pass just ended changed nothing: neither a margin error nor, under the SVM's rule, a step of an
        example that is stored."""
        return self._course.quiet and np.array_equal(self._state(), self._state_before)

    def close(self, access: KernelAccess) -> None:
        """Make the outcome known under the public names."""
        course = self._course
        self.margins_ = np.concatenate([rounds.margins for rounds in course.first])
        self.sizes_ = np.concatenate([rounds.sizes for rounds in course.first])
        self.epochs_ = course.passes
        self.mistakes_ = course.mistakes + int(np.count_nonzero(self.margins_ <= 0))
        self.margin_errors_ = course.margin_errors + self._count_margin_errors()
        self.kernel_evaluations_ = course.kernel_evaluations + course.size + int(self.sizes_[:-1].sum())
        self._learnt = True
        del self._state_before

    def outcome(self) -> Outcome:
        if self._stand_in is not None:
            return self._stand_in.outcome()
        return Outcome(
            size=self._size(),
            model_bytes=self._model_bytes(),
            state_bytes=self._own_bytes() + len(self.kept()) * bytes_of_example(self.n_features_in_),
            points=self._points(),
            rounds=Rounds(self.margins_, self.sizes_),
            mistakes=self.mistakes_,
            margin_errors=self.margin_errors_,
            insertions=self.insertions_,
            removals=self.removals_,
            kernel_evaluations=self.kernel_evaluations_,
        )

    def _count_margin_errors(self) -> int:
        """Of the part that has just passed."""
        return int(np.count_nonzero(self.margins_ <= self.margin_threshold))

    # -- scikit-learn's conventions ----------------------------------------------------------------------------

    def _fit(self, access: KernelAccess, labels: NDArray[np.int64]) -> None:
        super()._fit(access, labels)
        self._memory = end_part([self], Memory(access.X, labels, np.arange(len(labels)), len(labels)))

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, **others: Any) -> Self:
        """Go on learning from the rows of X (n, d) with labels y (n,), one after the other.

        Parameters
        ----------
        classes : all labels that will ever come; needed at the first call if its y lacks some.
        """
        refuse_others(others)
        if self.kernel == PRECOMPUTED:
            hint = "A matrix holds the values among all examples: fit takes it."
            raise ParameterError("kernel", PRECOMPUTED, "a kernel of inputs in partial_fit", hint)
        begins = getattr(self._learner, "_memory", None) is None
        kinds = {"dtype": np.float32, "order": "C", "accept_sparse": "csr"}
        inputs = held(validation.validate_data(self, X, reset=begins, **kinds))
        y = validation.column_or_1d(y)
        validation.check_consistent_length(inputs, y)
        targets.check_classification_targets(y)
        known = np.unique(y if classes is None else classes) if begins else self.classes_
        labels = np.searchsorted(known, y)
        if not np.array_equal(known[np.minimum(labels, len(known) - 1)], y):
            raise ValueError(f"y holds a label that is none of the classes {list(known)}")
        if begins:
            self._begin(known, inputs)
        else:
            self._learner._change_to(self.get_params())
        learner = self._learner
        learner._memory = go_on([learner], learner._kernel, learner._memory, inputs, labels)
        return self._adopt()

    def _end_part(self) -> None:
        """Let counts go on, and rounds begin anew with the next part."""
        rounds = self._course.rounds + len(self.margins_)
        self._course = Course(rounds, self.mistakes_, self.margin_errors_, self.kernel_evaluations_, self._size())

    def _change_to(self, parameters: dict[str, Any]) -> None:
        """Go on with these parameters.

        Raises
        ------
        ParameterError : for one that has changed and must not while learning goes on.
        """
        self.set_params(**parameters)
        self._validate()
        now = self.get_params()
        for name, before in self._begun_with.items():
            if now[name] != before and name not in self.changeable | {"epochs"}:
                raise ParameterError(name, now[name], f"{before!r} as when learning began; for another value, fit anew")
        budget, stored = now.get("budget"), self._size()
        if not self.discards and budget is not None and budget < stored:
            accepted = f"an integer of at least {stored}, the examples stored, as this learner discards none"
            raise ParameterError("budget", budget, accepted)
        self._begun_with = now


def drive(cohort: Sequence[OnlineLearner], access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
    """Let the examples `order` of a data set pass before several learners at once.

    All see the same stream; where kernel values are computed as it passes, each is computed once for all. Each learner
    is charged for those that it would have needed alone.
    """
    if any(learner.blockwise for learner in cohort):
        access = copy(access)
        access.gram = None  # kernel values are asked for block by block, never for all at once
    for learner in cohort:
        learner.open(access, labels)
    active = list(cohort)
    for epoch in range(max(learner.epochs for learner in cohort)):
        active = [learner for learner in active if epoch < learner.epochs and not (epoch and learner.is_settled())]
        if not active:
            break
        pass_by(active, access, labels, order)
    for learner in cohort:
        learner.close(access)


def go_on(
    cohort: Sequence[OnlineLearner], kernel: Kernel, memory: Memory | None, inputs: Inputs, labels: NDArray[np.int64]
) -> Memory:
    """Let the next part of a stream pass before several learners at once, with what they keep of the parts before.

    What they learn is to the last bit what `drive` lets them learn from all parts as one data set, wherever it is cut.

    Parameters
    ----------
    memory : what came of the part before; None for the first.
    inputs, labels : the examples, at least one, and the class index of each.
    """
    memory = memory or Memory(inputs[:0], labels[:0], np.empty(0, dtype=np.int64), 0)
    kept = len(memory.X)
    every = Memory(
        joined(memory.X, inputs),
        np.concatenate([memory.labels, labels]),
        np.concatenate([memory.numbers, np.arange(memory.rows, memory.rows + len(inputs))]),
        memory.rows + len(inputs),
    )
    access = Streamed(kernel, every.X)
    for learner in cohort:
        learner._expect_no_end()
        learner.open(access, every.labels)
    pass_by(cohort, access, every.labels, np.arange(kept, len(every.X)))
    for learner in cohort:
        learner.close(access)
    return end_part(cohort, every)


def end_part(cohort: Sequence[OnlineLearner], every: Memory) -> Memory:
    """Of all rows at hand those that a learner keeps, once each of them calls these by the numbers 0, 1, …."""
    kept = np.unique(np.concatenate([learner.kept() for learner in cohort]))
    for learner in cohort:
        learner._renumber(every.numbers, kept)
        learner._end_part()
    return Memory(every.X[kept], every.labels[kept], every.numbers[kept], every.rows)


def pass_by(learners: Sequence[OnlineLearner], access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
    """Let the examples `order` of a data set pass before several learners once, block by block."""
    asking = [learner for learner in learners if learner.asks]
    for learner in learners:
        learner.begin_pass()
    for rows in blocks(order):
        sharing = access.gram is None and len(asking) > 1
        shared = SharedBlock(access, rows, [learner.kept() for learner in asking]) if sharing else None
        for learner in learners:
            learner.meet(rows, labels, access, shared)
