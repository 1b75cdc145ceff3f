"""A small experiment on generated data, and learners that exist for these tests alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.results import read_records

from budgetbench.config import load
from budgetbench.datasets import Cache
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.expansion import Block, Expansion
from budgetbench.experiment import Experiment
from budgetbench.learners import Perceptron, learners
from budgetbench.parameters import NonNegative
from budgetbench.runner import Crew, Outcome, run_experiment, workspace

CONFIG = """\
name: tiny
dataset: {name: gaussian, n: 160, train_size: 100, test_size: 60}
label_noise: {rate: 0.1}
kernel: {name: rbf, gamma: 1}
permutations: 2
checkpoints: 4
algorithms:
  - name: perceptron
  - {name: budget_perceptron, budget: [5, 9]}
  - {name: tighter_budget_perceptron, budget: 5, removal: [after_insertion, before_insertion]}
  - {name: svm, C: 1}
"""
TRIALS = 12
#: What may differ between two calls that ask for the same.
SECONDS = ("train_seconds", "kernel_seconds", "predict_seconds")


@pytest.fixture
def shared_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands in for the system's shared memory, so that what is left there can be seen."""
    folder = tmp_path / "memory"
    folder.mkdir()
    monkeypatch.setattr(workspace, "MEMORY_FILES", folder)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def experiment(tmp_path: Path) -> Callable[..., Experiment]:
    """Loads the small experiment, or another one, with overrides."""

    def experiment(*overrides: str, text: str = CONFIG, **how: Any) -> Experiment:
        path = tmp_path / "tiny.yaml"
        path.write_text(text, encoding="utf-8")
        return load(path, overrides, **how)

    return experiment


@pytest.fixture
def execute(tmp_path: Path, experiment: Any, shared_memory: Path) -> Callable[..., Outcome]:
    """Runs the small experiment into a folder; by default one run at a time in this process."""

    def execute(*overrides: str, into: str = "results", text: str = CONFIG, **how: Any) -> Outcome:
        cache = Cache(tmp_path / "data", quiet=True)
        wanted = experiment(*overrides, text=text)
        asked = {name: how.pop(name) for name in ("only", "fresh", "dry", "shard") if name in how}
        crew = Crew(**({"jobs": 1, "backend": "threading"} | how))
        return run_experiment(wanted, cache, tmp_path / into, crew, quiet=True, **asked)

    return execute


def read(folder: Path) -> dict[str, dict[str, Any]]:
    """The records of a folder by key, without what may differ."""
    return {
        record["key"]: {name: record[name] for name in record if name not in SECONDS} for record in read_records(folder)
    }


@pytest.fixture
def records() -> Callable[[Path], dict[str, dict[str, Any]]]:
    return read


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Registers a learner that raises `broken["raise"]` as an error, if that is not None."""
    monkeypatch.setattr(learners, "_items", dict(learners._items))
    state: dict[str, Any] = {"raise": "the kernel matrix caught fire\nand burned down"}

    @learner("broken", title="Broken", color="k", marker="x")
    class Broken(Perceptron):
        beta: NonNegative = 0.0

        def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
            if state["raise"] is not None:
                raise ValueError(state["raise"])
            super()._visit(block, f, rounds)

    return state
