"""The user's own table in a Parquet file, read with pyarrow, which ``pip install 'budgetbench[parquet]'`` installs."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from budgetbench.datasets import limits
from budgetbench.datasets.base import Label, Request, register
from budgetbench.datasets.columns import Sheet
from budgetbench.datasets.flow import PART, Stamp, identity_of, two_or_more
from budgetbench.datasets.flow_arrays import ParquetFlow, checksum_of
from budgetbench.datasets.own_files import Files, complaints_of, readable_labels
from budgetbench.datasets.own_tables import Handling, LabelColumn, OwnTable, refuse_columns, sheet_of_frame
from budgetbench.datasets.parse import UnfitError
from budgetbench.errors import DataError, RequestError
from budgetbench.lazy import lazy, pd

if TYPE_CHECKING:
    import pyarrow
    from pyarrow import parquet
else:
    pyarrow, parquet = map(lazy, ("pyarrow", "pyarrow.parquet"))

#: Rows that are read at a time, where there is a limit.
BATCH = 10_000


@dataclass(frozen=True)
class Layout(Files):
    """What the files do not say.

    Parameters
    ----------
    label : the column of the label.
    """

    label: LabelColumn = -1


@dataclass(frozen=True)
class ParquetOptions(Handling, Layout):
    """What the files do not say, and what becomes of columns that are no numbers."""


@register
class Parquet(OwnTable):
    name = "parquet"
    title = "Parquet file"
    summary = "your own table of numbers, words and a label in a Parquet file (needs pyarrow)"
    options = ParquetOptions
    streams = True

    def flow(self, request: Request, classes: tuple[Label, ...] | None) -> ParquetFlow:
        """The stream of a file, see `datasets.flow`; `classes` are those that will come, where that is said."""
        options, path = request.options, request.options.path
        drop = options.drop or ()
        first = sheet_of_frame(path, frame := read(path, PART), options.label, drop)
        refuse_columns(path, first, options)
        names = [column.name for column in first.columns]
        if len(set(frame.columns)) < len(frame.columns):
            raise DataError(f"{path}: a column name that occurs twice; a stream takes columns by their names")
        with complaints_of(path):
            stamp = Stamp.of(path)
            n = parquet.ParquetFile(path).metadata.num_rows
        checksum = checksum_of(path)
        found = two_or_more(path, classes or readable_labels(path, first.labels).tolist())
        test, files = None, [path]
        if options.test_path is not None:
            table = read(options.test_path)
            gone = [name for name in table.columns if name in frame.columns and name not in [*names, first.label]]
            sheet = sheet_of_frame(options.test_path, table, str(first.label), gone)
            test = self.tests(path, first, options.test_path, sheet, options, found)
            files.append(options.test_path)
        n = n if request.limit is None else min(n, request.limit)
        identity = identity_of(self.name, checksum, n, names, first.label, found, test and test.checksum)
        own = path, stamp, classes, test, str(first.label), tuple(names)
        return ParquetFlow(found, n, len(names), identity, checksum, tuple(files), *own)

    def sheets(self, request: Request) -> tuple[tuple[Path, Sheet], tuple[Path, Sheet] | None]:
        options = request.options
        path, test_path, drop, missing = options.path, options.test_path, options.drop or (), options.missing
        train = sheet_of_frame(path, found := read(path, request.limit), options.label, drop, missing)
        if test_path is None:
            return (path, train), None
        kept = {train.label, *(column.name for column in train.columns)}
        test, dropped = read(test_path), {name for name in found.columns if name not in kept}
        drop = [name for name in test.columns if name in dropped]
        return (path, train), (test_path, sheet_of_frame(test_path, test, str(train.label), drop, missing))


def read(path: Path, limit: int | None = None) -> pd.DataFrame:
    """The table of a file, or its first rows; DataError if it is none."""
    if importlib.util.find_spec("pyarrow") is None:
        raise RequestError("dataset parquet needs pyarrow: pip install 'budgetbench[parquet]'")
    with complaints_of(path), limits.opened(path) as file:
        try:
            found = parquet.ParquetFile(file)
            shape = found.metadata.num_rows, found.metadata.num_columns
            size = 8 * min(shape[0], shape[0] if limit is None else limit) * shape[1]
            if size > limits.allowed(path.stat().st_size, limits.DENSE_RATIO):
                raise UnfitError(f"{shape[0]} rows of {shape[1]} columns would take {limits.gigabytes(size)}")
            return first_rows(found, shape[0] if limit is None else limit).to_pandas(ignore_metadata=True)
        except (UnfitError, MemoryError):
            raise
        except Exception as error:  # pyarrow fails in many ways on files of other kinds
            raise UnfitError("not a Parquet file, or a damaged one") from error


def first_rows(file: parquet.ParquetFile, rows: int) -> pyarrow.Table:
    batches, found = [], 0
    for batch in file.iter_batches(batch_size=min(rows, BATCH)):
        batches.append(batch)
        found += len(batch)
        if found >= rows:
            break
    return pyarrow.Table.from_batches(batches, file.schema_arrow).slice(0, rows)
