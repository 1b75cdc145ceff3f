"""Rätsch's benchmark collection, from which banana, and waveform in its binary form, can be had.

Source: G. Rätsch, T. Onoda, K.-R. Müller, Soft margins for AdaBoost, Machine Learning 42(3), 2001. One MATLAB file
holds all sets; older copies hold each of 100 splits as text. Every split is of the same examples, so the first one's
training and test files together are the set.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets import limits
from budgetbench.datasets.base import Examples, labelled
from budgetbench.datasets.cache import File
from budgetbench.datasets.parse import PIECE, UnfitError, read_table
from budgetbench.datasets.published import Parts, Recipe, by_part
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    import scipy.io as scipy_io
else:
    scipy_io = lazy("scipy.io")

CLASSES = (-1, 1)
Table = NDArray[np.float64]
COMPRESSED = 15  # the kind of a MATLAB file's element
GITHUB = "https://raw.githubusercontent.com/"
COLLECTION = GITHUB + "tdiethe/gunnar_raetsch_benchmark_datasets/"
SPLITS = (
    GITHUB + "fernando2393/Relevance-Vector-Machine/4692830b9a8cf938e6b319be4a42e2a3ddde5457/Classification/datasets/"
)

# No checksum: the third, the original, is packed differently; the fingerprint tells.
MAT_SOURCES = (
    COLLECTION + "master/",
    COLLECTION + "66aa4e766b60bf031dfd27b9cbe97307cdf7242e/",
    "http://theoval.cmp.uea.ac.uk/matlab/benchmarks/",
)
MAT_FILE = File("raetsch", "benchmarks.mat", MAT_SOURCES, size=8_500_000)


def recipes(name: str, sha256: Mapping[str, str]) -> tuple[Recipe, ...]:
    """The recipes for one set: from the MATLAB file, and from the first split, whose checksums are given."""
    text = tuple(
        File(name, f"{name}_{kind}_1.asc", (f"{SPLITS}{name}/",), f"sha256:{sha256[kind]}", size=1_600_000)
        for kind in ("train_data", "test_data", "train_labels", "test_labels")
    )

    def read_mat(content: bytes) -> Examples:
        check_elements(content)
        try:
            record = scipy_io.loadmat(io.BytesIO(content), variable_names=[name])[name][0, 0]
            return labelled(record["x"], np.ravel(record["t"]), CLASSES)
        except ValueError:
            raise
        except Exception as error:  # loadmat fails in many ways on files of other kinds
            raise ValueError(f"no set {name} in MATLAB format") from error

    return Recipe((MAT_FILE,), read_mat), Recipe(text, read_table, join)


def check_elements(content: bytes) -> None:
    """UnfitError for a MATLAB file whose compressed elements would fill the memory: it has no checksum."""
    order = ">" if content[126:128] == b"MI" else "<"
    place, size = 128, 0
    while place + 8 <= len(content):
        kind, length = struct.unpack_from(f"{order}II", content, place)
        packed = content[place + 8 : place + 8 + length]
        undo = zlib.decompressobj()
        while kind == COMPRESSED and packed and not undo.eof:
            try:
                size += len(undo.decompress(packed, PIECE))
            except zlib.error as error:
                raise UnfitError("a damaged MATLAB file") from error
            packed = undo.unconsumed_tail
            if size > max(limits.ALWAYS, 16 * len(content)):
                raise UnfitError("a MATLAB file that grows too large")
        place += 8 + length


def join(X: Table, X_test: Table, t: Table, t_test: Table) -> Parts:
    return by_part(labelled(np.vstack([X, X_test]), np.concatenate([t, t_test])[:, 0], CLASSES))
