"""The commands that show, check and fetch."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import budgetbench
from budgetbench.config import load
from budgetbench.datasets import datasets
from budgetbench.kernels import kernels
from budgetbench.learners import learners

PROJECT = Path(budgetbench.__file__).resolve().parents[1]

Call = Callable[..., Any]


# -- show -------------------------------------------------------------------------------------------------------------


def test_tables_in_every_format(run: Call, call: Call) -> None:
    run("c.yaml", "-q")
    text = call("table").out
    assert "A tiny experiment" in text
    assert "Budget Perceptron" in text
    assert re.search(r"^\|.*\|$", call("table", "results", "--format", "markdown").out, re.MULTILINE)
    assert r"\begin{tabular}" in call("table", "--format", "latex").out
    rows = list(csv.reader(io.StringIO(call("table", "results/tiny", "--format", "csv").out)))
    assert len(rows) >= 5
    assert len({len(row) for row in rows}) == 1


def test_figures_are_drawn_and_named(run: Call, call: Call) -> None:
    run("c.yaml", "-q")
    answer = call("plot")
    assert answer.code == 0
    written = [Path(line) for line in answer.out.split()]
    assert {path.suffix for path in written} >= {".png", ".pdf"}
    assert all(path.exists() and path.stat().st_size > 100 for path in written)
    assert list(Path("results/tiny/figures").glob("*.csv"))
    assert call("plot", "results/tiny", "--quiet") == (0, "", "")


@pytest.mark.parametrize("command", ["table", "plot"])
def test_results_that_are_not_there(call: Call, command: str) -> None:
    answer = call(command)
    assert answer.code == 2
    assert answer.short
    assert "results" in answer.err
    assert "budgetbench run CONFIG" in answer.err
    Path("results").mkdir()
    assert call(command).code == 2


def test_lists_name_everything(call: Call) -> None:
    for kind, names in (("algorithms", learners), ("datasets", datasets), ("kernels", kernels)):
        answer = call("list", kind)
        assert answer.code == 0
        first = {line.split()[0] for line in answer.out.splitlines() if line.strip()}
        assert set(names) <= first
    assert "budget" in call("list", "algorithms").out
    assert "flips" in call("list", "datasets").out


def test_configs_are_listed_by_title(call: Call) -> None:
    answer = call("list", "configs", "--configs", ".")
    assert answer.code == 0
    assert "c.yaml" in answer.out
    assert "A tiny experiment" in answer.out
    Path("empty").mkdir()
    empty = call("list", "configs", "--configs", "empty")
    assert empty.code == 2
    assert "no configurations in empty" in empty.err
    shipped = call("list", "configs", "--configs", PROJECT / "configs")
    assert all(path.stem in shipped.out for path in (PROJECT / "configs").glob("*.yaml"))


TABLE = """\
name: table
dataset: {name: csv, path: table.csv}
kernel: {name: rbf, gamma: 1}
algorithms:
  - {name: mira, size: unlimited}
  - name: perceptron
"""


@pytest.mark.parametrize("command", [["validate"], ["run", "--dry-run"], ["run"]])
def test_a_learner_of_two_classes_is_refused_a_table_of_three(call: Call, command: list[str]) -> None:
    Path("table.yaml").write_text(TABLE, encoding="utf-8")
    Path("table.csv").write_text("1,x\n2,y\n3,z\n", encoding="utf-8")
    answer = call(*command, "table.yaml")
    assert answer.code == 2
    assert answer.short
    for words in ("table.yaml:6: algorithms[1].name: found 'perceptron'", "csv has 3 classes", "dataset.positive"):
        assert words in answer.err
    assert not Path("results").exists()
    assert call("run", "table.yaml", "--dry-run", "--only", "mira").code == 0
    assert call(*command, "table.yaml", "--set", "dataset.positive=z").code == 0 or command == ["validate"]


def test_validate_looks_into_a_file_that_is_there(call: Call) -> None:
    Path("table.yaml").write_text(TABLE, encoding="utf-8")
    assert call("validate", "table.yaml").code == 0
    Path("table.csv").write_text("a,k\n1,x\nb,y\n", encoding="utf-8")
    answer = call("validate", "table.yaml")
    assert (answer.code, answer.short) == (1, True)
    assert "column a: found 'b' (line 3)" in answer.err
    Path("table.csv").write_text("a,k\n1,x\n2,y\n", encoding="utf-8")
    Path("table.yaml").write_text(TABLE.replace("table.csv}", "table.csv, positive: z}"), encoding="utf-8")
    answer = call("validate", "table.yaml")
    assert (answer.code, answer.short) == (2, True)
    assert "table.yaml:2: dataset.positive: found 'z'" in answer.err


def test_validate_says_what_would_be_run(call: Call, config: str) -> None:
    assert call("validate", "c.yaml") == (0, "c.yaml: ok, 8 trials in 2 runs\n", "")
    Path("wrong.yaml").write_text(config.replace("rbf", "rfb"), encoding="utf-8")
    both = call("validate", "wrong.yaml", "c.yaml")
    assert both.code == 2
    assert "c.yaml: ok" in both.out
    assert "wrong.yaml:4" in both.err


def test_a_resolved_configuration_is_valid(run: Call, call: Call) -> None:
    run("c.yaml", "-q", "--permutations", 1)
    assert call("validate", "results/tiny/experiment.yaml").code == 0
    assert load("results/tiny/experiment.yaml").permutations == 1


# -- fetch ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every connection is refused at once."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("time.sleep", lambda seconds: None)


def test_fetch_without_a_network_says_what_to_do(call: Call, offline: None) -> None:
    answer = call("fetch", "letter", "--quiet")
    assert answer.code == 1
    assert answer.short
    for told in ("letter", "--mirror", "BUDGETBENCH_MIRROR", "data", Path(datasets["letter"].files[0]).name):
        assert told in answer.err
    assert not list(Path().rglob("*.part*"))


def test_one_dataset_that_cannot_be_had_does_not_stop_the_others(call: Call, offline: None) -> None:
    answer = call("fetch", "banana", "digits")
    assert answer.code == 1
    assert "digits: nothing to fetch" in answer.out


def test_fetch_of_an_unknown_dataset(call: Call) -> None:
    answer = call("fetch", "bananna")
    assert answer.code == 2
    assert answer.short
    assert "Did you mean 'banana'?" in answer.err


def test_fetch_of_nothing(call: Call) -> None:
    answer = call("fetch")
    assert answer.code == 2
    assert "name datasets, or give --all" in answer.err
