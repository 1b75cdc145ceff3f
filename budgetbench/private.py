"""A folder of our own for what can be made again: compiled loops, matplotlib's list of fonts."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from budgetbench import system
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    import pooch
else:
    pooch = lazy("pooch")


@cache
def private_folder() -> Path | None:
    """The user's cache folder; where that cannot be written, one among the temporary files; None where neither can.

    Programs are read from it and run, so that it must be ours: not another user's, nor one that others may write to.
    """
    return next((folder for folder in (home_folder(), temporary_folder()) if folder and _usable(folder)), None)


def home_folder() -> Path | None:
    """Where the system keeps a user's caches; None for a user without a home."""
    with suppress(RuntimeError):  # a user of whom nothing is known; older versions leave "~" as it is then
        folder = Path(pooch.os_cache("budgetbench"))
        return folder if folder.is_absolute() else None
    return None


def temporary_folder() -> Path | None:
    """A name among the temporary files that is the same in all processes of a user."""
    with suppress(OSError):  # not a single folder for temporary files
        return Path(tempfile.gettempdir()) / f"budgetbench-cache-{system.user()}"
    return None


def _usable(folder: Path) -> bool:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()  # a link that somebody laid is not followed
        if not stat.S_ISDIR(found.st_mode) or not system.private(found):
            return False
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def spare_matplotlib_its_home() -> None:
    """Before matplotlib is imported: a place for its files where it would complain that it has none."""
    folder = private_folder()
    if "MPLCONFIGDIR" not in os.environ and folder is not None and folder != home_folder():
        os.environ["MPLCONFIGDIR"] = str(folder / "matplotlib")
