"""The user's own table as text: one example in a line, one column with the label."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from budgetbench.datasets.base import Label, Request, register
from budgetbench.datasets.columns import MISSING, Column, Sheet, of_text, sheet_of
from budgetbench.datasets.flow import PART, Stamp, identity_of, two_or_more
from budgetbench.datasets.flow_text import CsvFlow, counted, lines_with_text
from budgetbench.datasets.own_files import Files, as_objects, content_of, is_number, readable_labels, shown
from budgetbench.datasets.own_tables import Handling, LabelColumn, OwnTable, position, refuse_columns
from budgetbench.errors import DataError

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

    label: LabelColumn = -1
    header: bool | None = None


@dataclass(frozen=True)
class CsvOptions(Handling, Layout):
    """What the files do not say, and what becomes of columns that are no numbers."""


@register
class Csv(OwnTable):
    name = "csv"
    title = "CSV file"
    summary = "your own table of numbers, words and a label, with commas, semicolons, tabs or spaces between"
    options = CsvOptions
    streams = True

    def flow(self, request: Request, classes: tuple[Label, ...] | None) -> CsvFlow:
        """The stream of a file, see `datasets.flow`; `classes` are those that will come, where that is said."""
        options, path = request.options, request.options.path
        reader = CsvReader(path, options, PART)
        first, stamp = reader.read(), Stamp.of(path)
        refuse_columns(path, first, options)
        found = two_or_more(path, classes or readable_labels(path, first.labels).tolist())
        n, checksum = counted(path, reader.skip, lines_with_text, request.limit)
        layout = reader.separator, tuple(reader.names), reader.label, tuple(reader.inputs)
        test = None
        if options.test_path is not None:
            sheet = CsvReader(options.test_path, options, like=reader).read()
            test = self.tests(path, first, options.test_path, sheet, options, found)
        identity = identity_of(self.name, checksum, n, reader.skip, found, layout, test and test.checksum)
        files = (path,) if test is None else (path, options.test_path)
        sizes = n, len(reader.inputs), identity, checksum, files
        return CsvFlow(found, *sizes, path, stamp, reader.skip, classes, test, *layout)

    def sheets(self, request: Request) -> tuple[tuple[Path, Sheet], tuple[Path, Sheet] | None]:
        options = request.options
        reader = CsvReader(options.path, options, request.limit)
        train = reader.read()
        if options.test_path is None:
            return (options.path, train), None
        test = CsvReader(options.test_path, options, like=reader).read()
        return (options.path, train), (options.test_path, test)


class CsvReader:
    """Reads one file.

    Parameters
    ----------
    limit : rows after which reading stops.
    like : who has read the training file. Where both files name their columns, the names found there go before
        positions.
    """

    def __init__(
        self, path: Path, options: CsvOptions, limit: int | None = None, like: CsvReader | None = None
    ) -> None:
        self.path, self.limit = path, limit
        try:
            text = content_of(path, None if limit is None else limit + 1, rows).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: not a text file in UTF-8") from error
        if "\0" in text or not text.strip():
            raise DataError(f"{path}: " + ("not a text file in UTF-8" if text.strip() else "the file is empty"))
        text = BLANK.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
        self.separator = separator_of(text)
        if self.separator:  # quotes count only at the start of a cell
            text = re.sub(rf'(^|{self.separator}) +"', r'\1"', text, flags=re.MULTILINE)
        self.text = text
        self.options, self.like = options, like

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
        self.width, self.skip = len(second), end if header else 0
        self.names = names if header else [str(place + 1) for place in range(self.width)]
        self.times = Counter(self.names)
        self.header = header
        self.find_columns()
        if not self.inputs:
            raise self.error("no column is left as an input; see dataset.drop")
        more = {"named": header, "label": names[self.label] if header else None}
        return self.numbers(more) or self.cells(more)

    def find_columns(self) -> None:
        """Find the label's column, those that are dropped, and the inputs, as positions."""
        like, dropped = self.like, self.options.drop or ()
        if like is None or not (like.header and self.header):
            self.label = self.place(self.options.label, "label")
            self.dropped = {self.place(key, "drop") for key in dropped}
        else:
            self.label = self.place(like.names[like.label], "label")
            left_out = {like.names[place] for place in like.dropped}
            self.dropped = {place for place, name in enumerate(self.names) if name in left_out}
        if self.label in self.dropped:
            raise self.error(f"drop names {self.names[self.label]!r}, which is the column of the label")
        own = self.dropped | {self.label} | ({0} if self.row_names else set())
        self.inputs = [place for place in range(self.width) if place not in own]

    def place(self, key: int | str, what: str) -> int:
        """Position of a column that the options name, of which the names of rows are not counted."""
        if isinstance(key, str) and not self.header:
            raise self.error(f"{what} {key!r} is the name of a column, and the file has no header; give its position")
        try:
            return position(key, self.names[self.row_names :], what, "the first line") + self.row_names
        except ValueError as error:
            raise self.error(str(error)) from None

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
        wanted, said = self.options.label, self.options.header
        if isinstance(wanted, str):
            if said is False:
                found = f"label {wanted!r} is the name of a column, and header is false"
                raise self.error(f"{found}; give its position")
            return True
        if said is not None:
            return said
        place = wanted % len(names) if -len(names) <= wanted < len(names) else -1
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

    def numbers(self, more: dict[str, Any]) -> Sheet | None:
        """All inputs as numbers, cells of other columns taken for zeros; None if some are none."""
        labels: list[str] = []

        def note(cell: str) -> float:
            labels.append(cell.strip())
            return 0.0

        others = set(range(self.width)).difference(self.inputs)
        converters: dict[int | str, Callable[[str], float]] = dict.fromkeys(others, lambda cell: 0.0)
        converters[self.label] = note
        try:
            with warnings.catch_warnings():  # of blank lines, which a limit does not count
                warnings.simplefilter("ignore", UserWarning)
                table = np.loadtxt(
                    io.StringIO(self.text), delimiter=self.separator or None, quotechar='"', comments=None, ndmin=2,
                    encoding="utf-8", skiprows=self.skip, converters=converters, max_rows=self.limit,
                )  # fmt: skip
        except (ValueError, MemoryError):
            return None
        odd = "" in labels or any("\n" in label for label in labels)
        if odd or table.shape[1] != self.width or not np.isfinite(table).all():
            return None
        if self.options.header is None and not self.header:
            self.doubt_first_row(labels)
        columns = [Column(self.names[place], self.key(place)) for place in self.inputs]
        return Sheet(table[:, self.inputs], as_objects(labels), columns, **more)

    def key(self, place: int) -> int | str:
        """By what options name a column."""
        named = self.header and self.times[self.names[place]] == 1
        return self.names[place] if named else place - self.row_names

    def cells(self, more: dict[str, Any]) -> Sheet:
        """The columns by what each holds."""
        lines, rows = [], []
        for line, cells in self.records():
            if line <= self.skip:
                continue
            rows.append(self.sound(line, [cell.strip() for cell in cells]))
            lines.append(line)
            if len(rows) == self.limit:
                break
        columns = list(zip(*rows, strict=True))
        if self.options.header is None and not self.header:
            self.doubt_first_row(columns[self.label])
        found = (of_text(self.names[place], self.key(place), columns[place]) for place in self.inputs)
        return sheet_of(found, as_objects(columns[self.label]), lines=lines, **more)

    def sound(self, line: int, cells: list[str]) -> list[str]:
        """The cells of a line that has as many as the others, with a label, each in one line."""
        if len(cells) != self.width:
            raise self.error(f"{len(cells)} cells where other lines have {self.width}", line)
        if not cells[self.label] and self.options.missing != "drop":
            raise self.error("found no label", line)
        if any("\n" in cell for cell in cells):
            raise self.error("a quote that is not closed in its line", line)
        return cells

    def doubt_first_row(self, labels: Sequence[str]) -> None:
        """A word among labels that are numbers: a header above columns whose names are numbers, too."""
        if len(labels) > 2 and not is_number(labels[0]) and all(is_number(label) for label in labels[1:]):
            found = f"found label {shown(labels[0])} in the first line, and numbers below"
            raise self.error(f"{found}; say with header: true or false whether it names the columns")


def rows(content: bytes) -> int:
    """How many rows there are at least: lines that are not blank and end outside of quotes."""
    found = quotes = 0
    for line in content.splitlines():
        quotes += line.count(b'"')
        found += bool(line.strip()) and quotes % 2 == 0
    return found


def separator_of(text: str) -> str:
    """The separator that occurs most often in the first line, outside of quotes; the empty string for spaces."""
    bare = QUOTED.sub("", text[:FIRST_LINE]).lstrip("\n").partition("\n")[0]
    best = max(",;\t", key=bare.count)
    return best if best in bare else ""
