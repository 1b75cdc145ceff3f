"""Writing files so that a reader meanwhile, or after a crash, finds the old or the new content and never half."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from budgetbench import system


def replace_file(path: Path, content: str | bytes) -> None:
    """Write a file, UTF-8 and with the line ends that `content` has, in the place of the one that is there.

    Raises
    ------
    OSError : with the file's name; the former content is kept.
    """
    place = Path(os.path.realpath(path))  # where a link leads stays where the content is
    fresh = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with fresh.open("wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
            file.flush()
            os.fsync(file.fileno())
        system.replace(fresh, place)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from None
