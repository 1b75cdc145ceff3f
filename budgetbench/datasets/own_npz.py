"""The user's own arrays in a NumPy .npz file: X and y, and if it has them X_test and y_test."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets.base import register
from budgetbench.datasets.own_files import OwnFile, Table
from budgetbench.errors import DataError

#: Accepted names of each array.
NAMES = {"X": ("X", "X_train", "x_train"), "y": ("y", "y_train"), "X_test": ("X_test", "x_test"), "y_test": ("y_test",)}


@register
class Npz(OwnFile):
    name = "npz"
    title = "NumPy file"
    summary = "your own arrays X and y (and X_test and y_test) in a NumPy .npz file"

    def read_all(self, options: dict[str, Any]) -> tuple[Table, Table | None]:
        path, test_path = options["path"], options["test_path"]
        arrays = read_arrays(path)
        train = table(path, arrays, "X", "y")
        if test_path is not None:
            return train, table(test_path, read_arrays(test_path), "X", "y")
        if any(name in arrays for key in ("X_test", "y_test") for name in NAMES[key]):
            return train, table(path, arrays, "X_test", "y_test")
        return train, None


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            raise DataError(f"{path}: a single array; expected an .npz file with arrays X and y (numpy.savez)")
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}. The path is taken from the working directory.") from error
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: not an .npz file of plain arrays of numbers or strings") from error


def table(path: Path, arrays: dict[str, NDArray[Any]], inputs: str, labels: str) -> Table:
    X, y = (pick(path, arrays, key) for key in (inputs, labels))
    if X.dtype.kind not in "biuf":
        raise DataError(f"{path}: {inputs} holds {X.dtype}; expected numbers")
    if len(X.shape) != 2 or y.shape != X.shape[:1]:
        raise DataError(
            f"{path}: {inputs} of shape {X.shape} and {labels} of shape {y.shape}; expected (n, d) and (n,)"
        )
    return X, y


def pick(path: Path, arrays: dict[str, NDArray[Any]], key: str) -> NDArray[Any]:
    for name in NAMES[key]:
        if name in arrays:
            return arrays[name]
    raise DataError(f"{path}: no array {key}; found: {', '.join(arrays) or 'none'}")
