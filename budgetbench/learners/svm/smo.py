"""Sequential minimal optimisation of the SVM's dual for two classes.

minimise  ½ Σᵢⱼ αᵢαⱼ yᵢyⱼ K(xᵢ, xⱼ) - Σᵢ αᵢ   subject to  0 ≤ αᵢ ≤ C,  Σᵢ αᵢyᵢ = 0

Two coefficients at a time get the values that are best while all others stay as they are: the one that gains most to
first order, and with it the one that gains most to second order (Fan, Chen, Lin 2005, JMLR 6, WSS 2). Examples at a
bound that would go beyond it are left out for a while (Chang and Lin 2011, ACM TIST 2, section 5.1). Both are libsvm's
rules, with its order of sums and its choice among equals: of the same kernel values it makes the same, to the bit.

A row of kernel values is computed when an example is first chosen, with those of others that are likely to be next:
mostly the support set's and few more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled, record
from budgetbench.engine.kernel_access import KernelAccess, Rows, read_only
from budgetbench.kernels import Floats, Values

#: Bytes of kernel values that are held where no Gram matrix is at hand; when they are full, half of them go.
MEMORY_LIMIT = 1 << 31
#: Rows that are computed at a time: as a share of those that are held, but no fewer and no more than that.
SHARE, FEWEST, MOST = 0.125, 32, 256
#: For the curvature along a direction in which there is none, as of an example that is there twice.
FLAT = 1e-12
#: Steps after which examples are left out again, or as many as there are examples.
PERIOD = 1000
#: What `improve` asks for in place of the row of an example.
SOLVED, STOPPED, REVIVAL = -1, -2, -3


class Solution(NamedTuple):
    """alpha : the coefficients.
    bias : added to Σᵢ αᵢyᵢ K(xᵢ, ·) in a decision.
    steps : how many were made.
    bounded : whether a coefficient ever came to C; otherwise every larger C has the same solution, by the same steps.
    """

    alpha: Values
    bias: float
    steps: int
    bounded: bool


class State(NamedTuple):
    """The examples in an order of their own, those first that are not left out.

    order : which example is in each place.
    y, alpha, diagonal : of the example in a place.
    ahead : yᵢ - Σⱼ αⱼyⱼ K(xⱼ, xᵢ), the larger the more there is to gain by letting αᵢyᵢ rise; not kept up to date for
        those that are left out.
    bound : the part of the sum that is made of examples at C, with its sign, for all.
    """

    order: Rows
    y: Values
    alpha: Values
    diagonal: Values
    ahead: Values
    bound: Values


class Counts:
    """active : how many examples are not left out.
    steps : how many were made.
    wait : after how many more examples are left out again.
    near : 1 once the solution is near and all examples take part again to be chosen from, 2 when that is done.
    bounded : whether a coefficient ever came to C.
    highest, lowest : see `reach`; when it was last asked.
    """

    active: int
    steps: int
    wait: int
    near: int
    bounded: int
    highest: float
    lowest: float


def solve(access: KernelAccess, rows: Rows, y: Values, C: float, tolerance: float, most: int) -> Solution:
    """The machine of the examples `rows` of a data set.

    Parameters
    ----------
    rows : row numbers, which rise.
    y : 1 or -1 for each example; both come.
    tolerance : by how much optimality may be missed, in units of the margin 1.
    most : steps that are made at most; a solution of as many is none.
    """
    n = len(rows)
    held, counts = HeldRows(access, rows), record(Counts)
    order = np.argsort(-y, kind="stable")  # libsvm's: one class after the other
    diagonal = access.diagonal[rows].astype(np.float64)
    state = State(order, y[order], np.zeros(n), diagonal[order], y[order], np.zeros(n))
    counts.active, counts.wait = n, min(n, PERIOD)
    wanted = REVIVAL
    while wanted not in (SOLVED, STOPPED):
        wanted = improve(read_only(held.values), held.places, held.used, state, counts, C, tolerance, most)
        if wanted >= 0:
            held.take(wanted, state, C)
        elif counts.active < n:
            revive(state, counts, held, C)
    alpha = np.empty(n)
    alpha[state.order] = state.alpha
    return Solution(alpha, bias_of(state, C), int(counts.steps), bool(counts.bounded))


class HeldRows:
    """Rows of kernel values among some examples.

    Attributes
    ----------
    values : one row in each place.
    places : of each example's row, -1 where there is none.
    used : for which step each example was last chosen.
    """

    def __init__(self, access: KernelAccess, rows: Rows) -> None:
        n = len(rows)
        self._access, self._rows = access, rows
        whole = access.gram is not None and len(access.gram) == n
        self.places = np.arange(n) if whole else np.full(n, -1)
        self.values = access.among(rows) if whole else np.empty((0, n), dtype=np.float32)
        self.used = np.zeros(n, dtype=np.int64)
        self._room = min(n, max(2 * MOST, MEMORY_LIMIT // (4 * n)))
        self._held: Rows = np.empty(0, dtype=np.int64)

    def take(self, wanted: int, state: State, C: float) -> None:
        """Compute the row of an example, and those of others that have most to gain."""
        size = int(min(max(SHARE * len(self._held), FEWEST), MOST))
        new = np.append(wanted, likely(wanted, state, C, self.places, size - 1))
        if len(self._held) + len(new) > self._room:
            self._forget()
        start, stop = len(self._held), len(self._held) + len(new)
        if stop > len(self.values):
            grown = np.empty((min(self._room, max(stop, 2 * start)), len(self._rows)), dtype=np.float32)
            grown[:start] = self.values[:start]
            self.values = grown
        self.values[start:stop] = self.of(new)
        self.places[new] = np.arange(start, stop)
        self._held = np.append(self._held, new)

    def of(self, examples: Rows) -> Floats:
        """Rows that are computed anew."""
        return self._access.between(self._rows[examples], self._rows)

    def _forget(self) -> None:
        """Keep the half of the rows that were used last."""
        latest = np.argsort(-self.used[self._held], kind="stable")[: self._room // 2]
        self._held = self._held[latest]
        self.values[: len(latest)] = self.values[latest]
        self.places[:] = -1
        self.places[self._held] = np.arange(len(latest))


def likely(wanted: int, state: State, C: float, places: Rows, size: int) -> Rows:
    """Examples beside the wanted one whose rows are not there: those that have most to gain, of either kind."""
    rises, falls = free_to_move(state, C)
    missing = (places[state.order] < 0) & (state.order != wanted)
    rising, falling = np.flatnonzero(missing & rises), np.flatnonzero(missing & falls)
    up = rising[np.argsort(-state.ahead[rising], kind="stable")[: size // 2]]
    down = falling[np.argsort(state.ahead[falling], kind="stable")[: size - size // 2]]
    return state.order[np.union1d(up, down)]


def revive(state: State, counts: Counts, held: HeldRows, C: float) -> None:
    """Let all examples take part again."""
    active, alpha = counts.active, state.alpha
    state.ahead[active:] = state.bound[active:] + state.y[active:]
    within = np.flatnonzero((alpha[:active] > 0) & (alpha[:active] < C))
    for start in range(0, len(within), MOST):
        some = within[start : start + MOST]
        places = held.places[state.order[some]]
        there = bool((places >= 0).all())
        values = held.values if there else held.of(state.order[some])
        subtract(values, places if there else np.arange(len(some)), some, state, active)
    counts.active = len(alpha)


@compiled
def subtract(K: Floats, places: Rows, some: Rows, state: State, first: int) -> None:
    """Take the terms of some examples from what those in the places from `first` on are ahead by."""
    for k in range(len(some)):
        row, coefficient = K[places[k]], state.alpha[some[k]] * state.y[some[k]]
        for t in range(first, len(state.order)):
            state.ahead[t] -= coefficient * row[state.order[t]]


@compiled
def improve(
    K: Floats,
    places: Rows,
    used: NDArray[np.int64],
    state: State,
    counts: Counts,
    C: float,
    tolerance: float,
    most: int,
) -> int:
    """Make steps until the problem is solved or something is missing: the row of the example that is returned, or what
    examples that are left out are ahead by (REVIVAL)."""
    n, order, alpha, ahead = len(state.order), state.order, state.alpha, state.ahead
    row, other = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.float32)
    rises, falls = free_to_move(state, C)
    while counts.steps < most:
        if counts.wait == 0:
            if counts.near != 1:
                reach(state, counts, rises, falls)
            if counts.near == 0 and counts.highest - counts.lowest <= 10 * tolerance:
                counts.near = 1
                if counts.active < n:
                    return REVIVAL
            counts.near *= 2 if counts.near == 1 else 1
            leave_out(state, counts, rises, falls)
            counts.wait = min(n, PERIOD)
        i = furthest(state, counts, rises)
        if i >= 0:
            used[order[i]] = counts.steps + 1  # so that its row stays when its partner's is computed
            if places[order[i]] < 0:
                return order[i]
            fetch(K[places[order[i]]], state, counts, row)
        j = partner(i, row, state, counts, falls, tolerance) if i >= 0 else -1
        if j < 0:
            if counts.active == n:
                return SOLVED
            counts.wait = 1
            return REVIVAL
        if places[order[j]] < 0:
            return order[j]
        fetch(K[places[order[j]]], state, counts, other)
        counts.wait -= 1
        counts.steps += 1
        used[order[j]] = counts.steps
        before_i, before_j = alpha[i], alpha[j]
        step(i, j, row[j], state, C)
        change_i, change_j = state.y[i] * (alpha[i] - before_i), state.y[j] * (alpha[j] - before_j)
        for t in range(counts.active):
            ahead[t] -= row[t] * change_i + other[t] * change_j
        for k, before in ((i, before_i), (j, before_j)):
            rises[k], falls[k] = directions(alpha[k], state.y[k], C)
            if (before >= C) != (alpha[k] >= C):
                counts.bounded = 1
                sign = state.y[k] if alpha[k] >= C else -state.y[k]
                set_bound(K[places[order[k]]], sign * C, state)
    return STOPPED


@compiled
def directions(alpha: float, y: float, C: float) -> tuple[bool, bool]:
    """Whether αᵢyᵢ may rise, and whether it may fall."""
    return (alpha < C, alpha > 0.0) if y > 0.0 else (alpha > 0.0, alpha < C)


@compiled
def free_to_move(state: State, C: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The same of all examples."""
    n = len(state.order)
    rises, falls = np.empty(n, dtype=np.bool_), np.empty(n, dtype=np.bool_)
    for t in range(n):
        rises[t], falls[t] = directions(state.alpha[t], state.y[t], C)
    return rises, falls


