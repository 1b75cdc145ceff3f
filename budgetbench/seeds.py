"""Random streams by axis: the same (seed, role, run) gives the same numbers whatever else is run."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Role(IntEnum):
    """What a random stream is used for. The numbers are part of every result: never change or reuse one."""

    SPLIT = 0  # which pooled examples train and which test
    NOISE = 1  # which labels are flipped
    ORDER = 2  # the permutation of the training set
    LEARNER = 3  # a learner's own randomness
    DATA = 4  # generated data sets
    VALIDATION = 5  # which training examples are held out
    WIDTH = 6  # which training rows tell the width of a kernel
    BUFFER = 7  # how a stream is shuffled on its way


def generator(seed: int, role: Role, run: int = 0, *further: int) -> np.random.Generator:
    """A fresh generator for one role in one run, or for a part of it that `further` numbers name."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(int(role), run, *further))))
