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
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from budgetbench.config import load
from budgetbench.datasets import Cache
from budgetbench.engine.arrivals import BLOCK
from budgetbench.engine.kernel_access import KernelAccess, Streamed
from budgetbench.engine.online import OnlineLearner
from budgetbench.experiment import Experiment
from budgetbench.kernels import Kernel
from budgetbench.lazy import one_thread
from budgetbench.learners import learners
from budgetbench.learners.projecting.common import ProjectingLearner
from budgetbench.learners.projecting.span import BATCH, PANEL
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
        megabytes = peak_memory() / 1e6
        floor = updates_floor(model) if not isinstance(model, ProjectingLearner) else projections_floor(model)
        if task.streamed:
            floor += kernel_floor(model, task.experiment.kernel, access)
    return Outcome(seconds, floor, model.mistakes_ / len(stream.order), model.outcome().size, megabytes)


def peak_memory() -> int:
    """The largest resident set of this process so far, in bytes (Linux); `getrusage` counts its parent too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def one_pass(task: Task, access: KernelAccess, stream: Stream) -> tuple[OnlineLearner, float]:
    model = make_learner(task.experiment, task.trial.algorithm, task.trial.params, 0, len(task.problem.classes))
    model.start(task.problem.classes, access.X.shape[1])
    begun = time.process_time()
    model.learn(access, stream.labels, stream.order)
    return model, time.process_time() - begun


def fastest(work: Callable[[], object], times: int = 5) -> float:
    found = []
    for _ in range(times):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def updates_floor(model: OnlineLearner) -> float:
    """A row of kernel values added to the scores for each example stored or discarded."""
    rows = np.random.default_rng(0).random((200, len(model.margins_)), dtype=np.float32)
    scores = np.zeros(rows.shape[1])

    def add() -> None:
        for row in rows:
            np.add(scores, row, out=scores)

    return fastest(add) / len(rows) * (model.insertions_ + model.removals_)


def projections_floor(model: OnlineLearner) -> float:
    """The coordinates of all examples: a product with a triangle of |S| rows, as long as the set was at the time."""
    random = np.random.default_rng(0)
    A, B = random.random((BATCH, 4 * PANEL)), random.random((4 * PANEL, PANEL))
    rate = 2 * A.size * B.shape[1] / fastest(lambda: A @ B)
    return float((model.sizes_[::BATCH].astype(float) ** 2).sum()) * BATCH / rate


def kernel_floor(model: OnlineLearner, kernel: Kernel, access: KernelAccess) -> float:
    """Each arriving example with those stored, and with those of its block that are stored."""
    n, size = len(model.sizes_), int(model.sizes_.max())
    X, Z = access.X[:BLOCK], access.X[:size]
    return fastest(lambda: kernel.matrix(X, Z), 2) / len(X) / len(Z) * float(model.sizes_.sum()) if n and size else 0.0


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
