"""A Python on Linux that lacks what Windows lacks, as far as our own modules see it."""

from __future__ import annotations

import os
import signal
import struct
import sys
import types
from pathlib import Path

#: F_OFD_SETLK, which Python knows from 3.13 on: locks of a handle and of bytes, as those of Windows are.
OPEN_FILE_LOCK = 37
#: In a folder of PYTHONPATH each Python imports it as it starts, workers too.
FILE, CODE = "sitecustomize.py", "from support.windows import imitate\n\nimitate()\n"


def locking(file: int, how: int, size: int) -> None:
    """What msvcrt has; an OSError says that others hold the bytes."""
    fcntl.fcntl(file, OPEN_FILE_LOCK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_CUR, 0, size, 0))


msvcrt = types.SimpleNamespace(locking=locking, LK_NBLCK=2)
if sys.platform == "linux":
    import fcntl


def imitate() -> None:
    """Take it away from this interpreter, for good."""
    # What must find its system as it is comes first.
    import asyncio  # noqa: F401
    import concurrent.futures.process  # noqa: F401
    import multiprocessing.pool  # noqa: F401

    import filelock  # noqa: F401
    import numpy.random  # noqa: F401
    from joblib.externals.loky.backend import resource_tracker  # noqa: F401

    held_back = signal.pthread_sigmask
    sys.modules["msvcrt"] = msvcrt  # type: ignore[assignment]
    sys.modules["fcntl"] = None  # type: ignore[assignment]
    for module, names in ((os, ("getuid", "register_at_fork")), (signal, ("SIGHUP", "SIGKILL", "pthread_sigmask"))):
        for name in names:
            delattr(module, name)

    import budgetbench.system

    assert not budgetbench.system.HOLDS_BACK
    # What loky needs here, and by what subprocess would take this for Windows.
    signal.pthread_sigmask = held_back
    del sys.modules["msvcrt"]

    import budgetbench.runner.workspace

    budgetbench.runner.workspace.MEMORY_FILES = Path("/nowhere")
