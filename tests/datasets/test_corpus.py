"""A corpus of nasty files: each loads as exactly these numbers, or is refused in one message with these words."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetbench.datasets import Cache, Data, datasets
from budgetbench.errors import DataError

ZEROS = bytes(80_000_000)


@dataclass(frozen=True)
class Case:
    """`rows` and `labels` are what is loaded; `words` what the refusal says."""

    name: str
    content: str | bytes | Callable[[], bytes]
    rows: list[list[float]] = field(default_factory=list)
    labels: list[Any] = field(default_factory=list)
    words: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    test: str | bytes | None = None
    test_rows: list[list[float]] = field(default_factory=list)

    def written(self, folder: Path) -> dict[str, Any]:
        content = self.content() if callable(self.content) else self.content
        paths = {"path": content} if self.test is None else {"path": content, "test_path": self.test}
        for key, text in paths.items():
            (folder / key).write_bytes(text if isinstance(text, bytes) else text.encode())
        return {key: str(folder / key) for key in paths} | self.options


def ok(name: str, content: Any, rows: list[list[float]], labels: list[Any], **more: Any) -> Case:
    options = {key: more.pop(key) for key in list(more) if key not in ("test", "test_rows")}
    return Case(name, content, rows, labels, options=options, **more)


def bad(name: str, content: Any, *words: str, test: str | bytes | None = None, **options: Any) -> Case:
    return Case(name, content, words=words, options=options, test=test)


R, AB = [[1.0, 2.0], [3.0, 4.0]], ["x", "y"]
BIG = 2**53 + 1

CSV = [
    # row names and headers
    ok("r write.table", '"a" "b" "k"\n"1" 1 2 "x"\n"2" 3 4 "y"\n', R, AB),
    ok("r write.table, names of rows", '"a" "b" "k"\n"Mazda RX4" 1 2 "x"\n"Fiat" 3 4 "y"\n', R, AB),
    ok("r write.table, commas", "a,b,k\n7,1,2,x\n5,3,4,y\n", R, AB),
    ok("r write.table, label by name", "k,a,b\n1,x,1,2\n2,y,3,4\n", R, AB, label="k"),
    ok("r write.table, label by position", "k,a,b\n1,x,1,2\n2,y,3,4\n", R, AB, label=0),
    ok("r write.csv", '"","a","b","k"\n"1",1,2,"x"\n"2",3,4,"y"\n', R, AB),
    ok("pandas index", ",a,b,k\n0,1,2,x\n1,3,4,y\n", R, AB),
    bad("a name forgotten", "a,b,k\n0.5,1,2,x\n0.7,3,4,y\n", "line 2", "one name more", "name every column"),
    bad("row names that repeat", "a,b,k\n1,1,2,x\n1,3,4,y\n", "one name more"),
    bad("a column without a name", ",a,k\n0.5,1,x\n0.5,3,y\n", "without a name"),
    bad("two names forgotten", "a,k\n1,2,3,x\n2,3,4,y\n", "line 2", "4 cells", "2 names"),
    bad("rows shorter than the header", "a,b,c,k\n1,2,x\n3,4,y\n", "line 2", "3 cells", "4 names"),
    bad("a separator at the end of rows", "a,b,k\n1,2,x,\n3,4,y,\n", "line 2", "separator at the end"),
    ok("a quoted comma in the header", '"a, in m",b,k\n1,2,x\n3,4,y\n', R, AB),
    ok("the label's name has a comma", 'a,b,"k, kind"\n1,2,x\n3,4,y\n', R, AB, label="k, kind"),
    ok("a quoted line break in the header", '"a\nm",b,k\n1,2,x\n3,4,y\n', R, AB),
    ok("quotes in a quoted name", '"a ""m""",b,k\n1,2,x\n3,4,y\n', R, AB),
    ok("semicolons beside quoted commas", '"a,b,c,d";b;k\n1;2;x\n3;4;y\n', R, AB),
    ok("a comma in a label", '1,2,"x,z"\n3,4,y\n', R, ["x,z", "y"]),
    ok("old line ends", "a,b,k\r1,2,x\r3,4,y\r", R, AB),
    ok("windows line ends", "a,b,k\r\n1,2,x\r\n3,4,y\r\n", R, AB),
    ok("no line end", "a,b,k\n1,2,x\n3,4,y", R, AB),
    ok("blank lines", "\n\na,b,k\n\n1,2,x\n \n3,4,y\n\n", R, AB),
    ok("quoted numbers after spaces", '"1", "2", "x"\n"3", "4", "y"\n', R, AB),
    ok("spaces around", " 1 , 2 , x \n 3 , 4 , y \n", R, AB),
    ok("tabs", "a\tb\tk\n1\t2\tx\n3\t4\ty\n", R, AB),
    ok("many spaces", "   1     2 x\n3 4    y   \n", R, AB),
    # the first row
    bad("no header, nothing in row 1", "1,,x\n3,4,y\n", "line 1", "column 2", "found nothing"),
    bad("no header, NA in row 1", "1,NA,x\n3,4,y\n", "line 1", "column 2", "'NA'"),
    bad("no header, ? in row 1", "?,2,x\n3,4,y\n", "line 1", "column 1", "'?'"),
    bad("no header, nan in row 1", "nan,2,x\n3,4,y\n", "line 1", "column 1", "'nan'"),
    bad("a slip in row 1", "1.o,2,x\n3,4,y\n", "first line", "'1.o'", "header: true or false"),
    bad("a slip in row 1, said", "1.o,2,x\n3,4,y\n", "line 1", "column 1", "'1.o'", header=False),
    ok("years as names", "2010,2011,k\n1,2,x\n3,4,y\n", R, AB, header=True),
    bad("columns that are counted", "0,1,2\n1,2,5\n3,4,6\n5,6,6\n", "counts 0, 1, 2"),
    bad("a label's name above numbers", "7,8,kind\n1,2,0\n3,4,1\n", "'kind'", "header: true or false"),
    # cells
    bad("an empty cell", "a,b,k\n1,2,x\n3,,y\n", "line 3", "column b", "found nothing"),
    bad("NA", "a,b,k\n1,2,x\nNA,4,y\n", "line 3", "column a", "'NA'"),
    bad("infinity", "a,b,k\n1,2,x\ninf,4,y\n", "line 3", "'inf'"),
    bad("too large for a float", "1,2,x\n3,1e400,y\n", "line 2", "'1e400'"),
    bad("too large for float32", "1,2,x\n3,1e39,y\n", "example 2", "1e+39", "3.4e38"),
    bad("an underscore", "1,2,x\n3,1_0,y\n", "line 2", "'1_0'"),
    bad("digits of another script", "1,2,x\n3,\u0664,y\n", "line 2", "expected a number"),
    bad("hexadecimal", "1,2,x\n3,0x10,y\n", "line 2", "'0x10'"),
    bad("decimal commas", "1,5;2,5;x\n3,5;4,5;y\n", "header: true or false"),
    bad("a cell of a million letters", "1,2,x\n3," + "z" * 10**6 + ",y\n", "line 2"),
    bad("a cell of a thousand letters", "1,2,x\n3," + "z" * 1000 + ",y\n", "line 2", "…"),
    bad("one cell less", "1,2,x\n3,y\n", "line 2", "2 cells", "3"),
    bad("one cell more", "1,2,x\n3,4,5,y\n", "line 2", "4 cells", "3"),
    bad("one cell more in row 1", "1,2,3,x\n3,4,y\n", "line 2", "3 cells", "4"),
    bad("an open quote", '1,2,x\n3,4,"y\n5,6,z\n', "line 3", "quote that is not closed"),
    bad("a null byte", b"1,2,x\n3,\0,y\n", "UTF-8"),
    bad("utf-16", "a,b,k\n1,2,x\n".encode("utf-16"), "UTF-8"),
    bad("latin-1", "a,b,k\n1,2,ä\n".encode("latin-1"), "UTF-8"),
    bad("a byte order mark alone", b"\xef\xbb\xbf", "empty"),
    bad("nothing", b"", "empty"),
    bad("binary", bytes(range(256)), "UTF-8"),
    bad("html", "<html><body>\nnot found\n", "path"),
    bad("header alone", "a,b,k\n", "no examples"),
    bad("one column", "a\n1\n2\n", "one column"),
    # labels
    ok("beyond 2^53", f"1,2,{BIG - 1}\n3,4,{BIG}\n", R, [BIG - 1, BIG]),
    bad("1e30", "1,2,1e30\n3,4,0\n", "example 1", "'1e30'", "at most"),
    bad("2^63", f"1,2,{2**63}\n3,4,0\n", "example 1", "at most"),
    bad("a huge exponent", "1,2,1e999999999\n3,4,0\n", "example 1", "at most"),
    bad("a fraction", "1,2,1.5\n3,4,0\n", "example 1", "'1.5'"),
    bad("a fraction that floats do not see", "1,2,1.00000000000000000001\n3,4,0\n", "example 1", "whole number"),
    bad("a missing label", "1,2,1\n3,4,0\n5,6,NA\n", "example 3", "'NA'"),
    bad("no label", "1,2,x\n3,4,\n", "line 2", "no label"),
    bad("one class", "1,2,x\n3,4,x\n", "two classes"),
    bad("a label of a thousand letters", "1,2,x\n3,4," + "y" * 1000 + "\n", "1000 characters"),
    ok("quotes within labels", "1,2,5in\n3,4,5\"\n5,6,5'\n", [*R, [5, 6]], ["5in", '5"', "5'"]),
    ok("elements as names", "K,Na,k\n1,2,x\n3,4,y\n", R, AB),
    ok("quotes after spaces", ' "1", 2, "x"\n "3", 4, "y"\n', R, AB),
    ok("words and numbers", "1,2,01\n3,4,a\n5,6,1\n", [*R, [5, 6]], ["01", "a", "1"]),
    ok("one number in several forms", "1,2,1.0\n3,4,+1\n5,6,0e0\n", [*R, [5, 6]], [1, 1, 0]),
    bad("two columns of the label's name", "k,k,a\n1,2,x\n", "2 columns", label="k"),
    # test files
    ok("other order", "a,b,k\n1,2,x\n3,4,y\n", R, AB, test="k,b,a\nx,6,5\n", test_rows=[[5, 6]]),
    ok("label by name", "a,b,k\n1,2,x\n3,4,y\n", R, AB, test="b,k,a\n6,x,5\n", test_rows=[[5, 6]], label="k"),
    ok("no header in the test file", "a,b,k\n1,2,x\n3,4,y\n", R, AB, test="5,6,x\n", test_rows=[[5, 6]]),
    bad("other names", "a,b,k\n1,2,x\n3,4,y\n", "no column 'b'", test="a,c,k\n5,6,x\n"),
    bad("another label's name", "a,b,k\n1,2,x\n3,4,y\n", "no column 'k'", test="a,b,z\n5,6,x\n"),
    bad("one more", "a,b,k\n1,2,x\n3,4,y\n", "'c' too many", test="a,b,c,k\n5,6,7,x\n"),
    bad("names twice", "a,a,c,k\n1,2,3,x\n3,4,5,y\n", "twice", test="a,c,a,k\n5,6,7,x\n"),
    bad("an unknown label", "a,b,k\n1,2,x\n3,4,y\n", "'z'", "x, y", test="a,b,k\n5,6,z\n"),
    bad("fewer columns", "1,2,x\n3,4,y\n", "1 inputs", test="5,x\n"),
]

