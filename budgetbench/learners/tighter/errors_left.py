"""Which stored examples can go: those whose removal leaves the fewest errors on a set of examples.

Exact, and faster than counting afresh for every candidate: only examples near the decision boundary can change side,
and a candidate is given up once it cannot come down to the fewest errors so far.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.certain import exceeds, excess, margin_without, slack, slack_share
from budgetbench.engine.expansion import Block, Expansion, discard

Ties = Literal["oldest", "newest", "largest_margin", "random"]

#: Numbers for the compiled loops.
TIES = {"oldest": 0, "newest": 1, "largest_margin": 2, "random": 3}
NEWEST, LARGEST_MARGIN, RANDOM = 1, 2, 3

#: The count of a stored example that is not looked at.
NONE = int(np.iinfo(np.int64).max)
#: Random numbers that follow from one: x ← 16807 x mod 1 (Lehmer).
LEHMER = 16807.0
#: How finely the examples near the boundary are sorted by their distance from it.
RANKS = 64


class Removal(NamedTuple):
    """How a removal is done.

    candidates : how many of the stored examples are looked at, in turn, besides the newcomer.
    at_once : how many leave.
    ties : who leaves first of those with equal counts; see `TIES`.
    non_negative : whether no kernel value can be below 0.
    """

    candidates: int
    at_once: int
    ties: int
    non_negative: bool


class Near(NamedTuple):
    """Examples near enough to the decision boundary to change side, in four groups: 2·[right] + [y = 1].

    positions, margins : of the examples, group after group; those of group g begin at start[g] and end at start[g + 1].
    start : five numbers.
    """

    positions: NDArray[np.uint32]
    margins: NDArray[np.float64]
    start: NDArray[np.int64]


@compiled
def remove_worst(
    f: Expansion,
    block: Block,
    evaluated: NDArray[np.int64],
    near: Near,
    how: Removal,
    turn: int,
    newcomer: bool,
    chance: float,
) -> int:
    """Discard those stored examples whose removal, of each by itself, leaves the fewest errors among `evaluated`.

    Slots are tried from the youngest: the newcomer tends to do the most harm, and a low count found early spares work
    later.

    Parameters
    ----------
    turn : the slot at which the removal begins to look; only of use where not all are looked at.
    newcomer : whether the youngest is the example just stored, which is a candidate in any case.
    chance : a random number in [0, 1), for ties that are broken at random.

    Returns
    -------
    The slot at which the next removal begins to look.
    """
    errors, slack = split(f, block, evaluated, near)
    old = f.counts.members - 1 if newcomer else f.counts.members
    counts, fewest = np.full(f.counts.members, NONE), np.full(how.at_once, len(evaluated))
    for slot in range(f.counts.members - 1, -1, -1):
        if slot == old or (slot - turn) % old < how.candidates:
            a, row = f.coefficients[slot], block.K[f.members[slot]]
            count = errors_without(a, row, errors, near, fewest[-1], how.non_negative, slack)
            if slack > 0.0 and count <= fewest[-1]:  # so far without the errors that are in doubt
                count = certain_errors_without(f, block, slot, errors, near, slack)
            counts[slot] = count  # or a bound, above the count of any that leaves
            keep_fewest(fewest, count)
    for _ in range(how.at_once):
        chance = LEHMER * chance % 1.0
        slot = first_of_equals(f, block, counts, how.ties, chance)
        if counts[slot] < NONE:
            discard(f, block, slot)
            counts = np.concatenate((counts[:slot], counts[slot + 1 :]))
    return (turn + how.candidates) % old


@compiled
def keep_fewest(fewest: NDArray[np.int64], count: int) -> None:
    """Enter a count among the lowest ones so far; the last one drops out."""
    if count >= fewest[-1]:
        return
    place = len(fewest) - 1
    while place > 0 and count < fewest[place - 1]:
        fewest[place] = fewest[place - 1]
        place -= 1
    fewest[place] = count


@compiled
def first_of_equals(f: Expansion, block: Block, counts: NDArray[np.int64], ties: int, chance: float) -> int:
    """The slot with the lowest count; of several the one that is first to leave."""
    equals = np.flatnonzero(counts == counts.min())
    if ties == NEWEST:
        return equals[-1]
    if ties == RANDOM:
        return equals[int(chance * len(equals))]
    first = equals[0]
    if ties == LARGEST_MARGIN:
        for slot in equals[1:]:
            if keeps_more(f, block, slot, first):
                first = slot
    return first


@compiled
def keeps_more(f: Expansion, block: Block, slot: int, other: int) -> bool:
    """Whether a member's margin without its own contribution is larger than that of another."""
    lead = margin_without(f, block, slot) - margin_without(f, block, other)
    doubt = slack(f, block, f.members[slot]) + slack(f, block, f.members[other])
    return lead > 0.0 if doubt == 0.0 or abs(lead) > doubt else exceeds(f, block, slot, other)


