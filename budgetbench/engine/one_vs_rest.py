"""One against the rest: learners of two classes learn several, one of them for each class (Rifkin, Klautau 2004).

The k-th learner takes class k for the positive one and all others for the negative one; the class with the highest
score wins. Each learns by its own rule what it would learn alone, with a budget of its own. What they share is the
stream, with kernel values that are computed once, and the examples: one that several store counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetbench.engine.arrivals import Arrivals, SharedBlock
from budgetbench.engine.base import Points, Rounds, Sums, sums_of, wrong
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.kernel_access import KernelAccess, Rows
from budgetbench.engine.metering import Meter
from budgetbench.engine.online import OnlineLearner
from budgetbench.engine.pool import Changes
from budgetbench.engine.size import nbytes
from budgetbench.engine.storage import positions
from budgetbench.engine.support import BatchLearner, ExpansionClassifier
from budgetbench.kernels import Floats, Values
from budgetbench.sparse import joined

#: Scores that differ by no more than this share of the largest one are equal but for rounding: they decide nothing.
EQUAL = 2.0**-40

BINARY = np.array([-1, 1])


class OneVsRest(OnlineLearner):
    """Online learners of two classes on one stream, each of which sets one class against the rest.

    A prediction is wrong where another class scores as high as the right one. Margins are the score of the right class
    less the best other one, as the learners have them before they learn. Where the learners are expansions over stored
    examples, `support_` is the union of their support sets in order of arrival, and `coefficients_` has a column for
    each class; points of learners that keep no examples stay apart.

    Parameters
    ----------
    binary : the learner whose parameters all of them have.
    """

    title = "One against the rest"
    multiclass = True

    def __init__(self, binary: OnlineLearner) -> None:
        super().__init__(**{field.name: getattr(binary, field.name) for field in fields(OnlineLearner)})
        self._binary = another(binary)
        self._machines: list[Any] = []

    @property
    def asks(self) -> bool:  # type: ignore[override]
        return self._binary.asks

    @property
    def blockwise(self) -> bool:  # type: ignore[override]
        return self._binary.blockwise

    @property
    def margin_threshold(self) -> float:
        return self._binary.margin_threshold

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._machines = [another(self._binary) for _ in classes]
        for machine in self._machines:
            machine.start(BINARY, n_features)
        self._tally = Tally(self._machines) if isinstance(self._binary, ExpansionLearner) else None
        self._held: Rows = np.empty(0, dtype=np.int64)  # what any of them keeps, in order of arrival

    def open(self, access: KernelAccess, labels: NDArray[np.int64]) -> None:
        super().open(access, labels)
        self._own_classes = [(labels == k).astype(np.int64) for k in range(len(self._machines))]
        for machine, own in zip(self._machines, self._own_classes, strict=True):
            machine.open(access, own)

    def begin_pass(self) -> None:
        super().begin_pass()
        again = self._course.passes > 1
        self._learning = [k for k, machine in enumerate(self._machines) if not (again and machine.is_settled())]
        for k in self._learning:
            self._machines[k].begin_pass()

    def is_settled(self) -> bool:
        return all(machine.is_settled() for machine in self._machines)

    def _see(self, arrivals: Arrivals) -> Rounds:
        arrivals = self._shared(arrivals)
        if self._tally:
            self._tally.begin()
        scores = np.zeros((len(arrivals.rows), len(self._machines)))
        sizes = np.zeros(len(arrivals.rows), dtype=np.int64)
        for k in self._learning:
            own = self._own_classes[k]
            rounds = self._machines[k].see(replace(arrivals, classes=own))
            scores[:, k] = np.where(own[arrivals.rows] == 1, rounds.margins, -rounds.margins)
            sizes += rounds.sizes
        if self._tally:
            sizes -= self._tally.repeats(self._learning, len(sizes))
        self._hold(arrivals.rows)
        return Rounds(margins_of(scores, arrivals.labels), sizes)

    def _shared(self, arrivals: Arrivals) -> Arrivals:
        """The same, with kernel values that were computed, or would have been on a stream, once for all learners."""
        if not self.asks:
            return arrivals
        rows, kept = arrivals.rows, [self._machines[k].kept() for k in self._learning]
        if arrivals.access.gram is None:
            return replace(arrivals, source=SharedBlock(arrivals.source, rows, kept), meter=Meter())
        arrivals.meter.charge(len(rows) * len(np.union1d(rows, np.concatenate(kept))))
        return replace(arrivals, source=arrivals.access, meter=Meter())  # which charges nobody any more

    def _hold(self, rows: Rows) -> None:
        """Let go what none of the learners keeps, now that these rows have arrived."""
        arrived = np.concatenate([self._held, rows[~np.isin(rows, self._held)]])
        self._held = arrived[np.isin(arrived, np.concatenate([machine.kept() for machine in self._machines]))]

    def kept(self) -> Rows:
        return self._held

    def _renumber(self, numbers: Rows, kept: Rows) -> None:
        for machine in self._machines:
            machine._renumber(numbers, kept)
        self._held = positions(self._held, kept)
        if self._tally:
            self.support_: Rows = numbers[self.support_]
        elif self._stores:  # learners that keep no examples have numbers of their own for their points
            self.support_ = np.concatenate([machine._points().examples for machine in self._machines])

    def _expect_no_end(self) -> None:
        for machine in self._machines:
            machine._expect_no_end()

    def _end_part(self) -> None:
        super()._end_part()
        for machine in self._machines:
            machine._end_part()

    def _change_to(self, parameters: dict[str, Any]) -> None:
        for machine in self._machines:
            machine._change_to(parameters)

    def _state(self) -> Values:
        return np.concatenate([machine._state().ravel() for machine in self._machines])

    def _size(self) -> int:
        several = self._tally.several if self._tally else 0
        return sum(machine._size() for machine in self._machines) - several

    def close(self, access: KernelAccess) -> None:
        for machine in self._machines:
            machine.close(access)
        super().close(access)
        del self._own_classes
        if self._tally:
            self.insertions_, self.removals_ = self._tally.insertions, self._tally.removals
        else:
            self.insertions_, self.removals_ = self._total("insertions_"), self._total("removals_")
        if not self._stores:
            return
        points = self._points()
        self.support_, self.support_vectors_, self.coefficients_ = points.examples, points.inputs, points.coefficients
        self.intercept_ = np.array([machine.intercept_ for machine in self._machines])
        if hasattr(self._machines[0], "averaged_coefficients_"):
            averaged = [machine.averaged_coefficients_ for machine in self._machines]
            self.averaged_coefficients_ = self._united(averaged).coefficients

    def _total(self, count: str) -> int | None:
        counts = [getattr(machine, count) for machine in self._machines]
        return None if None in counts else sum(counts)

    def _points(self) -> Points:
        return self._united([machine._points().coefficients for machine in self._machines])

    def _united(self, coefficients: Sequence[Values]) -> Points:
        """The learners' points with these coefficients, those of each learner in a column."""
        points = [machine._points() for machine in self._machines]
        own = [one._replace(coefficients=column) for one, column in zip(points, coefficients, strict=True)]
        return united(own, self._held)

    @property
    def _stores(self) -> bool:
        """Whether the learners have support sets, of examples or of other points."""
        return isinstance(self._binary, ExpansionClassifier)

    @property
    def _expands(self) -> bool:
        """Whether an expansion over the union of the support sets gives all decision values, each kernel value once."""
        return type(self._binary)._decide is ExpansionClassifier._decide

    def _own_bytes(self) -> int:
        return sum(machine._own_bytes() for machine in self._machines)

    def _model_bytes(self) -> int:
        if self._expands:
            return nbytes([self.support_vectors_, self.coefficients_])
        return sum(machine._model_bytes() for machine in self._machines)

    def _decide(self, inputs: Floats) -> Values:
        if self._expands:
            return self._kernel.expansion(inputs, self.support_vectors_, self.coefficients_) + self.intercept_
        return np.stack([machine._decide(inputs) for machine in self._machines], axis=1)

    def sums(self) -> list[Sums]:
        return sums_of(self, "coefficients_", "averaged_coefficients_") if self._expands else []

    def errs_of(self, sums: Values, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        return wrong(sums + self.intercept_, labels)

    def averaged_errs(self, X: ArrayLike, labels: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        if not hasattr(self, "averaged_coefficients_"):
            return None
        values = self._kernel.expansion(self._inputs(X), self.support_vectors_, self.averaged_coefficients_)
        return wrong(values, labels)


class BatchOneVsRest(BatchLearner):
    """Batch learners of two classes on one training set, each of which sets one class against the rest.

    `support_` is the union of their support sets in the order of the training set, and `coefficients_` has a column
    for each class.

    Parameters
    ----------
    binary : the learner whose parameters all of them have.
    """

    title = "One against the rest"
    multiclass = True

    def __init__(self, binary: BatchLearner) -> None:
        super().__init__(**{field.name: getattr(binary, field.name) for field in fields(BatchLearner)})
        self._binary = another(binary)

    def _select(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        machines = [another(self._binary) for _ in self.classes_]
        for k, machine in enumerate(machines):
            machine.start(BINARY, self.n_features_in_)
            machine.learn(access, (labels == k).astype(np.int64), order)
        points = united([machine._points() for machine in machines], order)
        self.support_, self.coefficients_ = points.examples, points.coefficients
        self.intercept_ = np.array([machine.intercept_ for machine in machines])


OnlineLearner.against_the_rest = OneVsRest
BatchLearner.against_the_rest = BatchOneVsRest


def another(learner: Any) -> Any:
    """A learner with the same parameters that has learnt nothing."""
    return type(learner)(**learner.get_params())


def margins_of(scores: Values, labels: NDArray[np.int64]) -> Values:
    """The score of the right class less the best other one, from scores of shape (n, classes); 0 where they are equal
    but for rounding."""
    every, others = np.arange(len(scores)), scores.copy()
    others[every, labels] = -np.inf
    margins = scores[every, labels] - others.max(axis=1)
    return np.where(np.abs(margins) <= EQUAL * np.abs(scores).max(axis=1), 0.0, margins)


def united(points: Sequence[Points], arrived: Rows) -> Points:
    """The points of several learners in order of arrival, with a column of coefficients for each learner.

    An example that several store comes once. Points that are no examples, or of learners that keep none, stay apart and
    come last.
    """
    examples = np.concatenate([one.examples for one in points])
    ranks = len(arrived) + np.arange(len(examples))
    known = np.isin(examples, arrived)
    ranks[known] = positions(examples[known], arrived)
    _, first, places = np.unique(ranks, return_index=True, return_inverse=True)
    coefficients = np.zeros((len(first), len(points)))
    columns = np.repeat(np.arange(len(points)), [len(one.examples) for one in points])
    coefficients[places, columns] = np.concatenate([one.coefficients for one in points])
    return Points(joined(*(one.inputs for one in points))[first], coefficients, examples[first])


class Tally:
    """How many examples several learners store, one that several have being counted once.

    Attributes
    ----------
    insertions, removals : how often an example was stored that none had, and was left by the last who had it.
    several : how much larger than their union the support sets together are.
    """

    def __init__(self, machines: Sequence[ExpansionLearner]) -> None:
        self._machines = machines
        self.insertions = self.removals = self.several = 0
        for machine in machines:
            machine.trace()

    def begin(self) -> None:
        """A block is about to pass."""
        self._before = [machine.members() for machine in self._machines]

    def repeats(self, learning: Sequence[int], n: int) -> NDArray[np.int64]:
        """By how much the support sets together were larger than their union, after each of the block's n rounds.

        Parameters
        ----------
        learning : the learners before which the block has passed.
        """
        found = common(self._before, [self._machines[k].changes() for k in learning], n)
        self.insertions += found.insertions
        self.removals += found.removals
        self.several = int(found.repeats[-1])
        return found.repeats


class Common(NamedTuple):
    """See `Tally`."""

    repeats: NDArray[np.int64]
    insertions: int
    removals: int


def common(before: Sequence[Rows], changes: Sequence[Changes], n: int) -> Common:
    """What several support sets have in common in each of n rounds, from what they were before and how they changed."""
    held = np.concatenate(before)
    rows = np.concatenate([held, *(change.rows for change in changes)])
    rounds = np.concatenate([np.full(len(held), -1), *(change.rounds for change in changes)])
    steps = np.concatenate([np.ones(len(held), dtype=np.int64), *(change.steps for change in changes)])
    in_turn = np.lexsort((-steps, rounds, rows))  # example by example; who stores it in a round before who discards it
    rows, rounds, steps = rows[in_turn], rounds[in_turn], steps[in_turn]
    begin = np.flatnonzero(np.diff(rows, prepend=-1))
    total = steps.cumsum()
    owners = total - np.repeat(total[begin] - steps[begin], np.diff(begin, append=len(rows)))  # after each change
    among_others = np.where(steps > 0, owners > 1, owners > 0)
    repeats = np.bincount(rounds + 1, weights=steps * among_others, minlength=n + 1).cumsum()[1:]
    alone = (rounds >= 0) & ~among_others
    insertions, removals = np.count_nonzero(alone & (steps > 0)), np.count_nonzero(alone & (steps < 0))
    return Common(repeats.astype(np.int64), int(insertions), int(removals))
