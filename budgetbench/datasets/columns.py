"""Columns of the user's tables: what each holds, and how inputs are made of numbers, words and gaps.

Words and gaps take other rows to become inputs: which words there are, and what stands for a value that is not known.
That is learnt from the training rows of a run alone (`Encoding`), so a table is kept as it was found until then.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetbench.lazy import lazy, pd

if TYPE_CHECKING:
    from sklearn import compose, impute, pipeline, preprocessing
else:
    names = "compose", "impute", "pipeline", "preprocessing"
    compose, impute, pipeline, preprocessing = (lazy(f"sklearn.{name}") for name in names)

#: What stands for a value that is not known.
MISSING = ("", "na", "n/a", "nan", "null", "none", "?", "-", "inf", "+inf", "-inf")
#: The same for a label: "none" may be a class.
UNLABELLED = ("", "na", "n/a", "nan", "null", "?")
#: Different words of a column that become inputs, and characters of the longest.
MOST_WORDS, LONGEST_WORD = 1000, 200
#: Beyond so many different numbers, a column of numbers and words is more likely one of numbers with slips.
FEW_NUMBERS = 20
#: Rows from which on a column can look like an identifier.
FEW_ROWS = 20
DATE = re.compile(
    r"(\d{4}(?P<a>[-/.])\d{1,2}(?P=a)\d{1,2}|\d{1,2}(?P<b>[-/.])\d{1,2}(?P=b)(\d{4}|\d\d))([ T]\d{1,2}:\d\d.*)?",
    re.ASCII,
)
NAMES_ROWS = re.compile(r"(^|[\W_])(id|ids|uuid|guid|key|index|row|nr|no|number)$|Id$|ID$", re.IGNORECASE)

Kind = Literal["number", "words", "date", "numbers and words", "long text", "nothing", "other"]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """What a column of a table holds; its values are in a `Sheet`.

    Attributes
    ----------
    name : as messages call it.
    key : by which a configuration names it: its name, or its position where it has none.
    kind : of its values.
    words : the different words, sorted, where it holds words.
    first : row and text of the first value that is no number.
    gap : row and text of the first value that is not known.
    """

    name: str
    key: int | str
    kind: Kind = "number"
    words: tuple[str, ...] = ()
    first: tuple[int, str] | None = None
    gap: tuple[int, str] | None = None

    @property
    def usable(self) -> bool:
        """Whether inputs can be made of it."""
        return self.kind in ("number", "words")


@dataclass(frozen=True, eq=False)
class Sheet:
    """The inputs and labels of one file, as they were found.

    Attributes
    ----------
    X : float64 of shape (n, d): numbers, and positions of words among those of their column; NaN for what is not known.
    labels : as the file writes them, of shape (n,).
    columns : what the d columns hold.
    named : whether the file names its columns.
    label : the name of the label's column, where it has one.
    lines : the line of each row, for messages; empty for a file without lines.
    """

    X: Numbers
    labels: NDArray[Any]
    columns: list[Column]
    named: bool = True
    label: str | None = None
    lines: Sequence[int] = field(default=(), repr=False)

    def place(self, row: int) -> str:
        return f"line {self.lines[row]}" if len(self.lines) else f"row {row + 1}"

    def rows(self, chosen: NDArray[np.bool_]) -> Sheet:
        """Some of the rows alone."""
        lines = [line for line, wanted in zip(self.lines, chosen, strict=False) if wanted]
        return Sheet(self.X[chosen], self.labels[chosen], self.columns, self.named, self.label, lines)


def sheet_of(columns: Iterable[tuple[Column, Numbers]], labels: NDArray[Any], **more: Any) -> Sheet:
    """A sheet from its columns, each with its values."""
    found, values = zip(*columns, strict=True)
    return Sheet(np.column_stack(values), labels, list(found), **more)


def is_missing(text: str) -> bool:
    return text.lower() in MISSING


def as_number(text: str) -> float | None:
    """The number that a text is as files write it, None where it is none; Python reads more."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text and text.isascii() else None


def of_text(name: str, key: int | str, cells: Sequence[str]) -> tuple[Column, Numbers]:
    """A column from its cells, without spaces around them."""
    gaps = [(row, cell) for row, cell in enumerate(cells) if is_missing(cell)]
    known = [(row, cell) for row, cell in enumerate(cells) if not is_missing(cell)]
    numbers = {row: number for row, cell in known if (number := as_number(cell)) is not None}
    words = [(row, cell) for row, cell in known if row not in numbers]
    column, values = Column(name, key, gap=gaps[0] if gaps else None), np.full(len(cells), np.nan)
    if not words:
        values[list(numbers)] = list(numbers.values())
        return replace(column, kind="number" if known else "nothing"), values
    if len(numbers) > len(words) and len(set(numbers.values())) > FEW_NUMBERS:
        return replace(column, kind="numbers and words", first=words[0]), values
    if not numbers and all(DATE.fullmatch(cell) for _, cell in words):
        return replace(column, kind="date", first=words[0]), values
    return of_words(column, known, values)