@compiled
def reach(state: State, counts: Counts, rises: NDArray[np.bool_], falls: NDArray[np.bool_]) -> None:
    """What examples that may rise are ahead by at most, and those that may fall at least."""
    counts.highest, counts.lowest = -np.inf, np.inf
    for t in range(counts.active):
        if rises[t]:
            counts.highest = max(counts.highest, state.ahead[t])
        if falls[t]:
            counts.lowest = min(counts.lowest, state.ahead[t])


@compiled
def leave_out(state: State, counts: Counts, rises: NDArray[np.bool_], falls: NDArray[np.bool_]) -> None:
    """Move examples that are at a bound, and would go beyond it, behind all others."""
    t = 0
    while t < counts.active:
        if beyond(t, state, counts, rises, falls):
            counts.active -= 1
            while counts.active > t and beyond(counts.active, state, counts, rises, falls):
                counts.active -= 1
            swap(t, counts.active, state, rises, falls)
        t += 1


@compiled
def beyond(t: int, state: State, counts: Counts, rises: NDArray[np.bool_], falls: NDArray[np.bool_]) -> bool:
    """Whether an example can only go where it is no match for any other."""
    above, below = state.ahead[t] > counts.highest, state.ahead[t] < counts.lowest
    return bool((not rises[t] and above) or (not falls[t] and below))


