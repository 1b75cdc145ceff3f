"""One pass of each online learner over Adult9, with the Gram matrix shared and streamed, against its floor.

The floor is the arithmetic that no arrangement avoids: with the Gram matrix, one row of it for each example that is
stored or discarded, and for the Projectrons the products with the factor of K, |S|² operations for each example; in a
stream, on top of that, the kernel values of the arriving examples with those stored. Each pass runs in a process of its
own, once to warm up and then measured; times are processor time, memory is the largest resident set while streaming.

    python benchmarks/orabona.py [CONFIG]
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from floors import kernel_floor, peak_memory, projections_floor, updates_floor

from budgetbench.config import load
from budgetbench.datasets import Cache
from budgetbench.engine.kernel_access import KernelAccess, Streamed
from budgetbench.engine.online import OnlineLearner
from budgetbench.experiment import Experiment
from budgetbench.lazy import one_thread
from budgetbench.learners import learners
from budgetbench.learners.projecting.common import ProjectingLearner
from budgetbench.runner.plan import Trial
from budgetbench.runner.workspace import Workspace, open_access
from budgetbench.streams import LearningProblem, Stream, load_problem, make_learner, stream_of


@dataclass(frozen=True)
class Task:
    """One pass of one learner."""

    experiment: Experiment
    problem: LearningProblem  # with X left out
    workspace: str
    trial: Trial
    streamed: bool


@dataclass(frozen=True)
class Outcome:
    seconds: float
    floor: float
    mistakes: float
    stored: int
    megabytes: float


def measure(task: Task) -> Outcome:
    """Run one pass twice; the second one counts."""
    with one_thread():
        stream = stream_of(task.problem, task.experiment, 0)
        if task.streamed:
            X = np.load(Path(task.workspace) / "X.npy")[: task.problem.n_train]
            access: KernelAccess = Streamed(task.experiment.kernel, X)
        else:
            _, access = open_access(task.workspace, task.experiment.kernel)
        for _ in range(2):
            model, seconds = one_pass(task, access, stream)
        megabytes = (peak_memory() or 0) / 1e6
        floor = updates_floor(model) if not isinstance(model, ProjectingLearner) else projections_floor(model)
        if task.streamed:
            floor += kernel_floor(model, task.experiment.kernel, access.X)
    return Outcome(seconds, floor, model.mistakes_ / len(stream.order), model.outcome().size, megabytes)


def one_pass(task: Task, access: KernelAccess, stream: Stream) -> tuple[OnlineLearner, float]:
    model = make_learner(task.experiment, task.trial.algorithm, task.trial.params, 0, len(task.problem.classes))
    model.start(task.problem.classes, access.X.shape[1])
    begun = time.process_time()
    model.learn(access, stream.labels, stream.order)
    return model, time.process_time() - begun


def main(config: str = "configs/adult9.yaml") -> None:
    experiment = load(config, permutations=1)
    cache = Cache(os.environ.get("BUDGETBENCH_DATA", "data"), os.environ.get("BUDGETBENCH_MIRROR"), quiet=True)
    problem, _ = load_problem(experiment, cache)
    begun = time.process_time()
    with (
        Workspace(problem, experiment.kernel, limit=np.inf, jobs=os.cpu_count() or 1) as workspace,
        multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool,
    ):
        print(f"{experiment.title}, {problem.n_train} examples: Gram matrix {time.process_time() - begun:.1f} s")
        print(f"{'':58} {'':>17} {'Gram matrix shared':>22} {'streamed':>31}")
        for name, sets in ((algorithm.name, algorithm.trials) for algorithm in experiment.algorithms):
            for params in sets if issubclass(learners[name], OnlineLearner) else []:
                trial = Trial(name, params, 0, "")
                task = Task(experiment, replace(problem, X=problem.X[:, :0]), workspace.path, trial, streamed=False)
                kept, streamed = pool.map(measure, [task, replace(task, streamed=True)], chunksize=1)
                told = {key: params[key] for key in ("budget", "bound_budget", "progress") if params.get(key)}
                label = f"{name} {' '.join(f'{key}={value}' for key, value in told.items())}"
                print(
                    f"{label:58} {kept.mistakes:8.2%} {kept.stored:8d}"
                    f" {kept.seconds:7.2f} s {kept.seconds / kept.floor:4.1f} × floor"
                    f" {streamed.seconds:7.2f} s {streamed.seconds / streamed.floor:4.1f} × floor"
                    f" {streamed.megabytes:5.0f} MB",
                    flush=True,
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
