"""The records of an experiment's runs: the lines of `trials.jsonl`, one JSON object for each run, appended as it ends.

Names and values that are not known here pass, as results of other versions stay readable; what is known must be right,
so that nothing behind the reader has to ask again.
"""

from __future__ import annotations

import codecs
import json
import os
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, create_model, model_validator

from budgetbench.errors import Notice, RequestError
from budgetbench.lazy import pd
from budgetbench.results import compact
from budgetbench.results.measures import MEASURES, Count, Fraction
from budgetbench.results.schema import Checked, Name, Plain, Text, Unfit, printable, problem, with_budgets

FILE = "trials.jsonl"


class Curve(Checked):
    """The course of a run: at each checkpoint what was seen, and what had come of it; no sizes where none are known."""

    seen: Annotated[list[Count], Field(min_length=1)]
    online_error: list[Fraction]
    support_size: list[Count] | None = None

    @model_validator(mode="after")
    def _of_one_length(self) -> Curve:
        sizes = self.online_error if self.support_size is None else self.support_size
        if not len(self.seen) == len(self.online_error) == len(sizes):
            raise ValueError("lists of the same length")
        return self


class _Run(Checked):
    """One run, but for what is counted and measured. What does not apply is null or left out."""

    key: Name
    status: Literal["ok", "failed"]
    experiment: Text | None = None
    dataset: Text | None = None
    algorithm: Name
    version: Text | None = None
    commit: Text | None = None
    host: Text | None = None
    error: Text | None = None
    run: Count
    params: Annotated[dict[str, Plain], AfterValidator(with_budgets)]
    curve: Curve | None = None


COUNTED = ("budget", "seed", "train_size", "test_size")
MEASURED = tuple(name for name, measure in MEASURES.items() if measure.field)
_fields: Any = dict.fromkeys(COUNTED, (Count | None, None))
_fields |= {name: (MEASURES[name].field | None, None) for name in MEASURED}
TrialRecord = create_model("TrialRecord", __base__=_Run, **_fields)


def parsed(line: bytes) -> dict[str, Any]:
    """The record that a line of `trials.jsonl` holds.

    Raises
    ------
    Unfit : it holds none.
    """
    try:
        return TrialRecord.model_validate_json(line).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise Unfit(problem(error)) from None


def fitting(record: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """A record as it can be written, and its line.

    One that does not fit becomes that of a failed run, without the values that cannot be written; its `error` says why.
    """
    try:
        written = dict(record)
        TrialRecord.model_validate(written)
    except ValidationError as error:
        bad = {str(one["loc"][0]) for one in error.errors() if one["loc"]}
        why = f"its record cannot be written: {problem(error)}"
        written = {name: value for name, value in record.items() if name not in bad | {"error"}}
        written |= {"params": written.get("params", {}), "status": "failed", "error": printable(why)}
        if "error" in bad:
            written["error"] = printable(str(record["error"]))
        TrialRecord.model_validate(written)
    return written, json.dumps(written, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def append(path: Path, record: Mapping[str, Any]) -> dict[str, Any]:
    """Add one run; when this returns the line is written whatever happens to the program, and after `sync` whatever
    happens to the machine.

    Returns
    -------
    The record as it was written: one that does not fit the schema is that of a failed run.

    Raises
    ------
    OSError : with the file's name; the runs before are kept.
    """
    written, line = fitting(record)
    try:
        with path.open("a+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            if size and not _ends_with_newline(path):
                line = b"\n" + line
            try:
                while line:
                    line = line[file.write(line) :]
            except OSError:  # a full disk may have taken half of the line
                with suppress(OSError):
                    file.truncate(size)
                raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    return written


def sync(path: Path) -> None:
    """See to it that the runs that were added are on the disk: milliseconds, in which a worker may wait.

    Raises
    ------
    OSError : with the file's name; the runs of earlier calls are kept.
    """
    try:
        with path.open("ab", buffering=0) as file:
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


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


def file_of(folder: Path) -> Path:
    """Where the runs of an experiment's folder are: in `trials.jsonl`, or else in its compact form."""
    path, kept = folder / FILE, folder / compact.FILE
    return kept if kept.exists() and not path.exists() else path


def read_lines(path: Path) -> Lines:
    """The lines of a `trials.jsonl`, or of its compact form; none where there is no such file.

    Raises
    ------
    RequestError : it cannot be read.
    """
    try:
        content = path.read_bytes()
        content = compact.unpacked(content) if path.name == compact.FILE else content
    except FileNotFoundError:
        return Lines()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise RequestError(
            f"{path} cannot be read ({why}). Make it a readable file, or remove it and run again."
        ) from None
    *whole, last = content.removeprefix(codecs.BOM_UTF8).split(b"\n")
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
    folder : folder of one experiment, which holds `trials.jsonl` or its compact form.

    Returns
    -------
    A frame with every key of the results contract as a column, also when no run has it. `params` and `curve` hold
    dicts (`curve` or None), counts are nullable integers, measures are floats (NaN where a value does not apply).

    Raises
    ------
    RequestError : the folder holds neither, or one that cannot be read.
    """
    path = file_of(Path(folder))
    if not path.exists():
        raise RequestError(
            f"no results in {Path(folder)}: looked for {FILE} and {compact.FILE}. "
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
    columns: dict[str, Any] = {}
    for name in dict.fromkeys([*TrialRecord.model_fields, *(name for row in rows for name in row)]):
        values = [row.get(name) for row in rows]
        if name in ("run", *COUNTED):
            columns[name] = pd.array(values, dtype="Int64")
        else:
            columns[name] = pd.Series(values, dtype="float64" if name in MEASURED else object)
    return pd.DataFrame(columns)


def completed(trials: pd.DataFrame) -> pd.DataFrame:
    """The runs that ended well."""
    runs: pd.DataFrame = trials.loc[trials["status"] != "failed"]
    return runs


def failed(trials: pd.DataFrame) -> pd.DataFrame:
    """The runs that failed; their column `error` says how."""
    runs: pd.DataFrame = trials.loc[trials["status"] == "failed"]
    return runs
