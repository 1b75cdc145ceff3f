"""A small configuration in a folder of its own, and a way to call commands in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from budgetbench.cli import main
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.expansion import Block, Expansion
from budgetbench.learners import Perceptron, learners
from budgetbench.parameters import NonNegative

CONFIG = """\
name: tiny
title: A tiny experiment
dataset: {name: gaussian, n: 160, train_size: 100, test_size: 60}
kernel: {name: rbf, gamma: 1}
permutations: 2
algorithms:
  - name: perceptron
  - {name: budget_perceptron, budget: [5, 9]}
  - {name: svm, C: 1}
"""


class Answer(NamedTuple):
    code: int
    out: str
    err: str


Call = Callable[..., Answer]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with `c.yaml` in it, and an environment without settings."""
    for name in ("DATA", "RESULTS", "MIRROR"):
        monkeypatch.delenv(f"BUDGETBENCH_{name}", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    Path("c.yaml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def call(*arguments: object) -> Answer:
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        code = caught.value.code
        return Answer(int(code or 0) if not isinstance(code, str) else 1, *capsys.readouterr())

    return call


@pytest.fixture
def run(call: Call) -> Call:
    """`budgetbench run` in this process, which is quicker than to start workers."""
    return lambda *arguments: call("run", *arguments, "--jobs", 1, "--backend", "threading")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "_items", dict(learners._items))

    @learner("broken", title="Broken", color="k", marker="x")
    class Broken(Perceptron):
        beta: NonNegative = 0.0

        def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
            raise FloatingPointError("nothing adds up")


@pytest.fixture
def config() -> str:
    """The text of `c.yaml`."""
    return CONFIG
