"""What papers say and what it comes to beside our results, as values; `words` says them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from budgetbench.published import Value
from budgetbench.results.measures import Unit
from budgetbench.verdicts.statistics import Interval


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
KNOWN = Outcome("known deviation", "≈", "known deviations", "yellow", "#865300", "#e4b35c")
DOES_NOT_HOLD = Outcome("does not hold", "✗", "do not hold", "bold red", "#a6261d", "#ff9f94")
NOT_RUN = Outcome("not run", "–", "not run", "dim", "#5c6167", "#a6aab0")
OUTCOMES = (HOLDS, KNOWN, DOES_NOT_HOLD, NOT_RUN)


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
    deviations : experiment to the reason why it does not hold there; ``all`` for every one.
    """

    id: str
    paper: str
    item: str
    quote: str
    experiments: tuple[str, ...]
    needed: tuple[str, ...] = ()
    learners: tuple[str, ...] = ()
    deviations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Number(Said):
    """A published number.

    Attributes
    ----------
    of : selector of the learner, or None for a fact of the experiment.
    name : measure or fact.
    draws : the paper's data is one random draw, to be looked for among ours.
    """

    of: Mapping[str, Any] | None
    name: str
    value: Value
    draws: bool = False


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


@dataclass(frozen=True)
class Evidence:
    """One comparison that a verdict rests on.

    Attributes
    ----------
    what : what was compared.
    interval : of the mean difference or, where not `signed`, of a quantity that is none; pairs of runs where they are
        paired count as runs.
    outcome : ``shown``, ``open`` (the interval decides neither way) or ``refuted``.
    """

    what: str
    interval: Interval
    unit: Unit
    outcome: str
    signed: bool = True


@dataclass(frozen=True)
class Reason:
    """How a verdict was reached or why there is none, where that needs saying; `words.REASONS` says it.

    Attributes
    ----------
    values : what it depends on, by name.
    """

    kind: Literal["no_results", "missing", "few_runs", "more_to_run", "opposite", "undecided", "signs", "quantile"]
    values: Mapping[str, Any] = field(default_factory=dict)


class MissingError(Exception):
    """The results that a statement needs are not there; the text says which."""

    def __init__(self, text: str, reason: Reason | None = None) -> None:
        super().__init__(text)
        self.reason = reason or Reason("missing", {"text": text})


@dataclass(frozen=True)
class Measured:
    """Ours beside a published number.

    Attributes
    ----------
    holds : None where there is too little to say so.
    mean, spread : over our runs; no spread of one run or of a fact.
    evidence : the difference from the published number; empty for a fact.
    """

    holds: bool | None
    mean: float
    spread: float | None = None
    reason: Reason | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Finding:
    """What a statement comes to.

    Attributes
    ----------
    claimed : the statement in short, such as ``difference < 0``.
    comparisons : what it is about, one by one; `whole` is their mean, or what else decides.
    found : what was found, where that is not how the comparisons came out.
    """

    holds: bool
    claimed: str
    comparisons: tuple[Evidence, ...]
    whole: Evidence
    reason: Reason | None = None
    found: str = ""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The comparisons, and the whole where it is none of them."""
        alone = len(self.comparisons) == 1 or self.whole in self.comparisons
        return self.comparisons if alone else (*self.comparisons, self.whole)


@dataclass(frozen=True)
class Verdict:
    """What a published number or claim comes to on an experiment.

    Attributes
    ----------
    found : `Measured` for a number, `Finding` for a claim; None where nothing was run.
    missing : why nothing was found.
    """

    said: Number | Claim
    experiment: str
    found: Measured | Finding | None
    missing: Reason | None = None

    @property
    def id(self) -> str:
        return self.said.id if isinstance(self.said, Number) else f"{self.said.id}.{self.experiment}"

    @property
    def experiments(self) -> tuple[str, ...]:
        """The experiments whose results it needs."""
        return tuple(dict.fromkeys((self.experiment, *self.said.needed)))

    @property
    def state(self) -> Outcome:
        """`HOLDS`, `DOES_NOT_HOLD` or `NOT_RUN`."""
        if self.found is None or self.found.holds is None:
            return NOT_RUN
        return HOLDS if self.found.holds else DOES_NOT_HOLD

    @property
    def deviation(self) -> str | None:
        """Why it does not hold, where that is known."""
        known = self.said.deviations
        return (known.get(self.experiment) or known.get("all")) if self.state is DOES_NOT_HOLD else None

    @property
    def outcome(self) -> Outcome:
        """The state, or `KNOWN` where it does not hold for a listed reason."""
        return KNOWN if self.deviation else self.state

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


def counts(verdicts: Iterable[Verdict]) -> dict[Outcome, int]:
    """How many verdicts there are of each of `OUTCOMES`."""
    found = Counter(verdict.outcome for verdict in verdicts)
    return {outcome: found[outcome] for outcome in OUTCOMES}


def failures(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts that make `budgetbench check` fail: run, not holding, and for no listed reason."""
    return [verdict for verdict in verdicts if verdict.outcome is DOES_NOT_HOLD]