LIBSVM = [
    ok("plain", "1 1:1 2:2\n-1 1:3 2:4\n", R, [1, -1]),
    ok("windows", "1 1:1 2:2\r\n-1 1:3 2:4\r\n", R, [1, -1]),
    ok("old line ends", "1 1:1 2:2\r-1 1:3 2:4\r", R, [1, -1]),
    ok("a row of zeros", "1 1:1 2:2\n2\n", [[1, 2], [0, 0]], [1, 2]),
    ok("comments", "# c 1:9\n1 1:1 2:2 # 3:3\n2 1:3 2:4\n", R, [1, 2]),
    ok("beyond 2^53", f"{BIG - 1} 1:1 2:2\n{BIG} 1:3 2:4\n", R, [BIG - 1, BIG]),
    ok("an offset of 1e9", "1 1:1000000001\n2 1:1000000002\n", [[1e9 + 1], [1e9 + 2]], [1, 2]),
    bad("labels alone", "1\n2\n", "labels and no inputs"),
    bad("labels alone and a comment", "1 # 1:1\n2\n", "labels and no inputs"),
    bad("1e30", "1e30 1:1\n2 1:1\n", "1e30", "at most"),
    bad("index 10^9", "1 1:1\n2 1000000000:1\n", "at most 250000 inputs"),
    bad("index 10^9 as an option", "1 1:1\n2 2:1\n", "at most 250000 inputs", n_features=10**9),
    bad("index 2^31", "1 1:1\n2 2147483648:1\n", "path"),
    bad("index 10^20", "1 1:1\n2 100000000000000000000:1\n", "path"),
    bad("index -1", "1 -1:1\n2 1:1\n", "line 1", "index -1"),
    bad("an index twice", "1 1:1 1:2\n2 1:1\n", "line 1", "index 1 after 1"),
    bad("an underscore", "1 1:1_0\n2 1:1\n", "line 1", "'1:1_0'"),
    bad("two labels", "1,2 1:1\n2 1:1\n", "line 1", "'1,2'"),
    bad("nan", "1 1:nan\n2 1:1\n", "example 1", "nan"),
    bad("a label nan", "nan 1:1\n2 1:1\n", "example 1", "'nan'"),
    bad("too large for float32", "1 1:1e39\n2 1:1\n", "example 1", "1e+39"),
    bad("csv", "a,b,k\n1,2,x\n", "path"),
    bad("html", "<a href='x:1'>\n", "line 1", "expected a number"),
    bad("binary", b"\x00\x01:\xff\n" * 9, "line 1"),
]


def npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def forged(shape: str, descr: str = "<f8", content: bytes = bytes(16)) -> bytes:
    """An archive whose X says that it has another shape than its content."""
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}".ljust(118).encode() + b"\n"
    return zipped({"X.npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content})


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


X2, Y2 = np.array(R), np.array(AB)
NPZ = [
    ok("plain", npz(X=X2, y=Y2), R, AB),
    ok("bytes as labels", npz(X=X2, y=np.array([b"x", b"y"])), R, AB),
    ok("other byte order", npz(X=X2.astype(">f4"), y=np.array([1, 2], ">i2")), R, [1, 2]),
    ok("columns first", npz(X=np.asfortranarray(X2), y=Y2), R, AB),
    ok("beyond 2^53", npz(X=X2, y=np.array([BIG - 1, BIG])), R, [BIG - 1, BIG]),
    ok("true and false", npz(X=X2, y=np.array([True, False])), R, [1, 0]),
    ok("objects that are not asked for", npz(X=X2, y=Y2, notes=np.array([{}], dtype=object)), R, AB),
    ok("an offset of 1e9", npz(X=X2 + 1e9, y=Y2), (X2 + 1e9).tolist(), AB),
    bad("floats beyond 2^53", npz(X=X2, y=np.array([2.0**54, 1])), "example 1", "at most 9007199254740992"),
    bad("float32 beyond 2^24", npz(X=X2, y=np.array([2**25, 1], np.float32)), "example 1", "16777216"),
    bad("beyond int64", npz(X=X2, y=np.array([2**63, 1], np.uint64)), "example 1", "at most"),
    bad("complex labels", npz(X=X2, y=np.array([1 + 2j, 1])), "complex128"),
    bad("complex inputs", npz(X=X2 + 1j, y=Y2), "complex128"),
    bad("dates as labels", npz(X=X2, y=np.array(["2020", "2021"], "M8[D]")), "datetime64"),
    bad("labels not in UTF-8", npz(X=X2, y=np.array([b"\xff", b"y"])), "UTF-8"),
    bad("nan as a label", npz(X=X2, y=np.array([np.nan, 1])), "example 1", "nan"),
    bad("objects", npz(X=np.array([[{}], [1]], dtype=object), y=Y2), "plain arrays"),
    bad("nothing in it", zipped({}), "no array X", "none"),
    bad("no arrays", zipped({"X": b"1", "y.txt": b"2"}), "no array X"),
    bad("text in place of arrays", zipped({"X.npy": b"1 2 3", "y.npy": b"1"}), "plain arrays"),
    bad("an array of 8 TB", forged("(1000000, 1000000)"), "size that its header says"),
    bad("an array of 10^30", forged(f"({10**15}, {10**15})"), "size that its header says"),
    bad("a shape that overflows", forged(f"({2**32}, {2**32})", content=b""), "size that its header says"),
    bad("a negative shape", forged("(-1, -2)"), "path"),
    bad("a header of another kind", forged("'x'"), "plain arrays"),
    bad("deep nesting", forged("(" * 3000 + ")" * 3000), "plain arrays"),
    bad("no rows", npz(X=np.ones((0, 2)), y=np.ones(0)), "(0, 2)"),
    bad("no columns", npz(X=np.ones((2, 0)), y=Y2), "(2, 0)"),
    bad("a single number", npz(X=np.float64(1), y=Y2), "()"),
    bad("cut", npz(X=X2, y=Y2)[:-30], "plain arrays"),
    bad("damaged", npz(X=X2, y=Y2).replace(np.float64(4).tobytes(), b"\x01" * 8), "plain arrays"),
    bad("a bomb", lambda: zipped({"X.npy": ZEROS}), "grows too large"),
]


def compressed_zeros() -> bytes:
    """A .Z file in which each code stands for one zero more than the one before: 65280 codes, two gigabytes."""
    codes, bits, width = [0, *range(257, 65536)], 0, 9
    packed, filled, size, group = bytearray(b"\x1f\x9d\x90"), 0, 257, 0
    for number, code in enumerate(codes):
        bits |= code << filled
        filled += width
        group += 1
        size += number > 0
        while filled >= 8:
            packed.append(bits & 255)
            bits >>= 8
            filled -= 8
        if size == 1 << width and width < 16:
            pad = -group % 8 * width
            filled += pad
            while filled >= 8:
                packed.append(bits & 255)
                bits >>= 8
                filled -= 8
            width, group = width + 1, 0
    return bytes(packed) + bytes((bits & 255,))


TABLE = b"a,b,k\n1,2,x\n3,4,y\n"
PACKED = [
    ok("gzip", gzip.compress(TABLE), R, AB),
    ok("gzip in two parts", gzip.compress(TABLE[:9]) + gzip.compress(TABLE[9:]), R, AB),
    ok("bzip2", bz2.compress(TABLE), R, AB),
    ok("xz", lzma.compress(TABLE), R, AB),
    bad("gzip cut", gzip.compress(TABLE)[:-5], "damaged archive"),
    bad("gzip and more", gzip.compress(TABLE) + b"more", "damaged archive"),
    bad("bzip2 cut", bz2.compress(TABLE)[:-5], "damaged archive"),
    bad("xz cut", lzma.compress(TABLE)[:-5], "damaged archive"),
    bad("a gzip bomb", lambda: gzip.compress(ZEROS, 6), "grows too large", "unpack it"),
    bad("a bzip2 bomb", lambda: bz2.compress(ZEROS), "grows too large"),
    bad("an xz bomb", lambda: lzma.compress(ZEROS, preset=0), "grows too large"),
    bad("a compress bomb", compressed_zeros, "grows too large"),
]

ALL = [
    pytest.param(kind, case, id=f"{kind}-{case.name}")
    for kind, cases in (("csv", CSV), ("libsvm", LIBSVM), ("npz", NPZ), ("csv", PACKED))
    for case in cases
]


def load(kind: str, options: dict[str, Any], folder: Path) -> Data:
    return datasets[kind].load(Cache(folder / "cache", quiet=True), **options)


@pytest.mark.parametrize(("kind", "case"), ALL)
def test_it_loads_as_these_numbers_or_is_refused_in_these_words(kind: str, case: Case, tmp_path: Path) -> None:
    options = case.written(tmp_path)
    if case.words:
        with pytest.raises(DataError) as caught:
            load(kind, options, tmp_path)
        message = str(caught.value)
        for word in case.words:
            assert word in message
        assert str(tmp_path) in message
        assert "\n" not in message
        assert len(message) < 400 + len(str(tmp_path)) * 2
        return
    data = load(kind, options, tmp_path)
    np.testing.assert_array_equal(data.train.X.astype(np.float64), case.rows)
    assert [data.classes[k] for k in data.train.y] == case.labels
    assert (data.test is not None) == (case.test is not None)
    if data.test is not None:
        np.testing.assert_array_equal(data.test.X, case.test_rows)


def test_the_corpus_is_large() -> None:
    assert len(ALL) >= 80
    assert len({case.id for case in ALL}) == len(ALL)


HOSTILE = [param for param in ALL if any(word in str(param.id) for word in ("bomb", "10^", "2^3", " TB", "million"))]


@pytest.mark.parametrize(("kind", "case"), HOSTILE)
def test_a_hostile_file_takes_little_memory(kind: str, case: Case, tmp_path: Path) -> None:
    options = case.written(tmp_path)
    tracemalloc.start()
    try:
        with pytest.raises(DataError):
            load(kind, options, tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 300_000_000
    finally:
        tracemalloc.stop()


def test_a_table_of_a_hundred_thousand_columns_loads(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X = random.integers(0, 1000, (4, 100_000))
    names = ",".join(f"c{j}" for j in range(X.shape[1]))
    rows = "".join(",".join(map(str, row)) + f",{k % 2}\n" for k, row in enumerate(X.tolist()))
    (tmp_path / "wide.csv").write_text(f"{names},k\n{rows}")
    data = load("csv", {"path": str(tmp_path / "wide.csv"), "label": "k"}, tmp_path)
    np.testing.assert_array_equal(data.train.X, X)


def test_a_large_sparse_file_that_makes_sense_loads(tmp_path: Path) -> None:
    """One input in four hundred is not zero, as in collections of documents: 100 MB of dense array."""
    lines = "".join(f"{i % 2} " + " ".join(f"{j}:1" for j in range(1 + i % 7, 47_000, 400)) + "\n" for i in range(260))
    (tmp_path / "sparse").write_text(lines)
    data = load("libsvm", {"path": str(tmp_path / "sparse"), "n_features": 47_000}, tmp_path)
    assert data.train.X.shape == (260, 47_000)
    assert data.train.X.sum() == lines.count(":")


@pytest.mark.parametrize("kind", ["csv", "libsvm", "npz"])
def test_what_is_no_ordinary_file_is_refused(kind: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place, words in (
        (tmp_path / "pipe", "ordinary file"),
        (tmp_path, "directory"),
        (Path("/dev/zero"), "ordinary"),
    ):
        with pytest.raises(DataError, match=words):
            load(kind, {"path": str(place)}, tmp_path)


def test_a_file_beyond_what_is_read_is_refused_by_its_size(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(9_000_000_000)  # takes no room on the disk
    with pytest.raises(DataError, match="9 GB; at most 8 GB"):
        load("csv", {"path": str(tmp_path / "sparse")}, tmp_path)
