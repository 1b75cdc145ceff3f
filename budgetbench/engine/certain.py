"""Decisions that rounding cannot touch.

Scores are brought up to date by adding and subtracting rows, and after many of them a sum whose terms cancel out is
nothing but rounding. Two rules make every outcome a function of the support set alone, whether kernel values come from
a Gram matrix or as the stream passes, in blocks or calls of any length:

- A comparison takes the score where its doubt leaves no choice, and otherwise the sum of the products aᵢK(xᵢ, x)
  without any rounding. Where the coefficients are whole numbers, the products are exact too, and so is every decision.
- A number that enters a coefficient is added up from the oldest member to the youngest.

The exact sum is kept as parts that do not overlap (Shewchuk 1997, Discrete & Computational Geometry 18), the largest
last: their sum has its sign.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.expansion import ROUNDING, Block, Expansion

#: Parts of 53 bits that cover all of float64's range.
PARTS = 42


@compiled
def margin_against(f: Expansion, block: Block, i: int, limit: float) -> float:
    """y f(x) at position i, on the right side of 0 and of a limit: at most the limit if that is so without rounding."""
    margin = approximate = block.y[i] * f.scores[i]
    if f.doubt.error > 0.0:
        doubt = slack(f, block, i)
        if abs(approximate) <= doubt:
            margin = excess(f, block, i, -1, 0.0)
        if limit != 0.0 and abs(approximate - limit) <= doubt:
            margin = beside(limit, excess(f, block, i, -1, limit))
    return margin


@compiled
def margin_without(f: Expansion, block: Block, slot: int) -> float:
    """The margin of a member when its own contribution is left out, up to its `slack`."""
    i = f.members[slot]
    return block.y[i] * (f.scores[i] - f.coefficients[slot] * block.diagonal[i])


@compiled
def below(f: Expansion, block: Block, slot: int, limit: float) -> bool:
    """Whether the margin of a member is below a limit when its own contribution is left out."""
    margin = margin_without(f, block, slot)
    if f.doubt.error == 0.0 or abs(margin - limit) > slack(f, block, f.members[slot]):
        return margin < limit
    return excess(f, block, f.members[slot], slot, limit) < 0.0


@compiled
def best_without_itself(f: Expansion, block: Block) -> int:
    """The slot whose example keeps the largest margin when it is removed; the oldest of equals."""
    floor = -np.inf
    for slot in range(f.counts.members):
        floor = max(floor, margin_without(f, block, slot) - slack(f, block, f.members[slot]))
    best = -1
    for slot in range(f.counts.members):
        margin, doubt = margin_without(f, block, slot), slack(f, block, f.members[slot])
        if margin + doubt >= floor and (best < 0 or (f.doubt.error > 0.0 and exceeds(f, block, slot, best))):
            best = slot
    return best


@compiled
def exceeds(f: Expansion, block: Block, slot: int, other: int) -> bool:
    """Whether a member's margin without itself is larger than that of another, exactly."""
    parts = np.empty(PARTS)
    n = add_products(parts, 0, f, block, f.members[slot], slot, block.y[f.members[slot]])
    n = add_products(parts, n, f, block, f.members[other], other, -block.y[f.members[other]])
    return n > 0 and parts[n - 1] > 0.0


@compiled
def slack(f: Expansion, block: Block, i: int) -> float:
    """By how much the score of position i may be wrong, a few more operations on it included."""
    return slack_share(f) * np.sqrt(block.diagonal[i])


@compiled
def slack_share(f: Expansion) -> float:
    """The slack of a position with K(x, x) = 1; 0 where all scores are exact."""
    return f.doubt.error + 4 * ROUNDING * f.doubt.weight if f.doubt.error > 0.0 else 0.0


@compiled
def rounding(f: Expansion, block: Block, i: int) -> float:
    """How far from f(x) a `value` may lie: a step that is no larger is none."""
    return ROUNDING * (f.counts.members + 2) * f.doubt.weight * np.sqrt(block.diagonal[i])


@compiled
def arriving_value(f: Expansion, block: Block, i: int) -> float:
    """f(x) of an example of the block, added up from the oldest member to the youngest."""
    return f.scores[i] if f.doubt.out_of_order == 0 else value(f, block, i)


@compiled
def value(f: Expansion, block: Block, i: int) -> float:
    """f(x) at position i, added up from the oldest member to the youngest."""
    K = kernel_values(f, block, i)
    total = 0.0
    for slot in range(len(K)):
        total += f.coefficients[slot] * K[slot]
    return total


@compiled
def excess(f: Expansion, block: Block, i: int, without: int, limit: float) -> float:
    """y f(x) - limit with the right sign, f without the member in the slot `without` (-1: with all)."""
    parts = np.empty(PARTS)
    n = add_products(parts, 0, f, block, i, without, block.y[i])
    n = grow(parts, n, -limit)
    return parts[n - 1] if n > 0 else 0.0


@compiled
def beside(limit: float, difference: float) -> float:
    """limit + difference, above the limit if the difference is above 0, however small."""
    total = limit + difference
    return np.nextafter(limit, np.inf) if difference > 0.0 and total <= limit else total


@compiled
def add_products(
    parts: NDArray[np.float64], n: int, f: Expansion, block: Block, i: int, without: int, sign: float
) -> int:
    """Add ±f at position i to a sum in n parts; the number of parts then."""
    K = kernel_values(f, block, i)
    for slot in range(len(K)):
        if slot != without:
            n = grow(parts, n, sign * f.coefficients[slot] * K[slot])
    return n


@compiled
def grow(parts: NDArray[np.float64], n: int, x: float) -> int:
    """Add x to a sum in n parts, without rounding; the number of parts then."""
    left = 0
    for p in range(n):
        part = parts[p]
        total = x + part
        rest = x - (total - part) if abs(x) < abs(part) else part - (total - x)
        if rest != 0.0:
            parts[left] = rest
            left += 1
        x = total
    if x != 0.0:
        parts[left] = x
        left += 1
    return left


@compiled
def kernel_values(f: Expansion, block: Block, i: int) -> NDArray[np.float64]:
    """K(xₛ, x) between the members, the oldest first, and position i."""
    K, found = block.K, np.empty(f.counts.members)
    if i < len(K) <= K.shape[1]:  # members have columns, and i has a row: much nearer to each other in memory
        row = K[i]
        for slot in range(len(found)):
            found[slot] = row[f.members[slot]]
    else:
        for slot in range(len(found)):
            found[slot] = K[f.members[slot], i]
    return found
