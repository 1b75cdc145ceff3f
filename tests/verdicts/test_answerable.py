"""Every published number and claim can be told from what the configurations plan: found without running any of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.results import Record, record, write_results

from budgetbench.config import load
from budgetbench.engine.bounds import Comparators
from budgetbench.experiment import Experiment
from budgetbench.results.comparators import write_comparators
from budgetbench.results.sizes import budget_of
from budgetbench.verdicts import Verdict, check, papers, words
from budgetbench.verdicts.statistics import FEW

CONFIGS = Path(__file__).parents[2] / "configs"
SEEN = [10, 20, 40, 60, 80, 100]


def planned(experiment: Experiment, runs: int) -> Iterator[Record]:
    """A made-up record of each run: a budget is filled, and who has none stores more than half of them hold."""
    budgets = sorted({budget for _, params in experiment.parameter_sets if (budget := budget_of(params))})
    for number, (algorithm, params) in enumerate(experiment.parameter_sets):
        size = budget_of(params) or (budgets[len(budgets) // 2] if budgets else 10)
        for run in range(runs):
            error = 0.1 + 0.001 * (number + 1) * (run + 1) / runs
            curve = {"seen": SEEN, "online_error": [4 * error - 0.02 * i for i in range(len(SEEN))]}
            values: dict[str, Any] = {
                "test_error": error,
                "online_error": error,
                "support_size": size,
                "train_seconds": 1.0 + number + run,
                "kernel_seconds": 0.5,
                "curve": curve | {"support_size": [size * (i + 1) // len(SEEN) for i in range(len(SEEN))]},
                **dict.fromkeys(("margin_errors", "insertions"), 50 + number + run),
                **dict.fromkeys(("removals", "kernel_evaluations", "online_mistakes"), 20 + number + run),
                **{"train_size": 100, "test_size": 50, "seed": experiment.seed},
            }
            yield record(algorithm.name, params, run, **values)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    root = tmp_path_factory.mktemp("planned")
    for name in {name for paper in papers() for name in paper.datasets}:
        experiment = load(CONFIGS / f"{name}.yaml")
        folder = write_results(root / name, planned(experiment, FEW), **experiment.resolved() | {"permutations": FEW})
        loose = Comparators(np.zeros(1), np.full(1, 1000.0), 1.0)
        write_comparators(folder, {experiment.examples_key("", run): loose for run in range(FEW)})
    return check(root)


def test_each_comes_to_something(verdicts: list[Verdict]) -> None:
    assert not [f"{one.id}: {words.reason(one.reason)}" for one in verdicts if one.found is None]
    assert len(verdicts) > 250
