"""The user's own file in LIBSVM (svmlight) format: ``label index:value index:value …``, plain or packed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from budgetbench.datasets.base import Label, Request, encoded, register
from budgetbench.datasets.flow import PART, Stamp, identity_of, two_or_more
from budgetbench.datasets.flow_text import LibsvmFlow, counted, examples_in
from budgetbench.datasets.own_files import (
    Files,
    OwnArrays,
    Table,
    as_objects,
    check_inputs,
    content_of,
    examples,
    is_number,
    known_labels,
    readable_labels,
)
from budgetbench.datasets.parse import brief, read_libsvm
from budgetbench.errors import DataError
from budgetbench.lazy import lazy
from budgetbench.sparse import SparseRows

if TYPE_CHECKING:
    from sklearn import datasets as sklearn_datasets
else:
    sklearn_datasets = lazy("sklearn.datasets")

#: Inputs up to which the rows of a stream are held dense.
WIDE = 2000
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
    streams = True

    def flow(self, request: Request, classes: tuple[Label, ...] | None) -> LibsvmFlow:
        """The stream of a file, see `datasets.flow`; `classes` are those that will come, where that is said.

        There are as many inputs as `n_features` says, else as the first part has.
        """
        options, path = request.options, request.options.path
        (X, labels), stamp = read(path, options, PART), Stamp.of(path)
        found = two_or_more(path, classes or readable_labels(path, labels).tolist())
        own = replace(options, n_features=X.shape[1])
        n, checksum = counted(path, 0, examples_in, request.limit)
        test, files = None, [path]
        if options.test_path is not None:
            inputs, labels = read(options.test_path, own)
            check_inputs(options.test_path, inputs)
            test = examples(inputs, encoded(known_labels(options.test_path, labels, found), found))
            files.append(options.test_path)
        read_so = own.n_features, own.zero_based, found
        identity = identity_of(self.name, checksum, n, read_so, test and test.checksum)
        sizes = n, X.shape[1], identity, checksum, tuple(files)
        return LibsvmFlow(found, *sizes, path, stamp, 0, classes, test, partial(parsed, path, own))

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


def parsed(path: Path, options: Sparse, text: bytes, before: int) -> Table:
    """Some lines of a file, which so many lines precede."""
    n_features, first = options.n_features, int(not options.zero_based)
    assert n_features is not None
    content = b"".join(lines_of(text))
    try:
        if b"_" in content:
            raise ValueError("found an underscore")
        if n_features > WIDE:
            found = sklearn_datasets.load_svmlight_file(
                io.BytesIO(content), n_features=n_features, zero_based=options.zero_based
            )
            X: Any = SparseRows.of(found[0])
        else:
            X, _ = read_libsvm(content, n_features, options.zero_based)
    except (ValueError, OverflowError) as error:
        fault = complaint(b"\n" * before + content, first, n_features)
        if "n_features" in fault:
            fault += ". A stream has as many inputs as its first rows, or as dataset.n_features says"
        raise DataError(f"{path}{fault or f', after line {before}: {brief(error)}'}") from error
    check_inputs(path, X)
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
