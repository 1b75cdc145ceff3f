"""Running an experiment from its configuration to its summary."""

from __future__ import annotations

import os
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from budgetbench import passing
from budgetbench.archive import read_provenance, read_results, write_summary
from budgetbench.config import load, restricted
from budgetbench.datasets import Cache, datasets
from budgetbench.datasets.flow import Flow
from budgetbench.document import dump
from budgetbench.engine.size import bytes_of_member
from budgetbench.errors import FailedRunsError, Notice, RequestError
from budgetbench.experiment import Experiment
from budgetbench.kernels import Kernel
from budgetbench.lazy import lazy
from budgetbench.packages import packages_of
from budgetbench.results.curves import has_curve
from budgetbench.results.files import replace_file
from budgetbench.runner import workers
from budgetbench.runner.cluster import Cluster, Remote, connected
from budgetbench.runner.costs import gram_pays, parts_of
from budgetbench.runner.execute import Record, Setting, execute, units, warm_up
from budgetbench.runner.plan import Trial, plan, to_do
from budgetbench.runner.progress import ProgressReport
from budgetbench.runner.provenance import commit, write_provenance
from budgetbench.runner.shards import Shard
from budgetbench.runner.store import Store, recorded
from budgetbench.runner.streamed import FOLDER as UNDER_WAY
from budgetbench.runner.streamed import SAVE_EVERY, State, StreamedSetting, forget, under_way
from budgetbench.runner.workers import Task
from budgetbench.runner.workspace import Workspace, default_gram_limit, default_room, sweep
from budgetbench.streams import LearningProblem, check_classes, load_problem, stream_of

joblib = lazy("joblib")

Backend = Literal["loky", "threading", "dask"]

#: Seconds between two summaries while runs end; and the share of the time that writing them may take.
SUMMARY_INTERVAL = 20.0
SUMMARY_SHARE = 0.02


@dataclass
class Outcome:
    """What a call did.

    Attributes
    ----------
    folder : where the experiment's results are.
    done, ran : numbers of trials that were there before, and that were done now.
    missing : of each algorithm the number of trials still to be done (after a dry run).
    errors : of those that failed, what and why.
    """

    experiment: Experiment
    folder: Path
    done: int = 0
    ran: int = 0
    missing: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)

    def note(self, record: Record) -> None:
        """Count a trial that was done now."""
        self.ran += 1
        if record["status"] == "failed":
            what = f"{record['algorithm']} {record['params']} run {record['run']}"
            self.errors.append(f"{what}: {record['error']}")

    @property
    def failed(self) -> int:
        """How many failed of those that were done now."""
        return len(self.errors)


@dataclass(frozen=True)
class Crew:
    """Who does the runs, and within which limits; see `run`.

    Raises
    ------
    RequestError : jobs or a timeout that no crew can keep.
    """

    jobs: int = -1
    backend: Backend = "loky"
    gram_limit: float | None = None
    timeout: float | None = None
    scheduler: str | None = None
    save_every: float = SAVE_EVERY

    def __post_init__(self) -> None:
        if (self.scheduler is None) == (self.backend == "dask"):
            found = "nothing" if self.scheduler is None else f"{self.scheduler!r} with --backend {self.backend}"
            accepted = "with --backend dask the address of a dask scheduler, such as tcp://10.0.0.1:8786, or its file"
            raise RequestError(f"--scheduler: found {found}; accepted: {accepted}")
        if self.backend == "dask" and self.jobs != -1:
            raise RequestError(
                f"--jobs: found {self.jobs}; accepted: nothing with --backend dask, whose workers are all asked"
            )
        if self.backend == "dask" and self.timeout is not None:
            raise RequestError(
                "--timeout: a worker of dask cannot be ended; accepted: with --backend loky, the default"
            )
        if self.jobs == 0:
            raise RequestError("--jobs: found 0; accepted: an integer of at least 1, or -1 for one for each core")
        if self.timeout is not None and not self.timeout > 0:
            raise RequestError(f"--timeout: found {self.timeout:g}; accepted: seconds, more than 0")
        if not self.save_every >= 0:
            raise RequestError(f"--save-every: found {self.save_every:g}; accepted: seconds, at least 0")
        if self.timeout is not None and self.backend == "threading":
            raise RequestError("--timeout: a thread cannot be ended; accepted: with --backend loky, the default")

    @property
    def size(self) -> int:
        """How many workers it has: -1 job stands for one for each core, -2 for one less, and so on."""
        return self.jobs if self.jobs > 0 else max(1, workers.cpu_count() + 1 + self.jobs)

    @property
    def room(self) -> float:
        """Bytes of kernel values that the learners of a cohort may hold."""
        return default_room(self.size)

    @contextmanager
    def hands(self, algorithms: Iterable[str]) -> Iterator[Crew | Cluster]:
        """Those that do the work: this crew, or a cluster, where these learners are to run."""
        if self.scheduler is None:
            yield self
            return
        with connected(self.scheduler, algorithms) as cluster:
            yield cluster

    def workspace(self, problem: LearningProblem, kernel: Kernel, limit: float | None) -> Workspace:
        """Where units find a problem and, up to `limit` bytes, its Gram matrix."""
        return Workspace(problem, kernel, default_gram_limit() if limit is None else limit, self.size)

    @contextmanager
    def at_work(self, tasks: Iterator[Task], most: int) -> Iterator[Iterator[list[Record]]]:
        """What comes of the tasks, at most so many, as they end."""
        if self.backend == "loky":
            with workers.results(tasks, min(self.size, most), self.timeout) as results:
                yield results
        elif self.size == 1:
            yield (_here(task) for task in tasks)
        else:
            threads = joblib.Parallel(self.size, backend="threading", return_as="generator_unordered", batch_size=1)
            results = threads(joblib.delayed(_here)(task) for task in tasks)
            try:
                yield results
            finally:
                with warnings.catch_warnings():  # of tasks left undone, when an interruption comes between two results
                    warnings.simplefilter("ignore")
                    results.close()


