"""What no arrangement of a pass avoids, in seconds of this machine, measured now; and how much memory a pass takes."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from budgetbench.engine.arrivals import BLOCK

#: Examples and columns of the triangle in the product that tells what a projection costs: of a size that BLAS likes.
BATCH, PANEL = 128, 128


def fastest(work: Callable[[], object], times: int = 5) -> float:
    """Processor time of the fastest of some calls."""
    found = []
    for _ in range(times):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def updates_floor(model: Any) -> float:
    """A row of kernel values added to the scores for each example stored or discarded."""
    rows = np.random.default_rng(0).random((200, len(model.margins_)), dtype=np.float32)
    scores = np.zeros(rows.shape[1])

    def add() -> None:
        for row in rows:
            np.add(scores, row, out=scores)

    return fastest(add) / len(rows) * (model.insertions_ + model.removals_)


def projections_floor(model: Any) -> float:
    """The coordinates of all examples: a product with a triangle of |S| rows, as long as the set was at the time."""
    random = np.random.default_rng(0)
    A, B = random.random((BATCH, 4 * PANEL)), random.random((4 * PANEL, PANEL))
    rate = 2 * A.size * B.shape[1] / fastest(lambda: A @ B)
    return float((model.sizes_[::BATCH].astype(float) ** 2).sum()) * BATCH / rate


def kernel_floor(model: Any, kernel: Any, X: Any) -> float:
    """Each arriving example with those stored, at what a value costs where a block meets so many."""
    size = int(model.sizes_.max(initial=0))
    if not size:
        return 0.0
    block, stored = X[:BLOCK], X[:size]
    return fastest(lambda: kernel.matrix(block, stored), 2) / len(block) / len(stored) * float(model.sizes_.sum())


def product_floor(A: Any, B: Any) -> float:
    """The bare product of the rows of A and of B by BLAS."""
    return fastest(lambda: A @ B.T)


def peak_memory() -> int | None:
    """The largest resident set of this process so far, in bytes; None where the system does not tell (Linux does).

    `getrusage` would count its parent too.
    """
    return _status("VmHWM:")


def memory_of(work: Callable[[], Any]) -> tuple[Any, int | None]:
    """What comes of some work, and by how much the resident set grew meanwhile at most."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # what is free goes back to the system, not to this work
        Path("/proc/self/clear_refs").write_text("5")  # the largest is the present one from now on
    before = _status("VmRSS:")
    outcome = work()
    after = peak_memory()
    return outcome, None if before is None or after is None else max(0, after - before)


def _status(name: str) -> int | None:
    if sys.platform != "linux":
        return None
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name))
