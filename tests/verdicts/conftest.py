"""Made-up results with a known outcome."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.results import Record, write_results

from budgetbench.verdicts.selection import Archive, View

Write = Callable[..., View]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write an experiment's folder, named `made_up` unless said otherwise, and look at it."""

    def written(*sets: list[Record], name: str = "made_up", **experiment: Any) -> View:
        runs = [record for one in sets for record in one]
        entries = {json.dumps([record["algorithm"], record["params"]]): record for record in runs}.values()
        config = {
            "dataset": {"name": "usps"},
            "kernel": {"name": "rbf", "gamma": 0.02},
            "permutations": max(record["run"] for record in runs) + 1,
            "algorithms": _entries(entries, experiment.pop("selects", ())),
        }
        write_results(tmp_path / name, runs, **(config | experiment))
        return View(Archive(tmp_path), name)

    return written


def _entries(records: Any, selects: Any) -> list[Record]:
    """The configuration's algorithms; those in `selects` are one entry with a grid of C, of which the best counts."""
    entries = [{"name": record["algorithm"], **record["params"]} for record in records]
    kept = [entry for entry in entries if entry["name"] not in selects]
    for name in selects:
        values = [entry["C"] for entry in entries if entry["name"] == name]
        kept.append({"name": name, "C": values, "select": "test_error"})
    return kept