@compiled
def swap(a: int, b: int, state: State, rises: NDArray[np.bool_], falls: NDArray[np.bool_]) -> None:
    """Let two examples change places."""
    state.order[a], state.order[b] = state.order[b], state.order[a]
    for values in (state.y, state.alpha, state.diagonal, state.ahead, state.bound):
        values[a], values[b] = values[b], values[a]
    for may in (rises, falls):
        may[a], may[b] = may[b], may[a]


@compiled
def fetch(values: Floats, state: State, counts: Counts, row: Floats) -> None:
    """A row of kernel values in the order of the examples."""
    for t in range(counts.active):
        row[t] = values[state.order[t]]


@compiled
def furthest(state: State, counts: Counts, rises: NDArray[np.bool_]) -> int:
    """Of the examples that may rise the one that is furthest ahead, the last of equals; -1 if there is none."""
    best, most = -1, -np.inf
    for t in range(counts.active):
        if rises[t] and state.ahead[t] >= most:
            best, most = t, state.ahead[t]
    return best


@compiled
def partner(i: int, row: Floats, state: State, counts: Counts, falls: NDArray[np.bool_], tolerance: float) -> int:
    """Of the examples that may fall the one that gains most together with example i, the last of equals; -1 if none
    is behind it by more than the tolerance."""
    ahead, diagonal = state.ahead, state.diagonal
    best, most, least = -1, -np.inf, np.inf
    for t in range(counts.active):
        if falls[t]:
            least = min(least, ahead[t])
            apart = ahead[i] - ahead[t]
            if apart > 0.0:
                curvature = diagonal[i] + diagonal[t] - 2.0 * row[t]
                gain = apart * apart / (curvature if curvature > 0.0 else FLAT)
                if gain >= most:
                    best, most = t, gain
    return best if ahead[i] - least >= tolerance else -1


