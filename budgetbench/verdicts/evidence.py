"""What was found of a number or a claim: comparisons of runs, and what they come to together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from budgetbench.results.measures import Unit
from budgetbench.significance import ALPHA
from budgetbench.verdicts.statistics import OPEN, REFUTED, SHOWN, Interval


@dataclass(frozen=True)
class Evidence:
    """One comparison that a verdict rests on.

    Attributes
    ----------
    what : what was compared; of a difference what is subtracted from what.
    interval : of the mean difference or, where not `signed`, of a quantity that is none; pairs of runs where they are
        paired count as runs.
    doubt : one-sided p against what is claimed of it (`statistics.below`), or None where nothing is tested.
    adjusted : its two-sided p after Holm's correction over the paper; without one, as if it were the only test.
    wider : the same over runs and test sets, where all runs were tested on one set.
    """

    what: str
    interval: Interval
    unit: Unit
    doubt: float | None = None
    signed: bool = True
    adjusted: float | None = None
    wider: Evidence | None = None

    @property
    def p(self) -> float | None:
        """Two-sided, None where there is no test: nothing is claimed of it, or runs are few."""
        return None if self.doubt is None or self.interval.few else 2 * min(self.doubt, 1 - self.doubt)

    @property
    def outcome(self) -> str:
        """``shown``, ``open`` (the interval decides neither way) or ``refuted``; empty where nothing is claimed."""
        return self._decided(self.p)

    @property
    def corrected(self) -> str:
        """The outcome by the adjusted p."""
        return self._decided(self.p if self.adjusted is None else self.adjusted)

    def _decided(self, p: float | None) -> str:
        if self.doubt is None:
            return ""
        if p is None:  # few runs show nothing
            return REFUTED if self.doubt == 1 else OPEN
        if p > ALPHA:
            return OPEN
        return SHOWN if self.doubt < 0.5 else REFUTED


@dataclass(frozen=True)
class Reason:
    """How a verdict was reached or why there is none, where that needs saying; `words.REASONS` says it.

    Attributes
    ----------
    values : what it depends on, by name.
    """

    kind: Literal[
        "no_results",
        "no_comparators",
        "missing",
        "unfinished",
        "untimed",
        "spread",
        "few_runs",
        "more_to_run",
        "opposite",
        "undecided",
        "quantile",
    ]
    values: Mapping[str, Any] = field(default_factory=dict)


class MissingError(Exception):
    """The results that a statement needs are not there; the text says which."""

    def __init__(self, text: str, reason: Reason | None = None) -> None:
        super().__init__(text)
        self.reason = reason or Reason("missing", {"text": text})


@dataclass(frozen=True)
class Tolerance:
    """By how much ours may differ from a published number, and what that is made of.

    Attributes
    ----------
    amount : in the number's unit.
    kind : published spreads, spreads of ours (`draws`), or a fixed tolerance where that is more.
    widened : as there are few runs.
    """

    amount: float
    kind: Literal["spreads", "draws", "fixed"]
    widened: bool = False


@dataclass(frozen=True)
class Measured:
    """Ours beside a published number.

    Attributes
    ----------
    outcome : ``shown``, ``open`` or ``refuted``, as of a comparison.
    mean, spread : over our runs; no spread of one run or of a fact.
    tolerance : what the outcome was judged by; None for a fact, which has to agree.
    evidence : the difference from the published number; empty for a fact.
    """

    outcome: str
    mean: float
    spread: float | None = None
    tolerance: Tolerance | None = None
    reason: Reason | None = None
    evidence: tuple[Evidence, ...] = ()

    @property
    def corrected(self) -> str:
        """The outcome: no test decides it, so that there is nothing to correct."""
        return self.outcome


def every(outcomes: Sequence[str]) -> str:
    """What comparisons show together: one that is refuted refutes them, one that is open leaves them open."""
    return next((outcome for outcome in (REFUTED, OPEN) if outcome in outcomes), SHOWN)


@dataclass(frozen=True)
class Finding:
    """What a statement comes to.

    Attributes
    ----------
    claimed : the statement in short, such as ``difference < 0``.
    comparisons : what it is about, one by one.
    conclude : from their outcomes to what they show together.
    found : what was found, where that is not how the comparisons came out.
    made : a quantity that was made of the comparisons and is what the claim is about, where there is one.
    """

    claimed: str
    comparisons: tuple[Evidence, ...]
    conclude: Callable[[Sequence[str]], str] = every
    found: str = ""
    made: Evidence | None = None

    @property
    def few(self) -> bool:
        """Whether a comparison that is tested has too few runs for it."""
        return any(one.interval.few for one in self.comparisons if one.doubt is not None)

    @property
    def outcome(self) -> str:
        return self._together([one.outcome for one in self.comparisons])

    @property
    def corrected(self) -> str:
        """The outcome by the adjusted p of each comparison."""
        return self._together([one.corrected for one in self.comparisons])

    @property
    def over_test_sets(self) -> str | None:
        """The outcome over runs and test sets; None where no comparison depends on one test set."""
        wider = [one.wider or one for one in self.comparisons]
        return None if wider == list(self.comparisons) else self._together([one.outcome for one in wider])

    @property
    def on_one_test_set(self) -> list[Evidence]:
        """The comparisons that come out otherwise over test sets."""
        return [one for one in self.comparisons if one.wider and one.wider.outcome != one.outcome]

    def _together(self, outcomes: Sequence[str]) -> str:
        if self.few:  # a single size may be far off by chance
            return REFUTED if set(outcomes) == {REFUTED} else OPEN
        return self.conclude(outcomes)

    @property
    def decisive(self) -> Evidence:
        """What the claim is about or, of several comparisons, the least favourable one."""
        return self.made or max(self.comparisons, key=lambda one: one.doubt or 0.0)

    @property
    def against(self) -> list[Evidence]:
        """What goes against the claim."""
        return [self.made] if self.made else [one for one in self.comparisons if one.outcome == REFUTED]

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The comparisons, and what was made of them."""
        return (*self.comparisons, *([self.made] if self.made else []))

    @property
    def reason(self) -> Reason | None:
        """How the comparisons came to what they say together."""
        outcomes, runs = [one.outcome for one in self.comparisons], min(one.interval.runs for one in self.comparisons)
        if self.few:
            return Reason("few_runs", {"runs": runs})
        if self.outcome == OPEN:
            return Reason("undecided", {"runs": runs, "open": outcomes.count(OPEN), "of": len(outcomes)})
        if self.outcome == REFUTED and REFUTED in outcomes and len(outcomes) > 1:
            return Reason("opposite", {"refuted": outcomes.count(REFUTED), "of": len(outcomes)})
        return None
