"""A small configuration in a folder of its own, and a way to call commands in this process."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from budgetbench.cli import main
from budgetbench.config import load
from budgetbench.datasets import Cache
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.expansion import Block, Expansion
from budgetbench.learners import Perceptron, learners
from budgetbench.parameters import NonNegative
from budgetbench.runner import Crew, run_experiment

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

    @property
    def short(self) -> bool:
        """What was said, beside the progress of runs, is one short message."""
        said = re.sub(r".*: \d+/\d+ runs, .*\n", "", self.err)
        once = said.startswith("budgetbench: ") and said.count("budgetbench: ") == 1 and said.endswith("\n")
        return once and "Traceback" not in said and len(said) < 1000


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


NAME = "usps_noise10"  # so that `check` looks into it
CHECKED = f"""\
name: {NAME}
reproduces: {{paper: weston2005, item: Figure 10}}
dataset: {{name: gaussian, n: 160, train_size: 100, test_size: 60}}
kernel: {{name: rbf, gamma: 1}}
permutations: 1
checkpoints: 4
algorithms: [{{name: perceptron}}, {{name: budget_perceptron, budget: [5, 9]}}]
"""


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("finished")
    (root / "c.yaml").write_text(CHECKED, encoding="utf-8")
    cache = Cache(root / "data", quiet=True)
    run_experiment(load(root / "c.yaml"), cache, root / "results", Crew(1, "threading"), quiet=True)
    return root


@pytest.fixture
def sound(finished: Path, folder: Path) -> Path:
    """A folder of results with three runs as they should be, for a test to damage; `c.yaml` is its configuration."""
    shutil.copytree(finished, folder, dirs_exist_ok=True)
    return Path("results", NAME)


@pytest.fixture
def contents() -> Callable[[], dict[str, bytes]]:
    """What all files of results hold now."""
    return lambda: {str(path): path.read_bytes() for path in sorted(Path("results").rglob("*")) if path.is_file()}
