"""Made-up results with a known outcome."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from budgetbench.verdicts.selection import Archive, View

Record = dict[str, Any]
Write = Callable[..., View]


def records_of(algorithm: str, params: Record | None = None, **measures: list[Any]) -> list[Record]:
    """The records of one parameter set: each measure is a list with a value for each run."""
    params = params or {}
    count = max(len(values) for values in measures.values())
    fixed = {"status": "ok", "algorithm": algorithm, "params": params, "budget": params.get("budget")}
    return [
        fixed
        | {"key": json.dumps([algorithm, params, run]), "run": run, "seed": 0, "train_size": 100, "test_size": 50}
        | {name: values[run] for name, values in measures.items()}
        for run in range(count)
    ]


@pytest.fixture
def trials() -> Callable[..., list[Record]]:
    """`records_of`, as test files cannot import from here."""
    return records_of


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write an experiment's folder, named `made_up` unless said otherwise, and look at it."""

    def written(*sets: list[Record], name: str = "made_up", **experiment: Any) -> View:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        records = [record for one in sets for record in one]
        entries = {json.dumps([record["algorithm"], record["params"]]): record for record in records}.values()
        selects = experiment.pop("selects", ())
        config = {
            "name": name,
            "seed": 0,
            "dataset": {"name": "usps"},
            "kernel": {"name": "rbf", "gamma": 0.02},
            "permutations": max(record["run"] for record in records) + 1,
            "algorithms": _entries(entries, selects),
        } | experiment
        (folder / "experiment.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / "trials.jsonl").write_text(lines, encoding="utf-8")
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
