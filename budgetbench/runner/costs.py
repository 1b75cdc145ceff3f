"""What runs cost, estimated before they begin: to divide them evenly, and to choose between a Gram matrix and streams.

The unit is a kernel value that is computed (3 to 4 ns where inputs are few). What comes of a run depends on none of
this: estimates may be wrong by a factor, and only time is lost. They assume that

- a learner errs on a quarter of the examples and stores these, until it keeps as many as its parameters say
  (`OnlineLearner.keeps`);
- learners of a run err on the same examples, so that what the one that keeps most has at hand serves all of them;
- all epochs asked for are made.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from budgetbench.engine.arrivals import BLOCK
from budgetbench.engine.online import ALL, OnlineLearner
from budgetbench.experiment import Experiment
from budgetbench.learners import learners
from budgetbench.results.sizes import budget_of
from budgetbench.runner.plan import Trial
from budgetbench.sparse import Inputs, dense
from budgetbench.streams import LearningProblem

#: Of the examples seen, one in so many is an error, and is stored.
STORED = 4
#: What a run costs whatever it learns: about 20 ms.
CONSTANT = 5_000_000
#: A value that is written into a Gram matrix, or copied for a learner from those that a block shares and read again.
WRITTEN = COPIED = 1.0
#: A score that is changed: with a Gram matrix those of all examples are when one is stored or discarded.
CHANGED = 0.125
#: Inputs other than 0 that take as long as all that is done for a value beside its product.
INPUTS = 64
#: Rows at which it is looked how many those are, and points of the stream at which it is estimated what is kept.
SAMPLE, POINTS = 1000, 16


def cost_of(trial: Trial, n: int) -> int:
    """An estimate of what a trial costs by itself, a whole number, which all machines add up alike.

    An example is set against those that are stored: as many as the budget, or a share of all where there is none. A
    learner that sees the training set as a whole is taken to need all values among it. What else a learner does is its
    `effort` for each of them.
    """
    learner = learners[trial.algorithm]
    if learner.batch:
        return CONSTANT + learner.effort * n * n
    stored = budget_of(trial.params) or n // STORED
    return CONSTANT + learner.effort * n * min(stored, n) * _passes(trial)


def evenly(trials: Sequence[Trial], parts: int, n: int) -> list[tuple[list[Trial], int]]:
    """Divide trials into parts of about equal cost, none of them empty, each in their order and with its cost."""
    loads: list[tuple[int, int, list[int]]] = [(0, number, []) for number in range(min(parts, len(trials)))]
    costs = [cost_of(trial, n) for trial in trials]
    for place in sorted(
        range(len(trials)), key=lambda place: -costs[place]
    ):  # the heaviest first, to whoever has least
        cost, number, some = heapq.heappop(loads)
        heapq.heappush(loads, (cost + costs[place], number, [*some, place]))
    return [([trials[place] for place in sorted(some)], cost) for cost, _, some in loads]


def parts_of(trials: Iterable[Trial], workers: int) -> dict[int, int]:
    """Into how many parts the last runs are divided, those for which there is no full round of workers."""
    runs = sorted({trial.run for trial in trials})
    left = len(runs) % workers
    return dict.fromkeys(runs[len(runs) - left :], -(-workers // max(1, left)))


def gram_pays(trials: Sequence[Trial], experiment: Experiment, problem: LearningProblem, n: int) -> bool:
    """Whether a Gram matrix costs these trials less than to compute kernel values as their streams pass.

    Once it is there it serves all of them: there is no case for one that some use and others do not.

    Parameters
    ----------
    n : how many examples a run learns from.
    """
    rows, value = problem.n_train, value_of(problem.X)
    at_hand = rows**2 * (0.5 * value + WRITTEN) + rows * n * sum(_changes(trial) for trial in trials)
    return at_hand < _streamed(trials, experiment, n, value)


def value_of(X: Inputs) -> float:
    """What a kernel value of such inputs costs: zeros cost nothing."""
    spread = np.arange(0, len(X), -(-len(X) // SAMPLE))
    return 1 + int(np.count_nonzero(dense(X[spread]))) / len(spread) / INPUTS


def _streamed(trials: Iterable[Trial], experiment: Experiment, n: int, value: float) -> float:
    """What kernel values cost where each run computes its own, one of them so much."""
    whole: set[tuple[str, str, int]] = set()
    cohorts: dict[int, list[Trial]] = {}
    for trial in trials:
        learner = learners[trial.algorithm]
        if learner.batch:
            once = learner.order_free and not experiment.examples_differ
            whole.add((trial.algorithm, json.dumps(trial.params, sort_keys=True), -1 if once else trial.run))
        elif _asks(trial):
            cohorts.setdefault(trial.run, []).append(trial)
    return len(whole) * n**2 * value + sum(_cohort(cohort, n, value) for cohort in cohorts.values())


def _cohort(trials: Sequence[Trial], n: int, value: float) -> float:
    """What a run's learners cost that share a stream: values computed for all of them, and copies for each."""
    needed = [_passes(trial) * _kept(trial, n) for trial in trials]
    return n * (value * (BLOCK + max(needed)) + COPIED * sum(needed))


def _kept(trial: Trial, n: int) -> float:
    """How many examples a learner keeps, on the average over a pass."""
    keeps = cast(type[OnlineLearner], learners[trial.algorithm]).keeps(trial.params)
    seen = (n * (point + 0.5) / POINTS for point in range(POINTS))
    return sum(at if keeps == ALL else min(at / STORED, at if keeps is None else keeps) for at in seen) / POINTS


def _changes(trial: Trial) -> float:
    """What it costs, for each example and each row of a Gram matrix, that a learner stores and discards examples."""
    learner = learners[trial.algorithm]
    if not _asks(trial):
        return 0.0
    leave = budget_of(trial.params) is not None and cast(type[OnlineLearner], learner).discards
    return CHANGED * (1 + leave) / STORED * _passes(trial)


def _asks(trial: Trial) -> bool:
    learner = learners[trial.algorithm]
    return issubclass(learner, OnlineLearner) and learner.asks


def _passes(trial: Trial) -> int:
    return epochs if isinstance(epochs := trial.params.get("epochs"), int) else 1
