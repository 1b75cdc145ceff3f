"""One pass of each learner over USPS with 10 % label noise, in processor time, against the floor.

The floor is the Gram matrix of the training set, which every pass needs in one way or another.

    python benchmarks/one_pass.py [CONFIG]
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

from budgetbench.config import load
from budgetbench.datasets import Cache
from budgetbench.engine.kernel_access import Gram, KernelAccess, Streamed
from budgetbench.engine.online import OnlineLearner
from budgetbench.lazy import one_thread
from budgetbench.learners import learners
from budgetbench.runner.execute import warm_up
from budgetbench.runner.plan import Trial
from budgetbench.streams import Stream, load_problem, make_learner, stream_of


def seconds(trial: Trial, experiment: object, access: KernelAccess, stream: Stream, classes: np.ndarray) -> float:
    """Processor time of one pass."""
    model = make_learner(experiment, trial.algorithm, trial.params, trial.run, len(classes))
    model.start(classes, access.X.shape[1])
    begun = time.process_time()
    model.learn(access, stream.labels, stream.order)
    return time.process_time() - begun


def main(config: str) -> None:
    experiment = load(config, permutations=1)
    cache = Cache(os.environ.get("BUDGETBENCH_DATA", "data"), os.environ.get("BUDGETBENCH_MIRROR"), quiet=True)
    problem, _ = load_problem(experiment, cache)
    stream = stream_of(problem, experiment, 0)
    X = problem.X[: problem.n_train]
    warm_up([Trial(entry.name, dict(entry.trials[0]), 0, "") for entry in experiment.algorithms], experiment.kernel)
    with one_thread():
        begun = time.process_time()
        gram = experiment.kernel.matrix(X, X)
        floor = time.process_time() - begun
        print(f"{experiment.title}: {len(X)} examples; Gram matrix (the floor) {floor:.2f} s")
        print(f"{'':60}  {'shared':>8}  {'of floor':>8}  {'streamed':>8}  {'of floor':>8}")
        for entry in experiment.algorithms:
            name = entry.name
            if not issubclass(learners[name], OnlineLearner):
                continue
            for params in map(dict, entry.trials):
                trial = Trial(name, params, 0, "")
                shared = seconds(trial, experiment, Gram(gram, X), stream, problem.classes)
                streamed = seconds(trial, experiment, Streamed(experiment.kernel, problem.X), stream, problem.classes)
                chosen = {key: value for key, value in params.items() if key in ("budget", "removal", "evaluate")}
                label = f"{name} {' '.join(f'{key}={value}' for key, value in chosen.items())}"
                print(f"{label:60}  {shared:7.2f}s  {shared / floor:8.2f}  {streamed:7.2f}s  {streamed / floor:8.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:] or ["configs/usps_noise10.yaml"])
