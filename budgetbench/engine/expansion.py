"""The compiled heart of the binary learners: a kernel expansion that grows and shrinks by one example at a time.

While a block of examples passes, every learner keeps f(x) up to date for all of them: storing an example adds one row
of kernel values to the scores, discarding it subtracts that row. Reading f is then free, and a row is read only when
the support set changes.

Scores are float64 sums of float32 kernel values, so they carry rounding errors, and which ones depends on how the
stream was cut. No decision may: `doubt` bounds the errors, and what lies within the bound is decided by the members
themselves (`engine.certain`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds
from budgetbench.engine.kernel_access import Rows
from budgetbench.kernels import Floats, Values


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


class Counts:
    """How many examples are members, how many were stored and discarded so far, and of the block that passes how many
    rounds have ended and how many changes are noted."""

    members: int
    insertions: int
    removals: int
    ended: int
    changes: int


class Doubt:
    """What bounds the errors of the scores: at x, error √K(x, x).

    weight : an upper bound on Σ |aᵢ| √K(xᵢ, xᵢ), so that |f(x)| ≤ weight √K(x, x).
    exact : up to this weight additions make no error at all, as whole multiples of the last bits of kernel values fit
        into a float64.
    out_of_order : 0 while the block's scores are what adding up the members from the oldest to the youngest gives.
    """

    weight: float
    error: float
    exact: float
    out_of_order: int


class Expansion(NamedTuple):
    """f(x) = Σ coefficients[s] K(members[s], x) over the slots s < counts.members, the oldest first.

    members : pool position of each stored example.
    coefficients : aᵢ = αᵢyᵢ of each stored example.
    scores : f at every followed position of the pool.
    stored : whether a position is a member.
    changes : who became a member or ceased to be one while the block passed, in turn: the round, the position, and 1 or
        -1; without room where nobody asks.
    counts, doubt : see there.
    """

    members: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    scores: NDArray[np.float64]
    stored: NDArray[np.bool_]
    changes: NDArray[np.int64]
    counts: Counts
    doubt: Doubt


#: The rounding of a product and of a sum, as a share of the sum, with room for that of kernel values.
ROUNDING = 2.0**-51


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
    size = f.doubt.weight + weight
    if size > f.doubt.exact:
        f.doubt.error += ROUNDING * size


@compiled
def lose(f: Expansion, weight: float) -> None:
    """Let the weight of the members shrink; rounded up, so that it stays a bound."""
    f.doubt.weight = max(0.0, f.doubt.weight - weight) + ROUNDING * f.doubt.weight
    f.doubt.out_of_order = 1


@compiled
def store(f: Expansion, block: Block, i: int, coefficient: float) -> None:
    """f ← f + coefficient·K(i, ·), with i a member; an example that is one already gets a larger coefficient."""
    shift(f, block, i, coefficient)
    f.doubt.weight += abs(coefficient) * np.sqrt(block.diagonal[i])
    if f.stored[i]:
        f.coefficients[slot_of(f, i)] += coefficient
        f.doubt.out_of_order = 1
    else:
        enter(f, i, coefficient)


@compiled
def discard(f: Expansion, block: Block, slot: int) -> None:
    """f without the member in a slot."""
    i, coefficient = f.members[slot], f.coefficients[slot]
    shift(f, block, i, -coefficient)
    lose(f, abs(coefficient) * np.sqrt(block.diagonal[i]))
    leave(f, slot)


@compiled
def scale(f: Expansion, factor: float) -> None:
    """f ← factor f, for a factor above 0"""
    f.coefficients[: f.counts.members] *= factor
    scores = f.scores
    for j in range(len(scores)):
        scores[j] *= factor
    f.doubt.weight *= factor * (1 + ROUNDING)
    f.doubt.error = factor * f.doubt.error + ROUNDING * f.doubt.weight
    f.doubt.out_of_order = 1


@compiled
def enter(f: Expansion, i: int, coefficient: Any) -> None:
    """Make position i the youngest member, with a coefficient, or one for each class."""
    slot = f.counts.members
    f.members[slot] = i
    f.coefficients[slot] = coefficient
    f.stored[i] = True
    f.counts.members += 1
    f.counts.insertions += 1
    trace(f, i, 1)


@compiled
def leave(f: Expansion, slot: int) -> None:
    """Take the member in a slot out; younger ones move up, so that slots stay in order of age."""
    f.stored[f.members[slot]] = False
    trace(f, f.members[slot], -1)
    last = f.counts.members - 1
    for s in range(slot, last):
        f.members[s] = f.members[s + 1]
    flat = f.coefficients.reshape(-1)  # several numbers for a member where there are more than two classes
    each = len(flat) // len(f.coefficients)
    for k in range(slot * each, last * each):
        flat[k] = flat[k + each]
    f.counts.members = last
    f.counts.removals += 1


@compiled
def trace(f: Expansion, i: int, change: int) -> None:
    """Note that position i became a member, or ceased to be one, where somebody asks."""
    if len(f.changes):
        entry = f.changes[f.counts.changes]
        entry[0], entry[1], entry[2] = f.counts.ended, i, change
        f.counts.changes += 1


@compiled
def slot_of(f: Expansion, i: int) -> int:
    """The slot of a member, the youngest looked at first."""
    slot = f.counts.members - 1
    while f.members[slot] != i:
        slot -= 1
    return slot


@compiled
def note(rounds: Rounds, t: int, margin: float, f: Expansion) -> None:
    """Close round t."""
    rounds.margins[t] = margin
    rounds.sizes[t] = f.counts.members
    f.counts.ended = t + 1


def rescore(f: Expansion, K: Floats, columns: int) -> None:
    """Compute the first `columns` scores from the members alone, for two classes or more, and set the doubt back: to
    what one summation leaves, where no score is older than that."""
    outputs, n = math.prod(f.scores.shape[:-1]), f.counts.members
    coefficients = f.coefficients[:n].reshape(n, outputs)
    add_up_rows(f.members[:n], coefficients, f.scores.reshape(outputs, K.shape[1]), K, columns)
    made = 0.0 if f.doubt.weight <= f.doubt.exact else ROUNDING * n * f.doubt.weight
    f.doubt.error = made if columns == K.shape[1] else max(made, f.doubt.error)
    f.doubt.out_of_order = 0


@compiled
def add_up_rows(members: Rows, coefficients: Values, scores: Values, K: Floats, columns: int) -> None:
    """scores[r, j] = Σ coefficients[s, r] K[members[s], j] for the first columns j, added up in the order of s."""
    scores[:, :columns] = 0.0
    for slot in range(len(members)):
        row = K[members[slot]]
        for r in range(len(scores)):
            coefficient = coefficients[slot, r]
            if coefficient != 0.0:
                f = scores[r]
                for j in range(columns):
                    f[j] += coefficient * row[j]
