"""How much of a file is taken in: none may fill the memory or the disk, and none that makes sense is refused."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

#: Bytes of the largest file that is read, of what an archive unpacks to, and of a file's inputs as a dense array.
LARGEST = 8_000_000_000
#: Bytes that may come of any file, however small: the worst that a malicious one can cost.
ALWAYS = 64_000_000
#: Beyond that, bytes unpacked for each packed one. Text packs to a third, a table of nearly only zeros to a hundredth;
#: a bomb is packed a thousandfold by gzip, a millionfold by bzip2.
UNPACKED_RATIO = 250
#: Beyond that, bytes of dense array for each byte of sparse text: with one input in a thousand other than zero it fits.
DENSE_RATIO = 500
#: Inputs of the widest rows that are held sparse: blocks of them are made dense, of half a gigabyte each at most.
WIDEST = 250_000


def read_whole(path: Path) -> bytes:
    """The bytes of an ordinary file; ValueError if it is another thing or too large, OSError if it cannot be read."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > LARGEST:
            raise ValueError(f"the file has {gigabytes(size)}; at most {gigabytes(LARGEST)} are read")
        return file.read()


def opened(path: Path) -> IO[bytes]:
    """An ordinary file, to read; ValueError if it is another thing, OSError if it cannot be read."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # opening a folder says so by itself
        raise ValueError("not an ordinary file")
    return path.open("rb")


def allowed(size: int, ratio: int = UNPACKED_RATIO) -> int:
    """Bytes that may come of `size` bytes of a file."""
    return min(LARGEST, max(ALWAYS, ratio * size))


def gigabytes(size: float) -> str:
    return f"{size / 1e9:.3g} GB"
