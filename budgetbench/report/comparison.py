"""The verdicts of a paper, in the order of its tables and figures, and what each of them is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from budgetbench.report.experiments import ExperimentPart
from budgetbench.report.words import Anchors, number
from budgetbench.verdicts import words
from budgetbench.verdicts.model import NOT_RUN, Evidence, Number, Outcome, Paper, Verdict, counts


@dataclass(frozen=True)
class EvidenceRow:
    """One comparison behind a verdict, ready to be shown."""

    what: str
    runs: int
    mean: str
    interval: str
    outcome: str


@dataclass(frozen=True)
class VerdictRow:
    """A verdict in words, and what the filter goes by.

    Attributes
    ----------
    links : the experiments that it needs, with the anchor of those that are on the page.
    """

    anchor: str
    outcome: Outcome
    text: str
    published: str
    ours: str
    difference: str
    spreads: str
    quote: str
    deviation: str | None
    note: str
    evidence: list[EvidenceRow]
    links: tuple[tuple[str, str], ...]
    learners: tuple[str, ...]
    datasets: tuple[str, ...]


@dataclass(frozen=True)
class ItemPart:
    """One table or figure of a paper: the numbers and the claims that come from it."""

    name: str
    anchor: str
    numbers: list[VerdictRow]
    claims: list[VerdictRow]

    @property
    def run(self) -> bool:
        """Whether anything of it was run."""
        return any(row.outcome is not NOT_RUN for row in (*self.numbers, *self.claims))


@dataclass(frozen=True)
class PaperPart:
    """A paper: its verdicts, then its experiments."""

    paper: Paper
    anchor: str
    items: list[ItemPart]
    experiments: list[ExperimentPart]
    counts: dict[Outcome, int]

    @property
    def total(self) -> int:
        """Number of verdicts."""
        return sum(self.counts.values())


def paper_parts(
    papers: Iterable[Paper], verdicts: Sequence[Verdict], experiments: Sequence[ExperimentPart], anchors: Anchors
) -> list[PaperPart]:
    """The papers with their verdicts and experiments; papers that have neither stay out."""
    links = {part.name: part.anchor for part in experiments}
    parts = []
    for paper in papers:
        own = [verdict for verdict in verdicts if verdict.said.paper == paper.key]
        done = [part for part in experiments if part.paper == paper.key]
        done.sort(key=lambda part: (_place(part.item, paper.items), _natural(part.item), part.name))
        if own or done:
            items = _items(paper, own, links, anchors)
            parts.append(PaperPart(paper, anchors.new(paper.key), items, done, counts(own)))
    return parts


def _items(paper: Paper, verdicts: list[Verdict], links: Mapping[str, str], anchors: Anchors) -> list[ItemPart]:
    parts = []
    for item in dict.fromkeys([*paper.items, *(verdict.said.item for verdict in verdicts)]):
        own = [verdict for verdict in verdicts if verdict.said.item == item]
        numbers, claims = (
            [_row(verdict, paper, links, anchors) for verdict in own if isinstance(verdict.said, Number) is wanted]
            for wanted in (True, False)
        )
        if own:
            parts.append(ItemPart(item, anchors.new(paper.key, item), numbers, claims))
    return parts


def _row(verdict: Verdict, paper: Paper, links: Mapping[str, str], anchors: Anchors) -> VerdictRow:
    return VerdictRow(
        anchor=anchors.new("verdict", verdict.id),
        outcome=verdict.outcome,
        text=words.title(verdict),
        published=words.published(verdict),
        ours=words.ours(verdict),
        difference=words.difference(verdict),
        spreads=words.spreads(verdict),
        quote=verdict.said.quote,
        deviation=verdict.deviation,
        note=words.reason(verdict.reason),
        evidence=[_evidence(one) for one in verdict.evidence],
        links=tuple((name, links.get(name, "")) for name in verdict.experiments),
        learners=verdict.said.learners,
        datasets=tuple(dict.fromkeys(paper.datasets[name] for name in verdict.experiments)),
    )


def _evidence(one: Evidence) -> EvidenceRow:
    found, unit = one.interval, one.unit.words or one.unit.name
    mean, low, high = (number(value, signed=one.signed) for value in (found.mean, found.low, found.high))
    return EvidenceRow(one.what, found.runs, f"{mean} {unit}".strip(), f"{low} to {high}" if low else "", one.outcome)


def _place(item: str, items: Sequence[str]) -> int:
    """Where in the paper an experiment's item is: that of the longest name it begins with."""
    fitting = [i for i, name in enumerate(items) if item.startswith(name)]
    return max(fitting, key=lambda i: len(items[i])) if fitting else len(items)


def _natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts Figure 9 before Figure 10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", text)]
