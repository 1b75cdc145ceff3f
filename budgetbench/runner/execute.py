"""Doing the runs: learners are made, the stream passes before them, and what came of it is written down."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from budgetbench.engine.base import KernelClassifier
from budgetbench.engine.kernel_access import Gram, KernelAccess, Streamed
from budgetbench.engine.online import OnlineLearner, drive
from budgetbench.engine.predictions import predictions
from budgetbench.errors import DataError
from budgetbench.experiment import Experiment, without_kernel
from budgetbench.kernels import Kernel
from budgetbench.lazy import one_thread
from budgetbench.learners import learners
from budgetbench.results.curves import Noted
from budgetbench.results.sizes import budget_of
from budgetbench.runner.costs import cost_of, evenly
from budgetbench.runner.plan import Trial
from budgetbench.runner.provenance import host
from budgetbench.runner.workspace import open_access
from budgetbench.sparse import Inputs
from budgetbench.streams import LearningProblem, Stream, make_learner, stream_of
from budgetbench.version import __version__

Record = dict[str, Any]

#: Bytes of kernel values that the learners of a cohort may hold, each by itself.
COHORT_LIMIT = 1 << 31
#: What a cohort costs at most where it shares no kernel values, see `cost_of`: about a quarter of a minute.
LONG = 1 << 32


@dataclass(frozen=True)
class Setting:
    """What the units of one workspace have in common."""

    experiment: Experiment
    kernel: Kernel
    problem: LearningProblem  # with X left out: that is mapped from the workspace
    workspace: str
    commit: str | None = None
    #: How many examples of the stream are learnt from; all where nothing is said.
    first: int | None = None

    def stream_of(self, run: int) -> Stream:
        """What a run sees."""
        stream = stream_of(self.problem, self.experiment, run)
        return replace(stream, order=stream.order[: self.first])

    def sizes(self, run: int) -> tuple[int, int]:
        """How many examples a run learns from, and how many it is tested on."""
        stream = self.stream_of(run)
        return len(stream.order), len(stream.test)

    def done(self, unit: Unit) -> list[Record]:
        """The records of a unit's trials."""
        X, access = open_access(self.workspace, self.kernel)
        return _execute(unit.trials, self, self.stream_of(unit.run), X, access)


@dataclass(frozen=True)
class Unit:
    """Trials of one run that are done together: online learners that share a stream of kernel values, or one alone.

    `repeated` are those of other runs in which nothing is different for the learner, so that they end like the first.
    """

    run: int
    trials: tuple[Trial, ...]
    repeated: tuple[Trial, ...] = ()


