"""What learners are charged for kernel values: as much as each would have needed by itself, on a stream.

A learner's time is what passes while it learns, with all its kernel values in it, whoever computes them:

- values that it asks for alone are computed while its clock runs;
- of a block that several learners share it bears the values that it asked for, at the cost of one in the product that
  was made for all. So the times of a cohort may come to more than the cohort took;
- where a Gram matrix is at hand it bears those that it would ask for on a stream, block by block, at the cost of one in
  a product of that shape that is timed once for each process and matrix.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from budgetbench.kernels import Kernel
from budgetbench.sparse import Inputs

#: Seconds, of which differences count.
clock = time.perf_counter

#: Examples of a block in the product that tells the cost of a value, set against themselves and as many others.
SAMPLE = 512
#: The middle one of so many products counts: one may have been held up, and the first one waits for compiled loops.
TRIES = 5


class Meter:
    """The cost of a learner's kernel values while something passes, in seconds.

    Parameters
    ----------
    rate : of a value that others compute; None where the learner's own clock runs while it is computed.

    Attributes
    ----------
    seconds : of all its kernel values.
    owed : what is to be added to the learner's clock.
    """

    def __init__(self, rate: float | None = None) -> None:
        self.rate, self.seconds, self.owed = rate, 0.0, 0.0

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Kernel values are computed in this context, while the learner's clock runs."""
        begun = clock()
        yield
        self.seconds += clock() - begun

    def charge(self, values: int, spent: float = 0.0) -> None:
        """So many values were had, or would be asked for on a stream, that others have computed.

        Parameters
        ----------
        spent : seconds in which the learner's clock ran while they were handed over.
        """
        cost = values * (self.rate or 0.0)
        self.seconds += cost
        self.owed += cost - spent


def cost_of_value(kernel: Kernel, X: Inputs) -> float:
    """Seconds that a kernel value between rows of X takes when a block meets what is kept."""
    spread = np.linspace(0, len(X), min(2 * SAMPLE, len(X)), endpoint=False).astype(np.int64)
    taken = []
    for attempt in range(TRIES):  # each with other rows, which no cache has seen
        rows = (spread + attempt) % len(X)
        begun = clock()
        found = kernel.matrix(X[rows[:SAMPLE]], X[rows])
        taken.append((clock() - begun) / found.size)
    return float(np.median(taken))
