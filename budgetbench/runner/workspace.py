"""What all workers share: the prepared dataset and, where it fits, its Gram matrix, mapped from files.

The files lie in memory where the system has a file system for that; every worker maps the same pages, so that the
Gram matrix exists once on the machine.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from threading import Event
from typing import IO

import numpy as np
from threadpoolctl import threadpool_limits

from budgetbench import system
from budgetbench.engine.kernel_access import Gram, KernelAccess, Streamed, mirrored, read_only
from budgetbench.errors import BudgetbenchError
from budgetbench.kernels import Kernel
from budgetbench.sparse import SMALL, Inputs, SparseRows
from budgetbench.streams import LearningProblem

#: Rows of the Gram matrix that one thread computes at a time.
STRIPE = 512
MEMORY_FILES = Path("/dev/shm")
ADVICE = "Make room there, or name another folder in TMPDIR."
#: Begins the names of folders; the process that made one and the time (in seconds since 1970) follow.
PREFIX = "budgetbench-"
#: A file in each folder that its process keeps locked: the system lets go of it however the process ends.
LOCK = "lock"
#: Files of dense inputs, and of the parts of sparse ones.
DENSE, PARTS = "X.npy", ("values.npy", "inputs.npy", "starts.npy", "width.npy")


class Workspace:
    """A temporary folder that holds a learning problem and its Gram matrix.

    Parameters
    ----------
    limit : bytes that a Gram matrix may take; a larger one is not made, and kernel values are computed as the stream
        passes.
    """

    def __init__(self, problem: LearningProblem, kernel: Kernel, limit: float, jobs: int) -> None:
        size = 4 * problem.n_train**2
        if isinstance(problem.X, SparseRows):  # no more than what is saved by holding them so
            limit = min(limit, SMALL)
        self._folder, self._lock = _new_folder(size if size <= limit else 0)
        try:
            self.has_gram = size <= limit and shutil.disk_usage(self._folder).free > 1.2 * size
            write_inputs(self._folder, problem.X)
            if self.has_gram:
                write_gram(self._folder / "gram.npy", kernel.fitted_to(problem.X), problem.X[: problem.n_train], jobs)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                message = f"cannot write what the workers share to {self._folder.parent}: {error.strerror or error}"
                raise BudgetbenchError(f"{message}. {ADVICE}") from None
            raise

    @property
    def path(self) -> str:
        """What a worker needs to `open_access`."""
        return str(self._folder)

    def close(self) -> None:
        open_access.cache_clear()  # a file that is still mapped keeps its memory after it is removed
        system.remove_locked(self._folder / LOCK, self._lock.close)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def default_gram_limit() -> float:
    """Bytes that a Gram matrix may take where nothing else is said: a quarter of the machine's memory."""
    return system.memory() / 4


def _places(size: int) -> Iterator[Path]:
    """Where to put shared files: in memory if there is room for them, then where temporary files go."""
    if MEMORY_FILES.is_dir() and shutil.disk_usage(MEMORY_FILES).free > 1.2 * size + (1 << 28):
        yield MEMORY_FILES
    with suppress(FileNotFoundError):  # no place for temporary files that can be written
        yield Path(tempfile.gettempdir())


def _new_folder(size: int) -> tuple[Path, IO[bytes]]:
    """A folder of our own and its lock, which is held until that is closed."""
    for place in _places(size):
        with suppress(OSError):
            return _locked_folder(place)
    raise BudgetbenchError(f"no folder can be written in which to share data with the workers. {ADVICE}")


def _locked_folder(place: Path) -> tuple[Path, IO[bytes]]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-{time.time():.0f}-", dir=place))
        with suppress(FileNotFoundError):
            lock = open(folder / LOCK, "ab")  # noqa: SIM115
            system.lock(lock.fileno())
            if folder.exists():
                return folder, lock
        # A sweep has taken it away before it was locked.


def sweep() -> None:
    """Remove folders that this user's processes left behind when they were killed.

    That a folder's lock is free says that its process is dead, also where numbers of processes come again or mean
    nothing, as between containers that share their memory.
    """
    for place in {MEMORY_FILES, *_places(0)}:
        for folder in place.glob(f"{PREFIX}*-*-*"):
            with suppress(OSError):
                if folder.is_symlink() or not system.owned(folder.stat()):
                    continue
                with open(folder / LOCK, "ab") as lock:
                    system.lock(lock.fileno(), wait=False)
                    system.remove_locked(folder / LOCK, lock.close)


def write_inputs(folder: Path, X: Inputs) -> None:
    """Write the inputs, sparse ones as what a CSR array is made of."""
    if isinstance(X, SparseRows):
        for name, array in zip(PARTS, (X.values, X.inputs, X.starts, np.array(X.shape[1])), strict=True):
            np.save(folder / name, array)
    else:
        np.save(folder / DENSE, X)


def open_inputs(folder: Path) -> Inputs:
    """The inputs that `write_inputs` wrote, mapped."""
    if (folder / DENSE).exists():
        return read_only(np.load(folder / DENSE, mmap_mode="r"))
    values, inputs, starts, width = (np.load(folder / name, mmap_mode="r") for name in PARTS)
    return SparseRows.made(read_only(values), read_only(inputs), read_only(starts), int(width))


def write_gram(path: Path, kernel: Kernel, X: Inputs, jobs: int) -> None:
    """Compute all kernel values between the rows of X into a file, in stripes on `jobs` threads.

    Most of what lies left of the diagonal is read back from stripes that are written already: but for the last few,
    which other threads may have in hand. Stripes are written, not stored through a mapping: that spares a page fault,
    dearer than the kernel values of the page, and a file system that is full raises an error.
    """
    gram = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(len(X), len(X)))
    written, stopped = [Event() for _ in range(0, len(X), STRIPE)], Event()

    def stripes(first: int) -> None:
        values = np.empty((STRIPE, len(X)), dtype=np.float32)
        with open(path, "r+b") as file:
            for number in range(first, len(written), jobs):
                before, start = max(0, number - jobs + 1), number * STRIPE
                try:
                    if stopped.is_set():
                        continue
                    rows = X[start : start + STRIPE]
                    kernel.matrix(rows, X[before * STRIPE :], out=values[: len(rows), before * STRIPE :])
                    for other in written[:before]:
                        other.wait()
                    mirrored(np.asarray(gram), start, before * STRIPE, values[: len(rows)])
                    file.seek(gram.offset + start * gram.strides[0])
                    file.write(values[: len(rows)].data)
                    file.flush()
                finally:
                    written[number].set()

    with threadpool_limits(1), ThreadPoolExecutor(jobs) as pool:
        try:
            list(pool.map(stripes, range(jobs)))
        finally:  # an interruption does not wait for the rest
            stopped.set()


@lru_cache(maxsize=1)
def open_access(path: str, kernel: Kernel) -> tuple[Inputs, KernelAccess]:
    """The inputs and the access to kernel values in a workspace; cached, as a worker does many runs in one.

    One at a time, as a file that is still mapped keeps its memory.
    """
    X = open_inputs(Path(path))
    gram = Path(path) / "gram.npy"
    fitted = kernel.fitted_to(X)
    if gram.exists():
        return X, Gram(np.load(gram, mmap_mode="r"), X, fitted)
    return X, Streamed(fitted, X)
