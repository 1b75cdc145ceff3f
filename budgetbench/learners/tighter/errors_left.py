"""Which stored examples can go: those whose removal leaves the fewest errors on a set of examples."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.certain import exceeds, margin_without, slack
from budgetbench.engine.expansion import Block, Expansion, discard
from budgetbench.learners.tighter.contributions import (
    Contributions,
    bring_up_to_date,
    certain_errors,
    errors_without,
)

Ties = Literal["oldest", "newest", "largest_margin", "random"]

#: Numbers for the compiled loops.
TIES = {"oldest": 0, "newest": 1, "largest_margin": 2, "random": 3}
NEWEST, LARGEST_MARGIN, RANDOM = 1, 2, 3

#: The count of a stored example that is not looked at, or need not be counted.
NONE = int(np.iinfo(np.int64).max)
#: Random numbers that follow from one: x ← 16807 x mod 1 (Lehmer).
LEHMER = 16807.0


class Removal(NamedTuple):
    """How a removal is done.

    candidates : how many of the stored examples are looked at, in turn, besides the newcomer.
    at_once : how many leave.
    ties : who leaves first of those with equal counts; see `TIES`.
    """

    candidates: int
    at_once: int
    ties: int


@compiled
def remove_worst(
    f: Expansion,
    block: Block,
    evaluated: NDArray[np.int64],
    c: Contributions,
    how: Removal,
    turn: int,
    newcomer: bool,
    chance: float,
) -> int:
    """Discard those stored examples whose removal, of each by itself, leaves the fewest errors among `evaluated`.

    Errors are counted for those alone of whom it is not certain that they leave more than others do.

    Parameters
    ----------
    turn : the slot at which the removal begins to look; only of use where not all are looked at.
    newcomer : whether the youngest is the example just stored, which is a candidate in any case.
    chance : a random number in [0, 1), for ties that are broken at random.

    Returns
    -------
    The slot at which the next removal begins to look.
    """
    bring_up_to_date(c, f, block, evaluated)
    members, places = f.counts.members, len(evaluated)
    old = members - 1 if newcomer else members
    at_least, counts, fewest = np.full(members, NONE), np.full(members, NONE), np.full(how.at_once, places)
    for slot in range(members):
        if slot == old or (slot - turn) % old < how.candidates:
            at_least[slot] = certain_errors(c, c.rows[f.members[slot]], places)
    slot = int(at_least.argmin())
    while at_least[slot] <= fewest[-1]:
        at_least[slot], counts[slot] = NONE, errors_without(c, f, block, slot, places)
        keep_fewest(fewest, counts[slot])
        slot = int(at_least.argmin())
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
