"""Dividing an experiment among machines that never talk to each other: every one makes the same cut and does its part.

The cut depends on the plan alone, not on what is done, on the machine or on its memory, so that all make the same. What
can share kernel values, the online learners of one run with one kernel, stays together as far as parts become even.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from budgetbench.errors import RequestError, shown
from budgetbench.experiment import Experiment
from budgetbench.learners import learners
from budgetbench.runner.costs import cost_of, evenly
from budgetbench.runner.plan import Trial

#: A piece is at most this share of a part: the heaviest part is then heavier than the mean by no more than that.
FINEST = 4
MOST = 100_000


@dataclass(frozen=True)
class Shard:
    """One of `count` parts of an experiment, counted from 1."""

    number: int
    count: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """What ``3/20`` says.

        Raises
        ------
        RequestError : it says no part of a whole.
        """
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        number, count = (int(found[1]), int(found[2])) if found else (0, 0)
        if not 1 <= number <= count <= MOST:
            raise RequestError(f"--shard: found {shown(text)}; accepted: I/N with I from 1 to N, such as 3/20")
        return cls(number, count)

    def of(self, trials: Sequence[Trial], experiment: Experiment, n: int) -> list[Trial]:
        """This part of some trials, in their order.

        Parameters
        ----------
        n : how many examples a run learns from.
        """
        pieces = sorted(
            _pieces(trials, experiment, n, self.count), key=lambda piece: (-piece.cost, piece.trials[0].key)
        )
        loads = [(0, number) for number in range(1, self.count + 1)]
        own: set[str] = set()
        for piece in pieces:  # the heaviest first, each to whoever has least
            load, number = heapq.heappop(loads)
            heapq.heappush(loads, (load + piece.cost, number))
            if number == self.number:
                own.update(trial.key for trial in piece.trials)
        return [trial for trial in trials if trial.key in own]


@dataclass(frozen=True)
class _Piece:
    """Trials that stay together, and what they cost."""

    trials: tuple[Trial, ...]
    cost: int


def _pieces(trials: Sequence[Trial], experiment: Experiment, n: int, count: int) -> Iterator[_Piece]:
    once: dict[str, list[Trial]] = {}  # done once for all runs
    together: dict[str, list[Trial]] = {}
    for trial in trials:
        learner = learners[trial.algorithm]
        if learner.order_free and not experiment.examples_differ:
            once.setdefault(json.dumps([trial.algorithm, trial.params], sort_keys=True), []).append(trial)
        else:
            shared = trial.key if learner.batch else f"{trial.run} {experiment.kernel_of(trial.params)}"
            together.setdefault(shared, []).append(trial)
    found = [_Piece(tuple(alike), cost_of(alike[0], n)) for alike in once.values()]
    found += [_Piece(tuple(some), sum(cost_of(trial, n) for trial in some)) for some in together.values()]
    most = sum(piece.cost for piece in found) // (FINEST * count)
    for piece in found:
        yield from [piece] if piece.trials[0].run != piece.trials[-1].run else _divided(piece, n, most)


def _divided(piece: _Piece, n: int, most: int) -> Iterator[_Piece]:
    """A piece of one run in smaller ones of about equal cost, none of several trials above `most`."""
    wanted = max(1, -(-piece.cost // max(1, most)))
    yield from (_Piece(tuple(some), cost) for some, cost in evenly(piece.trials, wanted, n))
