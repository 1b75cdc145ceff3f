"""BPA-P, budgeted Passive-Aggressive learning in which all take over."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled, record
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import kernel_values
from budgetbench.engine.expansion import Block, Expansion, leave, note
from budgetbench.engine.summing import add, rounding_of, total
from budgetbench.learners.bpa.common import BudgetedPassiveAggressive

Matrix = NDArray[np.float64]

#: ‖δ‖² as a share of K(x, x) up to which x counts as lying in the span of the stored ones. Float32 kernel values are
#: rounded to 2⁻²⁴, and what a smaller rest makes of that, in G and in coefficients, is of the size of f.
WITHIN = 2.0**-10

#: Rounds for which room is made at a time.
PIECE = 512


class Age:
    """How many members have left since the inverse was made from kernel values."""

    removals: int


@learner("bpa_p", title="BPA-P", color="#17BECF", marker="8", references=("wang2010",))
class BPAP(BudgetedPassiveAggressive):
    """PA-I in which all stored examples take over what they can of the one that leaves.

    On ℓ = 1 - yₜ f(xₜ) > 0 the step is yₜ min(C, ℓ / k), k = K(xₜ, xₜ), and xₜ is stored with it. If B + 1 examples are
    stored now, discard the r ≠ xₜ for which the least of aᵣ K(xᵣ, ·) is lost when it is projected onto the span of the
    others, who get their shares of the projection. With G the inverse of the kernel matrix of the B + 1,
    r = argmin aⱼ² / Gⱼⱼ, and aⱼ ← aⱼ - aᵣ Gᵣⱼ / Gᵣᵣ.

    Wang, Vucetic 2010 (BPA-P), V = {xₜ} and all others: see `budgetbench.learners.bpa.common`. Where K(xₜ, ·) lies all
    but in the span of the stored ones (‖δ‖² ≤ K(xₜ, xₜ) / 1024) these get the step and nobody needs to leave: G would
    not exist, or be nothing but rounding. When the budget is made smaller the same rule says who leaves.
    G is brought up to date by |S|² operations when an example enters or leaves, and made anew from kernel values when
    as many have left as are stored, so that rounding does not gather.
    Cost of an example: one kernel value and one product for each of the |S| stored ones; an update takes |S|² more.
    When to use: where few errors matter more than B² operations for an update: with BSGD the best at equal memory, with
    a polynomial kernel too.
    """

    follow_kept = True
    spare = 1

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._inverse: Matrix = np.empty((0, 0))
        self._age = record(Age)

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        for start in range(0, len(block.order), PIECE):
            stop, n = min(start + PIECE, len(block.order)), f.counts.members
            places = max(n, self._capacity(n + stop - start))
            G = np.empty((places, places))
            G[:n, :n] = self._inverse
            bpa_p(block, f, rounds, start, stop, G, self._age, self.budget, self.C)
            self._inverse = G[: f.counts.members, : f.counts.members].copy()


@compiled
def bpa_p(
    block: Block, f: Expansion, rounds: Rounds, start: int, stop: int, G: Matrix, age: Age, budget: int, C: float
) -> None:
    while f.counts.members > budget:  # it was made smaller
        make_room(f, block, G, age, f.counts.members)
    for t in range(start, stop):
        i = block.order[t]
        K, own = kernel_values(f, block, i), float(block.diagonal[i])
        margin = block.y[i] * total(f, K)
        if 1 - margin > rounding_of(f, K):
            step = block.y[i] * min(C, (1 - margin) / own)
            if f.stored[i]:
                add(f, i, step)
            else:
                d = product(G, K)  # P k(xₜ, ·) = Σ dⱼ k(xⱼ, ·)
                rest = own - (K * d).sum()
                if rest <= WITHIN * own:
                    f.coefficients[: len(d)] += step * d
                else:
                    extend(G, d, rest)
                    add(f, i, step)
                    if f.counts.members > budget:
                        make_room(f, block, G, age, budget)  # the youngest stays
        note(rounds, t, margin, f)


@compiled
def make_room(f: Expansion, block: Block, G: Matrix, age: Age, candidates: int) -> None:
    """Let that one of the oldest members leave whose removal changes f least, and all others take over."""
    n, r, least = f.counts.members, 0, np.inf
    for slot in range(candidates):
        cost = f.coefficients[slot] ** 2 / G[slot, slot]
        if cost < least:
            r, least = slot, cost
    f.coefficients[:n] -= f.coefficients[r] * G[r, :n] / G[r, r]
    leave(f, r)
    contract(G, r, n)
    age.removals += 1
    if age.removals >= f.counts.members:
        renew(f, block, G)
        age.removals = 0


@compiled
def product(G: Matrix, k: Matrix) -> Matrix:
    """d = G k, for as many rows as k has."""
    n = len(k)
    d = np.zeros(n)
    for s in range(n):
        row, value = G[s], k[s]
        for j in range(n):
            d[j] += value * row[j]
    return d


@compiled
def extend(G: Matrix, d: Matrix, rest: float) -> None:
    """The inverse with one more example, whose projection onto the others has the coefficients d and leaves a rest."""
    n, scale = len(d), 1 / rest
    for s in range(n):
        row = G[s]
        for j in range(n):
            row[j] += d[s] * d[j] * scale
    for s in range(n):
        G[n, s] = G[s, n] = -d[s] * scale
    G[n, n] = scale


@compiled
def contract(G: Matrix, r: int, n: int) -> None:
    """The inverse without the r-th of n examples; later ones move up."""
    g, scale = G[r, :n].copy(), 1 / G[r, r]
    for s in range(n):
        if s != r:
            row, left = G[s if s < r else s - 1], G[s, :n] - g[s] * g * scale
            row[:r] = left[:r]
            row[r : n - 1] = left[r + 1 :]


@compiled
def renew(f: Expansion, block: Block, G: Matrix) -> None:
    """Make the inverse from kernel values, one member after the other."""
    for slot in range(f.counts.members):
        K = kernel_values(f, block, f.members[slot])[:slot]
        d = product(G, K)
        extend(G, d, block.diagonal[f.members[slot]] - (K * d).sum())
