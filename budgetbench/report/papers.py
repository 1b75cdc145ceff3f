"""What the page says of a paper: the verdicts on its tables and figures, beside the pictures that they are about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from budgetbench.report.parts import ExperimentPart, Figure
from budgetbench.report.words import Anchors
from budgetbench.verdicts.model import NOT_RUN, Claim, Number, Outcome, Paper, Verdict, counts
from budgetbench.verdicts.words import explanation, reading, sentences


@dataclass(frozen=True)
class ClaimRow:
    """A claim with its verdicts, those of each column in a list of their own.

    Attributes
    ----------
    remarks : why it does not hold and who took part in place of whom, with the columns that this is said of.
    """

    said: Claim
    cells: list[list[Verdict]]
    remarks: list[tuple[str, list[str]]]


@dataclass(frozen=True)
class ClaimTable:
    """Claims that are about the same data: a row for each of them, a column for each dataset."""

    columns: list[str]
    rows: list[ClaimRow]


@dataclass(frozen=True)
class ItemPart:
    """One table, figure or section of a paper: the pictures that show it, the verdicts on its numbers and its claims.

    Attributes
    ----------
    verdicts : how many.
    run : whether anything of it was run.
    """

    name: str
    anchor: str
    figures: list[Figure]
    numbers: list[Verdict]
    claims: list[ClaimTable]
    verdicts: int
    run: bool


@dataclass(frozen=True)
class PaperPart:
    """A paper: its verdicts, then its experiments."""

    paper: Paper
    anchor: str
    items: list[ItemPart]
    experiments: list[ExperimentPart]
    counts: dict[Outcome, int]

    @property
    def verdicts(self) -> int:
        """How many there are on it."""
        return sum(item.verdicts for item in self.items)

    @property
    def run(self) -> bool:
        """Whether anything of it was run."""
        return bool(self.experiments) or any(item.run for item in self.items)


def paper_parts(
    papers: Iterable[Paper],
    verdicts: Sequence[Verdict],
    experiments: Sequence[ExperimentPart],
    anchors: Anchors,
    dataset_title: Callable[[str], str],
) -> list[PaperPart]:
    """The papers with their verdicts and experiments; papers that have neither stay out.

    A picture of an item stands with the verdicts on it, and its experiment says where.
    """
    parts = []
    for paper in papers:
        own = [verdict for verdict in verdicts if verdict.said.paper == paper.key]
        done = [part for part in experiments if part.paper == paper.key]
        done.sort(key=lambda part: (_place(part.item, paper.items), _natural(part.item), part.name))
        if own or done:
            headings = {name: paper.headings.get(name) or dataset_title(on) for name, on in paper.datasets.items()}
            items = list(_items(paper, own, done, headings, anchors))
            left = [_without(part, items) for part in done]
            parts.append(PaperPart(paper, anchors.new(paper.key), items, left, counts(own)))
    return parts


def _items(
    paper: Paper,
    verdicts: Sequence[Verdict],
    experiments: Sequence[ExperimentPart],
    headings: Mapping[str, str],
    anchors: Anchors,
) -> Iterator[ItemPart]:
    drawn = {f"{part.name}/{figure.file}": figure for part in experiments for figure in part.figures}
    for item in paper.items:
        own = [verdict for verdict in verdicts if verdict.said.item == item]
        if not own:
            continue
        numbers, claims = ([one for one in own if isinstance(one.said, Number) is wanted] for wanted in (True, False))
        yield ItemPart(
            item,
            anchors.new(paper.key, item),
            [drawn[name] for name in paper.pictures.get(item, ()) if name in drawn],
            numbers,
            claim_tables(claims, headings),
            len(own),
            any(verdict.outcome is not NOT_RUN for verdict in own),
        )


def claim_tables(verdicts: Iterable[Verdict], headings: Mapping[str, str]) -> list[ClaimTable]:
    """The verdicts on claims as tables, one for all claims that are about the same data."""
    found: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.said.id, []).append(verdict)
    tables: dict[tuple[str, ...], ClaimTable] = {}
    for own in found.values():
        columns = tuple(dict.fromkeys(headings[verdict.experiment] for verdict in own))
        cells = [[verdict for verdict in own if headings[verdict.experiment] == column] for column in columns]
        said = own[0].said
        assert isinstance(said, Claim)
        table = tables.setdefault(columns, ClaimTable(list(columns), []))
        table.rows.append(ClaimRow(said, cells, _remarks(own, headings)))
    return list(tables.values())


def _remarks(verdicts: Iterable[Verdict], headings: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """What is to be said of some verdicts on a claim, each sentence once, with the columns that it is about."""
    said: dict[str, list[str]] = {}
    for verdict in verdicts:
        why = explanation(verdict)
        if why:
            see = f"See {', '.join(map(reading, verdict.readings))}" if verdict.readings else ""
            why = sentences(f"{verdict.outcome.name.capitalize()}: {why}", see)
        for text in filter(None, (why, *verdict.substitutes)):
            said.setdefault(text, []).append(headings[verdict.experiment])
    return [(text, list(dict.fromkeys(where))) for text, where in said.items()]


def _without(part: ExperimentPart, items: Iterable[ItemPart]) -> ExperimentPart:
    """An experiment without the figures that stand beside the verdicts on them."""
    shown = {figure.anchor: item.name for item in items for figure in item.figures}
    left = [figure for figure in part.figures if figure.anchor not in shown]
    elsewhere = tuple((shown[one.anchor], one.anchor) for one in part.figures if one.anchor in shown)
    return replace(part, figures=left, elsewhere=elsewhere)


def _place(item: str, items: Sequence[str]) -> int:
    """Where in the paper an experiment's item is: that of the longest name it begins with."""
    fitting = [i for i, name in enumerate(items) if item.startswith(name)]
    return max(fitting, key=lambda i: len(items[i]), default=len(items))


def _natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts Figure 9 before Figure 10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", text)]
