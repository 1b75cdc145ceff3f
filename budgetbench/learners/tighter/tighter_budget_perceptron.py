"""The Tighter Budget Perceptron."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import margin_against
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion, note
from budgetbench.engine.kernel_access import KernelAccess
from budgetbench.engine.updates import RULES, UpdateRule, is_due, margin_of, update
from budgetbench.errors import ParameterError
from budgetbench.learners.tighter.contributions import Contributions, contributions
from budgetbench.learners.tighter.errors_left import TIES, Removal, Ties, remove_worst
from budgetbench.learners.tighter.evaluation_sets import (
    ALL,
    EvaluationRule,
    EvaluationSet,
    admit,
    count_flips,
    evaluated,
    evaluation_set,
    laid_out,
    meet,
    reservoir,
)
from budgetbench.parameters import USUAL_BUDGET, Budget, Count, Examples, Later, NonNegative, Positive, Size

#: Examples for each of the budget on which errors are counted where a stream may have no end and nothing is asked for.
SAMPLED = 10


EVALUATION_HINT = "With evaluate: random and an evaluation_size, errors are counted on a sample of all that came."


@learner(
    "tighter_budget_perceptron",
    title="Tighter Budget Perceptron",
    color="#0072B2",
    marker="^",
    references=("weston2005",),
)
class TighterBudgetPerceptron(ExpansionLearner):
    """The Perceptron that discards the stored example whose removal leaves the fewest training errors.

    On yₜ f(xₜ) ≤ β, once p examples are stored, discard i = argminⱼ Σₖ [yₖ(f(xₖ) - aⱼK(xⱼ, xₖ)) ≤ 0] with k over an
    evaluation set, and j over the stored examples and xₜ. The paper does not say who leaves of equals (`ties`).

    Weston, Bordes, Bottou 2005, Figure 3, which removes first and inserts after (``before_insertion``): the newest
    example, possibly a noisy one, is then always kept. Only letting the newcomer compete for removal
    (``after_insertion``, the default) agrees with the paper's own results.

    The evaluation set is one of

    - ``all`` examples seen so far, xₜ included;
    - the ``support`` set itself (Equation 3);
    - ``random``: q of the examples seen, chosen with equal chances by a reservoir (Equation 4, which stops choosing
      when it has q; in a shuffled stream this is the same);
    - ``flips`` (Figure 5): every margin error enters, and from q already there the one leaves whose rate of changing
      side is lowest, the oldest of equals. The rate is the number of rounds that changed its side, its own round
      included, over the rounds since that; a round is one example seen. The figure prints the highest rate, its
      caption and the text say the lowest;
    - ``flips_of_all``: the same where every example enters, margin error or not. Figure 5 is done, as the text has it,
      for margin errors alone, of which there are fewer than a large q has room for.

    Cost of an example: one kernel value for each stored one; of a margin error, with ``flips``, q more. A removal
    compares p + 1 candidates on the evaluation set, by a byte for each pair first, which rules most of them out: for
    ``all`` that grows with the number of examples seen, for the others it is bounded by p·q (``support``: p²).
    When to use: where labels are wrong and time is at hand: it counts errors before it discards, so that wrong labels
    leave. With a bounded evaluation set (`random`, `flips`) where the stream is long.

    Parameters
    ----------
    budget : the number p of examples that are stored at most.
    evaluate : ``all``, ``support``, ``random``, ``flips`` or ``flips_of_all``: on which examples errors are counted; by
        default all. With ``all`` memory grows with the stream, which may have no end where `partial_fit` goes on: there
        it has to be asked for, and the default is ``random`` with 10 examples for each of the budget.
    evaluation_size : their number q, for ``random`` and both kinds of flips.
    removal : ``after_insertion`` or ``before_insertion``.
    candidates : look at only so many of the stored examples for each removal, in turn, besides the newcomer; all by
        default. The paper's section 5 suggests it, and the next.
    remove_at_once : discard so many at a removal, those whose removals, each by itself, leave the fewest errors; as
        many insertions are then free.
    ties : which of the examples whose removals leave equally few errors leaves: the ``oldest``, the ``newest``, the one
        with the ``largest_margin`` without its own contribution (as in the Budget Perceptron), or a ``random`` one.
    update : rule for the coefficient of a new example: ``perceptron``, ``mira`` or ``no_bias_svm``.
    beta : an example whose margin y f(x) is at most this is stored; by default 0, 0.01 for ``mira``, 1 for
        ``no_bias_svm``.
    C : bound on a coefficient, for ``no_bias_svm``.
    """

    follow_kept = True
    effort = 150
    spare = 1
    changeable = frozenset({"budget", "beta", "C", "candidates", "remove_at_once"})
    randomised = True  # the reservoir; drawn whatever the evaluation set, and so cheap that it does not matter

    budget: Budget = USUAL_BUDGET
    evaluate: EvaluationRule | None = None
    evaluation_size: Annotated[Examples, Size("q", kept=False)] | None = None
    removal: Literal["after_insertion", "before_insertion"] = "after_insertion"
    candidates: Count | None = None
    remove_at_once: Count = 1
    ties: Annotated[Ties, Later()] = "oldest"
    update: UpdateRule = "perceptron"
    beta: NonNegative | None = None
    C: Positive = 1.0

    @classmethod
    def _check_together(cls, values: dict[str, Any]) -> None:
        values["beta"] = margin_of(values["beta"], values["update"])
        values["evaluate"] = values["evaluate"] or "all"
        size, sized = values["evaluation_size"], values["evaluate"] in ("random", "flips", "flips_of_all")
        if sized and size is None:
            raise ParameterError(
                "evaluation_size", None, f"an integer of at least 1, for evaluate: {values['evaluate']}"
            )
        if not sized and size is not None:
            raise ParameterError("evaluation_size", size, f"nothing where evaluate is {values['evaluate']}")
        if values["remove_at_once"] > values["budget"]:
            raise ParameterError("remove_at_once", values["remove_at_once"], "an integer of at most the budget")

    @classmethod
    def check_endless(cls, values: dict[str, Any]) -> None:
        if values["evaluate"] == "all":
            accepted = "support, random or flips, as a stream is not kept"
            raise ParameterError("evaluate", "all", accepted, EVALUATION_HINT)

    @classmethod
    def keeps(cls, params: Mapping[str, Any]) -> float | None:
        return np.inf if params.get("evaluate") == "all" else super().keeps(params)

    @property
    def whole(self) -> bool:
        return self.update == "perceptron"

    @property
    def margin_threshold(self) -> float:
        return margin_of(self.beta, self.update)

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._evaluation = evaluation_set(self.evaluate or "all", self.evaluation_size)
        self._turn = 0

    def _look_up(self, access: KernelAccess, labels: NDArray[np.int64]) -> None:
        super()._look_up(access, labels)
        self._contributions: Contributions | None = None  # which know examples by their positions in the pool

    def _expect_no_end(self) -> None:
        if self.evaluate is None and self._evaluation.rule == ALL:
            seen = self._pool.companions
            chosen = np.sort(self._random.permutation(len(seen))[: SAMPLED * self.budget])
            self._pool.companions = seen[chosen]
            self._evaluation = reservoir(self._evaluation, SAMPLED * self.budget, len(chosen))

    def close(self, access: KernelAccess) -> None:
        super().close(access)
        self._contributions = None

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        self._evaluation = laid_out(self._evaluation, self._pool.companions, len(f.stored))
        if self._contributions is None:
            rows, places = len(f.members), len(self._evaluation.positions) or len(f.members)
            self._contributions = contributions(rows, places, len(f.stored))
        how = Removal(self.candidates or self.budget, self.remove_at_once, TIES[self.ties])
        self._turn = tighter_budget_perceptron(
            block,
            f,
            rounds,
            self._evaluation,
            self._contributions,
            self._turn,
            how,
            self.margin_threshold,
            self.budget,
            self.removal == "before_insertion",
            RULES[self.update],
            self.C,
            self._course.passes == 1,
        )
        self._pool.companions = self._evaluation.positions[: self._evaluation.counts.places].copy()


@compiled
def tighter_budget_perceptron(
    block: Block,
    f: Expansion,
    rounds: Rounds,
    evaluation: EvaluationSet,
    c: Contributions,
    turn: int,
    how: Removal,
    beta: float,
    budget: int,
    remove_first: bool,
    rule: int,
    C: float,
    first_pass: bool,
) -> int:
    while f.counts.members > budget:  # it was made smaller
        turn = remove_worst(f, block, evaluated(evaluation, f), c, how, turn, False, block.chance[0])
    for t in range(len(block.order)):
        i = block.order[t]
        chance = block.chance[t]
        meet(evaluation, i, chance, first_pass)
        margin = margin_against(f, block, i, beta)
        due = is_due(f, i, rule, margin, beta)
        admit(evaluation, f, block, i, due)
        if due:
            if remove_first and f.counts.members == budget and not f.stored[i]:
                turn = remove_worst(f, block, evaluated(evaluation, f), c, how, turn, not remove_first, chance)
            update(f, block, i, rule, beta, C)
            if f.counts.members > budget:
                turn = remove_worst(f, block, evaluated(evaluation, f), c, how, turn, not remove_first, chance)
            count_flips(evaluation, f, block)
        note(rounds, t, margin, f)
    return turn
