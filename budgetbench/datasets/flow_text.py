"""Files of text that pass by: csv tables and LIBSVM files, plain or packed, some megabytes of whole lines at a time."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from budgetbench.datasets import limits, lzw
from budgetbench.datasets.base import Examples, Label
from budgetbench.datasets.columns import as_number
from budgetbench.datasets.flow import PART, Flow, Rows, Spellings, Stamp
from budgetbench.datasets.own_files import Table, as_objects, complaints_of, of_the_kind, shown
from budgetbench.datasets.parse import OPENERS, UnfitError
from budgetbench.errors import DataError
from budgetbench.lazy import pd

#: Bytes that are read at a time; and of the longest line.
PIECE, LONGEST = 1 << 22, 1 << 28
BLANK = re.compile(rb"^ +$", re.MULTILINE)
#: From this release on pandas reads every number as Python does, unasked.
EXACT = (3, 1)


@dataclass(frozen=True)
class Piece:
    """Some whole lines of a file.

    Attributes
    ----------
    text : with "\\n" at the end of each line, without the lines that hold spaces alone.
    before : how many lines precede it.
    """

    text: bytes
    before: int

    def after(self, lines: int) -> Piece:
        """Without the first lines of the file."""
        if lines <= self.before:
            return self
        rest = self.text.split(b"\n", lines - self.before)
        gone = min(lines - self.before, len(rest) - 1)
        return Piece(rest[-1], self.before + gone)


def pieces(path: Path) -> Iterator[Piece]:
    """The lines of a file, unpacked, some megabytes at a time; DataError where it cannot be read."""
    with complaints_of(path), limits.opened(path) as packed:
        magic = packed.read(6)
        packed.seek(0)
        if magic.startswith(lzw.MAGIC):
            raise UnfitError("a file packed by compress cannot be streamed; accepted: plain text, gzip, bzip2, xz")
        opener = next((OPENERS[first] for first in OPENERS if magic.startswith(first)), None)
        before, rest = 0, b""
        with opener(packed) if opener else packed as source:
            while True:
                found = source.read(PIECE)
                content = rest + found
                if not before and content.startswith(b"\xef\xbb\xbf"):
                    content = content[3:]
                cut = content.rfind(b"\n") + 1 if found else len(content)
                text, rest = content[:cut], content[cut:]
                if len(rest) > LONGEST:
                    raise UnfitError(f"line {before + 1} has more than {LONGEST >> 20} MB; lines end with \\n")
                if text:
                    text = text if text.endswith(b"\n") else text + b"\n"
                    if b"\r" in text:
                        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
                    if b"\n " in text or text.startswith(b" "):
                        text = BLANK.sub(b"", text)
                    yield Piece(text, before)
                    before += text.count(b"\n")
                if not found:
                    return


def lines_with_text(text: bytes) -> int:
    """How many lines are not blank."""
    places = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(places == ord("\n"))
    first = places[np.concatenate([[0], ends[:-1] + 1])] if len(ends) else ends
    if (first <= ord(" ")).any():
        return sum(bool(line.strip()) for line in text.split(b"\n"))
    return len(ends)


def examples_in(text: bytes) -> int:
    """How many lines of a LIBSVM file hold an example, and not a comment alone."""
    if b"#" in text:
        return sum(bool(line.partition(b"#")[0].strip()) for line in text.split(b"\n"))
    return lines_with_text(text)


@dataclass(frozen=True)
class TextFlow(Flow):
    """A file of text, one example in a line.

    Parameters
    ----------
    path : the file, which had this `stamp` when its rows were counted.
    skip : lines before the first example.
    spelled : the classes, where the configuration names them.
    tested : the test examples, where there is a file of them.
    """

    path: Path
    stamp: Stamp
    skip: int
    spelled: tuple[Label, ...] | None
    tested: Examples | None

    @abstractmethod
    def read(self, piece: Piece, spellings: Spellings) -> Rows:
        """The examples of some lines; DataError with file and line."""

    @abstractmethod
    def count(self, text: bytes) -> int:
        """How many examples some lines hold."""

    def _rows(self, start: int) -> Iterator[Rows]:
        if Stamp.of(self.path) != self.stamp:
            raise DataError(f"{self.path}: changed since its rows were counted; start again when it is complete")
        spellings = spellings_of(self.classes, named=self.spelled is not None)
        for piece in pieces(self.path):
            piece = piece.after(self.skip)
            if start and (held := self.count(piece.text)) <= start:
                start -= held
                continue
            if not self.count(piece.text):
                continue
            X, y = self.read(piece, spellings)
            yield X[start:], y[start:]
            start = 0

    def test(self) -> Examples | None:
        return self.tested


def spellings_of(classes: tuple[Label, ...], named: bool) -> Spellings:
    """What tells the class indices of labels in a file of text."""
    known = "a class of dataset.classes" if named else f"a class of the first {PART} rows"
    nowhere = Path("label")

    def read(spelling: Any) -> Label:
        return of_the_kind(nowhere, as_objects([spelling]), classes).tolist()[0]

    return Spellings(classes, read, known)


def counted(path: Path, skip: int, count: Callable[[bytes], int], limit: int | None) -> tuple[int, str]:
    """How many examples a file has, and SHA-256 of its text; with a limit no more of it is read than that takes."""
    n, digest = 0, hashlib.sha256()
    for piece in pieces(path):
        digest.update(piece.text)
        n += count(piece.after(skip).text)
        if limit is not None and n >= limit:
            return limit, digest.hexdigest()
    return n, digest.hexdigest()


@dataclass(frozen=True)
class CsvFlow(TextFlow):
    """A csv table of numbers.

    Parameters
    ----------
    separator : between cells; the empty string for spaces.
    names : of all columns.
    label, inputs : positions of the label's column and of the inputs'.
    """

    separator: str
    names: tuple[str, ...]
    label: int
    inputs: tuple[int, ...]

    def count(self, text: bytes) -> int:
        return lines_with_text(text)

    def read(self, piece: Piece, spellings: Spellings) -> Rows:
        width = len(self.names)
        types: dict[int, Any] = dict.fromkeys(range(width), str)
        types |= dict.fromkeys(self.inputs, np.float64)
        exact = tuple(map(int, pd.__version__.split(".")[:2])) >= EXACT
        try:
            frame = pd.read_csv(
                io.BytesIO(piece.text), sep=self.separator or r"\s+", header=None, dtype=types, na_values=[],
                keep_default_na=False, skipinitialspace=True, float_precision=None if exact else "round_trip",
            )  # fmt: skip
            if frame.shape[1] != width:
                raise ValueError
            X = frame[list(self.inputs)].to_numpy(np.float64)
        except (ValueError, TypeError):
            raise self._complaint(piece) from None
        codes, spelled = pd.factorize(frame[self.label])
        labels = np.array([str(label).strip() for label in spelled], dtype=object)
        with np.errstate(over="ignore"):
            sound = np.isfinite(X.astype(np.float32)).all() and codes.min() >= 0 and "" not in labels.tolist()
        many = self.separator and b'"' not in piece.text
        if not sound or (many and piece.text.count(self.separator.encode()) != len(X) * (width - 1)):
            raise self._complaint(piece)
        lines = self._lines(piece)
        y = spellings.indices(labels[codes], lambda row: f"{self.path}, {lines(row)}")
        return X, y

    def _lines(self, piece: Piece) -> Callable[[int], str]:
        def line(row: int) -> str:
            told = [number for number, text in enumerate(piece.text.split(b"\n"), piece.before + 1) if text.strip()]
            return f"line {told[row]}"

        return line

    def _complaint(self, piece: Piece) -> DataError:
        """What is wrong with the first line that does not fit."""
        try:
            text = piece.text.decode()
        except UnicodeDecodeError:
            return DataError(f"{self.path}: not a text file in UTF-8, after line {piece.before}")
        for number, line in enumerate(text.split("\n"), piece.before + 1):
            if line.strip() and (fault := self._fault([cell.strip() for cell in self._cells(line)])):
                return DataError(f"{self.path}, line {number}: {fault}")
        return DataError(f"{self.path}: not a table, after line {piece.before}")

    def _cells(self, line: str) -> list[str]:
        if not self.separator:
            return line.split()
        return next(csv.reader([line], delimiter=self.separator, skipinitialspace=True))

    def _fault(self, cells: list[str]) -> str:
        if len(cells) != len(self.names):
            return f"{len(cells)} cells where other lines have {len(self.names)}"
        if not cells[self.label]:
            return "found no label"
        for place in self.inputs:
            number = as_number(cells[place])
            if number is None or abs(number) > np.finfo(np.float32).max:
                name, what = self.names[place], shown(cells[place]) if cells[place] else "nothing"
                expected = "a finite number, as in the first rows; a stream takes no other columns"
                return f"column {name}: found {what}; expected {expected}. To leave it out: dataset.drop"
        return ""


@dataclass(frozen=True)
class LibsvmFlow(TextFlow):
    """A LIBSVM file.

    Parameters
    ----------
    parse : reads some lines of the file, which so many lines precede: inputs and labels.
    """

    parse: Callable[[bytes, int], Table]

    def count(self, text: bytes) -> int:
        return examples_in(text)

    def read(self, piece: Piece, spellings: Spellings) -> Rows:
        X, labels = self.parse(piece.text, piece.before)

        def line(row: int) -> str:
            told = (line.partition(b"#")[0].strip() for line in piece.text.split(b"\n"))
            return f"{self.path}, line {[at for at, text in enumerate(told, piece.before + 1) if text][row]}"

        return X, spellings.indices(labels, line)
