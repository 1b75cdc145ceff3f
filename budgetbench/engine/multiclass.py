"""The compiled heart of the multi-class learners: an expansion with one coefficient for each stored example and class.

The counterpart of `engine.expansion`: there `coefficients` is a vector and `scores` a row, here `coefficients` has
the shape (slots, classes) and `scores` the shape (classes, columns). Most coefficients are 0, as an update concerns
the few classes whose score comes near that of the right one; a class with coefficient 0 costs nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.compiled import compiled
from budgetbench.engine.expansion import Block, Expansion


@compiled
def shift(f: Expansion, block: Block, i: int, coefficients: NDArray[np.float64], sign: float) -> None:
    """f ← f ± coefficients·K(i, ·) in the scores alone."""
    row = block.K[i]
    for r in range(len(coefficients)):
        if coefficients[r] != 0.0:
            scores, coefficient = f.scores[r], sign * coefficients[r]
            for j in range(len(scores)):
                scores[j] += coefficient * row[j]


@compiled
def append(f: Expansion, block: Block, i: int, coefficients: NDArray[np.float64]) -> None:
    """Store example i, which is no member yet, as the youngest one."""
    slot = f.counts[0]
    f.members[slot] = i
    f.coefficients[slot] = coefficients
    f.stored[i] = True
    f.counts[0] += 1
    f.counts[1] += 1
    shift(f, block, i, coefficients, 1.0)


@compiled
def replace(f: Expansion, block: Block, slot: int, coefficients: NDArray[np.float64]) -> None:
    """Give a member other coefficients."""
    shift(f, block, f.members[slot], coefficients - f.coefficients[slot], 1.0)
    f.coefficients[slot] = coefficients


@compiled
def remove(f: Expansion, block: Block, slot: int) -> None:
    """Discard the member in a slot; younger ones move up, so that slots stay in order of age."""
    shift(f, block, f.members[slot], f.coefficients[slot], -1.0)
    f.stored[f.members[slot]] = False
    last = f.counts[0] - 1
    for s in range(slot, last):
        f.members[s] = f.members[s + 1]
        for r in range(f.coefficients.shape[1]):
            f.coefficients[s, r] = f.coefficients[s + 1, r]
    f.counts[0] = last
    f.counts[2] += 1


@compiled
def margin_of(f: Expansion, i: int, y: int) -> float:
    """The score of class y at position i less the best other one."""
    other = -np.inf
    for r in range(len(f.scores)):
        if r != y:
            other = max(other, f.scores[r, i])
    return f.scores[y, i] - other


@compiled
def best_without_itself(f: Expansion, block: Block, rivals: NDArray[np.int64]) -> tuple[int, float]:
    """The slot whose example keeps the largest margin when it is removed, and that margin; the oldest of equals.

    An example is given up as soon as one class shows that its margin is not the largest. `rivals` remembers for each
    position the class that did so last, and that class is tried first: mostly it does so again.
    """
    best, largest = -1, -np.inf
    for slot in range(f.counts[0]):
        i = f.members[slot]
        margin = lead(f, block, slot, rivals[i])
        if margin > largest:
            for r in range(len(f.scores)):
                if r != block.y[i]:
                    over = lead(f, block, slot, r)
                    if over < margin:
                        margin, rivals[i] = over, r
                        if margin <= largest:
                            break
            if margin > largest:
                best, largest = slot, margin
    return best, largest


@compiled
def lead(f: Expansion, block: Block, slot: int, r: int) -> float:
    """By how much the right class of a member scores above class r without the member's own contribution."""
    i = f.members[slot]
    y = block.y[i]
    if r == y:
        return np.inf
    own = f.coefficients[slot]
    return f.scores[y, i] - f.scores[r, i] - (own[y] - own[r]) * block.diagonal[i]


@compiled
def rescore(f: Expansion, K: NDArray[np.float32], columns: int) -> None:
    """Compute the first `columns` scores from the members alone."""
    f.scores[:, :columns] = 0.0
    for slot in range(f.counts[0]):
        row = K[f.members[slot]]
        for r in range(len(f.scores)):
            coefficient = f.coefficients[slot, r]
            if coefficient != 0.0:
                scores = f.scores[r]
                for j in range(columns):
                    scores[j] += coefficient * row[j]
