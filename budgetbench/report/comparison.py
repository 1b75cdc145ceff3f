"""The papers in parts of the page: verdicts in the order of a paper's tables and figures, then its experiments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from budgetbench.report.experiments import ExperimentPart
from budgetbench.report.words import Anchors
from budgetbench.verdicts.model import NOT_RUN, Number, Outcome, Paper, Verdict, counts


@dataclass(frozen=True)
class ItemPart:
    """One table or figure of a paper: the verdicts on its numbers and on its claims."""

    name: str
    anchor: str
    numbers: list[Verdict]
    claims: list[Verdict]

    @property
    def run(self) -> bool:
        """Whether anything of it was run."""
        return any(verdict.outcome is not NOT_RUN for verdict in (*self.numbers, *self.claims))


@dataclass(frozen=True)
class PaperPart:
    """A paper: its verdicts, then its experiments."""

    paper: Paper
    anchor: str
    items: list[ItemPart]
    experiments: list[ExperimentPart]
    counts: dict[Outcome, int]


def paper_parts(
    papers: Iterable[Paper], verdicts: Sequence[Verdict], experiments: Sequence[ExperimentPart], anchors: Anchors
) -> list[PaperPart]:
    """The papers with their verdicts and experiments; papers that have neither stay out."""
    parts = []
    for paper in papers:
        own = [verdict for verdict in verdicts if verdict.said.paper == paper.key]
        done = [part for part in experiments if part.paper == paper.key]
        done.sort(key=lambda part: (_place(part.item, paper.items), _natural(part.item), part.name))
        if own or done:
            items = list(_items(paper, own, anchors))
            parts.append(PaperPart(paper, anchors.new(paper.key), items, done, counts(own)))
    return parts


def _items(paper: Paper, verdicts: list[Verdict], anchors: Anchors) -> Iterable[ItemPart]:
    for item in paper.items:
        own = [verdict for verdict in verdicts if verdict.said.item == item]
        numbers, claims = ([one for one in own if isinstance(one.said, Number) is wanted] for wanted in (True, False))
        if own:
            yield ItemPart(item, anchors.new(paper.key, item), numbers, claims)


def _place(item: str, items: Sequence[str]) -> int:
    """Where in the paper an experiment's item is: that of the longest name it begins with."""
    fitting = [i for i, name in enumerate(items) if item.startswith(name)]
    return max(fitting, key=lambda i: len(items[i]), default=len(items))


def _natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts Figure 9 before Figure 10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", text)]
