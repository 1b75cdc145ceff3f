"""Where files arrive before they are known to be good: a folder for each process, that goes when the process goes."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

PREFIX = ".incoming-"
#: Held while the folder's process lives, in whichever container: a lock tells what a process's number cannot.
LOCK = ".lock"
#: Seconds after which a folder without a lock is no longer one that is just being made.
UNLOCKED_SECONDS = 60


class Incoming:
    """A folder of this process alone, beside the final places so that moving a file there is one step."""

    def __init__(self, folder: Path) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
            self._lock = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            with suppress(OSError):  # a file system without locks: `sweep` fails in the same way and leaves all
                fcntl.flock(self._lock, fcntl.LOCK_EX)
            if (self.path / LOCK).exists():  # else swept before it was locked
                return
            os.close(self._lock)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        with suppress(OSError):
            os.close(self._lock)


def sweep(folder: Path) -> None:
    """Remove what processes left here that were killed; those of living ones stay."""
    for left in folder.glob(PREFIX + "*"):
        try:
            lock = os.open(left / LOCK, os.O_RDWR)
        except FileNotFoundError:
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > UNLOCKED_SECONDS:
                    shutil.rmtree(left, ignore_errors=True)
            continue
        except OSError:
            continue
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
        os.close(lock)


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the program, so that nothing is left behind, unless it handles them itself."""
    ours = []
    if threading.current_thread() is threading.main_thread():
        ours = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
