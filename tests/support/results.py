"""Results made by hand: records of runs, and the folder of an experiment that holds them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

Record = dict[str, Any]


def record(algorithm: str, params: Record | None = None, run: int = 0, **values: Any) -> Record:
    """The record of a run that ended well; its key is what tells it apart."""
    params = params or {}
    key = json.dumps([algorithm, params, run, values.get("seed", 0), values.pop("kernel", "")])
    fixed = {"key": key, "status": "ok", "algorithm": algorithm, "params": params, "run": run, "seed": 0}
    return fixed | {"budget": params.get("budget")} | values


def records(algorithm: str, params: Record | None = None, **measures: list[Any]) -> list[Record]:
    """The records of one parameter set: each measure is a list with a value for each run."""
    count = max(len(values) for values in measures.values())
    sizes = {"train_size": [100] * count, "test_size": [50] * count}
    return [
        record(algorithm, params, run, **{name: values[run] for name, values in (sizes | measures).items()})
        for run in range(count)
    ]


def write_results(folder: Path, runs: Iterable[Record], provenance: Any = None, **experiment: Any) -> Path:
    """A folder of results; the experiment has one permutation unless it says otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    experiment = {"name": folder.name, "permutations": 1, "seed": 0} | experiment
    (folder / "experiment.yaml").write_text(yaml.safe_dump(experiment, sort_keys=False), encoding="utf-8")
    write_records(folder, runs)
    if provenance is not None:
        (folder / "provenance.json").write_text(json.dumps(provenance), encoding="utf-8")
    return folder


def write_records(folder: Path, runs: Iterable[Record]) -> None:
    (folder / "trials.jsonl").write_text("".join(json.dumps(one) + "\n" for one in runs), encoding="utf-8")


def read_records(folder: Path) -> list[Record]:
    """The records in a folder of results."""
    return [json.loads(line) for line in (folder / "trials.jsonl").read_bytes().splitlines()]
