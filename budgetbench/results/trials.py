"""Reading `trials.jsonl`: one JSON object for each run, appended as the run ends."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pandas as pd

from budgetbench.errors import RequestError

FILE = "trials.jsonl"

TEXT = ("key", "status", "experiment", "dataset", "algorithm", "version", "error")
WHOLE = ("budget", "run", "seed", "train_size", "test_size")
NUMBERS = (
    "online_mistakes",
    "online_error",
    "margin_errors",
    "insertions",
    "removals",
    "support_size",
    "test_error",
    "averaged_test_error",
    "kernel_evaluations",
    "train_seconds",
    "predict_seconds",
)
NESTED = ("params", "curve")


def read_trials(folder: Path | str) -> pd.DataFrame:
    """The runs recorded in an experiment's folder, one row for each, in the order in which they were written.

    A run that was recorded twice counts as it was recorded last. A last line that breaks off (the process died while
    writing) is left out; an unreadable line elsewhere is left out with a warning.

    Parameters
    ----------
    folder : folder of one experiment, which holds `trials.jsonl`.

    Returns
    -------
    A frame with every key of the results contract as a column, also when no run has it. `params` and `curve` hold
    dicts (`curve` or None), counts are nullable integers, measures are floats (NaN where a value does not apply).

    Raises
    ------
    RequestError : the folder holds no `trials.jsonl`.
    """
    path = Path(folder) / FILE
    if not path.is_file():
        raise RequestError(
            f"no results in {Path(folder)}: looked for {FILE}. "
            "Run an experiment first (budgetbench run CONFIG), or name a folder that holds results."
        )
    return trials_frame(_records(path))


def trials_frame(records: list[dict[str, Any]]) -> pd.DataFrame:
    """Records as a frame: the last record of each key, with the types that `read_trials` promises."""
    latest: dict[Any, dict[str, Any]] = {}
    for number, record in enumerate(records):
        key = record.get("key", number)
        latest.pop(key, None)  # so that a run written again takes its new place in the order
        latest[key] = record
    rows = list(latest.values())
    known = (*TEXT, *WHOLE, *NUMBERS, *NESTED)
    others = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in known]
    columns: dict[str, pd.Series[Any]] = {}
    for name in [*known, *others]:
        values = [row.get(name) for row in rows]
        if name in WHOLE:
            columns[name] = _floats(values).astype("Int64")
        elif name in NUMBERS:
            columns[name] = _floats(values)
        else:
            columns[name] = pd.Series(values, dtype=object)
    frame: pd.DataFrame = pd.DataFrame(columns)
    frame["params"] = pd.Series([row.get("params") or {} for row in rows], dtype=object)
    frame["status"] = frame["status"].where(frame["status"].notna(), "done")
    return frame


def completed(trials: pd.DataFrame) -> pd.DataFrame:
    """The runs that ended well."""
    runs: pd.DataFrame = trials.loc[trials["status"] != "failed"]
    return runs


def failed(trials: pd.DataFrame) -> pd.DataFrame:
    """The runs that failed; their column `error` says how."""
    runs: pd.DataFrame = trials.loc[trials["status"] == "failed"]
    return runs


def _floats(values: list[Any]) -> pd.Series[float]:
    return pd.Series([float("nan") if value is None else float(value) for value in values], dtype="float64")


def _records(path: Path) -> list[dict[str, Any]]:
    lines = path.read_bytes().split(b"\n")
    records = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:  # covers broken UTF-8 as well as broken JSON
            record = None
        if isinstance(record, dict):
            records.append(record)
        elif number < len(lines):  # the last piece has no newline after it: a write that was cut short
            warnings.warn(
                f"{path}:{number}: not a complete record, left out; running the experiment again redoes that run",
                stacklevel=3,
            )
    return records
