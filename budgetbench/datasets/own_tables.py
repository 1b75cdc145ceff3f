"""What the user's tables share, whatever files they come in: columns that are dropped, gaps, words, and complaints."""

from __future__ import annotations

import json
import re
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets import limits
from budgetbench.datasets.base import Data, Examples, Label, Options, Request, encoded
from budgetbench.datasets.columns import (
    MOST_WORDS,
    UNLABELLED,
    Column,
    Encoding,
    Sheet,
    identifiers,
    of_series,
    sheet_of,
)
from budgetbench.datasets.own_files import (
    OwnFile,
    Table,
    as_objects,
    check_inputs,
    examples,
    known_labels,
    shown,
)
from budgetbench.errors import DataError, Notice, nearest
from budgetbench.lazy import pd
from budgetbench.parameters import DIFFERENT, ONE_OR_SEVERAL, Accepted

LabelColumn = Annotated[int | str, Accepted("the name of a column or its position from 0 (-1: the last)")]
Columns = Annotated[
    tuple[int | str, ...],
    ONE_OR_SEVERAL,
    DIFFERENT,
    Accepted("a column or a list of different columns, by their names or positions from 0"),
]
#: Columns that one message names; the others are counted.
MOST_TOLD = 8
#: Names that YAML takes for texts without quotes.
PLAIN = re.compile(r"(?!(?:null|true|false)$)[A-Za-z]\w*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Handling(Options):
    """What becomes of columns that are no numbers.

    Parameters
    ----------
    drop : columns that are left out.
    missing : what becomes of values that are not known: an error, the whole row is dropped, or the training rows' mean
        or most frequent number stands for them. For a word it is the most frequent one.
    categorical : how columns of words become inputs: one for each word that the training rows hold, 0 or 1. Left out:
        an error.
    """

    drop: Columns | None = None
    missing: Literal["error", "drop", "mean", "most_frequent"] = "error"
    categorical: Literal["onehot"] | None = None


class OwnTable(OwnFile):
    """A table with a column of labels. A subclass reads one format; its options are a `Handling` among others."""

    def _load(self, request: Request) -> Data:
        options = request.options
        (path, train), rest = self.sheets(request)
        found = [(path, train)] if rest is None else alike(path, train, *rest)
        for where, sheet in found:
            refuse_columns(where, sheet, options)
        note_identifiers(path, found[0][1])
        if options.missing == "drop":
            found = [(where, without_gaps(where, sheet)) for where, sheet in found]
        tables: list[Table] = [(sheet.X, sheet.labels) for _, sheet in found]
        test = None if rest is None else tables[1]
        encoding = encoding_of(path, [sheet for _, sheet in found], options)
        limited = request.limit is not None
        return self.made(path, tables[0], rest and rest[0], test, limited=limited, encoding=encoding)

    def tests(
        self, path: Path, train: Sheet, test_path: Path, test: Sheet, options: Handling, classes: tuple[Label, ...]
    ) -> Examples:
        """The test examples of a stream, whose first rows are `train`: numbers alone."""
        _, (_, sheet) = alike(path, train, test_path, test)
        refuse_columns(test_path, sheet, options)
        check_inputs(test_path, sheet.X)
        return examples(sheet.X, encoded(known_labels(test_path, sheet.labels, classes), classes))

    @abstractmethod
    def sheets(self, request: Request) -> tuple[tuple[Path, Sheet], tuple[Path, Sheet] | None]:
        """The training file's sheet and the test file's, where there is one, without the columns that are dropped."""


def position(key: int | str, names: Sequence[str], what: str, where: str) -> int:
    """Position of the column that a key names; ValueError says which there are.

    Parameters
    ----------
    what : for messages: the option, such as ``label``.
    where : for messages: what holds the names, such as ``the first line``.
    """
    if isinstance(key, int):
        if not -len(names) <= key < len(names):
            raise ValueError(f"{what} is column {key}; expected from 0 to {len(names) - 1}, or -1 for the last")
        return key % len(names)
    if key not in names:
        columns = ", ".join(name[:40] for name in names[:12]) + (", …" if len(names) > 12 else "")
        hint = nearest(key, names[:1000])
        raise ValueError(f"no column {key!r} in {where}; found: {columns}. {hint}".rstrip(". "))
    if names.count(key) > 1:
        raise ValueError(f"{names.count(key)} columns are named {key!r}; give the position of the one for {what}")
    return names.index(key)


def sheet_of_frame(
    path: Path, frame: pd.DataFrame, label: int | str, drop: Sequence[int | str], missing: str = "error"
) -> Sheet:
    """The sheet of a data frame; `missing` says whether a label may be unknown, see `Handling`."""
    names = [str(name) for name in frame.columns]
    try:
        at = position(label, names, "label", "the table")
        dropped = {position(key, names, "drop", "the table") for key in drop}
    except ValueError as error:
        raise DataError(f"{path}: {error}") from None
    if at in dropped:
        raise DataError(f"{path}: drop names {names[at]!r}, which is the column of the label")
    inputs = [place for place in range(len(names)) if place != at and place not in dropped]
    if not inputs or not len(frame):
        raise DataError(f"{path}: " + ("no column is left as an input; see dataset.drop" if len(frame) else "no rows"))
    unknown = frame.iloc[:, at].isna().to_numpy()
    if unknown.any() and missing != "drop":
        raise DataError(f"{path}: row {int(np.argmax(unknown)) + 1}: found no label")
    labels = frame.iloc[:, at].to_numpy()
    if unknown.any() or labels.dtype.kind not in "biuf":
        told = zip(frame.iloc[:, at].astype(object), unknown, strict=True)
        labels = as_objects("" if none else str(value) for value, none in told)
    found = (of_series(names[place], _key(place, names), frame.iloc[:, place]) for place in inputs)
    return sheet_of(found, labels, label=names[at])


def _key(place: int, names: Sequence[str]) -> int | str:
    """By what options name a column."""
    return names[place] if names.count(names[place]) == 1 else place


def encoding_of(path: Path, sheets: Sequence[Sheet], options: Handling) -> Encoding | None:
    """How inputs are made of the columns, None where they are numbers without gaps; DataError if they are too many."""
    columns = sheets[0].columns
    if not any(column.words for column in columns) and not any(np.isnan(sheet.X).any() for sheet in sheets):
        return None
    missing: Literal["mean", "most_frequent"] = "most_frequent" if options.missing == "most_frequent" else "mean"
    encoding = Encoding(tuple(column.words for column in columns), missing)
    size = 8 * encoding.widest * sum(len(sheet.X) for sheet in sheets)
    if size > limits.LARGEST:
        found = f"{encoding.widest} inputs, one for each word, would take {limits.gigabytes(size)}"
        raise DataError(f"{path}: {found}; at most {limits.gigabytes(limits.LARGEST)} are taken. See dataset.drop")
    return encoding


def alike(path: Path, train: Sheet, test_path: Path, test: Sheet) -> list[tuple[Path, Sheet]]:
    """Both sheets, each with its path: the training file's columns in its order, and words that are numbered alike."""
    test = in_order_of(path, train, test_path, test)
    if len(train.columns) != len(test.columns):
        raise DataError(f"{test_path}: {len(test.columns)} inputs where {path} has {len(train.columns)}")
    columns, X, X_test = list(train.columns), train.X.copy(), test.X.copy()
    for j, (one, other) in enumerate(zip(train.columns, test.columns, strict=True)):
        if "words" in (one.kind, other.kind) and one.usable and other.usable:
            if one.kind != other.kind:
                raise DataError(f"{test_path}: column {other.name}: {other.kind}s where {path} has {one.kind}")
            words = tuple(sorted({*one.words, *other.words}))
            columns[j] = replace(one, words=words)
            X[:, j], X_test[:, j] = renumbered(X[:, j], one, words), renumbered(X_test[:, j], other, words)
    test_columns = [replace(other, words=one.words) for one, other in zip(columns, test.columns, strict=True)]
    return [(path, replace(train, X=X, columns=columns)), (test_path, replace(test, X=X_test, columns=test_columns))]


def in_order_of(path: Path, train: Sheet, test_path: Path, test: Sheet) -> Sheet:
    """The test columns in the order of the training columns of the same names; files without names go by position."""
    names, found = [column.name for column in train.columns], [column.name for column in test.columns]
    if not (train.named and test.named) or names == found:
        return test
    unknown = [name for name in found if name not in names]
    absent = [name for name in names if name not in found]
    if unknown or absent:
        what = f"no column {shown(absent[0])}" if absent else f"a column {shown(unknown[0])} too many"
        raise DataError(f"{test_path}: {what}; expected the columns of {path}, in any order")
    if len(set(names)) < len(names) or len(found) > len(names):
        raise DataError(f"{test_path}: columns in another order than in {path}, and a name that occurs twice")
    order = [found.index(name) for name in names]
    return replace(test, X=test.X[:, order], columns=[test.columns[j] for j in order])


def renumbered(values: NDArray[np.float64], column: Column, words: tuple[str, ...]) -> NDArray[np.float64]:
    """Positions among the column's words as positions among others that hold them all."""
    places = np.array([*(words.index(word) for word in column.words), np.nan])
    return places[np.where(np.isnan(values), -1, values).astype(np.int64)]


def refuse_columns(path: Path, sheet: Sheet, options: Handling) -> None:
    """DataError, in one message, for all columns of which no inputs can be made as the options say."""
    found: dict[str, list[tuple[Column, str]]] = {}
    for column in sheet.columns:
        for kind, where in _faults(sheet, column, options):
            found.setdefault(kind, []).append((column, where))
    if not found:
        return
    told = [_told(kind, columns) for kind, columns in found.items()]
    left = [column.key for columns in found.values() for column, _ in columns if not column.usable]
    steps = {
        "missing: drop, mean or most_frequent": "gap" in found,
        "categorical: onehot": "words" in found,
        f"drop: {listed(left)}": bool(left),
    }
    advice = "; ".join(step for step, wanted in steps.items() if wanted)
    expected = "a number or a word" if options.categorical else "a number"
    raise DataError(f"{path}: {'; '.join(told)}; expected {expected}. See dataset.{advice}")


def _faults(sheet: Sheet, column: Column, options: Handling) -> Iterator[tuple[str, str]]:
    """What is wrong with a column: the kind of fault, and what was found first, where."""
    if column.kind == "nothing" or (column.gap and column.usable and options.missing == "error"):
        row, text = column.gap or (0, "")
        yield "gap" if column.usable else column.kind, f"{_cut(text) if text else 'nothing'} ({sheet.place(row)})"
    if column.first and not (column.kind == "words" and options.categorical):
        row, text = column.first
        yield column.kind, f"{_cut(text)} ({sheet.place(row)})"


#: What is added to what was found first, where that does not say all.
SAYS = {
    "date": ", a date",
    "numbers and words": " among numbers",
    "long text": f" among more than {MOST_WORDS} words or long ones",
    "nothing": " and no value at all",
}


def _told(kind: str, columns: Sequence[tuple[Column, str]]) -> str:
    """The columns that have one fault, and what was found in the first of them."""
    names = [repr(name) if "," in name else name for name in (column.name[:24] for column, _ in columns[:MOST_TOLD])]
    more = f" and {len(columns) - MOST_TOLD} more" if len(columns) > MOST_TOLD else ""
    return f"column{'s' * (len(columns) > 1)} {', '.join(names)}{more}: found {columns[0][1]}{SAYS.get(kind, '')}"


def _cut(text: str) -> str:
    return shown(text if len(text) <= 30 else f"{text[:24]}…")


def listed(keys: Sequence[int | str]) -> str:
    """Columns as a configuration lists them."""
    told = [str(key) if isinstance(key, int) or PLAIN.fullmatch(key) else json.dumps(key) for key in keys[:MOST_TOLD]]
    return f"[{', '.join(told)}{', …' * (len(keys) > MOST_TOLD)}]"


def note_identifiers(path: Path, sheet: Sheet) -> None:
    """Point out the columns that seem to say which row it is."""
    found = identifiers(sheet)
    if found:
        names = ", ".join(column.name[:40] for column in found[:MOST_TOLD])
        what = f"each row has its own {names}, which looks like an identifier and tells nothing of other rows"
        drop = listed([column.key for column in found])
        warnings.warn(f"{path}: {what}. To leave it out: dataset.drop: {drop}", Notice, stacklevel=2)


def labelled(sheet: Sheet) -> NDArray[np.bool_]:
    """Which rows have a label."""
    return np.array([str(label).lower() not in UNLABELLED for label in sheet.labels.tolist()], dtype=bool)


def without_gaps(path: Path, sheet: Sheet) -> Sheet:
    """The rows in which every value and the label is known; tells how many are left out."""
    whole = labelled(sheet) & ~np.isnan(sheet.X).any(axis=1)
    if not whole.any():
        raise DataError(f"{path}: no row is without a missing value; see dataset.missing: mean or most_frequent")
    if not whole.all():
        left_out = f"{len(whole) - int(whole.sum())} of {len(whole)} rows have missing values and are left out"
        warnings.warn(f"{path}: {left_out}", Notice, stacklevel=2)
    return sheet.rows(whole)
