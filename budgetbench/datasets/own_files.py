"""What the datasets read from the user's own files share: options, classes, and messages about what is wrong."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator

from budgetbench.datasets import limits
from budgetbench.datasets.base import Data, Dataset, Examples, Indices, Options, Request, array_checksum, encoded
from budgetbench.datasets.own_labels import known_labels, readable_labels
from budgetbench.datasets.parse import brief, unpack
from budgetbench.errors import DataError
from budgetbench.parameters import Accepted

#: Inputs (n, d) and labels (n,), numbers or strings.
Table = tuple[NDArray[Any], NDArray[Any]]


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
    """Examples in files of the user's, any number of classes. A subclass reads one format."""

    source = "your own file"
    licence = "yours"
    preparation = "as in the file"
    options: type[Options] = Files

    def _load(self, request: Request) -> Data:
        options = request.options
        path, test_path = options.path, options.test_path
        (X, found), test = self.read_all(options)
        check_inputs(path, X)
        labels = readable_labels(path, found)
        classes = tuple(sorted(set(labels.tolist())))
        if len(classes) < 2:
            raise DataError(f"{path}: every example has the label {classes[0]!r}; two classes are needed")
        held = [examples(X, encoded(labels, classes))]
        if test is not None:
            where, (X_test, found) = test_path or path, test
            check_inputs(where, X_test)
            if X_test.shape[1] != X.shape[1]:
                raise DataError(f"{where}: {X_test.shape[1]} inputs where {path} has {X.shape[1]}")
            held.append(examples(X_test, encoded(known_labels(where, found, classes), classes)))
        content = array_checksum(*(array for part in held for array in (part.X, part.y)), np.array(classes))
        files = (path,) if test_path is None else (path, test_path)
        return Data(held[0], held[1] if test is not None else None, classes, f"{self.name}/{content}", files)

    @abstractmethod
    def read_all(self, options: Any) -> tuple[Table, Table | None]:
        """The training table and the test table, where there is one; raises DataError."""


def content_of(path: Path) -> bytes:
    """The content of a file, unpacked; DataError if there is none, it is empty or beyond what is read."""
    with complaints_of(path):
        content = unpack(limits.read_whole(path))
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


def check_inputs(path: Path, X: NDArray[Any]) -> None:
    if X.ndim != 2 or not X.size:
        raise DataError(f"{path}: inputs of shape {X.shape}; expected rows and columns, at least one of each")
    with np.errstate(over="ignore"):
        finite = np.isfinite(X.astype(np.float32, copy=False))
    if not finite.all():
        row, column = (int(i) for i in np.argwhere(~finite)[0])
        found = f"example {row + 1}, input {column + 1}: found {X[row, column]}"
        raise DataError(f"{path}: {found}; expected a finite number, at most 3.4e38 in size")


def examples(X: NDArray[Any], y: Indices) -> Examples:
    """Examples of numbers as they are: float32 where that changes none, otherwise float64, until they are scaled."""
    held = X.astype(np.float32)
    return Examples(held, y) if (held == X).all() else Examples(X, y, np.float64)
