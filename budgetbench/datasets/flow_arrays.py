"""Arrays and columns that pass by: members of a NumPy .npz file, and the batches of a Parquet file."""

from __future__ import annotations

import hashlib
import math
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets import limits
from budgetbench.datasets.base import Examples, Indices, Label
from budgetbench.datasets.flow import PART, Flow, Rows, Spellings, Stamp
from budgetbench.datasets.own_files import complaints_of, of_the_kind
from budgetbench.datasets.parse import UnfitError
from budgetbench.errors import DataError
from budgetbench.lazy import lazy, pd

if TYPE_CHECKING:
    from pyarrow import parquet
else:
    parquet = lazy("pyarrow.parquet")

#: Bytes of a file that are hashed at a time.
PIECE = 1 << 22


def checksum_of(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with complaints_of(path), limits.opened(path) as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()


@dataclass(frozen=True)
class FileFlow(Flow):
    """A file of rows without lines.

    Parameters
    ----------
    path : the file, which had this `stamp` when it was first read.
    spelled : the classes, where the configuration names them.
    tested : the test examples, where there are any.
    """

    path: Path
    stamp: Stamp
    spelled: tuple[Label, ...] | None
    tested: Examples | None

    def test(self) -> Examples | None:
        return self.tested

    def checked(self, X: NDArray[Any], labels: NDArray[Any], first: int, spellings: Spellings) -> Rows:
        """Some rows, the first of which is number `first`; DataError for what does not fit."""
        with np.errstate(over="ignore"):
            wrong = ~np.isfinite(X.astype(np.float32))
        if wrong.any():
            row, column = (int(i) for i in np.argwhere(wrong)[0])
            found = f"row {first + row + 1}, input {column + 1}: found {X[row, column]}"
            raise DataError(f"{self.path}: {found}; expected a finite number, at most 3.4e38 in size")
        return X, self._indices(labels, first, spellings)

    def _indices(self, labels: NDArray[Any], first: int, spellings: Spellings) -> Indices:
        return spellings.indices(labels, lambda row: f"{self.path}, row {first + row + 1}")

    def _spellings(self) -> Spellings:
        if Stamp.of(self.path) != self.stamp:
            raise DataError(f"{self.path}: changed since it was first read; start again when it is complete")

        def read(spelling: Any) -> Label:
            return of_the_kind(Path("label"), np.array([spelling]), self.classes).tolist()[0]

        known = f"a class of the first {PART} rows" if self.spelled is None else "a class of dataset.classes"
        return Spellings(self.classes, read, known)


@dataclass(frozen=True)
class Member:
    """An array in an .npz file, read from its beginning: nothing but the rows asked for is held."""

    path: Path
    name: str

    def opened(self) -> tuple[IO[bytes], tuple[int, ...], np.dtype[Any]]:
        """The array's bytes, to read, with its shape and kind of number; DataError where it cannot be streamed."""
        file = zipfile.ZipFile(self.path).open(self.name)  # noqa: SIM115 - whoever asks reads on
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read_header(file)
        if dtype.hasobject:
            raise DataError(f"{self.path}: {self.name} holds objects; expected plain numbers or strings")
        if fortran and len(shape) > 1:
            step = "Save numpy.ascontiguousarray of it"
            raise DataError(f"{self.path}: {self.name} holds column after column; a stream takes row after row. {step}")
        return file, shape, dtype

    def rows(self, start: int, size: int) -> Iterator[NDArray[Any]]:
        """The rows from number `start` on, so many at a time."""
        file, shape, dtype = self.opened()
        width = math.prod(shape[1:]) * dtype.itemsize
        with file:
            file.seek(start * width, 1)
            for at in range(start, shape[0], size):
                found = file.read(min(size, shape[0] - at) * width)
                yield np.frombuffer(found, dtype).reshape(-1, *shape[1:])


@dataclass(frozen=True)
class NpzFlow(FileFlow):
    """Two arrays of an .npz file."""

    X: Member
    y: Member

    def _rows(self, start: int) -> Iterator[Rows]:
        spellings, at = self._spellings(), start
        with complaints_of(self.path):
            for X, labels in zip(self.X.rows(start, PART), self.y.rows(start, PART), strict=True):
                yield self.checked(X.astype(np.float64), labels, at, spellings)
                at += len(labels)


@dataclass(frozen=True)
class ParquetFlow(FileFlow):
    """Columns of a Parquet file.

    Parameters
    ----------
    label, inputs : names of the label's column and of the inputs'.
    """

    label: str
    inputs: tuple[str, ...]

    def _rows(self, start: int) -> Iterator[Rows]:
        spellings, at = self._spellings(), 0
        with complaints_of(self.path), limits.opened(self.path) as file:
            for batch in parquet.ParquetFile(file).iter_batches(PART, columns=[*self.inputs, self.label]):
                at += len(batch)
                if at <= start:
                    continue
                late = max(0, start - (at - len(batch)))
                frame = batch.slice(late).to_pandas(ignore_metadata=True)
                yield self._read(frame, at - len(frame), spellings)

    def _read(self, frame: pd.DataFrame, first: int, spellings: Spellings) -> Rows:
        X = np.empty((len(frame), len(self.inputs)))
        for j, name in enumerate(self.inputs):
            column = frame[name]
            empty = column.isna().to_numpy()
            if empty.any():
                where = f"row {first + int(np.argmax(empty)) + 1}, column {name}"
                raise DataError(
                    f"{self.path}: {where}: found nothing; expected a number. To leave it out: dataset.drop"
                )
            try:
                X[:, j] = column.to_numpy(dtype=np.float64)
            except (TypeError, ValueError):
                where = f"rows {first + 1} to {first + len(frame)}, column {name}"
                raise UnfitError(f"{where}: found words; expected numbers. To leave it out: dataset.drop") from None
        labels = frame[self.label]
        if labels.isna().any():
            raise DataError(f"{self.path}: row {first + int(np.argmax(labels.isna())) + 1}: found no label")
        found = labels.to_numpy()
        spelled = found if found.dtype.kind in "biuf" else labels.astype(str).to_numpy(dtype=object)
        return self.checked(X, spelled, first, spellings)
