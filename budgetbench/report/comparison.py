"""The verdicts of a paper, in the order of its tables and figures, and what each of them is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from budgetbench.datasets import datasets
from budgetbench.learners import learners
from budgetbench.report.experiments import ExperimentPart
from budgetbench.report.words import Anchors, number, slug
from budgetbench.verdicts.model import NOT_RUN, Evidence, Paper, Verdict, counts

UNITS = {"points": "percentage points", "s": "seconds"}


@dataclass(frozen=True)
class EvidenceRow:
    """One comparison behind a verdict, ready to be shown."""

    what: str
    runs: int
    difference: str
    interval: str
    outcome: str


@dataclass(frozen=True)
class VerdictRow:
    """A verdict with what the filter goes by.

    Attributes
    ----------
    outcome : the state, or known deviation.
    mark : the outcome as part of a class name.
    links : the experiments that it needs, with the anchor of those that are on the page.
    """

    verdict: Verdict
    anchor: str
    outcome: str
    mark: str
    spreads: str
    evidence: list[EvidenceRow]
    links: list[tuple[str, str]]
    learners: tuple[str, ...]
    datasets: tuple[str, ...]


@dataclass(frozen=True)
class ItemPart:
    """One table or figure of a paper: the numbers and the claims that come from it."""

    name: str
    anchor: str
    groups: list[tuple[str, list[VerdictRow]]]

    @property
    def run(self) -> bool:
        """Whether anything of it was run."""
        return any(row.outcome != NOT_RUN for _, rows in self.groups for row in rows)


@dataclass(frozen=True)
class PaperPart:
    """A paper: its verdicts, then its experiments."""

    paper: Paper
    anchor: str
    items: list[ItemPart]
    experiments: list[ExperimentPart]
    counts: dict[str, int]

    @property
    def name(self) -> str:
        """The paper in a few words: first author and year."""
        authors = re.split(r",| and |;", self.paper.authors)
        first = authors[0].split()[-1] if authors[0].split() else self.paper.key
        others = " et al." if len(authors) > 2 else ""
        return f"{first}{others} {self.paper.year}"

    @property
    def total(self) -> int:
        """Number of verdicts."""
        return sum(self.counts.values())


@dataclass
class Subjects:
    """Finds the learners and datasets that a verdict is about."""

    experiments: Mapping[str, ExperimentPart]
    titles: list[tuple[re.Pattern[str], str]] = field(default_factory=list)
    named: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = {str(learners[name].title): name for name in learners}
        self.named = {datasets[name].title.lower(): name for name in datasets} | {name: name for name in datasets}
        # "Perceptron" stands inside of "Budget Perceptron": the longer name is looked for first
        for title in sorted(names, key=lambda title: (-len(title), title)):
            self.titles.append((re.compile(rf"(?<![\w-]){re.escape(title)}(?![\w+])"), names[title]))

    def learners(self, verdict: Verdict) -> tuple[str, ...]:
        """Names of the learners that the verdict's id, text or evidence names, in the order of the registry."""
        found = {learners.canonical(part) for part in verdict.id.split(".") if part in learners}
        for text in (verdict.text, *(one.what for one in verdict.evidence)):
            for pattern, name in self.titles:
                text, times = pattern.subn(" ", text)
                if times:
                    found.add(name)
        return tuple(name for name in learners if name in found)

    def datasets(self, verdict: Verdict) -> tuple[str, ...]:
        """Names of the datasets of its experiments; of one that is not there, what its name says."""
        found: dict[str, None] = {}
        for name in verdict.experiments:
            if name in self.experiments:
                found[self.experiments[name].dataset] = None
            else:
                found |= dict.fromkeys(self.named[part] for part in name.split("_") if part in self.named)
        return tuple(name for name in found if name)


def paper_parts(
    papers: Iterable[Paper], verdicts: Sequence[Verdict], experiments: Sequence[ExperimentPart], anchors: Anchors
) -> list[PaperPart]:
    """The papers with their verdicts and experiments; papers that have neither stay out."""
    subjects = Subjects({part.name: part for part in experiments})
    parts = []
    for paper in papers:
        own = [verdict for verdict in verdicts if verdict.paper == paper.key]
        done = [part for part in experiments if part.paper == paper.key]
        done.sort(key=lambda part: (_place(part.item, paper.items), _natural(part.item), part.name))
        if own or done:
            items = _items(paper, own, subjects, anchors)
            parts.append(PaperPart(paper, anchors.new(paper.key), items, done, counts(own)))
    return parts


def _items(paper: Paper, verdicts: list[Verdict], subjects: Subjects, anchors: Anchors) -> list[ItemPart]:
    names = list(dict.fromkeys([*paper.items, *(verdict.item for verdict in verdicts)]))
    parts = []
    for name in names:
        rows = [_row(verdict, subjects, anchors) for verdict in verdicts if verdict.item == name]
        kinds = {"number": "Numbers", "claim": "Claims"}
        groups = [(title, [row for row in rows if row.verdict.kind == kind]) for kind, title in kinds.items()]
        groups = [(title, own) for title, own in groups if own]
        if groups:
            parts.append(ItemPart(name, anchors.new(paper.key, name), groups))
    return parts


def _row(verdict: Verdict, subjects: Subjects, anchors: Anchors) -> VerdictRow:
    spreads = "" if verdict.in_spreads is None else number(round(verdict.in_spreads, 1), signed=True)
    known = subjects.experiments
    return VerdictRow(
        verdict=verdict,
        anchor=anchors.new("verdict", verdict.id),
        outcome=verdict.outcome,
        mark=slug(verdict.outcome),
        spreads=re.sub(r"(\.\d)0$", r"\1", spreads),
        evidence=[_evidence(one) for one in verdict.evidence],
        links=[(name, known[name].anchor if name in known else "") for name in verdict.experiments],
        learners=subjects.learners(verdict),
        datasets=subjects.datasets(verdict),
    )


def _evidence(one: Evidence) -> EvidenceRow:
    unit = UNITS.get(one.unit, one.unit)
    interval = "" if one.low is None or one.high is None else f"{_signed(one.low)} to {_signed(one.high)}"
    return EvidenceRow(one.what, one.runs, f"{_signed(one.difference)} {unit}".strip(), interval, one.outcome)


def _signed(value: float) -> str:
    return number(value, signed=True)


def _place(item: str, items: Sequence[str]) -> int:
    """Where in the paper an experiment's item is: that of the longest name it begins with."""
    fitting = [i for i, name in enumerate(items) if item.startswith(name)]
    return max(fitting, key=lambda i: len(items[i])) if fitting else len(items)


def _natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts Figure 9 before Figure 10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", text)]
