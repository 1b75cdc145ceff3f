"""The user's own table as text: one example in a line, one column with the label, the others numbers."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from budgetbench.datasets.base import Option, register
from budgetbench.datasets.own_files import PATHS, OwnTable, Table, content_of, flag
from budgetbench.datasets.parse import unpack
from budgetbench.errors import DataError, nearest

SPACES = r"\s+"


def column(value: Any) -> int | str:
    """Accepts the name of a column or its position."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError(value)
    return value


@register
class Csv(OwnTable):
    name = "csv"
    title = "CSV file"
    summary = "your own table of numbers and a label, with commas, semicolons, tabs or spaces between"
    options: Mapping[str, Option] = {
        **PATHS,
        "label": Option(column, -1, "the name of a column or its position from 0 (-1: the last)", "the label's column"),
        "header": Option(flag, None, "true or false", "the first line names the columns; left out: found out"),
    }

    def read(self, path: Path, options: dict[str, Any]) -> Table:
        import pandas as pd

        try:
            text = unpack(content_of(path)).decode("utf-8-sig")
        except ValueError as error:
            reason = "not a text file in UTF-8" if isinstance(error, UnicodeDecodeError) else error
            raise DataError(f"{path}: {reason}") from error
        lines = [number for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
        first = text.splitlines()[lines[0] - 1]
        separator = separator_of(first)
        names = [cell.strip().strip("\"'") for cell in re.split(separator, first.strip())]
        label, header = self.layout(path, names, options)
        try:
            frame = pd.read_csv(
                io.StringIO(text),
                sep=separator,
                header=0 if header else None,
                names=range(len(names)),
                index_col=False,
                dtype={label: str},
                keep_default_na=False,
                skipinitialspace=True,
            )
        except pd.errors.ParserError as error:
            reason = str(error).removeprefix("Error tokenizing data. C error: ").strip()
            raise DataError(f"{path}: {reason[:1].lower() + reason[1:]}") from error
        if frame.empty:
            raise DataError(f"{path}: a header and no examples")
        inputs = frame.drop(columns=label)
        wanted = inputs.apply(pd.to_numeric, errors="coerce")
        if wanted.isna().to_numpy().any():
            row, place = (int(i) for i in np.argwhere(wanted.isna().to_numpy())[0])
            name = names[inputs.columns[place]] if header else f"{inputs.columns[place] + 1}"
            found = inputs.iat[row, place]
            shown = "nothing" if found == "" or pd.isna(found) else repr(found)
            raise DataError(f"{path}, line {lines[row + header]}, column {name}: found {shown}; expected a number")
        labels = frame[label].astype(str).str.strip().to_numpy(dtype=str)
        if (labels == "").any() or frame[label].isna().any():
            row = int(np.argmax((labels == "") | frame[label].isna().to_numpy()))
            raise DataError(f"{path}, line {lines[row + header]}: found no label")
        return wanted.to_numpy(dtype=np.float64), labels

    def layout(self, path: Path, names: list[str], options: dict[str, Any]) -> tuple[int, bool]:
        """Position of the label's column, and whether the first line, with cells `names`, is a header."""
        label, header = options["label"], options["header"]
        if len(names) < 2:
            raise DataError(f"{path}: one column; expected at least an input and a label, with commas between")
        if isinstance(label, str):
            if header is False:
                raise DataError(
                    f"{path}: label {label!r} is the name of a column, and header is false; give its position"
                )
            if label not in names:
                columns = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
                hint = nearest(label, names)
                raise DataError(f"{path}: no column {label!r} in the first line; found: {columns}. {hint}".rstrip(". "))
            return names.index(label), True
        if not -len(names) <= label < len(names):
            raise DataError(f"{path}: label is column {label}; expected from 0 to {len(names) - 1}, or -1 for the last")
        position = label % len(names)
        if header is None:
            header = any(not is_number(cell) for place, cell in enumerate(names) if place != position)
        return position, header


def separator_of(line: str) -> str:
    """The separator that occurs most often in a line; spaces where no other does."""
    best = max(",;\t", key=line.count)
    return best if best in line else SPACES


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
