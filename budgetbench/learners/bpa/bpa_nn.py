"""BPA-NN, budgeted Passive-Aggressive learning in which the newcomer and the nearest neighbour take over."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import kernel_values
from budgetbench.engine.expansion import Block, Expansion, leave, note
from budgetbench.engine.summing import add, rounding_of, total
from budgetbench.learners.bpa.common import BudgetedPassiveAggressive

#: What the rounding of float32 kernel values leaves of ‖K(xₙ, ·)‖² where it lies along K(xₜ, ·), with room.
ALONG = 2.0**-20

#: In place of the nearest member, or of the newcomer: there is none.
NOBODY = -1


class Neighbours(NamedTuple):
    """For each member its nearest one.

    slot : that one's slot, of equal ones the oldest; NOBODY where there is no other.
    distance : ‖K(xₛ, ·) - K(xₙ, ·)‖².
    """

    slot: NDArray[np.int64]
    distance: NDArray[np.float64]


@learner("bpa_nn", title="BPA-NN", color="#4C78D8", marker=">", references=("wang2010",))
class BPANN(BudgetedPassiveAggressive):
    """PA-I in which a newcomer and its nearest neighbour take over what they can of the example that leaves.

    On ℓ = 1 - yₜ f(xₜ) > 0 the step is yₜ min(C, ℓ / k), k = K(xₜ, xₜ). If B examples are stored, discard the r for
    which the least of aᵣ K(xᵣ, ·) is lost when it is projected onto the span of the newcomer and of the stored example
    nearest to xᵣ; both get their share of the projection.

    Wang, Vucetic 2010 (BPA-NN), V = {xₜ, n(r)}: see `budgetbench.learners.bpa.common`. Near is what lies near in the
    feature space, ‖K(xᵣ, ·) - K(xₙ, ·)‖; with an RBF kernel that is near in the inputs. Of equal ones the oldest counts
    as the nearest, and leaves first. When the budget is made smaller the neighbour takes over alone.
    Cost of an example: one kernel value and one product for each stored one; a removal looks at one neighbour of each.
    When to use: where the cost of an example has to stay linear in the budget: at equal memory it comes close to BPA-P.
    """

    follow_kept = True

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._near = Neighbours(np.empty(0, dtype=np.int64), np.empty(0))

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        n, room = f.counts.members, len(f.members)
        near = Neighbours(np.full(room, NOBODY), np.full(room, np.inf))
        near.slot[:n], near.distance[:n] = self._near
        bpa_nn(block, f, rounds, near, self.budget, self.C)
        n = f.counts.members
        self._near = Neighbours(near.slot[:n].copy(), near.distance[:n].copy())


@compiled
def bpa_nn(block: Block, f: Expansion, rounds: Rounds, near: Neighbours, budget: int, C: float) -> None:
    while f.counts.members > budget:  # it was made smaller
        make_room(f, block, near, np.zeros(f.counts.members), 0.0)
    for t in range(len(block.order)):
        i = block.order[t]
        K, own = kernel_values(f, block, i), float(block.diagonal[i])
        margin = block.y[i] * total(f, K)
        if 1 - margin > rounding_of(f, K):
            step = block.y[i] * min(C, (1 - margin) / own)
            if not f.stored[i]:
                if f.counts.members == budget:
                    step += make_room(f, block, near, K, own)
                meet(f, block, near, i)
            add(f, i, step)
        note(rounds, t, margin, f)


@compiled
def make_room(f: Expansion, block: Block, near: Neighbours, K: NDArray[np.float64], own: float) -> float:
    """Let the member leave whose removal changes f least; gives the share of it that is the newcomer's.

    K are kernel values between the members and the newcomer, `own` its own one: all 0 where there is none.
    """
    best, least, shares = 0, np.inf, (0.0, 0.0)
    for slot in range(f.counts.members):
        kept, newcomers, neighbours = projection(f, block, slot, near.slot[slot], K, own)
        cost = f.coefficients[slot] ** 2 * (block.diagonal[f.members[slot]] - kept)
        if cost < least:
            best, least, shares = slot, cost, (newcomers, neighbours)
    a, neighbour = f.coefficients[best], near.slot[best]
    if neighbour != NOBODY:
        f.coefficients[neighbour] += a * shares[1]
    leave(f, best)
    forget(f, block, near, best)
    return a * shares[0]


@compiled
def projection(
    f: Expansion, block: Block, slot: int, neighbour: int, K: NDArray[np.float64], own: float
) -> tuple[float, float, float]:
    """K(xᵣ, ·) projected onto the span of the newcomer and a neighbour: its squared length, and the share of each.

    First onto the newcomer, then onto what the neighbour has beside it.
    """
    along = K[slot] / own if own > 0 else 0.0
    kept = along * K[slot]
    if neighbour == NOBODY:
        return kept, along, 0.0
    both, length = block.K[f.members[slot], f.members[neighbour]], block.diagonal[f.members[neighbour]]
    common = K[neighbour] / own if own > 0 else 0.0
    beside = length - common * K[neighbour]
    if beside <= ALONG * length:
        return kept, along, 0.0
    share = (both - along * K[neighbour]) / beside
    return kept + share**2 * beside, along - share * common, share


@compiled
def meet(f: Expansion, block: Block, near: Neighbours, i: int) -> None:
    """Make position i, which is about to be a member, a neighbour of the members."""
    slot = f.counts.members
    own, K = float(block.diagonal[i]), kernel_values(f, block, i)
    near.slot[slot], near.distance[slot] = NOBODY, np.inf
    for other in range(slot):
        distance = own + block.diagonal[f.members[other]] - 2 * K[other]
        if distance < near.distance[other]:
            near.slot[other], near.distance[other] = slot, distance
        if distance < near.distance[slot]:
            near.slot[slot], near.distance[slot] = other, distance


@compiled
def forget(f: Expansion, block: Block, near: Neighbours, gone: int) -> None:
    """Let younger ones move up to the slot of a member that has left, and find those a neighbour whose it was."""
    n = f.counts.members
    near.slot[gone:n] = near.slot[gone + 1 : n + 1].copy()
    near.distance[gone:n] = near.distance[gone + 1 : n + 1].copy()
    for slot in range(n):
        if near.slot[slot] == gone:
            find_nearest(f, block, near, slot)
        elif near.slot[slot] > gone:
            near.slot[slot] -= 1


@compiled
def find_nearest(f: Expansion, block: Block, near: Neighbours, slot: int) -> None:
    own, K = float(block.diagonal[f.members[slot]]), kernel_values(f, block, f.members[slot])
    near.slot[slot], near.distance[slot] = NOBODY, np.inf
    for other in range(f.counts.members):
        distance = own + block.diagonal[f.members[other]] - 2 * K[other]
        if other != slot and distance < near.distance[slot]:
            near.slot[slot], near.distance[slot] = other, distance
