"""What the datasets read from the user's own files share: options, classes, and messages about what is wrong.

Labels are whole numbers, exactly, or names. Never two classes for one, nor one for two.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator

from budgetbench.datasets import limits
from budgetbench.datasets.base import Data, Dataset, Examples, Indices, Label, Options, Request, array_checksum, encoded
from budgetbench.datasets.cache import Cache
from budgetbench.datasets.columns import MISSING, Encoding
from budgetbench.datasets.parse import beginning, brief, unpack
from budgetbench.errors import DataError
from budgetbench.parameters import Accepted
from budgetbench.sparse import SparseRows

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
#: The largest whole number that a label can be.
LARGEST = 2**63 - 1
#: Characters of the longest name of a class.
LONGEST = 200

EXPECTED = "a class: a whole number or a name"
#: Inputs (n, d), dense or sparse, and labels (n,), numbers or strings.
Table = tuple[Any, NDArray[Any]]


def _path(value: Any) -> Path:
    if not isinstance(value, str) or not value:
        raise ValueError("no path")
    return Path(value).expanduser()


File = Annotated[Path, BeforeValidator(_path), Accepted("the path of a file")]


@dataclass(frozen=True)
class Files(Options):
    """Where the examples are; whether a file exists is seen on loading.

    Parameters
    ----------
    path : the file with the training examples.
    test_path : the file with the test examples; without it there is no test set.
    """

    path: File
    test_path: File | None = None


class OwnFile(Dataset):
    """Examples in files of the user's, any number of classes."""

    source = "your own file"
    licence = "yours"
    preparation = "as in the file"
    options: type[Options] = Files

    def at_hand(self, cache: Cache, options: Mapping[str, Any]) -> bool:
        return Path(options["path"]).expanduser().exists()

    def made(
        self,
        path: Path,
        train: Table,
        test_path: Path | None,
        test: Table | None,
        *,
        limited: bool,
        encoding: Encoding | None = None,
    ) -> Data:
        """The dataset of tables that were read; `limited` where more of the training set was left unread."""
        X, found = train
        check_inputs(path, X, gaps=encoding is not None)
        labels = readable_labels(path, found)
        classes = tuple(sorted(set(labels.tolist())))
        if len(classes) < 2:
            advice = ". A limit on data sorted by class does that: raise or drop dataset.limit" if limited else ""
            raise DataError(f"{path}: every example has the label {classes[0]!r}; two classes are needed{advice}")
        parts = [(X, labels)]
        if test is not None:
            where, (X_test, found) = test_path or path, test
            check_inputs(where, X_test, gaps=encoding is not None)
            if X_test.shape[1] != X.shape[1]:
                raise DataError(f"{where}: {X_test.shape[1]} inputs where {path} has {X.shape[1]}")
            if limited:  # a class may first come where reading has stopped
                classes = tuple(sorted({*classes, *of_the_kind(where, found, classes).tolist()}))
            parts.append((X_test, known_labels(where, found, classes)))
        held = [examples(X, encoded(labels, classes), as_found=encoding is not None) for X, labels in parts]
        told = () if encoding is None else (np.array(json.dumps([encoding.missing, encoding.words])),)
        content = array_checksum(*(array for part in held for array in (part.X, part.y)), np.array(classes), *told)
        files = (path,) if test_path is None else (path, test_path)
        identity = f"{self.name}/{content}"
        return Data(held[0], held[1] if test is not None else None, classes, identity, files, encoding)


class OwnArrays(OwnFile):
    """Examples that are numbers in their files. A subclass reads one format."""

    def _load(self, request: Request) -> Data:
        options = request.options
        train, test = self.read_all(options, request.limit)
        return self.made(options.path, train, options.test_path, test, limited=request.limit is not None)

    @abstractmethod
    def read_all(self, options: Any, limit: int | None) -> tuple[Table, Table | None]:
        """The first training examples, or all, and the test table, where there is one; raises DataError."""


def content_of(path: Path, limit: int | None = None, rows: Callable[[bytes], int] | None = None) -> bytes:
    """The content of a file, unpacked; DataError if there is none, it is empty or beyond what is read.

    With a limit it may end at the end of any line that has at least so many `rows` before it.
    """
    with complaints_of(path):
        if limit is None or rows is None:
            content = unpack(limits.read_whole(path))
        else:
            content = beginning(path, lambda content: rows(content) >= limit)
    if not content.strip():
        raise DataError(f"{path}: the file is empty")
    return content


