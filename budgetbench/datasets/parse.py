"""Readers of the formats in which datasets are published. They take the unpacked content of a file.

Each raises ValueError for content that is not in its format.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets import limits, lzw
from budgetbench.lazy import lazy
from budgetbench.sparse import SparseRows, is_worth_it

if TYPE_CHECKING:
    import pandas as pd
    from sklearn import datasets as sklearn_datasets
else:
    pd, sklearn_datasets = lazy("pandas"), lazy("sklearn.datasets")


#: What opens a packed file, by its first bytes.
OPENERS: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {
    b"\x1f\x8b": lambda packed: gzip.GzipFile(fileobj=packed),  # type: ignore[dict-item,return-value]
    b"BZh": bz2.BZ2File,  # type: ignore[dict-item]
    b"\xfd7zXZ\x00": lzma.LZMAFile,  # type: ignore[dict-item]
}
PIECE = 1 << 20
T = TypeVar("T")


class UnfitError(ValueError):
    """Content that is refused for a reason that says all, unlike those of other packages' readers."""


def unpack(content: bytes) -> bytes:
    """Undo gzip, bzip2, xz or compress, told by the first bytes: some servers unpack `.gz` files on the way."""
    if content.startswith(lzw.MAGIC):
        return lzw.decompress(content)
    opener = next((OPENERS[magic] for magic in OPENERS if content.startswith(magic)), None)
    if opener is None:
        return content
    packed = io.BytesIO(content)
    try:
        with opener(packed) as archive:
            return read_bounded(archive, packed.tell)
    except (OSError, EOFError, MemoryError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"damaged archive: {brief(error)}") from error


def beginning(path: Path, enough: Callable[[bytes], bool]) -> bytes:
    """The lines with which a file of text begins, unpacked, until they are enough; all where they never are.

    No more of the file is read than twice what is enough, or a piece. Raises ValueError and OSError.
    """
    with limits.opened(path) as packed:
        magic = packed.read(6)
        packed.seek(0)
        opener = next((OPENERS[first] for first in OPENERS if magic.startswith(first)), None)
        if magic.startswith(lzw.MAGIC):
            return unpack(limits.read_whole(path))
        try:
            content, size = b"", PIECE
            with opener(packed) if opener else packed as source:
                while piece := source.read(size):
                    content += piece
                    size = len(content)
                    if size > limits.LARGEST or (opener and size > limits.allowed(packed.tell())):
                        raise UnfitError(
                            f"more than {limits.gigabytes(size)} were unpacked before the limit was reached"
                        )
                    whole = content[: max(content.rfind(b"\n"), content.rfind(b"\r")) + 1]
                    if enough(whole):
                        return whole
            return content
        except (OSError, EOFError, MemoryError, zlib.error, lzma.LZMAError) as error:
            raise ValueError(f"damaged archive: {brief(error)}") from error


def read_bounded(archive: IO[bytes], taken: Callable[[], int]) -> bytes:
    """What an archive unpacks to; ValueError when it grows beyond what the bytes `taken` of it may become."""
    pieces, size = [], 0
    while piece := archive.read(PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > limits.allowed(taken()):
            sizes, advice = f"{taken()} bytes of it unpack to more than {size}", "unpack it and name the unpacked file"
            raise UnfitError(f"an archive that grows too large ({sizes}). If it is meant, {advice}")
    return b"".join(pieces)


def brief(error: BaseException) -> str:
    """What an exception says, in one line of bounded length: some repeat the whole content."""
    text = " ".join(str(error)[:300].split())
    return text if len(text) <= 200 else f"{text[:199]}…"


def read_table(content: bytes, separator: str = r"\s+") -> NDArray[np.float64]:
    """Rows of numbers."""
    return _read_csv(content, separator, "a table of numbers", lambda frame: frame.to_numpy(np.float64))


def read_letters(content: bytes) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Rows of a letter and then numbers, with commas between."""
    return _read_csv(
        content, ",", "rows of a letter and numbers",
        lambda frame: (frame[0].to_numpy(str), frame.iloc[:, 1:].to_numpy(np.float64)),
    )  # fmt: skip


def _read_csv(content: bytes, separator: str, expected: str, made: Callable[[pd.DataFrame], T]) -> T:
    if b"\0" in content:
        raise ValueError("not a table: not text")
    try:
        frame = pd.read_csv(io.BytesIO(content), sep=separator, header=None, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ValueError(f"not a table: {brief(error)}") from None
    try:
        return made(frame)
    except (TypeError, ValueError) as error:
        raise ValueError(f"not {expected}: {brief(error)}") from None


def read_keel(content: bytes) -> NDArray[np.float64]:
    """The rows of a KEEL file: a header of lines that start with @, then numbers with commas between."""
    lines = content.splitlines()
    rows = [line for line in lines if line.strip() and not line.lstrip().startswith(b"@")]
    if len(rows) == len(lines):
        raise ValueError("no KEEL header")
    return read_table(b"\n".join(rows), ",")


def read_idx(content: bytes) -> NDArray[np.uint8]:
    """An array of bytes in the IDX format of the MNIST files."""
    if len(content) < 4 or content[:3] != b"\x00\x00\x08":
        raise ValueError("not an IDX file of bytes")
    dimensions = content[3]
    shape = tuple(np.frombuffer(content, ">u4", dimensions, 4).tolist())
    values = np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions)
    if values.size != math.prod(shape):
        raise ValueError(f"{values.size} values where the header says {'×'.join(map(str, shape))}")
    return values.reshape(shape)


def read_libsvm(
    content: bytes, n_features: int | None = None, zero_based: bool = False
) -> tuple[Any, NDArray[np.float64]]:
    """Inputs and labels of a LIBSVM (svmlight) file, whose indices start at 1 unless `zero_based`.

    Inputs are an array, or `SparseRows` where that would be large and holds little but zeros.
    """
    if not zero_based and (dense := _read_dense_libsvm(content, n_features)):
        return dense
    X, y = sklearn_datasets.load_svmlight_file(io.BytesIO(content), n_features=n_features, zero_based=zero_based)
    shape = f"{X.shape[0]} rows of {X.shape[1]} inputs, as the highest index says"
    advice = "Number the inputs that occur from 1, or leave the rare ones out"
    if is_worth_it(X):
        if X.shape[1] > limits.WIDEST:
            raise ValueError(f"{shape}; at most {limits.WIDEST} inputs are read. {advice}")
        return SparseRows.of(X), y
    size = X.shape[0] * X.shape[1] * X.dtype.itemsize
    if size > limits.allowed(len(content), limits.DENSE_RATIO):
        table = f"{limits.gigabytes(size)} as a dense table, more than so short a file may"
        raise ValueError(f"{shape}, would take {table}. {advice}")
    return X.toarray(), np.asarray(y, dtype=np.float64)


def _read_dense_libsvm(
    content: bytes, n_features: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The same where every row holds every input, as a plain table, which is read four times as fast."""
    colons = content[: content.find(b"\n") + 1].count(b":")
    every = content.count(b":") == colons * content.count(b"\n") and b"#" not in content
    if not (every and colons and colons == (n_features or colons)):
        return None
    try:
        table = pd.read_csv(io.BytesIO(content.replace(b":", b" ")), sep=r"\s+", header=None).to_numpy(np.float64)
    except (pd.errors.ParserError, ValueError):
        return None
    if table.shape[1] != 2 * colons + 1 or not (table[:, 1::2] == np.arange(1, colons + 1)).all():
        return None
    return table[:, 2::2], table[:, 0]
