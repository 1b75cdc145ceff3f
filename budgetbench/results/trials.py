"""Reading `trials.jsonl`: one JSON object for each run, appended as the run ends."""

from __future__ import annotations

import codecs
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from budgetbench.errors import Notice, RequestError
from budgetbench.lazy import lazy
from budgetbench.results.schema import Unfit, parsed

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = lazy("pandas")

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


@dataclass(frozen=True)
class Line:
    """One line of the file: what it says, or why that is no record of a run."""

    number: int
    text: bytes
    record: dict[str, Any]
    problem: str = ""


@dataclass(frozen=True)
class Lines:
    """What the file holds.

    Attributes
    ----------
    good, unfit : lines that are records, and lines that are none.
    torn : what stands after the last newline and is no record, a write that was cut short or is not over yet.
    """

    good: list[Line] = field(default_factory=list)
    unfit: list[Line] = field(default_factory=list)
    torn: bytes = b""

    def problem(self, path: Path) -> str:
        """The unfit lines in one line of print."""
        first, count = self.unfit[0], len(self.unfit)
        what = "1 line is" if count == 1 else f"{count} lines are"
        return f"{path}:{first.number}: {what} no record of a run ({first.problem})"


def read_lines(path: Path) -> Lines:
    """The lines of a `trials.jsonl`; none where there is no such file.

    Raises
    ------
    RequestError : it cannot be read.
    """
    try:
        *whole, last = path.read_bytes().removeprefix(codecs.BOM_UTF8).split(b"\n")
    except FileNotFoundError:
        return Lines()
    except OSError as error:
        raise RequestError(
            f"{path} cannot be read ({error.strerror}). Make it a readable file, or remove it and run again."
        ) from None
    lines = [_line(number, text) for number, text in enumerate(whole, start=1) if text.strip()]
    end = _line(len(whole) + 1, last)
    good = [line for line in (*lines, end) if not line.problem]
    return Lines(good, [line for line in lines if line.problem], last if end.problem else b"")


def _line(number: int, text: bytes) -> Line:
    try:
        return Line(number, text, parsed(text))
    except Unfit as problem:
        return Line(number, text, {}, str(problem))


def read_trials(folder: Path | str) -> pd.DataFrame:
    """The runs recorded in an experiment's folder, one row for each, in the order in which they were written.

    A run that was recorded twice counts as it was recorded last, but what ended well is not undone by a later failure.
    A last line that breaks off (the process died while writing) is left out; lines elsewhere that are no records are
    left out with a warning.

    Parameters
    ----------
    folder : folder of one experiment, which holds `trials.jsonl`.

    Returns
    -------
    A frame with every key of the results contract as a column, also when no run has it. `params` and `curve` hold
    dicts (`curve` or None), counts are nullable integers, measures are floats (NaN where a value does not apply).

    Raises
    ------
    RequestError : the folder holds no `trials.jsonl`, or one that cannot be read.
    """
    path = Path(folder) / FILE
    if not path.exists():
        raise RequestError(
            f"no results in {Path(folder)}: looked for {FILE}. "
            "Run an experiment first (budgetbench run CONFIG), or name a folder that holds results."
        )
    return trials_frame(readable_records(path))


def readable_records(path: Path) -> list[dict[str, Any]]:
    """All records of a `trials.jsonl`, with a warning about lines that are none; nothing is written."""
    lines = read_lines(path)
    if lines.unfit:
        advice = "Left out; running the experiment again sets such lines aside and does those runs anew."
        warnings.warn(f"{lines.problem(path)}. {advice}", Notice, stacklevel=3)
    return [line.record for line in lines.good]


def latest(records: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The record that counts of each run, by key: the last, or the last that ended well where there is one."""
    found: dict[str, dict[str, Any]] = {}
    for record in records:
        before = found.get(record["key"])
        if before is None or record["status"] == "ok" or before["status"] != "ok":
            found.pop(record["key"], None)  # so that a run written again takes its new place in the order
            found[record["key"]] = record
    return found


def trials_frame(records: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """Records as a frame: the one of each key that counts, with the types that `read_trials` promises."""
    rows = list(latest(records).values())
    known = (*TEXT, *WHOLE, *NUMBERS, *NESTED)
    others = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in known]
    columns: dict[str, Any] = {}
    for name in [*known, *others]:
        values = [row.get(name) for row in rows]
        if name in WHOLE:
            columns[name] = pd.array(values, dtype="Int64")
        elif name in NUMBERS:
            columns[name] = pd.Series(values, dtype="float64")
        else:
            columns[name] = pd.Series(values, dtype=object)
    return pd.DataFrame(columns)


def completed(trials: pd.DataFrame) -> pd.DataFrame:
    """The runs that ended well."""
    runs: pd.DataFrame = trials.loc[trials["status"] != "failed"]
    return runs


def failed(trials: pd.DataFrame) -> pd.DataFrame:
    """The runs that failed; their column `error` says how."""
    runs: pd.DataFrame = trials.loc[trials["status"] == "failed"]
    return runs
