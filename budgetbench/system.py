"""What an operating system gives, with another way beside it where Windows has none: locks, users, memory, signals."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]
    import msvcrt

    locking: Any = msvcrt.locking  # type: ignore[attr-defined]

#: Ends a process at once; where there is no such signal, any other one does.
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
#: A terminal that is closed.
HANGUP: signal.Signals | None = getattr(signal, "SIGHUP", None)
#: Those by which a program is asked to end.
ENDING = tuple(number for number in (signal.SIGTERM, HANGUP) if number)
#: Whether a thread can hold signals back from itself and the processes that it starts.
HOLDS_BACK = hasattr(signal, "pthread_sigmask")
#: Bytes of a file that are locked where a lock is one of bytes: each that shares it has one of them.
REGION = 1 << 30
#: Seconds between two looks at something of which the system sends no word.
PAUSE = 0.05
#: Seconds to wait until a reader closes a file that is to be replaced; elsewhere that may stay open.
REPLACING = 2.0 if os.name == "nt" else 0.0


def lock(file: int, *, shared: bool = False, wait: bool = True) -> None:
    """Hold an open file alone, or together with others, until it is closed or the process ends, however it does.

    Raises
    ------
    OSError : the file system has no locks; or another holds it and is not waited for.
    """
    if fcntl is not None:
        how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(file, how if wait else how | fcntl.LOCK_NB)
        return
    while True:
        os.lseek(file, os.getpid() % REGION if shared else 0, os.SEEK_SET)
        try:
            return locking(file, msvcrt.LK_NBLCK, 1 if shared else REGION)  # type: ignore[attr-defined]
        except OSError:
            if not wait:
                raise
        time.sleep(PAUSE)


def remove_locked(lock: Path, release: Callable[[], object]) -> None:
    """Remove the folder in which a lock lies that we hold, and release that.

    Windows removes no file that is open. There the lock goes last, unless another process has come to wait for it.
    """
    folder = lock.parent
    shutil.rmtree(folder, ignore_errors=True)
    stays = folder.exists()
    release()
    if stays:
        with suppress(OSError):
            lock.unlink()
            folder.rmdir()


def replace(fresh: Path, place: Path) -> None:
    """Move a file into the place of another, on Windows once no reader has that open."""
    deadline = time.monotonic() + REPLACING
    while True:
        try:
            fresh.replace(place)
            return
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(PAUSE)


def user() -> int:
    """The number of the user; 0 on Windows, where files say the same of their owner."""
    return os.getuid() if hasattr(os, "getuid") else 0


def owned(found: os.stat_result) -> bool:
    """Whether a file or folder is the user's own."""
    return found.st_uid == user()


def private(found: os.stat_result) -> bool:
    """Whether it is, and no other may write to it; on Windows modes say nothing of others."""
    return owned(found) and not (hasattr(os, "getuid") and found.st_mode & stat.S_IWOTH)


def memory() -> float:
    """Bytes of memory that the machine has."""
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415

        status = ctypes.create_string_buffer(struct.pack("<I60x", 64), 64)  # MEMORYSTATUSEX
        ctypes.windll.kernel32.GlobalMemoryStatusEx(status)
        return float(struct.unpack_from("<Q", status, 8)[0])
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def outlive(process: int) -> None:
    """Return soon after the process that started this one is gone."""
    if sys.platform == "win32":  # which keeps its number
        import _winapi  # noqa: PLC0415
        from multiprocessing.connection import wait  # noqa: PLC0415

        wait([_winapi.OpenProcess(_winapi.SYNCHRONIZE, False, process)])
        return
    while os.getppid() == process:
        time.sleep(1)