def _here(task: Task) -> list[Record]:
    warm_up(task.unit.trials, task.setting.kernel)
    return execute(task.unit, task.setting)


def run(
    config: str | Path,
    *,
    jobs: int = -1,
    results: str | Path | None = None,
    data: str | Path | None = None,
    mirror: str | None = None,
    permutations: int | None = None,
    overrides: Sequence[str] = (),
    only: Sequence[str] = (),
    fresh: bool = False,
    backend: Backend = "loky",
    quiet: bool = True,
    gram_limit: float | None = None,
    timeout: float | None = None,
    shard: str | None = None,
    scheduler: str | None = None,
    save_every: float = SAVE_EVERY,
) -> pd.DataFrame:
    """Run an experiment, as far as it is not done yet.

    Parameters
    ----------
    config : path of a configuration file, or the name of one that comes with the program.
    jobs : how many runs go on at once; -1 for one on each core.
    backend : "loky" for worker processes, so that a run that dies or hangs harms no other; "threading" for threads of
        this process (``jobs=1``: the calling thread, where a debugger sees what goes on); "dask" for the workers of a
        cluster.
    results, data : folders of results and of dataset files; by default `results` and `data`, or those that the
        environment names in BUDGETBENCH_RESULTS and BUDGETBENCH_DATA, as for the command.
    mirror : folder or URL asked for dataset files before the public sources; by default BUDGETBENCH_MIRROR.
    permutations : number of runs, in place of the configuration's.
    overrides : ``KEY=VALUE`` in place of the configuration's values.
    only : names of the algorithms to run; all when empty.
    fresh : forget what was done before.
    gram_limit : bytes that a Gram matrix may take, where one costs less than streams; by default a quarter of the
        memory.
    timeout : seconds that a run may take; without end by default. One that takes longer has failed.
    shard : ``I/N`` for the I-th of N parts of the runs; `merging.merge` puts their folders together.
    scheduler : with "dask", the address of the scheduler, or the file in which it wrote that.
    save_every : seconds after which the learners of a dataset that passes by are saved again, to go on from there after
        an interruption.

    Returns
    -------
    One row for each run that is there, with the keys of `trials.jsonl` as columns.

    Raises
    ------
    FailedRunsError : some runs failed; all others are done and kept. Its `trials` is what would have been returned.
    """
    crew = Crew(jobs, backend, gram_limit, timeout, scheduler, save_every)
    experiment = load(config, overrides, permutations)
    named = os.environ.get
    folder = Path(results or named("BUDGETBENCH_RESULTS") or "results")
    cache = Cache(data or named("BUDGETBENCH_DATA") or "data", mirror or named("BUDGETBENCH_MIRROR"), quiet=quiet)
    part = Shard.read(shard) if shard else None
    outcome = run_experiment(experiment, cache, folder, crew, only=only, fresh=fresh, quiet=quiet, shard=part)
    trials = read_results(outcome.folder).trials
    if outcome.failed:
        raise FailedRunsError(f"{outcome.failed} of {outcome.ran} runs failed; the first: {outcome.errors[0]}", trials)
    return trials


def run_experiment(
    experiment: Experiment,
    cache: Cache,
    results: Path,
    crew: Crew,
    *,
    only: Sequence[str] = (),
    fresh: bool = False,
    dry: bool = False,
    quiet: bool = False,
    shard: Shard | None = None,
) -> Outcome:
    """Do what is missing of an experiment; each trial is recorded as it ends. A dry run counts it alone.

    With a shard, what is missing of its part.
    """
    names = [entry.name for entry in restricted(experiment, only).algorithms]
    with nullcontext(crew) if dry else crew.hands(names) as hands:
        return _run_by(hands, experiment, cache, results, crew, only, fresh, dry, quiet, shard)


