"""The compiled heart of the multi-class learners: an expansion with one coefficient for each stored example and class.

The counterpart of `engine.expansion`: there `coefficients` is a vector and `scores` a row, here `coefficients` has
the shape (slots, classes) and `scores` the shape (classes, columns). Most coefficients are 0, as an update concerns
the few classes whose score comes near that of the right one; a class with coefficient 0 costs nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.certain import kernel_values, slack
from budgetbench.engine.expansion import Block, Expansion, doubt, enter, leave, lose


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
def remove(f: Expansion, block: Block, slot: int) -> None:
    """f without the member in a slot."""
    i = f.members[slot]
    shift(f, block, i, f.coefficients[slot], -1.0)
    lose(f, weight(block, i, f.coefficients[slot]))
    leave(f, slot)


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
    K = kernel_values(f, block, i)
    values[:] = 0.0
    for slot in range(len(K)):
        if slot != without:
            for r in range(len(values)):  # all of them: faster than asking which are 0
                values[r] += f.coefficients[slot, r] * K[slot]


@compiled
def best_without_itself(f: Expansion, block: Block, rivals: NDArray[np.int64]) -> int:
    """The slot whose example keeps the largest margin when it is removed; the oldest of equals.

    An example is given up as soon as one class shows that its margin is not the largest. `rivals` remembers for each
    position the class that did so last, and that class is tried first: mostly it does so again.
    """
    best, largest, reach = -1, -np.inf, 0.0  # the best one so far, its margin and the doubt about it
    floor, others = -np.inf, -np.inf  # what the largest margin is at least, and what that of any other is at most
    for slot in range(f.counts.members):
        doubt = 2 * slack(f, block, f.members[slot])
        margin = margin_above(f, block, slot, floor - doubt, rivals)
        if margin > largest:
            others = max(others, largest + reach)
            best, largest, reach = slot, margin, doubt
        elif margin + doubt >= floor:
            others = max(others, margin + doubt)
        floor = max(floor, margin - doubt)
    return best if others < floor or f.doubt.error == 0.0 else best_of_several(f, block, floor, rivals)


@compiled
def best_of_several(f: Expansion, block: Block, floor: float, rivals: NDArray[np.int64]) -> int:
    """The same where doubt leaves several: the margins of those that may reach the floor are added up."""
    best, largest = -1, -np.inf
    for slot in range(f.counts.members):
        least = floor - 2 * slack(f, block, f.members[slot])
        if margin_above(f, block, slot, least, rivals) >= least:
            margin = certain_margin(f, block, slot)
            if margin > largest:
                best, largest = slot, margin
    return best


@compiled
def margin_above(f: Expansion, block: Block, slot: int, limit: float, rivals: NDArray[np.int64]) -> float:
    """The margin of a member without its own contribution, up to twice its slack; something smaller than the limit if
    the margin is."""
    i = f.members[slot]
    margin = lead(f, block, slot, rivals[i])
    if margin < limit:
        return margin
    for r in range(len(f.scores)):
        if r != block.y[i]:
            over = lead(f, block, slot, r)
            if over < margin:
                margin, rivals[i] = over, r
                if margin < limit:
                    break
    return margin


@compiled
def certain_margin(f: Expansion, block: Block, slot: int) -> float:
    """The margin of a member without its own contribution, added up from the oldest other member to the youngest."""
    i, values = f.members[slot], np.empty(len(f.scores))
    add_up(f, block, i, slot, values)
    return margin_of(values, block.y[i])


@compiled
def below(f: Expansion, block: Block, slot: int, limit: float, rivals: NDArray[np.int64]) -> bool:
    """Whether the margin of a member is below a limit when its own contribution is left out."""
    doubt = 2 * slack(f, block, f.members[slot])
    margin = margin_above(f, block, slot, limit - doubt, rivals)
    if abs(margin - limit) <= doubt:
        margin = certain_margin(f, block, slot)
    return margin < limit


@compiled
def lead(f: Expansion, block: Block, slot: int, r: int) -> float:
    """By how much the right class of a member scores above class r without the member's own contribution."""
    i = f.members[slot]
    y = block.y[i]
    if r == y:
        return np.inf
    own = f.coefficients[slot]
    return f.scores[y, i] - f.scores[r, i] - (own[y] - own[r]) * block.diagonal[i]
