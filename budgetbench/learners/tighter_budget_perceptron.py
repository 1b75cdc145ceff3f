"""The Tighter Budget Perceptron."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.base import learner
from budgetbench.engine.compiled import compiled
from budgetbench.engine.expansion import Block, Expansion, Rounds, discard, note
from budgetbench.engine.online import OnlineLearner
from budgetbench.engine.parameters import Budget, NonNegative
from budgetbench.engine.updates import RULES, SoftMargin, UpdateRule, default_beta, is_due, update

#: How finely the examples near the boundary are sorted by their distance from it.
RANKS = 64


@learner("tighter_budget_perceptron", title="Tighter Budget Perceptron", color="#0072B2", marker="^")
class TighterBudgetPerceptron(OnlineLearner):
    """The Perceptron that discards the stored example whose removal leaves the fewest training errors.

    On yₜ f(xₜ) ≤ β, once p examples are stored, discard i = argminⱼ Σₖ [yₖ(f(xₖ) - aⱼK(xⱼ, xₖ)) ≤ 0] with k over all
    examples seen, including xₜ. Of equal counts the oldest example leaves.

    Weston, Bordes, Bottou 2005, Figure 3, which removes first and inserts after (``before_insertion``): the newest
    example, possibly a noisy one, is then always kept. Only letting the newcomer compete for removal
    (``after_insertion``, the default) agrees with the paper's own results.
    Cost of an example: one kernel value for each stored one; a removal compares p candidates on t examples, of which
    only those near the decision boundary can change side.

    Parameters
    ----------
    budget : the number p of examples that are stored at most.
    evaluate : on which examples errors are counted: ``all`` that were seen.
    removal : ``after_insertion`` or ``before_insertion``.
    update : rule for the coefficient of a new example: ``perceptron``, ``mira`` or ``no_bias_svm``.
    beta : an example whose margin y f(x) is at most this is stored; by default 1 for ``no_bias_svm`` and 0 otherwise.
    C : bound on a coefficient, for ``no_bias_svm``.
    """

    follow_kept = True

    budget: Budget
    evaluate: Literal["all"] = "all"
    removal: Literal["after_insertion", "before_insertion"] = "after_insertion"
    update: UpdateRule = "perceptron"
    beta: NonNegative | None = None
    C: SoftMargin = 1.0

    @classmethod
    def _check_together(cls, values: dict[str, Any]) -> None:
        values["beta"] = default_beta(values["beta"], values["update"])

    @property
    def margin_threshold(self) -> float:
        return default_beta(self.beta, self.update)

    def _capacity(self, arrivals: int) -> int:
        return min(arrivals, self.budget) + 1

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        before = self._pool.companions
        seen = np.empty(len(f.stored), dtype=np.int64)
        seen[: len(before)] = before
        n_seen = tighter_budget_perceptron(
            block,
            f,
            rounds,
            self.margin_threshold,
            self.budget,
            self.removal == "before_insertion",
            RULES[self.update],
            self.C,
            self._kernel.non_negative,
            seen,
            len(before),
        )
        self._pool.companions = seen[:n_seen].copy()


@compiled
def tighter_budget_perceptron(
    block: Block,
    f: Expansion,
    rounds: Rounds,
    beta: float,
    budget: int,
    remove_first: bool,
    rule: int,
    C: float,
    non_negative: bool,
    seen: NDArray[np.int64],
    n_seen: int,
) -> int:
    is_seen = np.zeros(len(f.stored), dtype=np.bool_)
    is_seen[seen[:n_seen]] = True
    near = Near(np.empty(len(seen), np.uint32), np.empty(len(seen)), np.empty(5, np.int64))
    for t in range(len(block.order)):
        i = block.order[t]
        if not is_seen[i]:
            seen[n_seen] = i
            is_seen[i] = True
            n_seen += 1
        margin = block.y[i] * f.scores[i]
        if is_due(f, i, rule, margin, beta):
            if remove_first and f.counts[0] == budget and not f.stored[i]:
                discard(f, block, fewest_errors_without(f, block, seen[:n_seen], near, non_negative))
            update(f, block, i, rule, beta, C)
            if f.counts[0] > budget:
                discard(f, block, fewest_errors_without(f, block, seen[:n_seen], near, non_negative))
        note(rounds, t, margin, f)
    return n_seen


class Near(NamedTuple):
    """Examples near enough to the decision boundary to change side, in four groups: 2·[right] + [y = 1].

    positions, margins : of the examples, group after group; those of group g begin at start[g] and end at start[g + 1].
    start : five numbers.
    """

    positions: NDArray[np.uint32]
    margins: NDArray[np.float64]
    start: NDArray[np.int64]


@compiled
def fewest_errors_without(f: Expansion, block: Block, seen: NDArray[np.int64], near: Near, non_negative: bool) -> int:
    """The oldest of the slots whose removal leaves the fewest errors among the examples `seen`.

    Only examples near the boundary can change side, and a slot is given up once it cannot come down to the fewest
    errors so far; both leave the outcome as it is. Slots are tried from the youngest: the newcomer tends to do the most
    harm, and a low count found early spares work later.
    """
    errors = split(f, block, seen, near)
    best, fewest = 0, len(seen)
    for slot in range(f.counts[0] - 1, -1, -1):
        a, row = f.coefficients[slot], block.K[f.members[slot]]
        count = errors_without(a, row, errors, near, fewest, non_negative)
        if count <= fewest:
            best, fewest = slot, count
    return best


@compiled
def split(f: Expansion, block: Block, seen: NDArray[np.int64], near: Near) -> int:
    """Sort the examples near the boundary into their groups; the number of errors among all examples `seen`.

    Removing slot s moves f(xₖ) by |aₛK(xₛ, xₖ)| ≤ |aₛ|√(K(xₛ, xₛ)K(xₖ, xₖ)), up to the rounding of the kernel values.
    Within a group the most telling examples come first, roughly: the errors hardest to mend, and the right ones easiest
    to lose.
    """
    reach = 0.0
    for slot in range(f.counts[0]):
        reach = max(reach, abs(f.coefficients[slot]) * np.sqrt(block.diagonal[f.members[slot]]))
    reach *= 1.0 + 1e-5
    ends = np.zeros(4 * RANKS + 1, dtype=np.int64)
    errors = 0
    for k in seen:
        margin = block.y[k] * f.scores[k]
        errors += margin <= 0
        rank = rank_of(margin, block.y[k], reach * np.sqrt(block.diagonal[k]))
        if rank >= 0:
            ends[rank + 1] += 1
    ends[:] = np.cumsum(ends)
    near.start[:] = ends[::RANKS]
    for k in seen:
        margin = block.y[k] * f.scores[k]
        rank = rank_of(margin, block.y[k], reach * np.sqrt(block.diagonal[k]))
        if rank >= 0:
            near.positions[ends[rank]] = k
            near.margins[ends[rank]] = margin
            ends[rank] += 1
    return errors


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
def errors_without(a: float, row: NDArray[np.float32], errors: int, near: Near, fewest: int, non_negative: bool) -> int:
    """How many errors are left without a K(x, ·), whose kernel values are `row`; a number above `fewest` is a bound.

    Where K ≥ 0, only errors of the other class can become right, and only right examples of the same class wrong.
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
            lowest += near.margins[e] - step * row[near.positions[e]] <= 0
            if lowest > fewest:
                return lowest
    return lowest