def units(
    trials: Sequence[Trial], has_gram: bool, experiment: Experiment, n: int, parts: Mapping[int, int]
) -> list[Unit]:
    """Divide trials into units: online learners of a run go together, in as many cohorts as keep within `COHORT_LIMIT`
    what they hold, batch learners alone.

    With a Gram matrix learners share nothing but predictions, and a cohort costs no more than `LONG`, so that little is
    lost with it. A learner to which the order of the examples is all one is done once where runs differ in nothing
    else.

    Parameters
    ----------
    n : how many examples a run learns from.
    parts : into how many parts runs are divided, see `parts_of`; those that are not there stay whole.
    """
    once: dict[tuple[str, str], list[Trial]] = {}
    together: dict[tuple[int, bool], list[Trial]] = {}
    found = []
    for trial in trials:
        learner = learners[trial.algorithm]
        if not experiment.examples_differ and learner.order_free:
            once.setdefault((trial.algorithm, json.dumps(trial.params, sort_keys=True)), []).append(trial)
        elif issubclass(learner, OnlineLearner):
            together.setdefault((trial.run, has_gram and learner.blockwise), []).append(trial)
        else:
            found.append(Unit(trial.run, (trial,)))
    found += [Unit(first.run, (first,), tuple(others)) for first, *others in once.values()]
    for (run, _), of_run in together.items():
        wanted = parts.get(run, 1)
        if has_gram:
            wanted = max(wanted, -(-sum(cost_of(trial, n) for trial in of_run) // LONG))
        for part, _ in evenly(of_run, wanted, n):
            found += [Unit(run, cohort) for cohort in cohorts(part)]
    # What takes longest comes first, so that no worker is left alone with it in the end: cohorts, then batch learners.
    return sorted(found, key=lambda unit: (len(unit.trials) == 1, not learners[unit.trials[0].algorithm].batch))


def cohorts(trials: Sequence[Trial]) -> list[tuple[Trial, ...]]:
    """Divide online learners of one run into those that go together, all in one cohort where memory allows.

    A learner holds the kernel values among as many examples as its budget; one without a budget counts for nothing.
    """
    found: list[tuple[Trial, ...]] = []
    left = 0
    for trial in trials:
        needed = 4 * (budget_of(trial.params) or 0) ** 2
        if found and needed <= left:
            found[-1] += (trial,)
        else:
            found.append((trial,))
            left = COHORT_LIMIT
        left -= needed
    return found


def execute(unit: Unit, setting: Setting) -> list[Record]:
    """Do one unit; a trial that fails gives a record that says so."""
    try:
        with one_thread():
            records = setting.done(unit)
    except Exception as error:
        if len(unit.trials) > 1 and not isinstance(
            error, DataError
        ):  # find out which of the cohort it was; the others are good
            return [record for trial in unit.trials for record in execute(Unit(unit.run, (trial,)), setting)]
        return failures(unit, setting, f"{type(error).__name__}: {error}")
    return _with_repeated(records, unit)


def failures(unit: Unit, setting: Setting, message: str) -> list[Record]:
    """The records of a unit of one trial that failed."""
    sizes, failed = setting.sizes(unit.run), {"status": "failed", "error": message}
    return _with_repeated([head(trial, setting, *sizes) | failed for trial in unit.trials], unit)


def _with_repeated(records: list[Record], unit: Unit) -> list[Record]:
    return records + [records[0] | {"key": trial.key, "run": trial.run} for trial in unit.repeated]


def _execute(
    trials: Sequence[Trial], setting: Setting, stream: Stream, X: Inputs, access: KernelAccess
) -> list[Record]:
    experiment, problem = setting.experiment, setting.problem
    several = len(problem.classes)
    models: list[Any] = [make_learner(experiment, one.algorithm, one.params, one.run, several) for one in trials]
    for model in models:
        model.start(problem.classes, X.shape[1])
    if len(models) > 1:
        drive(models, access, stream.labels, stream.order)
    else:
        models[0].learn(access, stream.labels, stream.order)
    return [
        head(trial, setting, len(stream.order), len(stream.test))
        | {"status": "ok"}
        | learned(model, noted(model, experiment.checkpoints))
        | tested
        for trial, model, tested in zip(trials, models, _tested(models, access, stream), strict=True)
    ]


def head(trial: Trial, setting: Setting, train_size: int, test_size: int) -> Record:
    """What a record says of its trial."""
    experiment = setting.experiment
    return {
        "key": trial.key,
        "status": "",
        "experiment": experiment.name,
        "dataset": experiment.dataset.name,
        "algorithm": trial.algorithm,
        "params": trial.params,
        "budget": trial.params.get("budget"),
        "run": trial.run,
        "seed": experiment.seed,
        "train_size": train_size,
        "test_size": test_size,
        "version": __version__,
        "commit": setting.commit,
        "host": host(),
    }


def noted(model: KernelClassifier, checkpoints: int) -> Noted | None:
    """The course of a learner's first pass, where it has one."""
    rounds = model.outcome().rounds
    if rounds is None:
        return None
    found = Noted(len(rounds.margins), checkpoints)
    found.go_by(*rounds)
    return found


def learned(model: KernelClassifier, course: Noted | None) -> Record:
    """What a record says of what was learnt."""
    found = model.outcome()
    mistakes = found.mistakes
    return {
        "support_size": found.size,
        "model_bytes": found.model_bytes,
        "state_bytes": found.state_bytes,
        "train_seconds": round(model.train_seconds_, 6),
        "kernel_seconds": round(model.kernel_seconds_, 6),
        "online_mistakes": mistakes,
        "online_error": mistakes / course.rounds if mistakes is not None and course is not None else None,
        "margin_errors": found.margin_errors,
        "insertions": found.insertions,
        "removals": found.removals,
        "kernel_evaluations": found.kernel_evaluations,
        "curve": course.curve if course is not None else None,
    }


def _tested(models: Sequence[KernelClassifier], access: KernelAccess, stream: Stream) -> list[Record]:
    names = "test_error", "averaged_test_error", "validation_error", "predict_seconds"
    records: list[Record] = [dict.fromkeys(names) for _ in models]
    if len(stream.validation):
        found = predictions(models, access, stream.validation, stream.labels, stream.order)
        for record, one in zip(records, found, strict=True):
            record["validation_error"] = float(np.mean(one.errs))
    if len(stream.test):
        found = predictions(models, access, stream.test, stream.labels, stream.order)
        for record, one in zip(records, found, strict=True):
            record["test_error"] = float(np.mean(one.errs))
            record["predict_seconds"] = round(one.seconds, 6)
            if one.averaged_errs is not None:
                record["averaged_test_error"] = float(np.mean(one.averaged_errs))
    return records


def warm_up(trials: Sequence[Trial], kernel: Kernel) -> None:
    """Compile the loops of some trials' learners, or load them, before anything is timed."""
    for trial in trials:
        _warm_up(trial.algorithm, json.dumps(trial.params), kernel)


@cache
def _warm_up(name: str, params: str, kernel: Kernel) -> None:
    """Once in each process: a pass over a handful of examples.

    A learner that fails here fails in its runs, where that is recorded.
    """
    X = np.array([[0.0, 0.0], [0.7, 0.7], [0.0, 1.0], [1.0, 0.0]] * 2, dtype=np.float32)
    labels = np.array([0, 1, 1, 0] * 2)
    with suppress(Exception), one_thread():
        for access in (Streamed(kernel, X), Gram(kernel.matrix(X, X), X)):
            model = learners[name].made(without_kernel(json.loads(params)), kernel, random_state=0)
            model.start(np.array([-1, 1]), X.shape[1])
            model.learn(access, labels, np.arange(len(X)))
