"""What papers say and what it comes to beside our results, as values; `words` says them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from budgetbench.published import Value
from budgetbench.verdicts.evidence import Evidence, Finding, Measured, Reason
from budgetbench.verdicts.statistics import OPEN, REFUTED, SHOWN


@dataclass(frozen=True)
class Outcome:
    """What a verdict counts as, and how that is shown everywhere.

    Attributes
    ----------
    name, mark : in words and as a sign.
    counted : what a number of them does or is.
    terminal : style on a terminal.
    light, dark : colours of the page's two themes.
    """

    name: str
    mark: str
    counted: str
    terminal: str
    light: str
    dark: str

    @property
    def slug(self) -> str:
        """The name as a class of the page."""
        return self.name.replace(" ", "-")


HOLDS = Outcome("holds", "✓", "hold", "green", "#1a6b3b", "#74cd95")
EXPLAINED = Outcome("explained", "≈", "explained", "yellow", "#865300", "#e4b35c")
FAILS = Outcome("fails", "✗", "fail", "bold red", "#a6261d", "#ff9f94")
UNDECIDED = Outcome("undecided", "?", "undecided", "cyan", "#1f5f7d", "#86c5e0")
NOT_RUN = Outcome("not run", "–", "not run", "dim", "#5c6167", "#a6aab0")
OUTCOMES = (HOLDS, EXPLAINED, FAILS, UNDECIDED, NOT_RUN)

Basis = Literal["measured", "input", "construction", "theorem", "variant"]
"""Whether a statement can come out either way (`measured`), repeats what the experiment was told (`input`), follows
from the rules of the program (`construction`), is proved for any stream (`theorem`), so that a run that breaks it shows
an error of the program, or is measured once more of another `variant` of a learner: only the first counts for or
against the replication."""


@dataclass(frozen=True)
class Explanation:
    """Why something does not hold, as far as that was found.

    Attributes
    ----------
    low, high : what deviates lies between these, ends included: ours less the published number, or each comparison
        that goes against the claim. Outside of them the reason does not explain it.
    readings : the experiments of ``configs/readings`` that show it.
    """

    reason: str
    low: float
    high: float
    readings: tuple[str, ...] = ()

    def covers(self, found: float, allowance: float = 0.0) -> bool:
        """Whether a deviation of this size is explained; `allowance` is for few runs."""
        return self.low - allowance <= found <= self.high + allowance


@dataclass(frozen=True)
class LeftOut:
    """A sentence of a paper that is not checked, with the reason."""

    text: str
    quote: str
    reason: str


@dataclass(frozen=True)
class Paper:
    """A paper and what it says that can be checked.

    Attributes
    ----------
    items : the places in it that are checked, in its order.
    datasets : the experiments that its numbers and claims need, and the dataset that each is on.
    headings : what stands above an experiment's verdicts where the dataset's title does not tell it from others.
    pictures : of an item the figures that show it, each as ``experiment/figure``.
    """

    key: str
    title: str
    authors: tuple[str, ...]
    venue: str
    year: int
    items: tuple[str, ...]
    datasets: Mapping[str, str]
    left_out: tuple[LeftOut, ...] = ()
    numbers: tuple[Number, ...] = ()
    claims: tuple[Claim, ...] = ()
    headings: Mapping[str, str] = field(default_factory=dict)
    pictures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def short(self) -> str:
        """The paper in a few words: first author and year."""
        others = " et al." if len(self.authors) > 2 else ""
        return f"{self.authors[0].split()[-1]}{others} {self.year}"


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a paper says that can be checked.

    Attributes
    ----------
    id : unique, stable between versions, such as ``orabona2008.table-1.perceptron.online_error``.
    paper : key of the paper.
    item : table, figure or section it is from; `quote` says where in the paper it stands.
    experiments : it is checked on each of them.
    needed : experiments whose results it needs besides.
    learners : names of the learners that it is about.
    basis : what it says of the paper if it holds.
    explained : experiment to the reason why it does not hold there; ``all`` for every one.
    substitutes : learner to a sentence on what it takes the place of, where the one that is meant was not run.
    """

    id: str
    paper: str
    item: str
    quote: str
    experiments: tuple[str, ...]
    needed: tuple[str, ...] = ()
    learners: tuple[str, ...] = ()
    basis: Basis = "measured"
    explained: Mapping[str, Explanation] = field(default_factory=dict)
    substitutes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Number(Said):
    """A published number.

    Attributes
    ----------
    of : selector of the learner, or None for a fact of the experiment.
    name : measure or fact.
    draws : the paper's data is one random draw, to be looked for among ours.
    less : selector of the learner that is subtracted in the same draw, or None; `value` is of the difference then.
    """

    of: Mapping[str, Any] | None
    name: str
    value: Value
    draws: bool = False
    less: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Claim(Said):
    """A claim in words.

    Attributes
    ----------
    text : the claim in our words.
    statement, arguments : kind of statement and its keys.
    """

    text: str
    statement: str
    arguments: Mapping[str, Any]


