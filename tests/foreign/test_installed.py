"""A package outside the tree, as CONTRIBUTING has it, is known to every command by its entry points."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from budgetbench import packages
from budgetbench.results.records import read_trials

PROJECT = Path(__file__).parents[2]
TEXT = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")

CONFIG = """\
name: mine
dataset: {name: rings, n: 200, train_size: 120, test_size: 80}
kernel: {name: rbf, gamma: 1}
permutations: 2
algorithms:
  - {name: forgetful, budget: [5, 10]}
  - {estimator: mylearners.rff:RFFSGD, params: {n_components: [5, 20]}, title: Random features + SGD}
  - {estimator: river.linear_model:LogisticRegression}
plots: [{kind: insertions}]
"""
#: Several commands in one process; each is to succeed.
COMMANDS = """\
import sys
from budgetbench.cli import main

for line in sys.argv[1:]:
    try:
        main(line.split())
    except SystemExit as end:
        if end.code:
            raise
"""


def install(folder: Path, version: str = "0.1") -> None:
    """Lay the package's files and its metadata into a folder, as pip does."""
    told = re.search(r"```toml\n# pyproject.toml\n(.*?)```", TEXT, re.DOTALL)
    assert told is not None
    package, metadata = folder / "mylearners", folder / f"mylearners-{version}.dist-info"
    for place in (package, metadata):
        place.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name, code in re.findall(r"```python\n# \w+/(?:\w+/)?(\w+\.py)\n(.*?)```", TEXT, re.DOTALL):
        (package / name).write_text(code, encoding="utf-8")
    points = re.findall(r'\[project\.entry-points\."(\S+)"\]\n((?:\w+ = ".+"\n)+)', told[1])
    assert [group for group, _ in points] == [f"budgetbench.{kind}" for kind in ("learners", "datasets", "plots")]
    written = "".join(f"[{group}]\n{lines}".replace('"', "") for group, lines in points)
    (metadata / "entry_points.txt").write_text(written, encoding="utf-8")
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: mylearners\nVersion: {version}\n", encoding="utf-8"
    )
    (metadata / "top_level.txt").write_text("mylearners\n", encoding="utf-8")


@pytest.fixture
def commands(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Gives commands in a folder with `c.yaml`, in a process that finds what is in `site`."""
    (tmp_path / "c.yaml").write_text(CONFIG, encoding="utf-8")

    def commands(*lines: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([str(tmp_path / "site"), str(PROJECT)])
        environment = {name: value for name, value in os.environ.items() if not name.startswith("BUDGETBENCH_")}
        return subprocess.run(
            [sys.executable, "-c", COMMANDS, *lines],
            cwd=tmp_path,
            env=environment | {"PYTHONPATH": path, "COLUMNS": "150"},
            capture_output=True,
            text=True,
        )

    return commands


def test_every_command_knows_what_a_package_adds(
    commands: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    pytest.importorskip("river")
    install(tmp_path / "site")
    asked = ["validate c.yaml", "run c.yaml --jobs 2", "run c.yaml --jobs 2", "list algorithms", "list datasets"]
    done = commands(*asked, "table results", "plot results", "report results --quiet")
    assert done.returncode == 0, done.stderr
    assert "c.yaml: ok, 10 trials in 2 runs" in done.stdout
    assert "10 runs done now, 0 before" in done.stdout
    assert "0 runs done now, 10 before" in done.stdout
    assert "Forgetful Perceptron (mylearners 0.1)" in done.stdout
    assert "(mylearners 0.1)" in next(line for line in done.stdout.splitlines() if line.startswith("rings"))
    folder = tmp_path / "results" / "mine"
    trials = read_trials(folder)
    assert (trials["status"] == "ok").all(), list(trials["error"])
    assert (folder / "figures" / "insertions.png").exists()
    assert "Random features + SGD | n components = 20" in (folder / "table.md").read_text(encoding="utf-8")
    assert "Random features + SGD" in (tmp_path / "results" / "report.html").read_text(encoding="utf-8")
    packages = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))["packages"]
    assert packages["mylearners"] == "0.1"
    assert "river" in packages

    for file in (tmp_path / "site" / "mylearners-0.1.dist-info").iterdir():
        text = file.read_text(encoding="utf-8").replace("0.1", "0.2")
        file.write_text(text, encoding="utf-8")
    renamed = commands("run c.yaml --dry-run")
    assert "mine: 0 runs done, 10 to run" in renamed.stdout, "the data and two learners are of another version"


def test_a_package_that_cannot_be_imported_is_left_out_with_a_notice(
    commands: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    install(tmp_path / "site")
    (tmp_path / "site" / "mylearners" / "forgetful.py").write_text("import nowhere\n", encoding="utf-8")
    done = commands("validate c.yaml")
    assert done.returncode == 2
    notice, *problems = done.stderr.splitlines()
    assert notice == (
        "budgetbench: algorithm forgetful of mylearners 0.1 is left out: ModuleNotFoundError: No module named 'nowhere'"
    )
    assert problems[0].startswith("budgetbench: c.yaml:6: algorithms[0].name: found 'forgetful'; accepted: ")


def test_code_that_is_not_installed_is_told_by_its_digest(
    commands: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """A class in the current folder: found there, and run anew once its file has changed."""
    (tmp_path / "own.py").write_text("from sklearn.naive_bayes import GaussianNB\n\nclass Own(GaussianNB): ...\n")
    text = CONFIG.split("dataset")[0] + "dataset: {name: gaussian, n: 80, train_size: 40, test_size: 40}\n"
    text += "kernel: {name: rbf, gamma: 1}\nalgorithms: [{estimator: own:Own, chunk: 10}]\n"
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    done = commands("run c.yaml --quiet --jobs 1 --backend threading", "run c.yaml --dry-run")
    assert "mine: 1 runs done, 0 to run" in done.stdout, done.stderr
    with (tmp_path / "own.py").open("a") as file:
        file.write("# changed\n")
    assert "mine: 0 runs done, 1 to run" in commands("run c.yaml --dry-run").stdout


def test_a_package_that_does_not_list_its_modules_is_found_by_its_files() -> None:
    """As Python 3.10 has to find scikit-learn, whose package is called otherwise than its module."""
    found = packages._holder("sklearn")
    assert found is not None
    assert found.name == "scikit-learn"
    assert packages._holder("nothing_of_this_name") is None
