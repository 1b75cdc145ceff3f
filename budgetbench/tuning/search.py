"""Successive halving: many candidates on a short part of the stream, the better ones on longer ones.

Jamieson, Talwalkar 2016 (AISTATS), *Non-stochastic best arm identification and hyperparameter optimization*. All
candidates learn the same first part of one permutation and are judged by the same examples that are held out; the best
third goes on to a part three times as long. Those left learn the whole stream in `RUNS` other permutations, each with
other examples held out, which chose none of them before: their means are what is reported. scikit-learn's
HalvingRandomSearchCV draws subsets of examples anew; here a learner sees the beginning of the stream, as it would have.

Nothing is known of test examples: the problem that is searched consists of the training rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from budgetbench.datasets import Cache
from budgetbench.errors import BudgetbenchError, RequestError
from budgetbench.experiment import Experiment, KernelGrid, Parameters
from budgetbench.runner import Crew
from budgetbench.runner.execute import Record, Setting, Unit
from budgetbench.runner.plan import Trial
from budgetbench.runner.progress import ProgressReport
from budgetbench.runner.workers import Task
from budgetbench.runner.workspace import Workspace, sweep
from budgetbench.sections import VALIDATION_SIZE
from budgetbench.sparse import contiguous
from budgetbench.streams import LearningProblem, load_problem, split, stream_of
from budgetbench.tuning.candidates import candidates, widths
from budgetbench.verdicts.statistics import Interval, of_values

#: Of how many candidates one goes on, and how many times as long the stream then is.
FACTOR = 3
#: Parts of the stream on which some are left out, before the whole.
STEPS = 3
#: Examples below which a part says nothing.
SHORTEST = 100
#: How many learn the whole stream, in how many permutations.
FINALISTS, RUNS = 5, 5


#: What tells two candidates apart once they have learnt.
CAME = ("validation_error", "online_mistakes", "margin_errors", "insertions", "removals", "support_size", "model_bytes")


@dataclass(frozen=True)
class Finalist:
    """A candidate that learnt the whole stream.

    Attributes
    ----------
    errors : its validation error in each run.
    model_bytes : of its largest model.
    """

    algorithm: str
    params: Parameters
    errors: tuple[float, ...]
    model_bytes: int

    @property
    def error(self) -> Interval:
        """The mean of the errors, with its interval."""
        return of_values(pd.Series(self.errors))


@dataclass(frozen=True)
class Tuned:
    """What was found.

    Attributes
    ----------
    experiment : runs the first of the finalists again, and tests it where there is a test set.
    finalists : the best first.
    tried : how many candidates there were.
    """

    experiment: Experiment
    finalists: tuple[Finalist, ...]
    tried: int


def tune(
    experiment: Experiment, memory: int, cache: Cache, crew: Crew, names: Sequence[str] = (), quiet: bool = False
) -> Tuned:
    """The learner, width, size and parameters with the lowest validation error whose model fits the memory.

    Parameters
    ----------
    experiment : the data and the kernel; its algorithms are not asked for.
    memory : bytes that a model may take.
    names : learners to try; all that have a size when empty.

    Raises
    ------
    RequestError : no learner has a model that small.
    BudgetbenchError : no candidate learnt anything.
    """
    asked = _asked(experiment)
    whole, _ = load_problem(asked, cache)
    if len(whole.classes) > 2:
        asked = replace(asked, dataset=replace(asked.dataset, multiclass="one_vs_rest"))
    problem = training_part(whole, asked)
    stream = stream_of(problem, asked, 0)
    told = asked.told_by(problem.X[np.sort(stream.order)])
    grid = KernelGrid(widths(told.kernels))
    n, d = len(stream.order), problem.X.shape[1]
    found = candidates(memory, d, len(problem.classes), n, grid.kernels[0], names)
    if not found:
        advice = "Give more, or try other learners."
        raise RequestError(f"--memory: no learner has a model of {memory} bytes for {d} inputs. {advice}")
    searched = replace(told, algorithms=tuple(found)).with_kernels(grid)
    parts = [max(SHORTEST, n // FACTOR**step) for step in range(STEPS, 0, -1)]
    with _Search(searched, problem, crew, memory, [part for part in parts if part < n], quiet) as search:
        best = search.finalists()
    return Tuned(_experiment_of(experiment, searched, best[0]), best, len(searched.parameter_sets))


def _asked(experiment: Experiment) -> Experiment:
    """The experiment on one draw of the data, with examples held out."""
    section = experiment.dataset
    return replace(
        experiment,
        dataset=replace(section, redraw=False, validation_size=section.validation_size or VALIDATION_SIZE),
        permutations=RUNS,
        checkpoints=0,
    )


def training_part(problem: LearningProblem, experiment: Experiment) -> LearningProblem:
    """The training rows of the first run, and nothing else: not an input nor a label of a test row."""
    rows, _ = split(experiment.dataset, len(problem.X), problem.n_train, experiment.seed, 0)
    return replace(problem, X=contiguous(problem.X[rows]), labels=problem.labels[rows], n_train=len(rows))


def _experiment_of(asked: Experiment, searched: Experiment, best: Finalist) -> Experiment:
    """What runs the best one again, as it was run here; where runs split the data anew, on the split that was tuned."""
    algorithm = next(one for one in searched.algorithms if one.name == best.algorithm)
    alone = replace(algorithm, trials=(best.params,), grid={name: (value,) for name, value in best.params.items()})
    resplit = asked.dataset.train_size is not None
    chosen = replace(
        searched,
        name=f"{asked.name}-tuned",
        title=f"{asked.title}: tuned",
        reproduces=None,
        checkpoints=asked.checkpoints,
        permutations=1 if resplit else RUNS,
        algorithms=(alone,),
        plots=None,
        table=None,
    )
    return chosen.with_kernels(KernelGrid((searched.kernel_of(best.params),)))


class _Search:
    """The candidates and who runs them."""

    def __init__(
        self, experiment: Experiment, problem: LearningProblem, crew: Crew, memory: int, parts: list[int], quiet: bool
    ) -> None:
        # Its rows are the training set, whatever the dataset is split into elsewhere.
        section = replace(experiment.dataset, train_size=None, test_size=None, limit=None)
        self._experiment, self._problem, self._crew = replace(experiment, dataset=section), problem, crew
        self._memory, self._parts, self._sets = memory, parts, experiment.parameter_sets
        alive, total = len(self._sets), 0
        for _ in parts:
            total, alive = total + alive, _kept(alive)
        self._progress = ProgressReport(f"tune {experiment.name}", total + RUNS * min(alive, FINALISTS), quiet)
        sweep()

    def __enter__(self) -> _Search:
        self._progress.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        self._progress.__exit__(*problem)

    def finalists(self) -> tuple[Finalist, ...]:
        """Those that are left in the end, the best first."""
        alive = list(range(len(self._sets)))
        for part in self._parts:
            records = self._records(alive, [RUNS], part)
            kept = _kept(len(alive))
            alive = sorted(alive, key=lambda number: (self._judged(records[number, RUNS]), number))
            alive = self._different(alive, records)[:kept]
        alive = alive[:FINALISTS]
        records = self._records(alive, range(RUNS), None)
        ended = [self._finalist(number, [records[number, run] for run in range(RUNS)]) for number in alive]
        fitting = [one for one in ended if one and one.model_bytes <= self._memory]
        if not fitting:
            reason = next(iter(filter(None, (record.get("error") for record in records.values()))), "none fits")
            raise BudgetbenchError(f"{self._experiment.name}: no candidate came to an end: {reason}")
        return tuple(sorted(fitting, key=lambda one: one.error.mean))

    def _judged(self, record: Record) -> float:
        """What a candidate is judged by; one that failed, or turns out too large, comes last."""
        return _error(record) if (record.get("model_bytes") or math.inf) <= self._memory else math.inf

    def _different(self, numbers: Sequence[int], records: Mapping[tuple[int, int], Record]) -> list[int]:
        """Without those whose parameters make no difference to what became of another of the same learner."""
        found: dict[str, int] = {}
        for number in numbers:
            algorithm, params = self._sets[number]
            what = [algorithm.name, str(self._experiment.kernel_of(params))]
            came = records[number, RUNS]
            found.setdefault(json.dumps(what + [came.get(name) for name in CAME]), number)
        return list(found.values())

    def _finalist(self, number: int, records: Sequence[Record]) -> Finalist | None:
        algorithm, params = self._sets[number]
        errors = [_error(record) for record in records]
        if not all(map(math.isfinite, errors)):
            return None
        return Finalist(algorithm.name, params, tuple(errors), max(record["model_bytes"] for record in records))

    def _records(self, numbers: Sequence[int], runs: Sequence[int], first: int | None) -> dict[tuple[int, int], Record]:
        """What came of candidates in these runs, of the first so many examples of the stream, or of all."""
        trials = [
            Trial(self._sets[number][0].name, self._sets[number][1], run, f"{number}/{run}")
            for run in runs
            for number in numbers
        ]
        found: dict[tuple[int, int], Record] = {}
        with (
            Workspace(self._problem, self._experiment.kernel, 0.0, self._crew.size) as workspace,
            self._crew.at_work(self._tasks(trials, workspace, first), len(trials)) as results,
        ):
            for record in (record for records in results for record in records):
                number, run = map(int, record["key"].split("/"))
                found[number, run] = record
                self._progress.advance()
        return found

    def _tasks(self, trials: Sequence[Trial], workspace: Workspace, first: int | None) -> Iterator[Task]:
        """One trial a task, kernel by kernel; kernel values are computed as the stream passes."""
        light = self._problem.without_inputs
        for kernel in self._experiment.kernels:
            setting = Setting(self._experiment, kernel, light, workspace.path, first=first)
            for trial in trials:
                if self._experiment.kernel_of(trial.params) == kernel:
                    yield Task(Unit(trial.run, (trial,)), setting)


def _kept(alive: int) -> int:
    """How many go on."""
    return max(min(alive, FINALISTS), math.ceil(alive / FACTOR))


def _error(record: dict[str, Any]) -> float:
    """The validation error of a run, infinite where it failed."""
    error = record.get("validation_error") if record["status"] == "ok" else None
    return math.inf if error is None else float(error)
