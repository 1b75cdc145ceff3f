"""What the datasets read from the user's own files share: options, classes, and messages about what is wrong."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets.base import Data, Dataset, Label, Option, Request, array_checksum, labelled
from budgetbench.errors import DataError

#: Inputs (n, d) and labels (n,), numbers or strings.
Table = tuple[NDArray[Any], NDArray[Any]]


def existing(value: Any) -> Path:
    """Accepts the path of a file; whether it exists is seen on loading."""
    if not isinstance(value, str | Path) or not str(value):
        raise TypeError(value)
    return Path(value).expanduser()


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value


PATHS: Mapping[str, Option] = {
    "path": Option(existing, ..., "the path of a file", "training examples"),
    "test_path": Option(existing, None, "the path of a file", "test examples; without it there is no test set"),
}


class OwnFile(Dataset):
    """Examples in files of the user's, any number of classes. A subclass reads one format."""

    source = "your own file"
    licence = "yours"
    preparation = "as in the file"
    options = PATHS

    def _load(self, request: Request) -> Data:
        train, test = self.read_all(request.options)
        path, test_path = request.options["path"], request.options["test_path"] or request.options["path"]
        check_inputs(path, train[0])
        X, labels = train[0], readable_labels(path, train[1])
        classes = tuple(sorted(set(labels.tolist())))
        if len(classes) < 2:
            raise DataError(f"{path}: every example has the label {classes[0]!r}; two classes are needed")
        held = [labelled(X, labels, classes)]
        if test is not None:
            check_inputs(test_path, test[0])
            if test[0].shape[1] != X.shape[1]:
                raise DataError(f"{test_path}: {test[0].shape[1]} inputs where {path} has {X.shape[1]}")
            held.append(labelled(test[0], known_labels(test_path, test[1], classes), classes))
        content = array_checksum(*(array for part in held for array in (part.X, part.y)), np.array(classes))
        files = tuple(file for file in (path, request.options["test_path"]) if file is not None)
        return Data(held[0], held[1] if test is not None else None, classes, f"{self.name}/{content}", files)

    @abstractmethod
    def read_all(self, options: dict[str, Any]) -> tuple[Table, Table | None]:
        """The training table and the test table, where there is one; raises DataError."""


class OwnTable(OwnFile):
    """A format with one table in each file."""

    def read_all(self, options: dict[str, Any]) -> tuple[Table, Table | None]:
        test_path = options["test_path"]
        return self.read(options["path"], options), None if test_path is None else self.read(test_path, options)

    @abstractmethod
    def read(self, path: Path, options: dict[str, Any]) -> Table:
        """The table in a file; raises DataError."""


def content_of(path: Path) -> bytes:
    """The content of a file; DataError if there is none or it is empty."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}. The path is taken from the working directory.") from error
    if not content.strip():
        raise DataError(f"{path}: the file is empty")
    return content


def check_inputs(path: Path, X: NDArray[Any]) -> None:
    if X.ndim != 2 or not X.size:
        raise DataError(f"{path}: inputs of shape {X.shape}; expected rows and columns, at least one of each")
    with np.errstate(over="ignore"):
        finite = np.isfinite(X.astype(np.float32, copy=False))
    if not finite.all():
        row, column = (int(i) for i in np.argwhere(~finite)[0])
        raise DataError(
            f"{path}: example {row + 1}, input {column + 1}: found {X[row, column]}; expected a finite number"
        )


def readable_labels(path: Path, labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as whole numbers where all are such, otherwise as strings; DataError for fractions."""
    if labels.ndim != 1:
        raise DataError(f"{path}: labels of shape {labels.shape}; expected one for each example")
    if labels.dtype.kind in "OUS":
        try:
            numbers = labels.astype(str).astype(np.float64)
        except ValueError:
            return labels.astype(str)
    else:
        numbers = labels.astype(np.float64)
    whole = np.isfinite(numbers) & (numbers == np.round(numbers))
    if not whole.all():
        row = int(np.argmin(whole))
        raise DataError(
            f"{path}: example {row + 1}: found label {labels[row]}; expected a class: a whole number or a name"
        )
    return numbers.astype(np.int64)


def known_labels(path: Path, labels: NDArray[Any], classes: tuple[Label, ...]) -> NDArray[Any]:
    """The test set's labels, in the form of the training set's."""
    readable = readable_labels(path, labels)
    if isinstance(classes[0], str):
        readable = readable.astype(str)
    unknown = sorted(set(readable.tolist()) - set(classes), key=str)
    if unknown:
        raise DataError(
            f"{path}: label {unknown[0]!r} does not occur in the training set ({', '.join(map(str, classes))})"
        )
    return readable
