"""The Tightest Perceptron."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import margin_against
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion, discard, note, slot_of, store
from budgetbench.kernels import Values
from budgetbench.parameters import Budget

LOSSES = {"zero_one": 0, "hinge": 1}
HINGE = 1

#: Expected losses no farther apart, as a share, are equal: they are sums of the same numbers in another order.
ROUNDING = 2.0**-40


class Summary(NamedTuple):
    """What is known of the labels around each stored example.

    ahead : by how much the weight of positive labels around it exceeds that of negative ones.
    weight : that of all labels around it.
    """

    ahead: Values
    weight: Values


@learner("tightest_perceptron", title="Tightest Perceptron", color="#7F2704", marker="*", references=("wang2009",))
class TightestPerceptron(ExpansionLearner):
    """The Tighter Budget Perceptron whose stored examples stand for all that were near them, labels and all.

    On yₜ f(xₜ) ≤ 0, store xₜ: f ← f + yₜ K(xₜ, ·), with the counts c₊, c₋ of labels around it: 1 for its own. Every
    other example, and an example that leaves with its counts, adds to those of the stored one that is nearest to it, in
    the distance of the kernel, as much as their similarity K(x, z)/√(K(x, x) K(z, z)), if that is above 0. If B + 1
    examples are stored now, the one leaves without which the loss expected on all of them is smallest, the oldest of
    equals: the loss at xⱼ is expected over which of the labels is the more probable one there. With the uniform prior,
    P(y = 1 | xⱼ) has the distribution Beta(1 + c₊, 1 + c₋), so that it is y = 1 with the probability by which a number
    with that distribution is above ½.

    Wang, Vucetic 2009 (IJCNN, Tighter Perceptron with improved dual use of cached data for model representation and
    validation), in the following reading: the abstract settles that the stored examples serve for validation alone and
    carry estimates of P(y | x); the Beta distribution, the weights by similarity and both losses are as in public code
    that cites the paper. An example that is stored already, in a later epoch, changes its coefficient and its counts.
    Cost of an example: one kernel value for each stored one. A removal compares B + 1 candidates on B + 1 examples.
    When to use: as the Tighter Budget Perceptron, where memory for an evaluation set is lacking: what it stores judges
    what leaves.

    Parameters
    ----------
    budget : the number B of examples that are stored at most.
    loss : ``zero_one`` or ``hinge``, max(0, 1 - y f(x)): what is expected to be small once an example has left.
    """

    follow_kept = True
    effort = 150
    whole = True
    spare = 1
    changeable = frozenset({"budget", "loss"})

    budget: Budget = 100
    loss: Literal["zero_one", "hinge"] = "hinge"

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._summary = Summary(np.zeros(0), np.zeros(0))

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        room = len(f.members) - self._size()
        summary = Summary(*(np.pad(each, (0, room)) for each in self._summary))
        tightest_perceptron(block, f, rounds, summary, self.budget, LOSSES[self.loss])
        self._summary = Summary(*(each[: self._size()].copy() for each in summary))


@compiled
def tightest_perceptron(block: Block, f: Expansion, rounds: Rounds, summary: Summary, budget: int, loss: int) -> None:
    while f.counts.members > budget:  # it was made smaller
        remove(f, block, summary, loss)
    for t in range(len(block.order)):
        i = block.order[t]
        margin = margin_against(f, block, i, 0.0)
        if margin <= 0:
            store(f, block, i, block.y[i])
            add(summary, slot_of(f, i), block.y[i], 1.0)
            if f.counts.members > budget:
                remove(f, block, summary, loss)
        else:
            hand_over(f, block, summary, i, block.y[i], 1.0)
        note(rounds, t, margin, f)


@compiled
def add(summary: Summary, slot: int, ahead: float, weight: float) -> None:
    """Add labels to those around a stored example."""
    summary.ahead[slot] += ahead
    summary.weight[slot] += weight


@compiled
def hand_over(f: Expansion, block: Block, summary: Summary, i: int, ahead: float, weight: float) -> None:
    """Give the labels at position i to the nearest of the stored examples; the oldest of equals."""
    nearest, least, row = -1, np.inf, block.K[i]
    for slot in range(f.counts.members):
        j = f.members[slot]
        distance = np.float64(block.diagonal[j]) - 2.0 * row[j]
        if distance < least:
            nearest, least = slot, distance
    if nearest >= 0:
        j = f.members[nearest]
        lengths = np.sqrt(np.float64(block.diagonal[i]) * block.diagonal[j])
        similarity = max(0.0, row[j] / lengths) if lengths > 0.0 else 0.0
        add(summary, nearest, similarity * ahead, similarity * weight)


@compiled
def remove(f: Expansion, block: Block, summary: Summary, loss: int) -> None:
    """Let the example go without which the expected loss is smallest; the nearest of the others inherits its labels."""
    slot = least_missed(f, block, summary, loss)
    i, ahead, weight = f.members[slot], summary.ahead[slot], summary.weight[slot]
    discard(f, block, slot)
    for each in summary:
        each[slot : f.counts.members] = each[slot + 1 : f.counts.members + 1].copy()
        each[f.counts.members] = 0.0
    hand_over(f, block, summary, i, ahead, weight)


@compiled
def least_missed(f: Expansion, block: Block, summary: Summary, loss: int) -> int:
    """The slot without whose example the loss expected on all of the stored ones is smallest; the oldest of equals."""
    n = f.counts.members
    members, a = f.members[:n], f.coefficients[:n]
    expected, K = np.zeros(n), np.empty(n)
    for s in range(n):
        row = block.K[members[s]]
        value = 0.0
        for r in range(n):
            K[r] = row[members[r]]
            value += a[r] * K[r]
        y = 1.0 if summary.ahead[s] >= 0.0 else -1.0
        doubt = doubt_about(abs(summary.ahead[s]), summary.weight[s])
        for r in range(n):
            margin = y * (value - a[r] * K[r])
            if loss == HINGE:
                expected[r] += (1.0 - doubt) * max(0.0, 1.0 - margin) + doubt * max(0.0, 1.0 + margin)
            else:
                expected[r] += (1.0 - doubt) * (margin <= 0.0) + doubt * (margin >= 0.0)
    slot, limit = 0, (1.0 + ROUNDING) * expected.min()
    while expected[slot] > limit:
        slot += 1
    return slot


@compiled
def doubt_about(ahead: float, weight: float) -> float:
    """The probability that the label which is ahead is not the more probable one.

    With the counts c ≥ c′ of the labels that is I½(a, b), the regularised incomplete beta function, a = 1 + c and
    b = 1 + c′. Its series 2^-(a+b) / (a B(a, b)) Σₙ (a + b)ₙ / (a + 1)ₙ 2⁻ⁿ has positive terms alone.
    """
    if ahead == 0.0:
        return 0.5
    a, b = 1.0 + 0.5 * (weight + ahead), 1.0 + max(0.0, 0.5 * (weight - ahead))
    log_first = math.lgamma(a + b) - math.lgamma(a + 1.0) - math.lgamma(b) - (a + b) * math.log(2.0)
    term, total, n = 1.0, 1.0, 0
    while term > 2.0**-53 * total:
        term *= 0.5 * (a + b + n) / (a + 1.0 + n)
        total += term
        n += 1
    return min(0.5, math.exp(log_first) * total)
