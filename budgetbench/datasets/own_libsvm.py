"""The user's own file in LIBSVM (svmlight) format: ``label index:value index:value …``, plain or packed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le

from budgetbench.datasets.base import register
from budgetbench.datasets.own_files import Files, OwnArrays, Table, as_objects, content_of, is_number
from budgetbench.datasets.parse import brief, read_libsvm
from budgetbench.errors import DataError
from budgetbench.sparse import SparseRows

#: Inputs of one dense row of 8 GB.
MOST_INPUTS = 1_000_000_000


@dataclass(frozen=True)
class Sparse(Files):
    """What the files do not say.

    Parameters
    ----------
    n_features : how many inputs there are; left out: the highest index.
    zero_based : indices start at 0 instead of 1.
    """

    n_features: Annotated[int, Ge(1), Le(MOST_INPUTS)] | None = None
    zero_based: bool = False


@register
class Libsvm(OwnArrays):
    name = "libsvm"
    title = "LIBSVM file"
    summary = "your own file in LIBSVM (svmlight) format"
    options = Sparse

    def read_all(self, options: Sparse, limit: int | None) -> tuple[Table, Table | None]:
        train = read(options.path, options, limit)
        if options.test_path is None:
            return train, None
        test = read(options.test_path, options)
        # What a file does not mention is zero, so the narrower of the two lacks inputs that are always zero.
        width = max(train[0].shape[1], test[0].shape[1])
        return widened(train, width), widened(test, width)


def read(path: Path, options: Sparse, limit: int | None = None) -> Table:
    content = b"".join(islice(lines_of(content_of(path, limit, rows)), limit))
    first, n_features = int(not options.zero_based), options.n_features
    if b":" not in content:
        raise DataError(f"{path}: labels and no inputs; expected lines of: label index:value index:value …")
    try:
        if b"_" in content:  # which Python allows within numbers
            raise ValueError("found an underscore")
        X, _ = read_libsvm(content, n_features, options.zero_based)
    except (ValueError, OverflowError) as error:
        raise DataError(f"{path}{complaint(content, first, n_features) or f': {brief(error)}'}") from error
    # As they are written: a float64 would make one of two large whole numbers.
    return X, as_objects(line.split(None, 1)[0] for line in content.splitlines() if line.strip())


def lines_of(content: bytes) -> Iterator[bytes]:
    """Each example's line without its comment, after the line ends of those without an example that precede it."""
    blank = b""
    for line in content.splitlines():
        told = line.partition(b"#")[0] + b"\n"
        if told.strip():
            yield blank + told
            blank = b""
        else:
            blank += b"\n"


def rows(content: bytes) -> int:
    """How many examples there are at least."""
    return sum(b":" in line.partition(b"#")[0] for line in content.splitlines())


def widened(table: Table, width: int) -> Table:
    X, labels = table
    if isinstance(X, SparseRows):
        return X.padded(len(X), width), labels
    return np.pad(X, ((0, 0), (0, width - X.shape[1]))), labels


def complaint(content: bytes, first: int, n_features: int | None) -> str:
    """Line and cause of the first fault, for a file that could not be read; empty if no fault is found."""
    for number, line in enumerate(content.splitlines(), start=1):
        label, *tokens = line.decode("utf-8", "replace").split() or ["0"]
        if not is_number(label):
            return f", line {number}: found label {label[:40]!r}; expected a number"
        last = first - 1
        for token in tokens:
            index, colon, value = token.partition(":")
            if not (colon and is_number(index, int) and is_number(value)):
                return f", line {number}: found {token[:40]!r}; expected index:value"
            if int(index) <= last:
                after, hint = (f" after {last}", "") if last >= first else ("", " (see zero_based)")
                rule = f"indices that start at {first} and rise within the line"
                return f", line {number}: found index {index}{after}; expected {rule}{hint}"
            last = int(index)
        if n_features is not None and last >= n_features + first:
            return f", line {number}: found index {last}; expected at most {n_features - 1 + first} (n_features)"
    return ""
