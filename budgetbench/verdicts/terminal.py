"""Verdicts on a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from budgetbench.verdicts import words
from budgetbench.verdicts.model import DOES_NOT_HOLD, KNOWN, NOT_RUN, Number, Verdict
from budgetbench.verdicts.published import papers
from budgetbench.verdicts.writing import by_paper

NUMBERS = (17, 15, 13, 10, 7)
CLAIMS = (12, 15, 29)
"""Widths of the columns before the outcome."""


def shown(verdicts: Sequence[Verdict]) -> RenderableType:
    """What was run, by paper and item, then what was not, then the counts."""
    return Group(*_parts(verdicts))


def _parts(verdicts: Sequence[Verdict]) -> Iterator[RenderableType]:
    titles = {paper.key: f"{paper.authors[0]} et al. {paper.year}: {paper.title}" for paper in papers()}
    for key, of_paper in by_paper(verdicts):
        yield Text(titles[key], style="bold")
        run = [verdict for verdict in of_paper if verdict.state is not NOT_RUN]
        for item, of_item in groupby(run, key=lambda verdict: verdict.said.item):
            yield Text(f"\n{item}", style="bold")
            found = list(of_item)
            yield from _numbers([verdict for verdict in found if isinstance(verdict.said, Number)])
            yield from _claims([verdict for verdict in found if not isinstance(verdict.said, Number)])
        yield Text(f"\n{words.tally(of_paper)}\n")
    absent = {one.reason.values["experiment"] for one in verdicts if one.reason and one.reason.kind == "no_results"}
    if absent:
        yield Text(f"Without results: {', '.join(sorted(absent))}\n")
    yield Text(f"{len(verdicts)} published numbers and claims: {words.tally(verdicts)}", style="bold")


def _numbers(verdicts: Sequence[Verdict]) -> Iterator[RenderableType]:
    """Under each learner its numbers; each reason after the numbers that it is about."""
    if verdicts:
        yield _columns(NUMBERS, [("", "published", "ours", "difference", "spreads", "")], 3, style="dim")
    for learner, group in groupby(verdicts, key=lambda verdict: words.subject(verdict) or verdict.experiment):
        of_learner = list(group)
        yield Padding(Text(learner), (0, 0, 0, 2))
        yield _columns(NUMBERS, [_number(verdict) for verdict in of_learner], 3)
        for reason in dict.fromkeys(filter(None, map(_reason, of_learner))):
            yield Padding(Text(reason, style="dim"), (0, 0, 0, 4))


def _number(verdict: Verdict) -> list[str | Text]:
    said = words.quantity(verdict), words.published(verdict), words.ours(verdict, unit=False)
    return [*said, words.difference(verdict, unit=False), words.spreads(verdict), _outcome(verdict)]


def _claims(verdicts: Sequence[Verdict]) -> Iterator[RenderableType]:
    """Under each claim what each experiment says of it."""
    for claim, of_claim in groupby(verdicts, key=words.title):
        yield Padding(Text(claim), (0, 0, 0, 2))
        for verdict in of_claim:
            row = (verdict.experiment, words.ours(verdict), words.difference(verdict), _outcome(verdict))
            yield _columns(CLAIMS, [row], 4)
            if _reason(verdict):
                yield Padding(Text(_reason(verdict), style="dim"), (0, 0, 0, 6))


def _reason(verdict: Verdict) -> str:
    return words.remark(verdict) if verdict.outcome in (KNOWN, DOES_NOT_HOLD) else ""


def _outcome(verdict: Verdict) -> Text:
    return Text(f"{verdict.outcome.mark} {verdict.outcome.name}", style=verdict.outcome.terminal)


def _columns(widths: Sequence[int], rows: Iterable[Sequence[str | Text]], indent: int, style: str = "") -> Padding:
    """Rows whose columns are at the same place in every table; the last is the outcome."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    for number, width in enumerate(widths):
        table.add_column(width=width, justify="right" if number and len(widths) > 3 else "left")
    table.add_column()
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row), style=style)
    return Padding(table, (0, 0, 0, indent))