@contextmanager
def complaints_of(path: Path) -> Iterator[None]:
    """Errors of reading a file as a DataError that names it."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}. The path is taken from the working directory.") from error
    except ValueError as error:
        raise DataError(f"{path}: {brief(error)}") from error


def check_inputs(path: Path, X: NDArray[Any] | SparseRows, gaps: bool = False) -> None:
    """DataError for what is no table of finite numbers; with `gaps` some may be unknown."""
    if isinstance(X, SparseRows):
        _check_sparse(path, X)
        return
    if X.ndim != 2 or not X.size:
        raise DataError(f"{path}: inputs of shape {X.shape}; expected rows and columns, at least one of each")
    with np.errstate(over="ignore"):
        finite = np.isfinite(X.astype(np.float32, copy=False)) | (np.isnan(X) if gaps else False)
    if not finite.all():
        row, column = (int(i) for i in np.argwhere(~finite)[0])
        raise _not_finite(path, row, column, X[row, column])


def _check_sparse(path: Path, X: SparseRows) -> None:
    with np.errstate(over="ignore"):
        finite = np.isfinite(X.values.astype(np.float32))
    if not finite.all():
        e = int(np.argmin(finite))
        raise _not_finite(path, int(np.searchsorted(X.starts, e, side="right")) - 1, int(X.inputs[e]), X.values[e])


def _not_finite(path: Path, row: int, column: int, value: float) -> DataError:
    found = f"example {row + 1}, input {column + 1}: found {value}"
    return DataError(f"{path}: {found}; expected a finite number, at most 3.4e38 in size")


def examples(X: NDArray[Any] | SparseRows, y: Indices, as_found: bool = False) -> Examples:
    """Examples of numbers as they are: float32 where that changes none, otherwise float64, until they are scaled.

    Float64 in any case for columns `as_found`, which are still to be encoded.
    """
    values = X.values if isinstance(X, SparseRows) else X
    return Examples(X, y, np.float32 if not as_found and (values.astype(np.float32) == values).all() else np.float64)


def shown(value: Any) -> str:
    """A value as messages name it, cut where it is long."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 60 else f"{text[:50]}…{text[-1]}"


def is_number(text: str, kind: type[int | float] = float) -> bool:
    """Whether a text is a number as files write it; Python reads more."""
    try:
        kind(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()


def as_objects(values: Iterable[Any]) -> NDArray[Any]:
    """An array of the values as they are, even where these are sequences, of shape (n,)."""
    return np.array([*values, None], dtype=object)[:-1]


def readable_labels(path: Path, labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as whole numbers (int64) where all are such, otherwise as strings; DataError for fractions."""
    if labels.ndim != 1:
        raise DataError(f"{path}: labels of shape {labels.shape}; expected one for each example")
    if labels.dtype.kind in "OUS":
        return _of_text(path, as_text(path, labels))
    if labels.dtype.kind not in "biuf":
        raise DataError(f"{path}: labels hold {labels.dtype}; expected whole numbers or names")
    if labels.dtype.kind == "f":
        largest = 2 ** (np.finfo(labels.dtype).nmant + 1)  # beyond it a float is one for several whole numbers
        _refuse(path, labels, ~(np.isfinite(labels) & (labels == np.round(labels))), EXPECTED)
        _refuse(path, labels, np.abs(labels) > largest, f"at most {largest} in size, as {labels.dtype} holds no more")
    if labels.dtype.kind == "u":
        _refuse(path, labels, labels > LARGEST, f"at most {LARGEST}")
    return labels.astype(np.int64)


def as_text(path: Path, labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as an array of str objects, so that a long one costs its own length only."""
    try:
        text = [label.decode() if isinstance(label, bytes) else str(label) for label in labels.tolist()]
    except UnicodeDecodeError:
        raise DataError(f"{path}: a label is not text in UTF-8") from None
    for row, label in enumerate(text):
        if len(label) > LONGEST:
            found = f"example {row + 1}: found a label of {len(label)} characters"
            raise DataError(f"{path}: {found}; expected at most {LONGEST}")
    return as_objects(text)


def _of_text(path: Path, labels: NDArray[Any]) -> NDArray[Any]:
    kinds = sorted(set(labels))
    names = [kind for kind in kinds if not NUMBER.fullmatch(kind)]
    if not names:
        numbers = {kind: _whole(path, labels, kind) for kind in kinds}
        return np.array([numbers[label] for label in labels], dtype=np.int64)
    if all(name.lower() in MISSING for name in names):
        _refuse(path, labels, labels == names[0], EXPECTED)
    return labels.astype(str)


def _whole(path: Path, labels: NDArray[Any], text: str) -> int:
    number = Decimal(text)
    if number.adjusted() > 18 or (number.adjusted() >= 0 and abs(number) > LARGEST):
        _refuse(path, labels, labels == text, f"at most {LARGEST} in size, or a name")
    if number != number.to_integral_value():
        _refuse(path, labels, labels == text, EXPECTED)
    return int(number)


def _refuse(path: Path, labels: NDArray[Any], wrong: NDArray[np.bool_], expected: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"{path}: example {row + 1}: found label {shown(labels[row])}; expected {expected}")


def known_labels(path: Path, labels: NDArray[Any], classes: tuple[Label, ...]) -> NDArray[Any]:
    """The test set's labels, in the form of the training set's."""
    readable = of_the_kind(path, labels, classes)
    unknown = sorted(set(readable.tolist()) - set(classes), key=str)
    if unknown:
        listed = ", ".join(map(str, classes[:12])) + (", …" if len(classes) > 12 else "")
        raise DataError(f"{path}: label {shown(unknown[0])} does not occur in the training set ({listed})")
    return readable


def of_the_kind(path: Path, labels: NDArray[Any], classes: tuple[Label, ...]) -> NDArray[Any]:
    """Labels as whole numbers or as names, whichever the classes are."""
    return as_text(path, labels).astype(str) if isinstance(classes[0], str) else readable_labels(path, labels)