@compiled
def split(f: Expansion, block: Block, evaluated: NDArray[np.int64], near: Near) -> tuple[int, float]:
    """Sort the examples near the boundary into their groups.

    Returns the number of errors among all examples `evaluated`, and the most by which one of the margins may be wrong.

    Removing slot s moves f(xₖ) by |aₛK(xₛ, xₖ)| ≤ |aₛ|√(K(xₛ, xₛ)K(xₖ, xₖ)), up to the rounding of the kernel values.
    Within a group the most telling examples come first, roughly: the errors hardest to mend, and the right ones easiest
    to lose.
    """
    reach = 0.0
    for slot in range(f.counts.members):
        reach = max(reach, abs(f.coefficients[slot]) * np.sqrt(block.diagonal[f.members[slot]]))
    reach *= 1.0 + 1e-5
    share, largest = slack_share(f), 0.0
    ends = np.zeros(4 * RANKS + 1, dtype=np.int64)
    errors = 0
    for k in evaluated:
        margin, root = block.y[k] * f.scores[k], np.sqrt(block.diagonal[k])
        if share > 0.0 and abs(margin) <= share * root:  # as `margin_against`, with the share at hand
            margin = excess(f, block, k, -1, 0.0)
        errors += margin <= 0
        largest = max(largest, root)
        rank = rank_of(margin, block.y[k], (reach + share) * root)
        if rank >= 0:
            ends[rank + 1] += 1
    for rank in range(4 * RANKS):
        ends[rank + 1] += ends[rank]
    near.start[:] = ends[::RANKS]
    for k in evaluated:
        margin, root = block.y[k] * f.scores[k], np.sqrt(block.diagonal[k])
        if share > 0.0 and abs(margin) <= share * root:  # as `margin_against`, with the share at hand
            margin = excess(f, block, k, -1, 0.0)
        rank = rank_of(margin, block.y[k], (reach + share) * root)
        if rank >= 0:
            near.positions[ends[rank]] = k
            near.margins[ends[rank]] = margin
            ends[rank] += 1
    return errors, share * largest


@compiled
def rank_of(margin: float, y: float, reach: float) -> int:
    """Where an example stands among the near ones: its group, then its rank in the group; -1 if it is not near."""
    distance = abs(margin)
    if distance > reach:
        return -1
    rank = int((RANKS - 1) * distance / reach) if reach > 0.0 else 0
    group = (2 if margin > 0 else 0) + (1 if y > 0 else 0)
    return RANKS * group + (rank if margin > 0 else RANKS - 1 - rank)


@compiled
def errors_without(
    a: float, row: NDArray[np.float32], errors: int, near: Near, fewest: int, non_negative: bool, slack: float
) -> int:
    """How many errors are left without a K(x, ·), whose kernel values are `row`; a number above `fewest` is a bound.

    Where K ≥ 0, only errors of the other class can become right, and only right examples of the same class wrong.
    A margin within the slack of 0 does not count.
    """
    same = 1 if a > 0 else 0
    lowest = errors
    for group in range(2):
        if not (non_negative and group == same):
            lowest -= near.start[group + 1] - near.start[group]
    for group in range(4):
        if non_negative and (group == same or group == 3 - same):
            continue
        step = a if group % 2 else -a
        for e in range(near.start[group], near.start[group + 1]):  # the loop that takes the time
            lowest += near.margins[e] - step * row[near.positions[e]] <= -slack
            if lowest > fewest:
                return lowest
    return lowest


@compiled
def certain_errors_without(f: Expansion, block: Block, slot: int, errors: int, near: Near, slack: float) -> int:
    """How many errors are left without a member, where margins near 0 are decided by the other members themselves."""
    a, row = f.coefficients[slot], block.K[f.members[slot]]
    left = errors - near.start[2]
    for e in range(near.start[4]):
        k = near.positions[e]
        margin = near.margins[e] - block.y[k] * a * row[k]
        if abs(margin) <= slack:
            margin = excess(f, block, k, slot, 0.0)
        left += margin <= 0
    return left
