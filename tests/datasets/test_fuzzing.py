"""Readers of files under any bytes, and under tables of all sorts written in all ways; `fuzzing.py` looks for more."""

from __future__ import annotations

import csv
import importlib.util
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

SPEC = importlib.util.spec_from_file_location("fuzzing", Path(__file__).with_name("fuzzing.py"))
assert SPEC
assert SPEC.loader
fuzzing = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fuzzing)

TOKENS = st.sampled_from(
    [
        *"0123456789.,;:-+eE_#\"' \t\n\r@",
        "nan",
        "inf",
        "NA",
        "1e30",
        "1:1",
        " 2:2",
        "x",
        "\n1,2,",
        "\0",
        "\ufeff",
        "9" * 20,
    ]
)
TEXTS = st.lists(TOKENS, max_size=60).map(lambda tokens: "".join(tokens).encode())
MAGIC = st.sampled_from(
    [b"", b"\x1f\x8b\x08\x00", b"BZh9", b"\xfd7zXZ\x00", b"\x1f\x9d\x90", b"PK\x03\x04", b"\0\0\x08\x02"]
)
ANY = TEXTS | st.builds(bytes.__add__, MAGIC, st.binary(max_size=200))


def saved(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def parquet() -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame({"a": [1.0, 2.0], "w": ["u", "v"], "k": [0, 1]}).to_parquet(buffer)
    return buffer.getvalue()


VALID = {
    "csv": b"a,b,k\n1,2,x\n3,4,y\n",
    "libsvm": b"1 1:1 2:2\n2 1:3\n",
    "npz": saved(X=np.ones((2, 2)), y=np.arange(2)),
    "parquet": parquet(),
    "idx": b"\0\0\x08\x02\0\0\0\x02\0\0\0\x01ab",
    "lzw": bytes.fromhex("1f9d9062ea903953868e98326ec6a001117060c18309"),
}


@st.composite
def damaged(draw: st.DrawFn, kind: str) -> bytes:
    """Any bytes, or a right file with some of its own changed, doubled or cut out."""
    if kind not in VALID or draw(st.booleans()):
        return draw(ANY)
    content = bytearray(VALID[kind])
    for _ in range(draw(st.integers(1, 4))):
        place, length = draw(st.integers(0, len(content))), draw(st.integers(0, 8))
        piece = bytes(content[place : place + length])
        content[place : place + length] = draw(st.sampled_from([b"", piece * 2]) | st.binary(max_size=8))
    return bytes(content)


@pytest.mark.parametrize("kind", fuzzing.OWN)
@given(draw=st.data())
def test_own_files_of_any_bytes(tmp_path: Path, kind: str, draw: st.DataObject) -> None:
    fuzzing.read_own(kind, draw.draw(damaged(kind)), tmp_path)


WORDS = st.sampled_from(["", "NA", "1", "2.5", "red", "blue", "2001-01-01", "inf", "x y", '"a,b"'])


@given(
    rows=st.lists(st.tuples(WORDS, WORDS, st.sampled_from(["u", "v", ""])), min_size=1, max_size=8),
    handling=st.sampled_from(fuzzing.HANDLINGS),
    limit=st.none() | st.integers(1, 9),
)
@pytest.mark.filterwarnings("ignore:.*missing values and are left out")
def test_tables_of_words_and_gaps(
    tmp_path: Path, rows: list[tuple[str, ...]], handling: dict[str, Any], limit: int | None
) -> None:
    text = "".join(f"{','.join(row)}\n" for row in [("a", "b", "k"), *rows])
    fuzzing.read_own("csv", text.encode(), tmp_path, limit=limit, **handling)


@pytest.mark.parametrize("kind", fuzzing.READERS)
@given(draw=st.data())
def test_published_files_of_any_bytes(kind: str, draw: st.DataObject) -> None:
    fuzzing.read_published(kind, draw.draw(damaged(kind)))


NUMBERS = st.floats(-1e38, 1e38) | st.integers(-100, 100).map(float)
LABELS = st.sampled_from(["a", "b c", "d,e", 'f"g', "h;i"]) | st.integers(-(2**63) + 1, 2**63 - 1).map(str)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[float]], list[str]]:
    """Rows of numbers, and labels of at least two classes, all of them numbers or the first of them a name."""
    n, d = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(NUMBERS, min_size=d, max_size=d), min_size=n, max_size=n))
    labels = ["z", *draw(st.lists(LABELS, min_size=n - 2, max_size=n - 2)), "y"]
    if draw(st.booleans()):
        whole = st.integers(-(2**63) + 1, 2**63 - 1)
        labels = [str(k) for k in draw(st.lists(whole, min_size=n, max_size=n, unique=True))]
    return rows, labels


@given(
    table=tables(),
    separator=st.sampled_from(",;\t"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    header=st.booleans(),
    row_names=st.booleans(),
    first=st.booleans(),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_tables_of_all_sorts_written_in_all_ways(
    tmp_path: Path,
    table: tuple[list[list[float]], list[str]],
    separator: str,
    end: str,
    header: bool,
    row_names: bool,
    first: bool,
    quoting: Any,
) -> None:
    rows, labels = table
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting)
    names = [f"input {separator} {j}" for j in range(len(rows[0]))]
    if header:
        writer.writerow(["kind", *names] if first else [*names, "kind"])
    for number, (row, label) in enumerate(zip(rows, labels, strict=True), start=1):
        cells = [label, *map(repr, row)] if first else [*map(repr, row), label]
        writer.writerow([str(number), *cells] if header and row_names else cells)
    path = tmp_path / "table.csv"
    path.write_bytes(text.getvalue().encode())
    loaded = fuzzing.datasets["csv"].load(
        fuzzing.Cache(tmp_path), path=str(path), label=0 if first else -1, header=header
    )
    np.testing.assert_array_equal(loaded.train.X, np.array(rows))
    assert [str(loaded.classes[k]) for k in loaded.train.y] == labels


@given(
    values=arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=NUMBERS | st.just(0.0)),
    first=st.integers(-(2**63) + 1, 2**63 - 2),
)
def test_sparse_files_of_all_sorts(tmp_path: Path, values: np.ndarray, first: int) -> None:
    values[0, -1] = 1  # the last input occurs
    values = np.vstack([values, values[:1]])
    labels = [first + row % 2 for row in range(len(values))]
    lines = [
        f"{label} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row, start=1) if v) + "\n"
        for label, row in zip(labels, values.tolist(), strict=True)
    ]
    data = fuzzing.read_own("libsvm", "".join(lines).encode(), tmp_path)
    assert data is not None
    np.testing.assert_array_equal(data.train.X, values)
    assert [data.classes[k] for k in data.train.y] == labels


@given(
    X=arrays(
        st.sampled_from([">f4", "<f8", "i2", "u8", "?"]), array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=4)
    ),
    kind=st.sampled_from(["i1", ">i8", "u4", "f4", "U3", "S3", "?"]),
)
def test_arrays_of_all_sorts(tmp_path: Path, X: np.ndarray, kind: str) -> None:
    with np.errstate(over="ignore"):
        sound = bool(np.isfinite(X.astype(np.float32)).all())
    y = (np.arange(len(X)) % 2).astype(kind)
    data = fuzzing.read_own("npz", saved(X=X, y=y), tmp_path)
    assert (data is not None) == sound
    if data is not None:
        np.testing.assert_array_equal(data.train.X.astype(np.float64), X.astype(np.float64))
        assert data.classes == (0, 1)
