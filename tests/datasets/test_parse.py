"""Readers of published formats and packings."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct

import numpy as np
import pytest

from budgetbench.datasets import lzw
from budgetbench.datasets.letter import split
from budgetbench.datasets.mnist import pair_up
from budgetbench.datasets.parse import read_idx, read_keel, read_letters, read_libsvm, read_table, unpack


def compress(content: bytes, widest: int = 16) -> bytes:
    """What `compress -b widest` writes: codes widen one step later than the writer's own table fills."""
    codes: list[int] = []
    table = {bytes((i,)): i for i in range(256)}
    prefix = b""
    for byte in (content[i : i + 1] for i in range(len(content))):
        if prefix + byte in table:
            prefix += byte
            continue
        codes.append(table[prefix])
        if len(table) + 1 < 1 << widest:
            table[prefix + byte] = len(table) + 1  # 256 is the code that clears the table
        prefix = byte
    if prefix:
        codes.append(table[prefix])
    packed, width, size, group = bytearray((0x1F, 0x9D, 0x80 | widest)), 9, 257, []
    for number, code in enumerate(codes):
        group.append(code)
        if number:
            size = min(size + 1, 1 << widest)
        wider = width < widest and size == 1 << width
        if len(group) == 8 or wider or number == len(codes) - 1:
            bits = sum(code << width * place for place, code in enumerate(group))
            full = width if wider or len(group) == 8 else -(-width * len(group) // 8)
            packed += bits.to_bytes(full, "little")
            group = []
        width += wider
    return bytes(packed)


@pytest.mark.parametrize("widest", [10, 12, 16])
@pytest.mark.parametrize("content", [b"a", b"abababababab" * 9, bytes(range(256)) * 5, None])
def test_compress_files(content: bytes | None, widest: int) -> None:
    if content is None:
        random = np.random.default_rng(4)
        content = "\n".join(f"{value:.2f}" for value in random.standard_normal(60000)).encode()
    assert lzw.decompress(compress(content, widest)) == content


def test_a_fixed_compress_file() -> None:
    """These bytes have been confirmed with `gzip -dc`, so reader and writer above do not err together."""
    packed = bytes.fromhex(
        "1f9d9062ea903953868e98326ec6a001117060c183091736246810a14286022942bc38f1a14589193d46c4e8b0e2c88e2639864c09b2"
        "e4c6961a3f928c7972e5cb992255ba9489f2664f9e3681eeac39f422"
    )
    assert unpack(packed) == b"budgetbench " * 20
    assert compress(b"budgetbench " * 20) == packed


def test_the_clearing_of_the_table() -> None:
    codes = [ord("a"), 257, 256, 0, 0, 0, 0, 0, ord("b"), 257]  # a clear code skips the rest of its group of eight
    bits = sum(code << 9 * place for place, code in enumerate(codes))
    assert lzw.decompress(b"\x1f\x9d\x90" + bits.to_bytes(12, "little")) == b"aaabbb"


@pytest.mark.parametrize("damaged", [b"\x1f\x9d", b"\x1f\x9d\x9f123", b"\x1f\x9d\x90\xff\xff\xff", b"plain"])
def test_damaged_compress_files(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"\.Z file"):
        lzw.decompress(damaged)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, bytes])
def test_unpacking_goes_by_content(pack: object) -> None:
    assert unpack(pack(b"1 2 3\n" * 50)) == b"1 2 3\n" * 50  # type: ignore[operator]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_truncated_archive(pack: object) -> None:
    with pytest.raises(ValueError, match="damaged archive"):
        unpack(pack(b"1 2 3\n" * 50)[:-9])  # type: ignore[operator]


@pytest.mark.parametrize("text", [b"1 2\n3 4\n", b" 1  2 \n 3 4\n", b"1 2 \n3 4 \n\n"])
def test_tables(text: bytes) -> None:
    np.testing.assert_array_equal(read_table(text), [[1, 2], [3, 4]])


@pytest.mark.parametrize("text", [b"", b"<html>\n", b"1 2\n3 x\n", b"1 2\n3 4 5 6\n", b"\xff\xfe\x00"])
def test_no_tables(text: bytes) -> None:
    with pytest.raises(ValueError, match="table"):
        read_table(text)


def test_keel() -> None:
    text = b"@relation r\n@attribute a real\n@data\n1.5, -2, -1.0\n\n0.5,2,1.0\n"
    np.testing.assert_array_equal(read_keel(text), [[1.5, -2, -1], [0.5, 2, 1]])
    with pytest.raises(ValueError, match="KEEL"):
        read_keel(b"1,2\n")


def idx(array: np.ndarray) -> bytes:
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.astype(np.uint8).tobytes()


def test_idx() -> None:
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    np.testing.assert_array_equal(read_idx(idx(array)), array)
    for damaged in (b"", b"abc", b"\x00\x00\x08\x03\x00", idx(array)[:-1]):
        with pytest.raises(ValueError, match=r"IDX|header|buffer"):
            read_idx(damaged)


def test_mnist_pixels_are_between_0_and_1() -> None:
    images = np.array([[[0, 51], [102, 255]]], dtype=np.uint8)
    parts = pair_up(images, np.array([7], dtype=np.uint8), images, np.array([3], dtype=np.uint8))
    np.testing.assert_array_equal(parts["train"].X, np.array([[0, 0.2, 0.4, 1]], dtype=np.float32))
    assert parts["train"].y[0] == 7
    assert parts["test"].y[0] == 3


def test_letters() -> None:
    labels, attributes = read_letters(b"T,2,8\nNA,5,12\n")
    assert labels.tolist() == ["T", "NA"]
    np.testing.assert_array_equal(attributes, [[2, 8], [5, 12]])
    with pytest.raises(ValueError, match="not one of the classes"):
        split((labels, attributes))


def test_libsvm_dense_and_sparse_agree() -> None:
    random = np.random.default_rng(6)
    X = random.standard_normal((50, 7)).astype(np.float32)
    full = "".join(
        f"{i % 3} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(x.tolist())) + " \n" for i, x in enumerate(X)
    )
    for text in (full, full + "1 2:0.5\n"):
        read, labels = read_libsvm(text.encode())
        np.testing.assert_allclose(read[:50], X, rtol=1e-6)
        assert labels[:3].tolist() == [0, 1, 2]
    assert read_libsvm(b"+1 2:1 4:0.5 # note\n-1 1:2\n", n_features=5)[0].tolist() == [
        [0, 1, 0, 0.5, 0],
        [2, 0, 0, 0, 0],
    ]


def test_libsvm_files_as_wide_as_another_with_the_same_number_of_colons() -> None:
    """Rows that hold equally many inputs, but not the same ones, are no plain table."""
    X, _ = read_libsvm(b"1 1:5 2:6\n2 2:7 3:8\n")
    np.testing.assert_array_equal(X, [[5, 6, 0], [0, 7, 8]])
