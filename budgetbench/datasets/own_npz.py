"""The user's own arrays in a NumPy .npz file: X and y, and if it has them X_test and y_test."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets.base import register
from budgetbench.datasets.limits import read_whole
from budgetbench.datasets.own_files import OwnArrays, Table, complaints_of
from budgetbench.datasets.parse import UnfitError, read_bounded
from budgetbench.errors import DataError

#: Accepted names of each array.
NAMES = {"X": ("X", "X_train", "x_train"), "y": ("y", "y_train"), "X_test": ("X_test", "x_test"), "y_test": ("y_test",)}
WANTED = {name for names in NAMES.values() for name in names}


@register
class Npz(OwnArrays):
    name = "npz"
    title = "NumPy file"
    summary = "your own arrays X and y (and X_test and y_test) in a NumPy .npz file"

    def read_all(self, options: Any, limit: int | None) -> tuple[Table, Table | None]:
        path, test_path = options.path, options.test_path
        arrays = read_arrays(path)
        X, y = table(path, arrays, "X", "y")
        train = X[:limit], y[:limit]
        if test_path is not None:
            return train, table(test_path, read_arrays(test_path), "X", "y")
        if any(name in arrays for key in ("X_test", "y_test") for name in NAMES[key]):
            return train, table(path, arrays, "X_test", "y_test")
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


def table(path: Path, arrays: dict[str, NDArray[Any] | None], inputs: str, labels: str) -> Table:
    X, y = (pick(path, arrays, key) for key in (inputs, labels))
    if X.dtype.kind not in "biuf":
        raise DataError(f"{path}: {inputs} holds {X.dtype}; expected numbers")
    if len(X.shape) != 2 or y.shape != X.shape[:1]:
        shapes = f"{inputs} of shape {X.shape} and {labels} of shape {y.shape}"
        raise DataError(f"{path}: {shapes}; expected (n, d) and (n,)")
    return X, y


def pick(path: Path, arrays: dict[str, NDArray[Any] | None], key: str) -> NDArray[Any]:
    for name in NAMES[key]:
        if (found := arrays.get(name)) is not None:
            return found
    listed = ", ".join(name[:40] for name in list(arrays)[:12])
    raise DataError(f"{path}: no array {key}; found: {listed or 'none'}")
