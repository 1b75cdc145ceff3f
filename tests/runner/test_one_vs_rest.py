"""Experiments with more classes than their learners take: one learner for each class, set against the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetbench.config import load
from budgetbench.datasets import Cache
from budgetbench.runner import Crew, run_experiment

CONFIG = """\
name: three
dataset: {name: csv, path: three.csv, label: y, multiclass: one_vs_rest, train_size: 90, test_size: 30}
kernel: {name: rbf, gamma: 0.5}
permutations: 2
algorithms:
  - {name: forgetron, budget: [5, 20]}
  - {name: kernel_matching_pursuit, budget: 5}
  - {name: fogd, n_components: 20}
  - {name: mira}
"""


def lines_of(folder: Path, text: str = CONFIG, **how: Any) -> dict[str, dict[str, Any]]:
    """The records by key, of a set with three classes, or with two."""
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    rows = [f"{a:.6f},{b:.6f},{'abc'[c]}" for (a, b), c in zip(X, y, strict=True)]
    (folder / "three.csv").write_text("\n".join(["a,b,y", *rows]), encoding="utf-8")
    (folder / "c.yaml").write_text(text.replace("three.csv", str(folder / "three.csv")), encoding="utf-8")
    crew = Crew(1, "threading", **how)
    run_experiment(load(folder / "c.yaml"), Cache(folder / "data", quiet=True), folder / "r", crew, quiet=True)
    found = [json.loads(line) for line in (folder / "r" / "three" / "trials.jsonl").read_text().splitlines()]
    return {line["key"]: line | dict.fromkeys(("train_seconds", "predict_seconds", "kernel_seconds")) for line in found}


@pytest.fixture
def records(tmp_path: Path) -> list[dict[str, Any]]:
    return list(lines_of(tmp_path).values())


def test_all_runs_end_well(records: list[dict[str, Any]]) -> None:
    assert [line.get("error") for line in records if line["status"] != "ok"] == []
    assert len(records) == 10
    assert all(line["test_error"] < 0.5 for line in records)
    forgetrons = [line for line in records if line["algorithm"] == "forgetron"]
    assert all(line["budget"] < line["support_size"] <= 3 * line["budget"] for line in forgetrons)
    assert all(line["insertions"] - line["removals"] == line["support_size"] for line in forgetrons)
    assert all(line["curve"]["support_size"][-1] == line["support_size"] for line in forgetrons)


@pytest.mark.usefixtures("gram_wanted")
def test_a_gram_matrix_and_a_shared_stream_give_the_same_records(tmp_path: Path) -> None:
    apart = [tmp_path / "gram", tmp_path / "stream"]
    for folder in apart:
        folder.mkdir()
    assert lines_of(apart[0]) == lines_of(apart[1], gram_limit=0)


def test_what_a_learner_of_several_classes_does_is_no_matter_of_it(tmp_path: Path) -> None:
    """MIRA takes them as they are; its runs are the same, and count as done."""
    both = lines_of(tmp_path)
    plain = CONFIG.replace("multiclass: one_vs_rest, ", "").split("  - {name: forgetron")[0] + "  - {name: mira}\n"
    alone = tmp_path / "alone"
    alone.mkdir()
    assert set(lines_of(alone, plain)) < set(both)
