"""The user's own arrays in a NumPy .npz file: X and y, and if it has them X_test and y_test."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets.base import Label, Request, encoded, register
from budgetbench.datasets.flow import PART, Stamp, identity_of, two_or_more
from budgetbench.datasets.flow_arrays import Member, NpzFlow, checksum_of
from budgetbench.datasets.limits import read_whole
from budgetbench.datasets.own_files import (
    OwnArrays,
    Table,
    check_inputs,
    complaints_of,
    examples,
    known_labels,
    readable_labels,
)
from budgetbench.datasets.parse import UnfitError, read_bounded
from budgetbench.errors import DataError

#: Accepted names of each array.
NAMES = {"X": ("X", "X_train", "x_train"), "y": ("y", "y_train"), "X_test": ("X_test", "x_test"), "y_test": ("y_test",)}
TESTS = "X_test", "y_test"
WANTED = {name for names in NAMES.values() for name in names}


@register
class Npz(OwnArrays):
    name = "npz"
    title = "NumPy file"
    summary = "your own arrays X and y (and X_test and y_test) in a NumPy .npz file"
    streams = True

    def flow(self, request: Request, classes: tuple[Label, ...] | None) -> NpzFlow:
        """The stream of a file, see `datasets.flow`; `classes` are those that will come, where that is said."""
        path, test_path = request.options.path, request.options.test_path
        with complaints_of(path):
            stamp = Stamp.of(path)
        checksum, names = checksum_of(path), names_in(path)
        X, y = (Member(path, f"{name_of(path, dict.fromkeys(names, True), key)}.npy") for key in ("X", "y"))
        n, inputs = size_of(path, X, y)
        labels = next(y.rows(0, PART))
        found = two_or_more(path, classes or readable_labels(path, labels).tolist())
        test, where = None, test_path or path
        if test_path is not None:
            test = table(test_path, read_arrays(test_path), "X", "y")
        elif own := [name for name in names if name in (*NAMES["X_test"], *NAMES["y_test"])]:
            with zipfile.ZipFile(path) as archive:
                test = table(path, {one: read_member(archive, archive.getinfo(f"{one}.npy")) for one in own}, *TESTS)
        tested = None
        if test is not None:
            check_inputs(where, test[0])
            tested = examples(test[0], encoded(known_labels(where, test[1], found), found))
        n = n if request.limit is None else min(n, request.limit)
        identity = identity_of(self.name, checksum, n, X.name, y.name, found, tested and tested.checksum)
        files = (path,) if test_path is None else (path, test_path)
        return NpzFlow(found, n, inputs, identity, checksum, files, path, stamp, classes, tested, X, y)

    def read_all(self, options: Any, limit: int | None) -> tuple[Table, Table | None]:
        path, test_path = options.path, options.test_path
        arrays = read_arrays(path)
        X, y = table(path, arrays, "X", "y")
        train = X[:limit], y[:limit]
        if test_path is not None:
            return train, table(test_path, read_arrays(test_path), "X", "y")
        if any(name in arrays for key in ("X_test", "y_test") for name in NAMES[key]):
            return train, table(path, arrays, *TESTS)
        return train, None


def read_arrays(path: Path) -> dict[str, NDArray[Any] | None]:
    """The arrays by name; None for one that is not asked for."""
    with complaints_of(path):
        content = read_whole(path)
    if content.startswith(b"\x93NUMPY"):
        raise DataError(f"{path}: a single array; expected an .npz file with arrays X and y (numpy.savez)")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {one.filename[:-4]: one for one in archive.infolist() if one.filename.endswith(".npy")}
            return {name: read_member(archive, one) if name in WANTED else None for name, one in members.items()}
    except UnfitError as error:
        raise DataError(f"{path}: {error}") from error
    except Exception as error:  # zipfile and NumPy fail in many ways on files of other kinds
        raise DataError(f"{path}: not an .npz file of plain arrays of numbers or strings") from error


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """An array; UnfitError if what its header says is not what follows it."""
    with archive.open(member) as packed:
        content = io.BytesIO(read_bounded(packed, lambda: member.compress_size))
    version = np.lib.format.read_magic(content)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(content)
    if dtype.hasobject:
        raise ValueError("objects")
    if math.prod(shape) * dtype.itemsize != len(content.getbuffer()) - content.tell():
        raise UnfitError(f"{member.filename[:40]}: not an array of the size that its header says")
    content.seek(0)
    return np.asarray(np.lib.format.read_array(content, allow_pickle=False))


def table(path: Path, arrays: Mapping[str, NDArray[Any] | None], inputs: str, labels: str) -> Table:
    X, y = (pick(path, arrays, key) for key in (inputs, labels))
    if X.dtype.kind not in "biuf":
        raise DataError(f"{path}: {inputs} holds {X.dtype}; expected numbers")
    if len(X.shape) != 2 or y.shape != X.shape[:1]:
        shapes = f"{inputs} of shape {X.shape} and {labels} of shape {y.shape}"
        raise DataError(f"{path}: {shapes}; expected (n, d) and (n,)")
    return X, y


def names_in(path: Path) -> list[str]:
    """The names of the arrays in an .npz file; DataError for another one."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(f"{path}: not an .npz file of plain arrays of numbers or strings") from error


def size_of(path: Path, X: Member, y: Member) -> tuple[int, int]:
    """How many rows and inputs two arrays have; DataError where they do not go together."""
    (inputs, shape, dtype), (labels, others, _) = X.opened(), y.opened()
    inputs.close()
    labels.close()
    if dtype.kind not in "biuf":
        raise DataError(f"{path}: X holds {dtype}; expected numbers")
    if len(shape) != 2 or others != shape[:1] or 0 in shape:
        raise DataError(f"{path}: X of shape {shape} and y of shape {others}; expected (n, d) and (n,), not empty")
    return shape[0], shape[1]


def pick(path: Path, arrays: Mapping[str, NDArray[Any] | None], key: str) -> NDArray[Any]:
    """The array that has one of the accepted names."""
    return arrays[name_of(path, arrays, key)]  # type: ignore[return-value]


def name_of(path: Path, arrays: Mapping[str, Any], key: str) -> str:
    for name in NAMES[key]:
        if arrays.get(name) is not None:
            return name
    listed = ", ".join(name[:40] for name in list(arrays)[:12])
    raise DataError(f"{path}: no array {key}; found: {listed or 'none'}")
