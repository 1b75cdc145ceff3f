"""What is in a file of the user's: its kind, its columns, its classes, and which column is likely the label."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets import limits
from budgetbench.datasets.base import Label, datasets
from budgetbench.datasets.cache import Cache
from budgetbench.datasets.columns import Column, Sheet, identifiers
from budgetbench.datasets.own_csv import CsvOptions, CsvReader
from budgetbench.datasets.own_files import complaints_of, readable_labels
from budgetbench.datasets.own_parquet import read
from budgetbench.datasets.own_tables import labelled, sheet_of_frame
from budgetbench.datasets.parse import beginning
from budgetbench.errors import DataError, RequestError
from budgetbench.sparse import SparseRows

#: Names that columns of labels often have.
LABELS = ("class", "label", "target", "y", "outcome", "species", "diagnosis", "category", "kind")
#: Classes that a label has at most, unless it is named.
MOST_CLASSES = 50
LIBSVM_LINE = re.compile(rb"\s*[-+\d.eE]+(\s+\d+:[-+\d.eE]+)+\s*(#.*)?$")


@dataclass(frozen=True, eq=False)
class Survey:
    """What is in a file.

    Attributes
    ----------
    kind : the dataset that reads it: csv, parquet, libsvm or npz.
    n, d : rows with a label, and inputs.
    classes : how many rows each class has, in the order of the classes.
    label : by which a configuration names the label's column; None for a file without columns.
    sheet : the other columns, for a table.
    labelled : which of its rows have a label.
    header : whether the first line names the columns, where that was said.
    to_scale : whether there are numbers beyond -1 and 1.
    sparse : whether the inputs are held sparse.
    """

    path: Path
    kind: str
    n: int
    d: int
    classes: dict[Label, int]
    label: int | str | None = None
    sheet: Sheet | None = None
    labelled: NDArray[np.bool_] = field(default_factory=lambda: np.ones(0, dtype=bool))
    header: bool | None = None
    to_scale: bool = True
    sparse: bool = False

    @property
    def unlabelled(self) -> int:
        """How many rows have no label."""
        return int((~self.labelled).sum())

    @property
    def identifiers(self) -> list[Column]:
        return [] if self.sheet is None else identifiers(self.sheet)


def survey(path: Path, label: int | str | None = None, header: bool | None = None) -> Survey:
    """What is in a file; the label is looked for where none is named. DataError for a file that cannot be read."""
    kind = kind_of(path)
    if kind not in ("csv", "parquet"):
        if label is not None:
            raise RequestError(f"--label {label}: a file of the kind {kind} has no columns with names; leave it out")
        data = datasets[kind].load(Cache(path.parent), path=str(path))
        counts = np.bincount(data.train.y, minlength=len(data.classes)).tolist()
        X, classes = data.train.X, dict(zip(data.classes, counts, strict=True))
        sparse = isinstance(X, SparseRows)
        to_scale = bool((np.abs(X.values if sparse else X) > 1).any())
        return Survey(path, kind, len(X), X.shape[1], classes, to_scale=to_scale, sparse=sparse)
    read_with = _csv(path, header) if kind == "csv" else _parquet(path)
    try:
        sheet, key = read_with(-1 if label is None else label)
    except DataError:
        if label is not None:
            raise
        try:
            sheet, key = read_with(0)  # a first line is told from a header once the label is known
        except DataError:
            sheet, key = read_with(-1)
    if label is None:
        found = likely_label(path, sheet, key)
        sheet, key = (sheet, key) if found == key else read_with(found)
    known = labelled(sheet)
    if not known.any():
        raise DataError(f"{path}: column {key} has no value. Name the column of the label with --label")
    labels = readable_labels(path, sheet.labels[known])
    counted = dict(sorted(Counter(labels.tolist()).items()))
    return Survey(path, kind, int(known.sum()), len(sheet.columns), counted, key, sheet, known, header)


def kind_of(path: Path) -> str:
    """The dataset that reads a file, by how its content begins."""
    with complaints_of(path), limits.opened(path) as file:
        magic = file.read(6)
        if magic.startswith(b"PAR1"):
            return "parquet"
        if magic.startswith((b"PK", b"\x93NUMPY")):
            return "npz"
        first = beginning(path, lambda content: bool(content.strip())).strip().splitlines()
    return "libsvm" if first and LIBSVM_LINE.match(first[0]) else "csv"


#: Reads a table with one of its columns as the label; with it comes by what a configuration names that column.
ReadWith = Callable[[int | str], tuple[Sheet, int | str]]


def _csv(path: Path, header: bool | None) -> ReadWith:
    def read_with(label: int | str) -> tuple[Sheet, int | str]:
        reader = CsvReader(path, CsvOptions(path=path, label=label, header=header, missing="drop"))
        return reader.read(), reader.key(reader.label)

    return read_with


def _parquet(path: Path) -> ReadWith:
    frame = read(path)

    def read_with(label: int | str) -> tuple[Sheet, int | str]:
        sheet = sheet_of_frame(path, frame, label, (), "drop")
        return sheet, str(sheet.label) if isinstance(label, int) else label

    return read_with


def likely_label(path: Path, sheet: Sheet, last: int | str) -> int | str:
    """The column that is so called, else the last one if it can be, else the last of few words."""
    called = [column.key for column in sheet.columns if column.name.lower() in LABELS]
    if str(last).lower() in LABELS or (not called and _plausible(path, sheet)):
        return last
    few = [column.key for column in sheet.columns if 2 <= len(column.words) <= MOST_CLASSES]
    if not called and not few:
        raise DataError(f"{path}: no column looks like a label. Name it with --label")
    return (called or few)[-1]


def _plausible(path: Path, sheet: Sheet) -> bool:
    """Whether the labels are of few classes."""
    try:
        return 2 <= len(set(readable_labels(path, sheet.labels[labelled(sheet)]).tolist())) <= MOST_CLASSES
    except DataError:
        return False
