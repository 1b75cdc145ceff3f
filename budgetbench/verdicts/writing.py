"""Verdicts written out: as Markdown, as CSV, and for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pandas as pd
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from budgetbench.results.files import replace_file
from budgetbench.verdicts import words
from budgetbench.verdicts.model import DOES_NOT_HOLD, KNOWN, NOT_RUN, Claim, Number, Verdict
from budgetbench.verdicts.published import papers

NUMBER_HEAD = ("", "Where", "Experiment", "Number", "Published", "Ours", "Difference", "In spreads", "Verdict")
CLAIM_HEAD = ("", "Where", "Experiment", "Claim", "Claimed", "Found", "Mean difference", "Verdict")
NUMBER_WIDTHS = (17, 15, 13, 10, 7)
CLAIM_WIDTHS = (12, 15, 29)
"""Widths of a terminal's columns before the outcome."""


def by_paper(verdicts: Iterable[Verdict]) -> list[tuple[str, list[Verdict]]]:
    """The verdicts of each paper, by its key."""
    return [(key, list(group)) for key, group in groupby(verdicts, key=lambda verdict: verdict.said.paper)]


def markdown(verdicts: Sequence[Verdict]) -> str:
    """A page: the counts, then a table of numbers and one of claims for each paper."""
    titles = {paper.key: f"{', '.join(paper.authors)}: {paper.title} ({paper.year})" for paper in papers()}
    lines = ["# Verdicts", "", f"{len(verdicts)} published numbers and claims: {words.tally(verdicts)}.", ""]
    lines += [" ".join(words.RULE.values()), ""]
    for key, of_paper in by_paper(verdicts):
        lines += [f"## {titles[key]}", "", f"{words.tally(of_paper).capitalize()}.", ""]
        for kind, head in ((Number, NUMBER_HEAD), (Claim, CLAIM_HEAD)):
            rows = [_cells(verdict) for verdict in of_paper if isinstance(verdict.said, kind)]
            lines += _pipe_table(head, rows) if rows else []
    return "\n".join(lines).rstrip() + "\n"


def _cells(verdict: Verdict) -> list[str]:
    said, remark = verdict.said, words.remark(verdict)
    number = isinstance(said, Number)
    where = said.item if number else said.quote[:1].upper() + said.quote[1:]
    cells = [verdict.outcome.mark, where, verdict.experiment, words.title(verdict), words.published(verdict)]
    cells += [words.ours(verdict), words.difference(verdict), *([words.spreads(verdict)] if number else [])]
    return [*cells, f"{verdict.outcome.name}: {remark}" if remark else verdict.outcome.name]


def _pipe_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    table = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return [f"| {' | '.join(row)} |" for row in table] + [""]


def comma_separated(verdicts: Sequence[Verdict]) -> str:
    """One row for each verdict, without its evidence."""
    rows = [
        {
            "id": verdict.id,
            "paper": verdict.said.paper,
            "item": verdict.said.item,
            "kind": "number" if isinstance(verdict.said, Number) else "claim",
            "experiments": " ".join(verdict.experiments),
            "text": words.title(verdict),
            "quote": verdict.said.quote,
            "published": words.published(verdict),
            "ours": words.ours(verdict),
            "difference": words.difference(verdict),
            "in_spreads": "" if verdict.in_spreads is None else f"{verdict.in_spreads:.3g}",
            "runs": min((one.interval.runs for one in verdict.evidence), default=""),
            "state": verdict.state.name,
            "deviation": verdict.deviation,
            "note": words.reason(verdict.reason),
        }
        for verdict in verdicts
    ]
    return pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")


FORMATS: dict[str, Callable[[Sequence[Verdict]], str]] = {"markdown": markdown, "csv": comma_separated}


def write_verdicts(verdicts: Sequence[Verdict], folder: Path | str) -> list[Path]:
    """Write `verdicts.md` and `verdicts.csv` into a folder; returns their paths."""
    paths = [Path(folder) / "verdicts.md", Path(folder) / "verdicts.csv"]
    for path, text in zip(paths, (markdown(verdicts), comma_separated(verdicts)), strict=True):
        replace_file(path, text)
    return paths


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
        yield _columns(NUMBER_WIDTHS, [("", "published", "ours", "difference", "spreads", "")], 3, style="dim")
    for learner, group in groupby(verdicts, key=lambda verdict: words.subject(verdict) or verdict.experiment):
        of_learner = list(group)
        yield Padding(Text(learner), (0, 0, 0, 2))
        yield _columns(NUMBER_WIDTHS, [_number(verdict) for verdict in of_learner], 3)
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
            yield _columns(CLAIM_WIDTHS, [row], 4)
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
