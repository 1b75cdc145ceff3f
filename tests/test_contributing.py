"""The examples of CONTRIBUTING: each is one file, and with it alone what it adds is run, listed and drawn."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.examples import files

from budgetbench.archive import plot_experiment, read_results
from budgetbench.cli.listing import list_
from budgetbench.datasets import datasets
from budgetbench.kernels import kernels
from budgetbench.learners import learners
from budgetbench.plots import figures
from budgetbench.registry import Registry
from budgetbench.results import table
from budgetbench.results.formats import document
from budgetbench.runner import run

PROJECT = Path(__file__).parents[1]
TEXT = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = files(TEXT, r"budgetbench/\w+/\w+\.py")

CONFIG = """
name: example
dataset: {name: gaussian, n: 100, train_size: 60, test_size: 40}
kernel: {name: rbf, gamma: 1}
algorithms: [{name: perceptron}]
"""
#: How a configuration names what a package holds, and how `list` calls it.
USES: dict[str, tuple[Registry, str, str]] = {
    "kernels": (kernels, "kernel={{name: {}}}", "kernels"),
    "datasets": (datasets, "dataset={{name: {}, train_size: 60, test_size: 40}}", "datasets"),
    "learners": (learners, "algorithms=[{{name: {}, budget: 10}}]", "algorithms"),
    "plots": (figures, "plots=[{{kind: {}}}]", ""),
}


def test_there_is_one_of_each() -> None:
    assert {"kernels", "datasets", "learners", "plots"} <= {path.split("/")[1] for path, _ in EXAMPLES}


@pytest.mark.parametrize(("path", "code"), EXAMPLES, ids=[path for path, _ in EXAMPLES])
def test_one_file_is_all_it_takes(
    path: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package, stem = Path(path).parent.name, Path(path).stem
    registry, use, listed = USES[package]
    monkeypatch.setattr(registry, "_items", dict(registry._items))
    before = set(registry)
    file = tmp_path / f"{stem}.py"
    file.write_text(code, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"budgetbench.{package}.{stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    (name,) = set(registry) - before

    config, results = tmp_path / "c.yaml", tmp_path / "results"
    config.write_text(CONFIG, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    trials = run(config, jobs=1, results=results, backend="threading", overrides=[use.format(name)])
    assert (trials["status"] == "ok").all()
    read = read_results(results / "example")
    assert document(table(read.summary, read.experiment))
    drawn = plot_experiment(results / "example")
    if package == "plots":
        assert {file.stem for file in drawn} == {name}
    else:
        list_(listed, data=tmp_path)
        assert name in capsys.readouterr().out


def test_a_paper_is_one_file_too(tmp_path: Path) -> None:
    """In a copy of the package with this file more, its number and its claim stand beside what was run."""
    ((path, code),) = files(TEXT, r"budgetbench/published/\w+\.yaml")
    shutil.copytree(PROJECT / "budgetbench", tmp_path / "budgetbench", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / path).write_text(code, encoding="utf-8")
    config = tmp_path / "c.yaml"
    reproduces = f"reproduces: {{paper: {Path(path).stem}, item: Table 1}}\n"
    more = "algorithms: [{name: perceptron}, {name: stoptron, budget: 10}]\npermutations: 5\n"
    config.write_text(re.sub("algorithms:.*\n", more, CONFIG) + reproduces, encoding="utf-8")
    run(config, jobs=1, results=tmp_path / "results", backend="threading")
    done = subprocess.run(
        [sys.executable, "-m", "budgetbench", "check", "results", "--format", "csv"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(Path(path).stem)]
    assert len(lines) == 3, done.stderr
    assert not any("not run" in line for line in lines)
