"""Any bytes for the readers: they give data or refuse it in their own words. Run this file for as long as wanted with
atheris, where it installs: ``python tests/datasets/fuzzing.py -max_total_time=600``."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from budgetbench.datasets import Cache, Data, datasets, lzw
from budgetbench.datasets.parse import read_idx, read_keel, read_letters, read_libsvm, read_table, unpack
from budgetbench.errors import DataError

OWN = ("csv", "libsvm", "npz", "parquet")
#: What a table is read with beside nothing.
HANDLINGS: tuple[dict[str, Any], ...] = tuple(
    {"missing": missing, "categorical": "onehot"} for missing in ("error", "drop", "mean", "most_frequent")
)
READERS: dict[str, Callable[[bytes], object]] = {
    "idx": read_idx,
    "lzw": lzw.decompress,
    "unpack": unpack,
    "table": read_table,
    "keel": read_keel,
    "letters": read_letters,
    "libsvm": read_libsvm,
}


def read_own(kind: str, content: bytes, folder: Path, **options: Any) -> Data | None:
    """What a reader of own files makes of a content: sound data, or None after one short message."""
    path = folder / "file"
    path.write_bytes(content)
    refusal = None
    try:
        data = datasets[kind].load(Cache(folder, quiet=True), path=str(path), **options)
    except DataError as error:
        refusal = str(error)
    if refusal is not None:
        assert refusal.startswith(str(path))
        assert "\n" not in refusal
        assert len(refusal) < 500 + len(str(path))
        return None
    assert (np.isfinite(data.train.X) | (np.isnan(data.train.X) & (data.encoding is not None))).all()
    if data.encoding is not None:
        inputs, _ = data.encoding.inputs(data.train.X, np.arange(len(data.train)))
        assert np.isfinite(inputs).all()
    assert data.train.X.size
    assert len(data.classes) >= 2
    assert set(data.train.y) == set(range(len(data.classes)))
    return data


def read_published(kind: str, content: bytes) -> object:
    """What a reader of published files makes of a content, None if it is refused."""
    try:
        return READERS[kind](content)
    except (ValueError, OverflowError):
        return None


def main() -> None:
    import atheris

    folder = Path(tempfile.mkdtemp())

    def one(content: bytes) -> None:
        if content:
            kind = [*OWN, *READERS][content[0] % (len(OWN) + len(READERS))]
            read_own(kind, content[1:], folder) if kind in OWN else read_published(kind, content[1:])

    atheris.instrument_all()
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