def of_words(column: Column, known: Sequence[tuple[int, str]], values: Numbers) -> tuple[Column, Numbers]:
    """A column of words from the rows and texts of those that are known; the values of all others are NaN."""
    texts = tuple(sorted({text for _, text in known}))
    first = next((one for one in known if as_number(one[1]) is None), known[0])
    if len(texts) > MOST_WORDS or any(len(text) > LONGEST_WORD for text in texts):
        return replace(column, kind="long text", first=first), values
    position = {text: place for place, text in enumerate(texts)}
    for row, text in known:
        values[row] = position[text]
    return replace(column, kind="words", words=texts, first=first), values


def of_series(name: str, key: int | str, series: pd.Series[Any]) -> tuple[Column, Numbers]:
    """A column from one of a data frame, by its type."""
    kinds, empty = pd.api.types, series.isna().to_numpy()
    column = Column(name, key, gap=(int(np.argmax(empty)), "") if empty.any() else None)
    values = np.full(len(series), np.nan)
    if empty.all():
        return replace(column, kind="nothing"), values
    if kinds.is_bool_dtype(series) or (kinds.is_numeric_dtype(series) and not kinds.is_complex_dtype(series)):
        return column, series.to_numpy(dtype=np.float64, na_value=np.nan)
    known = [(row, value) for row, value in enumerate(series.astype(object)) if not empty[row]]
    if isinstance(series.dtype, pd.CategoricalDtype):
        return of_words(column, [(row, str(value)) for row, value in known], values)
    if all(isinstance(value, str) for _, value in known):
        texts = {row: value.strip() for row, value in known}
        return of_text(name, key, [texts.get(row, "") for row in range(len(series))])
    if all(isinstance(value, bool | int | float | Decimal) for _, value in known):
        values[[row for row, _ in known]] = [float(value) for _, value in known]
        return column, values
    dates = all(isinstance(value, datetime.date) for _, value in known)
    return replace(column, kind="date" if dates else "other", first=(known[0][0], str(known[0][1]))), values


def identifiers(sheet: Sheet) -> list[Column]:
    """The columns that seem to say which row it is: each value once, in whole numbers that count or are so named."""
    return [column for j, column in enumerate(sheet.columns) if _identifies(column, sheet.X[:, j])]


def _identifies(column: Column, values: Numbers) -> bool:
    if len(values) < FEW_ROWS or not column.usable or np.isnan(values).any():
        return False
    if column.kind == "words":
        return len(column.words) == len(values)
    if (values[:1000] != np.round(values[:1000])).any() or len(np.unique(values[:1000])) < len(values[:1000]):
        return False  # told soon, of the most
    ordered = np.unique(values)
    whole = len(ordered) == len(values) and bool((ordered == np.round(ordered)).all())
    return whole and (ordered[-1] - ordered[0] == len(values) - 1 or bool(NAMES_ROWS.search(column.name)))


@dataclass(frozen=True)
class Encoding:
    """How inputs are made of columns with words and gaps.

    Attributes
    ----------
    words : of each column its words, empty for a column of numbers.
    missing : what stands for a number that is not known: the mean or the most frequent one among the training rows.
        For a word that is not known it is the most frequent one in any case.
    """

    words: tuple[tuple[str, ...], ...]
    missing: Literal["mean", "most_frequent"]

    @property
    def widest(self) -> int:
        """How many inputs there are at most."""
        return sum(len(words) or 1 for words in self.words)

    def inputs(self, X: Numbers, rows: NDArray[np.int64]) -> tuple[Numbers, NDArray[np.int64]]:
        """The inputs of all rows, as `rows` alone teach them, and which of the inputs are numbers.

        The numbers come first, then for each column of words an input for each word among the `rows`: 1 where a row
        has it, otherwise 0. A word that is not among them is 0 in all of its column's inputs.

        Parameters
        ----------
        X : the columns, as `Sheet.X` has them.
        """
        numbers = [j for j, words in enumerate(self.words) if not words]
        words = [j for j, words in enumerate(self.words) if words]
        filled = impute.SimpleImputer(strategy=self.missing, keep_empty_features=True)
        told = pipeline.make_pipeline(
            impute.SimpleImputer(strategy="most_frequent", keep_empty_features=True),
            preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        )
        made = compose.ColumnTransformer([("numbers", filled, numbers), ("words", told, words)])
        made.fit(X[rows])
        return np.asarray(made.transform(X), dtype=np.float64), np.arange(len(numbers))
