"""The compiled heart of the multi-class learners: an expansion with one coefficient for each stored example and class.

The counterpart of `engine.expansion`: there `coefficients` is a vector and `scores` a row, here `coefficients` has
the shape (slots, classes) and `scores` the shape (classes, columns). Most coefficients are 0, as an update concerns
the few classes whose score comes near that of the right one; a class with coefficient 0 costs nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.certain import kernel_values, slack, slack_share
from budgetbench.engine.expansion import Block, Expansion, doubt, enter, leave, lose, slot_of

#: Classes whose scores are added up at once.
TOGETHER = 8


class Rivals(NamedTuple):
    """What bounds the members' margins without their own contributions from above: the lead over one other class.

    classes : for each position the class over which the right one led least when all were last compared.
    own : the share of this lead that is a member's own contribution; inf where there is no member.
    widest : the largest √K(x, x).
    """

    classes: NDArray[np.int64]
    own: NDArray[np.float64]
    widest: float


@compiled
def shift(f: Expansion, block: Block, i: int, coefficients: NDArray[np.float64], sign: float) -> None:
    """f ← f ± coefficients·K(i, ·) in the scores alone."""
    doubt(f, weight(block, i, coefficients))
    row = block.K[i]
    for r in range(len(coefficients)):
        if coefficients[r] != 0.0:
            scores, coefficient = f.scores[r], sign * coefficients[r]
            for j in range(len(scores)):
                scores[j] += coefficient * row[j]


@compiled
def weight(block: Block, i: int, coefficients: NDArray[np.float64]) -> float:
    """The largest |coefficient| times √K(x, x): what bounds the share of example i in any class's score."""
    largest = 0.0
    for coefficient in coefficients:
        largest = max(largest, abs(coefficient))
    return largest * np.sqrt(block.diagonal[i])


@compiled
def append(f: Expansion, block: Block, i: int, coefficients: NDArray[np.float64]) -> None:
    """Store example i, which is no member yet, as the youngest one."""
    shift(f, block, i, coefficients, 1.0)
    f.doubt.weight += weight(block, i, coefficients)
    enter(f, i, coefficients)


@compiled
def replace(f: Expansion, block: Block, slot: int, coefficients: NDArray[np.float64]) -> None:
    """Give a member other coefficients."""
    i = f.members[slot]
    shift(f, block, i, coefficients - f.coefficients[slot], 1.0)
    lose(f, weight(block, i, f.coefficients[slot]))
    f.doubt.weight += weight(block, i, coefficients)
    f.coefficients[slot] = coefficients


@compiled
def remove(f: Expansion, block: Block, slot: int, rivals: Rivals) -> None:
    """f without the member in a slot."""
    i = f.members[slot]
    shift(f, block, i, f.coefficients[slot], -1.0)
    lose(f, weight(block, i, f.coefficients[slot]))
    leave(f, slot)
    rivals.own[i] = np.inf


@compiled
def margin_of(values: NDArray[np.float64], y: int) -> float:
    """The value of class y less the best other one."""
    other = -np.inf
    for r in range(len(values)):
        if r != y:
            other = max(other, values[r])
    return values[y] - other


@compiled
def arriving_values(f: Expansion, block: Block, i: int, values: NDArray[np.float64]) -> None:
    """The scores of an example of the block, added up from the oldest member to the youngest, into `values`."""
    if f.doubt.out_of_order == 0:
        for r in range(len(values)):
            values[r] = f.scores[r, i]
    else:
        add_up(f, block, i, -1, values)


@compiled
def add_up(f: Expansion, block: Block, i: int, without: int, values: NDArray[np.float64]) -> None:
    """The scores at position i, added up from the oldest member to the youngest but for the slot `without`."""
    K, k = kernel_values(f, block, i), len(values)
    if without >= 0:
        K[without] = 0.0
    if k < TOGETHER:
        values[:] = 0.0
        for slot in range(len(K)):
            for r in range(k):
                values[r] += f.coefficients[slot, r] * K[slot]
    else:
        for first in range(0, k, TOGETHER):
            add_up_some(f, K, min(first, k - TOGETHER), values)  # the last ones with some that are there already