def _run_by(
    hands: Crew | Cluster,
    experiment: Experiment,
    cache: Cache,
    results: Path,
    crew: Crew,
    only: Sequence[str],
    fresh: bool,
    dry: bool,
    quiet: bool,
    shard: Shard | None,
) -> Outcome:
    folder = results / experiment.name
    if experiment.dataset.stream and crew.backend == "dask":
        advice = "A stream is read where its file is: give each machine its part with --shard"
        raise RequestError(f"--backend dask: found a dataset with stream: true; accepted: loky, threading. {advice}.")
    source = _Source(experiment, cache)
    experiment = source.experiment
    chosen = restricted(experiment, only)
    check_classes(experiment, source.problem, chosen.algorithms)
    if dry and shard is None:
        left = to_do(chosen, source.identity, _finished(folder, experiment))
        return Outcome(experiment, folder, done=chosen.n_trials - left.total(), missing=left)
    planned = plan(experiment, source.identity)
    names = {entry.name for entry in chosen.algorithms}
    trials = [trial for trial in planned if trial.algorithm in names]
    if shard:
        trials = shard.of(trials, experiment, source.n_train)
    if dry:
        finished = _finished(folder, experiment)
        left = Counter(trial.algorithm for trial in trials if trial.key not in finished)
        return Outcome(experiment, folder, done=len(trials) - left.total(), missing=left)
    kernels = [kernel.fitted_to(source.problem.X) for kernel in experiment.kernels]
    for kernel in kernels:
        if kernel not in experiment.kernels:
            warnings.warn(f"{experiment.name}: {kernel}, as float32 cannot hold its values", Notice, stacklevel=2)
    with Store(folder) as store:
        if fresh:
            store.forget({trial.key for trial in trials})
        finished = _finished(folder, experiment)
        missing = [trial for trial in trials if trial.key not in finished]
        outcome = Outcome(experiment, folder, done=len(trials) - len(missing))
        replace_file(folder / "experiment.yaml", dump(experiment.resolved()))
        said = ", ".join(map(str, kernels))
        settings = {"jobs": hands.size, "backend": crew.backend, "blas_threads": 1, "kernel": said}
        member = bytes_of_member(source.problem.X.shape[1], len(source.problem.classes))
        keys = [trial.key for trial in planned]
        if missing or read_provenance(folder).get("keys") != keys:  # else it tells of those who ran what is there
            write_provenance(folder, source.data, member, settings, keys, _packages(experiment))
        try:
            if missing:
                _run_missing(missing, outcome, store, source, hands, crew, quiet)
        finally:
            if store.path.exists():  # an interruption may come before the first run has ended
                write_summary(folder)
                store.keep()
    return outcome


def _packages(experiment: Experiment) -> list[str]:
    """The packages, other than ours, that an experiment's learners and its dataset come from."""
    found = {package for entry in experiment.algorithms for package in entry.packages}
    return sorted(found.union(packages_of(type(datasets[experiment.dataset.name]).__module__)))


class _Source:
    """The experiment's data: loaded once, and made ready again for each run that has inputs of its own.

    Attributes
    ----------
    experiment : with numbers for what its kernels leave to the training rows, those of the first run.
    n_train : how many examples a run learns from.
    """

    def __init__(self, experiment: Experiment, cache: Cache) -> None:
        self._cache = cache
        if experiment.dataset.stream:
            found = passing.flow(experiment, cache)
            self._flows, self.n_train = {0: found}, found.n
            self.problem, self.data = passing.beginning(found, experiment.dataset)
            self.experiment = experiment.told_by(self.problem.X)
            self._identities = {0: found.identity}
            return
        self.problem, self.data = load_problem(experiment, cache)
        first = stream_of(self.problem, experiment, 0)
        self.n_train = len(first.order)
        self.experiment = experiment.told_by(self.problem.X[np.sort(first.order)])
        self._identities = {0: self.data.identity}

    def identity(self, run: int) -> str:
        """Names the content of the dataset in a run."""
        if not self.experiment.dataset.redraw:
            return self.data.identity
        if run not in self._identities:
            self._identities[run] = self._problem(run).identity
        return self._identities[run]

    def shared(self, trials: Sequence[Trial]) -> Iterator[tuple[list[Trial], Kernel, LearningProblem]]:
        """Trials with the kernel and the problem that they share, one kernel after the other."""
        for group, problem in self._by_inputs(trials):
            for kernel in self.experiment.kernels:
                alike = [trial for trial in group if self.experiment.kernel_of(trial.params) == kernel]
                if alike:
                    yield alike, kernel, problem

    def _by_inputs(self, trials: Sequence[Trial]) -> Iterator[tuple[list[Trial], LearningProblem]]:
        """All trials with the problem they share, or those of a run where each has inputs of its own."""
        if not self.experiment.dataset.inputs_differ:
            yield list(trials), self.problem
            return
        for run in sorted({trial.run for trial in trials}):
            yield [trial for trial in trials if trial.run == run], self._problem(run)

    def flow(self, run: int) -> Flow:
        """The dataset of a run, where it passes by."""
        run = run if self.experiment.dataset.redraw else 0
        if run not in self._flows:
            self._flows[run] = passing.flow(self.experiment, self._cache, run)
        return self._flows[run]

    def _problem(self, run: int) -> LearningProblem:
        if self.experiment.dataset.stream:
            return passing.beginning(self.flow(run), self.experiment.dataset)[0]
        return load_problem(self.experiment, self._cache, run, self.data)[0]


