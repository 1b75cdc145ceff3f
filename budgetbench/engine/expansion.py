"""The compiled heart of the binary learners: a kernel expansion that grows and shrinks by one example at a time.

While a block of examples passes, every learner keeps f(x) up to date for all of them: storing an example adds one row
of kernel values to the scores, discarding it subtracts that row. Reading f is then free, and a row is read only when
the support set changes.

Scores are float64 sums of float32 kernel values, so they carry rounding errors, and which ones depends on how the
stream was cut. No decision may: `doubt` bounds the errors, and what lies within the bound is decided by the members
themselves (`engine.certain`).
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
    doubt : what bounds the errors of the scores, by the names below.
    """

    members: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    scores: NDArray[np.float64]
    stored: NDArray[np.bool_]
    counts: NDArray[np.int64]
    doubt: NDArray[np.float64]


#: Places in `Expansion.doubt`. The score at x is wrong by at most ERROR √K(x, x).
#: WEIGHT : an upper bound on Σ |aᵢ| √K(xᵢ, xᵢ), so that |f(x)| ≤ WEIGHT √K(x, x).
#: EXACT : up to this weight additions make no error at all, as whole multiples of the last bits of kernel values fit
#:     into a float64.
#: OUT_OF_ORDER : 0 while the block's scores are what adding up the members from the oldest to the youngest gives.
WEIGHT, ERROR, EXACT, OUT_OF_ORDER = 0, 1, 2, 3

#: The rounding of a product and of a sum, as a share of the sum, with room for that of kernel values.
ROUNDING = 2.0**-51


class Rounds(NamedTuple):
    """Of each round of a block: the margin before the update, then the support size and the insertions so far."""

    margins: NDArray[np.float64]
    sizes: NDArray[np.int64]
    insertions: NDArray[np.int64]


@compiled
def shift(f: Expansion, block: Block, i: int, coefficient: float) -> None:
    """f ← f + coefficient·K(i, ·) in the scores alone."""
    doubt(f, abs(coefficient) * np.sqrt(block.diagonal[i]))
    scores, row = f.scores, block.K[i]
    for j in range(len(scores)):
        scores[j] += coefficient * row[j]


@compiled
def doubt(f: Expansion, weight: float) -> None:
    """Note what adding a row of that weight to the scores may do to them."""
    size = f.doubt[WEIGHT] + weight
    if size > f.doubt[EXACT]:
        f.doubt[ERROR] += ROUNDING * size


@compiled
def gain(f: Expansion, weight: float) -> None:
    """Let the weight of the members grow."""
    f.doubt[WEIGHT] += weight


@compiled
def lose(f: Expansion, weight: float) -> None:
    """Let the weight of the members shrink; rounded up, so that it stays a bound."""
    f.doubt[WEIGHT] = max(0.0, f.doubt[WEIGHT] - weight) + ROUNDING * f.doubt[WEIGHT]
    f.doubt[OUT_OF_ORDER] = 1.0


@compiled
def store(f: Expansion, block: Block, i: int, coefficient: float) -> None:
    """f ← f + coefficient·K(i, ·), with i a member; an example that is one already gets a larger coefficient."""
    shift(f, block, i, coefficient)
    gain(f, abs(coefficient) * np.sqrt(block.diagonal[i]))
    if f.stored[i]:
        f.coefficients[slot_of(f, i)] += coefficient
        f.doubt[OUT_OF_ORDER] = 1.0
    else:
        slot = f.counts[0]
        f.members[slot] = i
        f.coefficients[slot] = coefficient
        f.stored[i] = True
        f.counts[0] += 1
        f.counts[1] += 1


@compiled
def discard(f: Expansion, block: Block, slot: int) -> None:
    """Remove the member in a slot; younger ones move up, so that slots stay in order of age."""
    i, coefficient = f.members[slot], f.coefficients[slot]
    shift(f, block, i, -coefficient)
    lose(f, abs(coefficient) * np.sqrt(block.diagonal[i]))
    f.stored[i] = False
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


def rescored(f: Expansion, whole: bool) -> None:
    """Set the doubt back after `rescore`: to what one summation leaves, where no score is older than that."""
    made = 0.0 if f.doubt[WEIGHT] <= f.doubt[EXACT] else ROUNDING * f.counts[0] * f.doubt[WEIGHT]
    f.doubt[ERROR] = made if whole else max(made, f.doubt[ERROR])
    f.doubt[OUT_OF_ORDER] = 0.0
