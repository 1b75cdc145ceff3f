"""The user's own table as text: one example in a line, one column with the label, the others numbers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets.base import register
from budgetbench.datasets.own_files import MISSING, Files, OwnFile, Table, as_objects, content_of, is_number, shown
from budgetbench.datasets.parse import brief
from budgetbench.errors import DataError, nearest
from budgetbench.parameters import Accepted

QUOTED = re.compile(r'"(?:[^"]|"")*"')
BLANK = re.compile(r"^ +$", re.MULTILINE)
#: Characters among which the first line is looked for; what is beyond does not change which separator it has.
FIRST_LINE = 1_000_000
CELL = re.compile(r'"((?:[^"]|"")*)"|(\S+)')


@dataclass(frozen=True)
class Layout(Files):
    """What the files do not say.

    Parameters
    ----------
    label : the column of the label.
    header : whether the first line names the columns; left out: found out.
    """

    label: Annotated[int | str, Accepted("the name of a column or its position from 0 (-1: the last)")] = -1
    header: bool | None = None


@dataclass(frozen=True)
class Sheet:
    """A file's columns: inputs (n, d), labels (n,), and the columns' names where it has them."""

    X: NDArray[np.float64]
    labels: NDArray[Any]
    inputs: list[str] | None = None
    label: str | None = None


@register
class Csv(OwnFile):
    name = "csv"
    title = "CSV file"
    summary = "your own table of numbers and a label, with commas, semicolons, tabs or spaces between"
    options = Layout

    def read_all(self, options: Layout) -> tuple[Table, Table | None]:
        path, test_path = options.path, options.test_path
        train = CsvReader(path, options.label, options.header).read()
        if test_path is None:
            return (train.X, train.labels), None
        test = CsvReader(test_path, options.label, options.header, train.label).read()
        return (train.X, train.labels), (in_order_of(train, test, path, test_path), test.labels)


def in_order_of(train: Sheet, test: Sheet, path: Path, test_path: Path) -> NDArray[np.float64]:
    """The test inputs in the order of the training columns of the same names; files without names go by position."""
    if train.inputs is None or test.inputs is None or train.inputs == test.inputs:
        return test.X
    unknown = [name for name in test.inputs if name not in train.inputs]
    absent = [name for name in train.inputs if name not in test.inputs]
    if unknown or absent:
        what = f"no column {shown(absent[0])}" if absent else f"a column {shown(unknown[0])} too many"
        raise DataError(f"{test_path}: {what}; expected the columns of {path}, in any order")
    if len(set(train.inputs)) < len(train.inputs) or len(test.inputs) > len(train.inputs):
        raise DataError(f"{test_path}: columns in another order than in {path}, and a name that occurs twice")
    return test.X[:, [test.inputs.index(name) for name in train.inputs]]


class CsvReader:
    """Reads one file.

    Parameters
    ----------
    label : name or position of the label's column.
    header : whether the first line names the columns; None to find out.
    named : the label's name in the training file, which goes before its position where this file has names, too.
    """

    def __init__(self, path: Path, label: int | str, header: bool | None, named: str | None = None) -> None:
        self.path = path
        try:
            text = content_of(path).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: not a text file in UTF-8") from error
        if "\0" in text or not text.strip():
            raise DataError(f"{path}: " + ("not a text file in UTF-8" if text.strip() else "the file is empty"))
        text = BLANK.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
        self.separator = separator_of(text)
        if self.separator:  # quotes count only at the start of a cell
            text = re.sub(rf'(^|{self.separator}) +"', r'\1"', text, flags=re.MULTILINE)
        self.text = text
        self.wanted, self.header, self.named = label, header, named

    def read(self) -> Sheet:
        records = self.records()
        end, first = next(records)
        if len(first) < 2:
            raise self.error("one column; expected at least an input and a label, with commas between")
        names = [cell.strip().strip("\"'") for cell in first]
        header = self.is_header(names)
        begin, second = next(records, (end, [])) if header else (end, first)
        if not second:
            raise self.error("a header and no examples")
        self.row_names = header and self.has_row_names(names, second, begin)
        if self.row_names and len(names) < len(second):
            names = ["", *names]
        self.label = self.position(names[self.row_names :], header) + self.row_names
        self.names, self.width, self.skip = (names, len(second), end) if header else ([], len(second), 0)
        numbers, labels = self.numbers()
        if self.header is None and not header:
            self.doubt_first_row(labels)
        kept = [place for place in range(self.width) if self.is_input(place)]
        if not header:
            return Sheet(numbers[:, kept], labels)
        return Sheet(numbers[:, kept], labels, [names[place] for place in kept], names[self.label])

    def error(self, what: str, line: int | None = None) -> DataError:
        return DataError(f"{self.path}{f', line {line}' if line else ''}: {what}")

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """The lines that are not blank, as cells, each with the number of the file's line in which it ends."""
        if not self.separator:
            for number, line in enumerate(self.text.split("\n"), start=1):
                if line.strip():
                    found = CELL.finditer(line)
                    yield number, [cell[2] if cell[1] is None else cell[1].replace('""', '"') for cell in found]
            return
        rows = csv.reader(io.StringIO(self.text), delimiter=self.separator, skipinitialspace=True)
        try:
            for cells in rows:
                if cells and (len(cells) > 1 or cells[0].strip()):
                    yield rows.line_num, cells
        except csv.Error as error:
            raise self.error(f"not a table ({error})", rows.line_num) from error

    def is_header(self, names: list[str]) -> bool:
        """Whether the first line names the columns: as said, or because its inputs are words."""
        if isinstance(self.wanted, str):
            if self.header is False:
                found = f"label {self.wanted!r} is the name of a column, and header is false"
                raise self.error(f"{found}; give its position")
            return True
        if self.header is not None:
            return self.header
        place = self.wanted % len(names) if -len(names) <= self.wanted < len(names) else -1
        inputs = names[:place] + names[place + 1 :] if place >= 0 else names
        words = [cell for cell in inputs if not is_number(cell) and cell.lower() not in MISSING]
        if words and any(is_number(cell) for cell in inputs):
            found = f"found {shown(words[0])} among numbers in the first line"
            raise self.error(f"{found}; say with header: true or false whether it names the columns")
        counted = [str(i) for i in range(len(names))]
        if len(names) > 2 and names == counted:
            raise self.error("the first line counts 0, 1, 2, …; say with header: true or false whether it is a header")
        return bool(words)

    def has_row_names(self, names: list[str], second: list[str], line: int) -> bool:
        """Whether the first column names the rows: R writes no name above it, or an empty one, as pandas does."""
        shorter = len(names) + 1 == len(second)
        if len(names) != len(second) and not shorter:
            raise self.error(f"{len(second)} cells where the header has {len(names)} names", line)
        if shorter and not second[-1].strip():
            raise self.error("a separator at the end, where the header has none", line)
        if not shorter and names[0]:
            return False
        records = self.records()
        next(records)
        firsts = [cells[0].strip() for _, cells in records]
        numbered = all(re.fullmatch(r"[0-9]+", name) for name in firsts)
        if len(set(firsts)) == len(firsts) and (numbered or not any(is_number(name) for name in firsts)):
            return True
        what = "one name more than the header" if shorter else "a first column without a name"
        raise self.error(f"{what}, which does not number or name the rows; name every column", line)

    def position(self, names: list[str], header: bool) -> int:
        """Position of the label's column among those with `names`."""
        label = self.named if header and self.named is not None else self.wanted
        if isinstance(label, int):
            if not -len(names) <= label < len(names):
                raise self.error(f"label is column {label}; expected from 0 to {len(names) - 1}, or -1 for the last")
            return label % len(names)
        if label not in names:
            columns = ", ".join(name[:40] for name in names[:12]) + (", …" if len(names) > 12 else "")
            hint = nearest(label, names[:1000])
            raise self.error(f"no column {label!r} in the first line; found: {columns}. {hint}".rstrip(". "))
        if names.count(label) > 1:
            raise self.error(f"{names.count(label)} columns are named {label!r}; give the position of the label's")
        return names.index(label)

    def is_input(self, place: int) -> bool:
        return place != self.label and not (self.row_names and place == 0)

    def numbers(self) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """All cells as numbers, those of the label and of row names as zeros, and the labels."""
        labels: list[str] = []

        def note(cell: str) -> float:
            labels.append(cell.strip())
            return 0.0

        converters: dict[int | str, Callable[[str], float]] = {self.label: note}
        if self.row_names:
            converters[0] = lambda cell: 0.0
        try:
            table = np.loadtxt(
                io.StringIO(self.text), delimiter=self.separator or None, quotechar='"', comments=None, ndmin=2,
                encoding="utf-8", skiprows=self.skip, converters=converters,
            )  # fmt: skip
        except (ValueError, MemoryError) as error:
            raise self.fault() or self.error(f"not a table of numbers ({brief(error)})") from error
        odd = "" in labels or any("\n" in label for label in labels)
        if odd or table.shape[1] != self.width or not np.isfinite(table).all():
            raise self.fault() or self.error("not a table of numbers")
        return table, as_objects(labels)

    def fault(self) -> DataError | None:
        """The first line that is not as it should be."""
        for line, cells in self.records():
            if line <= self.skip:
                continue
            if len(cells) != self.width:
                return self.error(f"{len(cells)} cells where other lines have {self.width}", line)
            for place, text in enumerate(cell.strip() for cell in cells):
                if place == self.label and not text:
                    return self.error("found no label", line)
                if "\n" in text:
                    return self.error("a quote that is not closed in its line", line)
                if self.is_input(place) and not (is_number(text) and np.isfinite(float(text))):
                    called = self.names[place][:60] if self.names else place + 1
                    found = shown(text) if text else "nothing"
                    return self.error(f"column {called}: found {found}; expected a number", line)
        return None

    def doubt_first_row(self, labels: NDArray[Any]) -> None:
        """A word among labels that are numbers: a header above columns whose names are numbers, too."""
        if len(labels) > 2 and not is_number(labels[0]) and all(is_number(label) for label in labels[1:]):
            found = f"found label {shown(labels[0])} in the first line, and numbers below"
            raise self.error(f"{found}; say with header: true or false whether it names the columns")


def separator_of(text: str) -> str:
    """The separator that occurs most often in the first line, outside of quotes; the empty string for spaces."""
    bare = QUOTED.sub("", text[:FIRST_LINE]).lstrip("\n").partition("\n")[0]
    best = max(",;\t", key=bare.count)
    return best if best in bare else ""