@compiled
def step(i: int, j: int, value: float, state: State, C: float) -> None:
    """Let αᵢyᵢ rise and αⱼyⱼ fall as far as is best within the bounds.

    value : K(xᵢ, xⱼ).
    """
    alpha, y = state.alpha, state.y
    curvature = state.diagonal[i] + state.diagonal[j] - 2.0 * value
    way = (state.ahead[i] - state.ahead[j]) / (curvature if curvature > 0.0 else FLAT)
    total, apart = alpha[i] + alpha[j], alpha[i] - alpha[j]
    alpha[i], alpha[j] = alpha[i] + y[i] * way, alpha[j] - y[j] * way
    if y[i] == y[j]:  # the sum stays
        for one, other in ((i, j), (j, i)):
            if total > C and alpha[one] > C:
                alpha[one], alpha[other] = C, total - C
            elif total <= C and alpha[other] < 0.0:
                alpha[one], alpha[other] = total, 0.0
    else:  # the difference stays
        if apart > 0.0 and alpha[j] < 0.0:
            alpha[i], alpha[j] = apart, 0.0
        elif apart <= 0.0 and alpha[i] < 0.0:
            alpha[i], alpha[j] = 0.0, -apart
        if apart > 0.0 and alpha[i] > C:
            alpha[i], alpha[j] = C, C - apart
        elif apart <= 0.0 and alpha[j] > C:
            alpha[i], alpha[j] = C + apart, C


@compiled
def set_bound(values: Floats, coefficient: float, state: State) -> None:
    """Note that an example has come to C, or with a coefficient of the other sign that it has left it."""
    for t in range(len(state.order)):
        state.bound[t] -= coefficient * values[state.order[t]]


@compiled
def bias_of(state: State, C: float) -> float:
    """The mean of what examples within the bounds are ahead by; where there is none, the middle of what is possible."""
    total, within = 0.0, 0
    highest, lowest = -np.inf, np.inf
    rises, falls = free_to_move(state, C)
    for t in range(len(state.order)):
        if rises[t] and falls[t]:
            total += state.ahead[t]
            within += 1
        if rises[t]:
            highest = max(highest, state.ahead[t])
        if falls[t]:
            lowest = min(lowest, state.ahead[t])
    return total / within if within else (highest + lowest) / 2
