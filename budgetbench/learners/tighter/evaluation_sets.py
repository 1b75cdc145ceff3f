"""The examples on which the Tighter Budget Perceptron counts errors (Weston, Bordes, Bottou 2005, section 3.2).

all       every example seen: time and memory for one more grow with the number seen.
support   the stored examples themselves (Equation 3).
random    q of the examples seen, each of them equally likely to be among the q (Equation 4): a reservoir.
flips     q margin errors, those that change side most often (Figure 5).
flips_of_all  q of all examples seen, margin errors or not, those that change side most often.

Of the last three and of a support set nothing grows with the number of examples seen.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled, record
from budgetbench.engine.certain import margin_against
from budgetbench.engine.expansion import Block, Expansion

EvaluationRule = Literal["all", "support", "random", "flips", "flips_of_all"]

#: Numbers for the compiled loops.
EVALUATION_RULES = {"all": 0, "support": 1, "random": 2, "flips": 3, "flips_of_all": 4}
ALL, SUPPORT, RANDOM, FLIPS, FLIPS_OF_ALL = 0, 1, 2, 3, 4


class Seen:
    """How many places are taken, the number of this round, and how many different examples have come."""

    places: int
    passed: int
    different: int


class EvaluationSet(NamedTuple):
    """Examples on which errors are counted, in places that are numbered from 0.

    rule, limit : how they are chosen, and how many at most (no limit for `all`).
    positions : where in the pool the example of each place is.
    right : whether it was on the right side at the end of the round before.
    flips : how often it has changed side since it came, where `follows_sides`.
    since : the round in which it came, where `follows_sides`.
    holds : for each position of the pool whether it is among them.
    counts : see there.
    """

    rule: int
    limit: int
    positions: NDArray[np.int64]
    right: NDArray[np.bool_]
    flips: NDArray[np.int64]
    since: NDArray[np.int64]
    holds: NDArray[np.bool_]
    counts: Seen

    @property
    def nbytes(self) -> int:
        """Of what is noted of the examples, who are kept by the pool: a side, how often it changed, and since when."""
        return self.counts.places * (1 + 8 + 8) if self.rule in (FLIPS, FLIPS_OF_ALL) else 0


def evaluation_set(rule: str, limit: int | None) -> EvaluationSet:
    """An empty set without room: `laid_out` gives it some."""
    n = np.empty(0, dtype=np.int64)
    none = np.empty(0, dtype=np.bool_)
    return EvaluationSet(EVALUATION_RULES[rule], limit or 0, n, none, n, n, none, record(Seen))


def reservoir(every: EvaluationSet, limit: int, places: int) -> EvaluationSet:
    """Go over from all examples seen to a reservoir of so many, of which `places` are chosen."""
    every.counts.places = places
    return every._replace(rule=RANDOM, limit=limit)


def laid_out(before: EvaluationSet, positions: NDArray[np.int64], pool_size: int) -> EvaluationSet:
    """The same examples at other positions, in a pool of another size, with room for all that may come from it."""
    size = len(positions)
    room = {ALL: pool_size, SUPPORT: 0}.get(before.rule, min(before.limit, pool_size))
    holds = np.zeros(pool_size, dtype=np.bool_)
    holds[positions] = True
    after = before._replace(
        positions=np.empty(room, dtype=np.int64),
        right=np.empty(room, dtype=np.bool_),
        flips=np.empty(room, dtype=np.int64),
        since=np.empty(room, dtype=np.int64),
        holds=holds,
    )
    after.positions[:size] = positions
    for old, new in ((before.right, after.right), (before.flips, after.flips), (before.since, after.since)):
        new[:size] = old[:size]
    return after


@compiled
def meet(e: EvaluationSet, i: int, chance: float, first_pass: bool) -> None:
    """Let example i pass before the set, before anything is learnt from it.

    A reservoir of q takes the t-th example with probability q/t in place of one drawn at random; later passes bring
    it nothing new.
    """
    e.counts.passed += 1
    e.counts.different += first_pass
    size = e.counts.places
    if e.rule == ALL and not e.holds[i]:
        put(e, size, i)
    elif e.rule == RANDOM and first_pass:
        place = size if size < e.limit else int(chance * e.counts.different)
        if place < e.limit:
            put(e, place, i)


@compiled
def follows_sides(e: EvaluationSet) -> bool:
    """Whether examples are chosen by how often they change side."""
    return e.rule in (FLIPS, FLIPS_OF_ALL)


@compiled
def admit(e: EvaluationSet, f: Expansion, block: Block, i: int, margin_error: bool) -> None:
    """Let example i in, if it is a margin error or the rule takes others too.

    From a full set the one leaves that changes side least often, the oldest of equals. Figure 5 prints the
    one that does so most often; its caption and text say the opposite.
    """
    if not (e.rule == FLIPS_OF_ALL or (e.rule == FLIPS and margin_error)) or e.holds[i]:
        return
    place = e.counts.places if e.counts.places < e.limit else steadiest(e)
    put(e, place, i)
    e.right[place] = margin_against(f, block, i, 0.0) > 0.0
    e.flips[place] = 0
    e.since[place] = e.counts.passed


@compiled
def steadiest(e: EvaluationSet) -> int:
    """The place of the example that changes side least often, the oldest of equals."""
    found, lowest = 0, np.inf
    for place in range(e.counts.places):
        rate = e.flips[place] / (e.counts.passed - e.since[place])
        if rate < lowest or (rate == lowest and e.since[place] < e.since[found]):
            found, lowest = place, rate
    return found


@compiled
def count_flips(e: EvaluationSet, f: Expansion, block: Block) -> None:
    """Note who changed side in the round that ends."""
    if not follows_sides(e):
        return
    for place in range(e.counts.places):
        right = margin_against(f, block, e.positions[place], 0.0) > 0.0
        if right != e.right[place]:
            e.right[place] = right
            e.flips[place] += 1


@compiled
def evaluated(e: EvaluationSet, f: Expansion) -> NDArray[np.int64]:
    """Pool positions of the examples on which errors are counted."""
    return f.members[: f.counts.members] if e.rule == SUPPORT else e.positions[: e.counts.places]


@compiled
def put(e: EvaluationSet, place: int, i: int) -> None:
    """Set example i into a place; who was there is out."""
    if place == e.counts.places:
        e.counts.places += 1
    else:
        e.holds[e.positions[place]] = False
    e.positions[place] = i
    e.holds[i] = True
