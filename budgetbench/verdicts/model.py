"""What a comparison with a paper comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

HOLDS: Final = "holds"
DOES_NOT_HOLD: Final = "does not hold"
NOT_RUN: Final = "not run"
KNOWN: Final = "known deviation"

State = Literal["holds", "does not hold", "not run"]
Kind = Literal["number", "claim"]

OUTCOMES = (HOLDS, KNOWN, DOES_NOT_HOLD, NOT_RUN)
"""What a verdict counts as, see `Verdict.outcome`."""


@dataclass(frozen=True)
class Evidence:
    """One comparison that a verdict rests on.

    Attributes
    ----------
    what : what was compared, in words.
    runs : number of our runs that entered; pairs of runs where they are paired.
    difference : mean difference; in percentage points, examples or as a plain number, as `unit` says.
    low, high : two-sided 95 % confidence interval of the difference; None with fewer than five runs.
    outcome : ``shown``, ``open`` (the interval decides neither way) or ``refuted``.
    """

    what: str
    runs: int
    difference: float
    low: float | None
    high: float | None
    unit: str
    outcome: str


@dataclass(frozen=True)
class Verdict:
    """A published number or claim beside our results. All texts are ready to be shown.

    Attributes
    ----------
    id : unique, stable between versions, such as ``orabona2008.table-1.perceptron.online_error``.
    paper : key of the paper.
    item : table, figure or section it is from.
    kind : ``number`` or ``claim``.
    text : which number it is, or the claim in our words.
    quote : where in the paper it stands.
    published, ours, difference : the comparison; `ours` and `difference` are empty where nothing was run.
    in_spreads : a number's difference in units of the published standard deviation, None where there is none.
    deviation : why it does not hold, where that is known; only on a verdict that does not hold.
    note : how the verdict was reached, where that needs saying.
    experiments : names of the experiments whose results it needs.
    evidence : the comparisons behind it.
    """

    id: str
    paper: str
    item: str
    kind: Kind
    text: str
    quote: str
    published: str
    ours: str
    difference: str
    in_spreads: float | None
    state: State
    deviation: str | None
    note: str
    experiments: tuple[str, ...]
    evidence: tuple[Evidence, ...] = ()

    @property
    def outcome(self) -> str:
        """The state, or ``known deviation`` where it does not hold for a listed reason."""
        return KNOWN if self.state == DOES_NOT_HOLD and self.deviation else self.state


@dataclass(frozen=True)
class LeftOut:
    """A sentence of a paper that is not checked, with the reason."""

    text: str
    quote: str
    reason: str


@dataclass(frozen=True)
class Paper:
    """A paper and the places in it that are checked, in its order."""

    key: str
    title: str
    authors: str
    venue: str
    year: int
    items: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()


def counts(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """How many verdicts there are of each of `OUTCOMES`."""
    found = Counter(verdict.outcome for verdict in verdicts)
    return {outcome: found[outcome] for outcome in OUTCOMES}


def failures(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts that make `budgetbench check` fail: run, not holding, and for no listed reason."""
    return [verdict for verdict in verdicts if verdict.outcome == DOES_NOT_HOLD]