@compiled
def add_up_some(f: Expansion, K: NDArray[np.float64], first: int, values: NDArray[np.float64]) -> None:
    """The values of `TOGETHER` classes: in variables, as sums in memory would wait for each other."""
    a = b = c = d = e = g = h = k = 0.0
    for slot in range(len(K)):
        x, row = K[slot], f.coefficients[slot, first : first + TOGETHER]
        a, b, c, d = a + row[0] * x, b + row[1] * x, c + row[2] * x, d + row[3] * x
        e, g, h, k = e + row[4] * x, g + row[5] * x, h + row[6] * x, k + row[7] * x
    for r, value in enumerate((a, b, c, d, e, g, h, k)):
        values[first + r] = value


@compiled
def rivals_of(f: Expansion, block: Block, members: int) -> Rivals:
    """The rivals of so many members."""
    widest = np.sqrt(np.float64(block.diagonal.max()))
    rivals = Rivals(block.y.copy(), np.full(len(block.y), np.inf), widest)
    for slot in range(members):
        compare(f, block, slot, rivals)
    return rivals


@compiled
def compare(f: Expansion, block: Block, slot: int, rivals: Rivals) -> float:
    """The margin of a member without its own contribution, up to twice its slack; its rival is known then."""
    i, own = f.members[slot], f.coefficients[slot]
    y, margin = block.y[i], np.inf
    for r in range(len(f.scores)):
        if r != y:
            share = (own[y] - own[r]) * block.diagonal[i]
            lead = f.scores[y, i] - f.scores[r, i] - share
            if lead < margin:
                margin, rivals.classes[i], rivals.own[i] = lead, r, share
    return margin


@compiled
def leads(f: Expansion, block: Block, rivals: Rivals) -> NDArray[np.float64]:
    """By how much the right class leads over the rival at each position; -inf where there is no member."""
    found = np.empty(len(rivals.own))
    for i in range(len(found)):
        found[i] = f.scores[block.y[i], i] - f.scores[rivals.classes[i], i] - rivals.own[i]
    return found


@compiled
def best_without_itself(f: Expansion, block: Block, rivals: Rivals) -> int:
    """The slot whose example keeps the largest margin when it is removed; the oldest of equals.

    The member with the largest lead over its rival is looked at first: its margin is mostly the largest, and the other
    leads, which are at least the margins, show this without a look at further classes.
    """
    most, share = leads(f, block, rivals), 2 * slack_share(f)
    first = 0
    for i in range(len(most)):
        if most[i] > most[first]:
            first = i
    best, largest, reach = -1, -np.inf, 0.0  # the best one so far, its margin and the doubt about it
    floor, others = -np.inf, -np.inf  # what the largest margin is at least, and what that of any other is at most
    for k in range(-1, len(most)):
        i = first if k < 0 else k
        if most[i] >= floor - share * rivals.widest and k != first and rivals.own[i] < np.inf:
            slot, doubt = slot_of(f, i), share * np.sqrt(block.diagonal[i])
            margin = compare(f, block, slot, rivals)
            if margin > largest:
                others = max(others, largest + reach)
                best, largest, reach = slot, margin, doubt
            else:
                others = max(others, margin + doubt)
            floor = max(floor, margin - doubt)
    return best if others < floor else best_of_several(f, block, floor, rivals)


@compiled
def best_of_several(f: Expansion, block: Block, floor: float, rivals: Rivals) -> int:
    """The same where doubt leaves several: the margins of those that may reach the floor are added up."""
    best, largest = -1, -np.inf
    for slot in range(f.counts.members):
        if compare(f, block, slot, rivals) >= floor - 2 * slack(f, block, f.members[slot]):
            margin = certain_margin(f, block, slot)
            if margin > largest:
                best, largest = slot, margin
    return best


@compiled
def certain_margin(f: Expansion, block: Block, slot: int) -> float:
    """The margin of a member without its own contribution, added up from the oldest other member to the youngest."""
    i, values = f.members[slot], np.empty(len(f.scores))
    add_up(f, block, i, slot, values)
    return margin_of(values, block.y[i])


@compiled
def below(f: Expansion, block: Block, slot: int, limit: float, rivals: Rivals) -> bool:
    """Whether the margin of a member is below a limit when its own contribution is left out."""
    margin = compare(f, block, slot, rivals)
    if abs(margin - limit) <= 2 * slack(f, block, f.members[slot]):
        margin = certain_margin(f, block, slot)
    return margin < limit
