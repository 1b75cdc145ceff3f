"""MIRA on a stream: what an example costs as the stream goes on, and what a whole cohort costs that shares it.

Each size gets the same stream. For a fixed cache the time for a block of examples must not grow once it is full. Times
are processor time of one core; the kernel values of a block are computed once for all and are shown apart.
`benchmarks/main_job.py configs/fig4_mnist.yaml` measures the whole job.

    python benchmarks/crammer.py [CONFIG [EXAMPLES]]
"""

from __future__ import annotations

import os
import sys
import time
from itertools import pairwise

from budgetbench.config import load
from budgetbench.datasets import Cache
from budgetbench.engine.arrivals import BLOCK, Arrivals, SharedBlock
from budgetbench.engine.kernel_access import Streamed
from budgetbench.lazy import one_thread
from budgetbench.learners import MIRA
from budgetbench.runner.execute import warm_up
from budgetbench.runner.plan import Trial
from budgetbench.streams import load_problem, make_learner, stream_of

COLUMNS = 6  # of the stream, each with its mean time for a block


def main(config: str = "configs/fig4_mnist.yaml", examples: str = "20000") -> None:
    experiment = load(config, permutations=1)
    cache = Cache(os.environ.get("BUDGETBENCH_DATA", "data"), os.environ.get("BUDGETBENCH_MIRROR"), quiet=True)
    problem, _ = load_problem(experiment, cache)
    stream = stream_of(problem, experiment, 0)
    access = Streamed(experiment.kernel, problem.X)
    sets = [dict(params) for entry in experiment.algorithms if entry.name == "mira" for params in entry.trials]
    warm_up([Trial("mira", params, 0, "") for params in sets], experiment.kernel)
    models = [make_learner(experiment, "mira", params, 0, len(problem.classes)) for params in sets]
    cohort = [model for model in models if isinstance(model, MIRA)]
    for model in cohort:
        model.start(problem.classes, problem.X.shape[1])
        model.open(access, stream.labels)
        model.begin_pass()
    order = stream.order[: int(examples)]
    blocks = [order[start : start + BLOCK] for start in range(0, len(order) - BLOCK + 1, BLOCK)]
    shared: list[float] = []
    own: list[list[float]] = [[] for _ in cohort]
    with one_thread():
        for rows in blocks:
            begun = time.process_time()
            source = SharedBlock(access, rows, [model.kept() for model in cohort])
            shared.append(time.process_time() - begun)
            for model, times in zip(cohort, own, strict=True):
                begun = time.process_time()
                model.see(Arrivals(rows, stream.labels, access, source))
                times.append(time.process_time() - begun)
    for model in cohort:
        model.close(access)
    show(experiment.title, len(blocks), cohort, shared, own)


def show(title: str, n: int, cohort: list[MIRA], shared: list[float], own: list[list[float]]) -> None:
    """Milliseconds for a block, as means over consecutive parts of the stream."""
    cuts = [round(n * part / COLUMNS) for part in range(COLUMNS + 1)]
    print(f"{title}: {n} blocks of {BLOCK}; milliseconds for a block, as the stream goes on")

    def line(name: str, times: list[float], stored: str = "") -> None:
        means = [1e3 * sum(times[a:b]) / max(1, b - a) for a, b in pairwise(cuts)]
        print(f"{name:24}" + "".join(f"{mean:9.1f}" for mean in means) + f"{sum(times):9.2f} s  {stored}")

    line("kernel values", shared)
    for model, times in zip(cohort, own, strict=True):
        line(f"{model.size} {model.budget or ''}", times, f"{model.outcome().size} stored")


if __name__ == "__main__":
    main(*sys.argv[1:])