def _finished(folder: Path, experiment: Experiment) -> dict[str, Record]:
    """The records that need not be made again: of runs that ended well, and tell their course as finely as asked."""
    return {key: found for key, found in recorded(folder).items() if has_curve(found, experiment.checkpoints)}


def _run_missing(
    missing: list[Trial],
    outcome: Outcome,
    store: Store,
    source: _Source,
    hands: Crew | Cluster,
    crew: Crew,
    quiet: bool,
) -> None:
    experiment = outcome.experiment
    alone = experiment.dataset.inputs_differ  # inputs of a single run have no Gram matrix worth keeping
    limit = 0.0 if alone else crew.gram_limit
    parts = parts_of(missing, max(1, hands.size))
    at = commit()
    places: dict[str, Workspace | Remote] = {}  # of each trial under way
    left: Counter[Workspace | Remote | None] = Counter()
    summary = _Summary(outcome.folder)
    sweep()
    with ProgressReport(experiment.name, len(missing), quiet) as progress, ExitStack() as workspaces:

        def tasks() -> Iterator[Task]:
            for trials, kernel, drawn in source.shared(missing):
                if experiment.dataset.stream:
                    yield from _streamed(
                        trials, kernel.fitted_to(drawn.X), drawn, at, outcome.folder, source, crew.save_every
                    )
                    continue
                progress.stage("kernel values")
                within = limit if limit != 0 and gram_pays(trials, experiment, drawn, source.n_train) else 0.0
                workspace: Workspace | Remote = hands.workspace(drawn, kernel, within)
                workspaces.callback(workspace.close)
                left[workspace] = len(trials)
                places.update(dict.fromkeys((trial.key for trial in trials), workspace))
                setting = Setting(experiment, kernel, drawn.without_inputs, workspace.path, at)
                progress.stage("")
                for unit in units(trials, workspace.has_gram, experiment, source.n_train, parts, hands.room):
                    yield Task(unit, setting)

        look = partial(under_way, outcome.folder / UNDER_WAY)
        with progress.watching(look), hands.at_work(tasks(), len(missing)) as results:
            for records in results:
                for record in records:
                    outcome.note(store.append(record))
                    workspace = places.pop(record["key"], None)
                    left[workspace] -= 1
                    if workspace and not left[workspace]:  # it makes room for the next one
                        workspace.close()
                if records:
                    store.sync()  # once for all of a unit
                    progress.advance(len(records))
                    forget(outcome.folder / UNDER_WAY, [record["key"] for record in records])
                summary.heard(records)


def _streamed(
    trials: list[Trial],
    kernel: Kernel,
    drawn: LearningProblem,
    at: str | None,
    folder: Path,
    source: _Source,
    save_every: float,
) -> Iterator[Task]:
    """The tasks of trials that go through a dataset that passes by."""
    for unit in units(trials, False, source.experiment, source.n_train, {}):
        setting = StreamedSetting(
            source.experiment, kernel, drawn.without_inputs, "", at,
            found=source.flow(unit.run), folder=folder / UNDER_WAY, save_every=save_every,
        )  # fmt: skip
        state = State(setting.folder, [trial.key for trial in unit.trials], at)
        if refusal := state.refusal():
            message = f"{state.path} is not gone on from, as {refusal}: the stream begins anew"
            warnings.warn(message, Notice, stacklevel=2)
        yield Task(unit, setting)


class _Summary:
    """Writes the summary now and then, so that a run that does not end withholds nothing from what is done."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._stale, self._next = folder, False, time.monotonic() + SUMMARY_INTERVAL

    def heard(self, records: Sequence[Record]) -> None:
        self._stale = self._stale or bool(records)
        begun = time.monotonic()
        if self._stale and begun >= self._next:
            write_summary(self._folder)
            self._stale = False
            taken = time.monotonic() - begun
            self._next = begun + max(SUMMARY_INTERVAL, taken / SUMMARY_SHARE)
