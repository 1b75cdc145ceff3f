"""The compiled heart of the binary learners: a kernel expansion that grows and shrinks by one example at a time.

While a block of examples passes, every learner keeps f(x) up to date for all of them: storing an example adds one row
of kernel values to the scores, discarding it subtracts that row. Reading f is then free, and a row is read only when
the support set changes. Scores are float64 sums of float32 kernel values; with whole coefficients such sums
are exact as long as the values lie within 29 powers of two, so that the order of additions does not matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.compiled import compiled


class Block(NamedTuple):
    """The examples that pass next, together with those that the learner has kept: the pool.

    order : positions in the pool of the examples that arrive, in the order in which they do.
    y : for each position the label: ±1 (float64), or the class index (int64) for more classes.
    K : float32 kernel values; row i belongs to position i, column j to position j. Only positions that can be stored
        have a row, and only those whose scores are followed have a column.
    diagonal : K(x, x) for each position, float32.
    chance : for each arrival a uniform random number in [0, 1); empty for learners that need none.
    """

    order: NDArray[np.int64]
    y: NDArray[np.float64]
    K: NDArray[np.float32]
    diagonal: NDArray[np.float32]
    chance: NDArray[np.float64]


class Expansion(NamedTuple):
    """f(x) = Σ coefficients[s] K(members[s], x) over the slots s < counts[0], the oldest first.

    members : pool position of each stored example.
    coefficients : aᵢ = αᵢyᵢ of each stored example.
    scores : f at every followed position of the pool.
    stored : whether a position is a member.
    counts : support size, insertions so far, removals so far.
    """

    members: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    scores: NDArray[np.float64]
    stored: NDArray[np.bool_]
    counts: NDArray[np.int64]


class Rounds(NamedTuple):
    """Of each round of a block: the margin before the update, then the support size and the insertions so far."""

    margins: NDArray[np.float64]
    sizes: NDArray[np.int64]
    insertions: NDArray[np.int64]


@compiled
def shift(f: Expansion, block: Block, i: int, coefficient: float) -> None:
    """f ← f + coefficient·K(i, ·) in the scores alone."""
    scores, row = f.scores, block.K[i]
    for j in range(len(scores)):
        scores[j] += coefficient * row[j]


@compiled
def store(f: Expansion, block: Block, i: int, coefficient: float) -> None:
    """f ← f + coefficient·K(i, ·), with i a member; an example that is one already gets a larger coefficient."""
    if f.stored[i]:
        f.coefficients[slot_of(f, i)] += coefficient
    else:
        slot = f.counts[0]
        f.members[slot] = i
        f.coefficients[slot] = coefficient
        f.stored[i] = True
        f.counts[0] += 1
        f.counts[1] += 1
    shift(f, block, i, coefficient)


@compiled
def discard(f: Expansion, block: Block, slot: int) -> None:
    """Remove the member in a slot; younger ones move up, so that slots stay in order of age."""
    shift(f, block, f.members[slot], -f.coefficients[slot])
    f.stored[f.members[slot]] = False
    last = f.counts[0] - 1
    for s in range(slot, last):
        f.members[s] = f.members[s + 1]
        f.coefficients[s] = f.coefficients[s + 1]
    f.counts[0] = last
    f.counts[2] += 1


@compiled
def slot_of(f: Expansion, i: int) -> int:
    """The slot of a member."""
    slot = 0
    while f.members[slot] != i:
        slot += 1
    return slot


@compiled
def note(rounds: Rounds, t: int, margin: float, f: Expansion) -> None:
    """Close round t."""
    rounds.margins[t] = margin
    rounds.sizes[t] = f.counts[0]
    rounds.insertions[t] = f.counts[1]


@compiled
def rescore(f: Expansion, K: NDArray[np.float32], columns: int) -> None:
    """Compute the first `columns` scores from the members alone."""
    scores = f.scores
    scores[:columns] = 0.0
    for slot in range(f.counts[0]):
        coefficient, row = f.coefficients[slot], K[f.members[slot]]
        for j in range(columns):
            scores[j] += coefficient * row[j]
