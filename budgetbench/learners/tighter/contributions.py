"""What stored examples contribute to the margins of evaluated ones, in eight bits: enough to rule out most removals.

Without member j the margin of example k is mₖ - sⱼₖ, where sⱼₖ = aⱼyₖK(xⱼ, xₖ). Both sides of mₖ ≤ sⱼₖ are multiplied
by the same number and rounded down. That keeps their order: where the whole numbers differ they decide, and only where
they are equal the kernel value is asked for. A row of bytes, read from one end to the other, takes the processor a
twentieth of the time that as many kernel values take, which lie far apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled, record
from budgetbench.engine.certain import excess, slack_share
from budgetbench.engine.expansion import Block, Expansion

#: The largest of the whole numbers; contributions come to one less, so that a margin out of their reach is above all.
MOST = 127
#: The unit is chosen anew when the largest contribution is smaller than the one it was chosen for by this factor.
COARSE = 0.25
#: A slack of more steps than these is no larger.
MANY = 2.0**50


class Unit:
    """By how much contributions and margins are multiplied before they are rounded, and the slack of a margin then."""

    steps: float
    slack: int


class Contributions(NamedTuple):
    """One row for each stored example, one column for each place of the evaluation set.

    rounded : sⱼₖ in steps.
    owners : pool position of the stored example that a row belongs to, -1 where it is free.
    coefficients : with which the row was made.
    rows : for each pool position its row, -1 where there is none.
    examples : for each place the pool position of the example that its column is about.
    y : its label.
    margins : its margin.
    limits : the margin in steps, its slack added: a contribution above it makes an error for sure.
    unit : see there.
    """

    rounded: NDArray[np.int8]
    owners: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    rows: NDArray[np.int64]
    examples: NDArray[np.int64]
    y: NDArray[np.float64]
    margins: NDArray[np.float64]
    limits: NDArray[np.int8]
    unit: Unit


def contributions(rows: int, places: int, pool_size: int) -> Contributions:
    """Room for as many stored examples and places, with nothing in it."""
    return Contributions(
        np.empty((rows, places), np.int8),
        np.full(rows, -1),
        np.zeros(rows),
        np.full(pool_size, -1),
        np.full(places, -1),
        np.zeros(places),
        np.zeros(places),
        np.zeros(places, np.int8),
        record(Unit),
    )


@compiled
def bring_up_to_date(c: Contributions, f: Expansion, block: Block, evaluated: NDArray[np.int64]) -> None:
    """Write what has come since the last removal: examples evaluated, examples stored, coefficients; then margins."""
    choose_unit(c, f, block, evaluated)
    for row in range(len(c.owners)):
        i = c.owners[row]
        if i >= 0 and not f.stored[i]:
            c.owners[row] = c.rows[i] = -1
    for place in range(len(evaluated)):
        if c.examples[place] != evaluated[place]:
            write_column(c, block, place, evaluated[place])
    free = 0
    for slot in range(f.counts.members):
        i, a = f.members[slot], f.coefficients[slot]
        known = c.rows[i] >= 0
        if not known:
            while c.owners[free] >= 0:
                free += 1
            c.owners[free], c.rows[i] = i, free
        if not known or c.coefficients[c.rows[i]] != a:
            c.coefficients[c.rows[i]] = a
            write_row(c, block, c.rows[i], len(evaluated))
    measure(c, f, block, len(evaluated))


@compiled
def choose_unit(c: Contributions, f: Expansion, block: Block, evaluated: NDArray[np.int64]) -> None:
    """Let the largest contribution that there can be come to nearly `MOST`; with another unit all is written anew."""
    own, other = 0.0, np.float32(0.0)
    for slot in range(f.counts.members):
        own = max(own, abs(f.coefficients[slot]) * np.sqrt(block.diagonal[f.members[slot]]))
    for k in evaluated:
        other = max(other, block.diagonal[k])
    largest = own * np.sqrt(other)
    if not COARSE * (MOST - 1) <= largest * c.unit.steps <= MOST - 0.5:
        c.unit.steps = (MOST - 1) / largest if largest > 0.0 else 1.0
        c.owners[:], c.rows[:], c.examples[:] = -1, -1, -1
    slack = slack_share(f) * np.sqrt(other) * c.unit.steps
    c.unit.slack = 1 + int(min(slack, MANY)) if slack > 0.0 else 0


@compiled
def write_column(c: Contributions, block: Block, place: int, k: int) -> None:
    """Let a place be about the example at position k."""
    K, across = block.K, k < len(block.K) <= block.K.shape[1]  # its row is nearer to each other in memory
    c.examples[place], c.y[place] = k, block.y[k]
    for row in range(len(c.owners)):
        i = c.owners[row]
        if i >= 0:
            value = K[k, i] if across else K[i, k]
            c.rounded[row, place] = in_steps(c.coefficients[row] * c.y[place] * value, c.unit.steps)


@compiled
def write_row(c: Contributions, block: Block, row: int, places: int) -> None:
    """Let a row be about its owner as it is now."""
    values, rounded, a, steps = block.K[c.owners[row]], c.rounded[row], c.coefficients[row], c.unit.steps
    for place in range(places):
        rounded[place] = in_steps(a * c.y[place] * values[c.examples[place]], steps)


@compiled
def measure(c: Contributions, f: Expansion, block: Block, places: int) -> None:
    """Note the margins of the evaluated examples, on the right side of 0."""
    share, steps, slack = slack_share(f), c.unit.steps, c.unit.slack
    for place in range(places):
        c.margins[place] = c.y[place] * f.scores[c.examples[place]]
    if share > 0.0:
        for place in range(places):
            k = c.examples[place]
            if abs(c.margins[place]) <= share * np.sqrt(block.diagonal[k]):
                c.margins[place] = excess(f, block, k, -1, 0.0)
    for place in range(places):
        c.limits[place] = in_steps(c.margins[place], steps, slack)


@compiled
def in_steps(value: float, steps: float, more: int = 0) -> int:
    """A contribution or a margin in steps, rounded down."""
    return np.int8(min(max(np.floor(value * steps) + more, -MOST), MOST))


@compiled
def certain_errors(c: Contributions, row: int, places: int) -> int:
    """How many errors there are at least without the stored example of a row."""
    rounded, limits, errors = c.rounded[row], c.limits, np.int32(0)
    for place in range(places):  # the loop that takes the time
        errors = np.int32(errors + (rounded[place] > limits[place]))
    return errors


@compiled
def errors_without(c: Contributions, f: Expansion, block: Block, slot: int, places: int) -> int:
    """How many errors there are without the member in a slot."""
    i, a, share = f.members[slot], f.coefficients[slot], slack_share(f)
    rounded, values = c.rounded[c.rows[i]], block.K[i]
    errors = 0
    for place in range(places):
        over = np.int64(rounded[place]) - c.limits[place]
        if over > 0:
            errors += 1
        elif over >= -2 * c.unit.slack:
            k = c.examples[place]
            margin = c.margins[place] - a * c.y[place] * values[k]
            if share > 0.0 and abs(margin) <= share * np.sqrt(block.diagonal[k]):
                margin = excess(f, block, k, slot, 0.0)
            errors += margin <= 0.0
    return errors