STATES = {SHOWN: HOLDS, OPEN: UNDECIDED, REFUTED: FAILS}


@dataclass(frozen=True)
class Verdict:
    """What a published number or claim comes to on an experiment.

    Attributes
    ----------
    found : `Measured` for a number, `Finding` for a claim; None where nothing was run.
    missing : why nothing was found.
    substitutes : what takes the place of what, in sentences.
    """

    said: Number | Claim
    experiment: str
    found: Measured | Finding | None
    missing: Reason | None = None
    substitutes: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.said.id if isinstance(self.said, Number) else f"{self.said.id}.{self.experiment}"

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiments whose results it needs."""
        return tuple(dict.fromkeys((self.experiment, *self.said.needed)))

    @property
    def outcome(self) -> Outcome:
        """One of `OUTCOMES`."""
        return self._outcome(self.found.outcome) if self.found else NOT_RUN

    @property
    def corrected(self) -> Outcome:
        """The outcome after Holm's correction over all measured comparisons of the paper."""
        return self._outcome(self.found.corrected) if self.found else NOT_RUN

    @property
    def over_test_sets(self) -> Outcome | None:
        """The outcome where another test set could have been drawn; None where no one test set decides."""
        found = self.found.over_test_sets if isinstance(self.found, Finding) else None
        return self._outcome(found) if found else None

    def _outcome(self, outcome: str) -> Outcome:
        state = STATES[outcome]
        return EXPLAINED if state is FAILS and self._covered else state

    @property
    def known(self) -> Explanation | None:
        """The explanation that is given for this experiment."""
        return self.said.explained.get(self.experiment) or self.said.explained.get("all")

    @property
    def _covered(self) -> bool:
        """Whether the explanation reaches as far as the deviation."""
        if self.known is None:
            return False
        if isinstance(self.found, Finding):
            return all(self.known.covers(one.interval.mean, one.interval.allowance) for one in self.found.against)
        if isinstance(self.found, Measured) and isinstance(self.said, Number):
            tolerance = self.found.tolerance
            allowance = tolerance.amount if tolerance and tolerance.widened else 0.0
            return self.known.covers(self.found.mean - self.said.value.mean, allowance)
        return False

    @property
    def readings(self) -> tuple[str, ...]:
        """The experiments that show why it does not hold, where that is explained."""
        return self.known.readings if self.known and self.outcome is EXPLAINED else ()

    @property
    def unneeded(self) -> bool:
        """Whether it holds although an explanation says why it should not."""
        return self.outcome is HOLDS and self.known is not None

    @property
    def unanswered(self) -> bool:
        """Whether its experiments were run, and what it is about is not among their runs."""
        return self.missing is not None and self.missing.kind == "missing"

    @property
    def reason(self) -> Reason | None:
        """How it was reached, or why there is none."""
        return self.found.reason if self.found else self.missing

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return self.found.evidence if self.found else ()

    @property
    def in_spreads(self) -> float | None:
        """A number's difference in units of the published standard deviation, None where there is none."""
        if isinstance(self.said, Number) and isinstance(self.found, Measured) and self.said.value.spread:
            return (self.found.mean - self.said.value.mean) / self.said.value.spread
        return None


def counts(verdicts: Iterable[Verdict], basis: Basis = "measured") -> dict[Outcome, int]:
    """How many verdicts there are of each of `OUTCOMES` on what is of this basis."""
    found = Counter(verdict.outcome for verdict in verdicts if verdict.said.basis == basis)
    return {outcome: found[outcome] for outcome in OUTCOMES}


def failures(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts that make `budgetbench check` fail: what fails, what holds although it is explained away, and what
    its experiments cannot tell, though they were run.

    A variant may fail: it is not what the replication rests on.
    """

    def fails(verdict: Verdict) -> bool:
        return verdict.outcome is FAILS and verdict.said.basis != "variant"

    return [one for one in verdicts if fails(one) or one.unneeded or one.unanswered]
