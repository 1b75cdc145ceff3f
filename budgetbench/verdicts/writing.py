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

from budgetbench.errors import RequestError
from budgetbench.results.files import replace_file
from budgetbench.verdicts import words
from budgetbench.verdicts.bounds import Kept
from budgetbench.verdicts.evidence import Finding
from budgetbench.verdicts.model import EXPLAINED, FAILS, NOT_RUN, Basis, Number, Verdict
from budgetbench.verdicts.published import papers

NUMBER_HEAD = ("", "Where", "Experiment", "Number", "Published", "Ours", "Difference", "Spreads", "Within", "Verdict")
CLAIM_HEAD = (
    *("", "Where", "Experiment", "Claim", "Claimed", "Found", "Least favourable", "Corrected", "Over test sets"),
    "Verdict",
)
COMPARISON_HEAD = (
    *("Claim", "Comparison", "Runs", "Mean and interval", "p", "p (Holm)", "Outcome"),
    *("Test set adds at most", "Over test sets"),
)
APART: dict[str, tuple[Basis, ...]] = {
    "Inputs, and what is true by construction": ("input", "construction"),
    "Bounds that are proved": ("theorem",),
    "Variants": ("variant",),
}
"""Headings of what is not counted."""
BOUND_HEAD = ("Learner", "Experiment", "Runs", "What", "Ours", "Bound", "Share", "Least", "‖g‖", "D₁", "Examples")
NUMBER_WIDTHS = (17, 15, 13, 10, 7)
CLAIM_WIDTHS = (12, 15, 29)
"""Widths of a terminal's columns before the outcome."""
BOUNDS = (
    "Each row is of the run that comes nearest to its bound: beside the g that was found for which the bound is "
    "smallest, of those that its theorem admits. Share is ours over the bound, and least that of the run that is "
    "furthest below. A bound of more than there are examples says nothing."
)


def by_paper(verdicts: Iterable[Verdict]) -> list[tuple[str, list[Verdict]]]:
    """The verdicts of each paper, by its key."""
    return [(key, list(group)) for key, group in groupby(verdicts, key=lambda verdict: verdict.said.paper)]


def markdown(verdicts: Sequence[Verdict]) -> str:
    """A page: the counts, then for each paper a table of numbers, one of claims, what is not counted, and what the
    claims rest on."""
    titles = {paper.key: f"{', '.join(paper.authors)}: {paper.title} ({paper.year})" for paper in papers()}
    lines = ["# Verdicts", "", *_counted(verdicts), " ".join(words.RULE.values()), ""]
    for key, of_paper in by_paper(verdicts):
        measured = [one for one in of_paper if one.said.basis == "measured"]
        lines += [f"## {titles[key]}", "", *_counted(of_paper), *_tables(measured)]
        for heading, bases in APART.items():
            apart = [one for one in of_paper if one.said.basis in bases]
            lines += [f"### {heading}", "", *_tables(apart)] if apart else []
        bounds = [row for verdict in of_paper for row in _bounds(verdict)]
        if bounds:
            lines += ["### What the bounds allow, and ours", "", BOUNDS, "", *_pipe_table(BOUND_HEAD, bounds)]
        comparisons = [row for verdict in of_paper for row in _comparisons(verdict)]
        if comparisons:
            lines += ["### Comparisons of the claims", "", *_pipe_table(COMPARISON_HEAD, comparisons)]
    return "\n".join(lines).rstrip() + "\n"


def _counted(verdicts: Sequence[Verdict]) -> list[str]:
    measured, apart = sum(verdict.said.basis == "measured" for verdict in verdicts), words.apart(verdicts)
    counted = f"{measured} measured numbers and claims: {words.tally(verdicts)}. {words.on_one_test_set(verdicts)}"
    lines = [counted.rstrip(), ""]
    return [*lines, f"Listed apart: {apart}.", ""] if apart else lines


def _tables(verdicts: Sequence[Verdict]) -> list[str]:
    numbers, claims = ([one for one in verdicts if isinstance(one.said, Number) is wanted] for wanted in (True, False))
    lines = _pipe_table(NUMBER_HEAD, map(_number_cells, numbers)) if numbers else []
    return lines + (_pipe_table(CLAIM_HEAD, map(_claim_cells, claims)) if claims else [])


def _number_cells(verdict: Verdict) -> list[str]:
    cells = [verdict.outcome.mark, verdict.said.item, verdict.experiment, words.title(verdict)]
    cells += [words.published(verdict), words.ours(verdict), words.difference(verdict), words.spreads(verdict)]
    return [*cells, words.tolerance(verdict), _told(verdict)]


def _claim_cells(verdict: Verdict) -> list[str]:
    quote, decisive = verdict.said.quote, words.decisive(verdict)
    cells = [verdict.outcome.mark, quote[:1].upper() + quote[1:], verdict.experiment, words.title(verdict)]
    cells += [words.published(verdict), words.ours(verdict)]
    cells += [f"{decisive}: {words.difference(verdict)}" if decisive else "", verdict.corrected.name]
    return [*cells, verdict.over_test_sets.name if verdict.over_test_sets else "", _told(verdict)]


def _told(verdict: Verdict) -> str:
    """The outcome and what is to be said beside it, with links to what shows it."""
    remark = words.remark(verdict)
    told = f"{verdict.outcome.name}: {remark}" if remark else verdict.outcome.name
    return " ".join([told, *(f"[{name}]({words.reading(name)})" for name in verdict.readings)])


def _comparisons(verdict: Verdict) -> Iterator[list[str]]:
    """A row for each comparison that a claim rests on."""
    for one in verdict.evidence if isinstance(verdict.found, Finding) else ():
        if isinstance(one, Kept):
            continue
        cells = [verdict.id.partition(".")[2], words.minus_sign(one.what), str(one.interval.runs), words.amount(one)]
        cells += [words.chance(one.p), words.chance(one.adjusted), one.outcome]
        yield [*cells, words.test_set(one), one.wider.outcome if one.wider else ""]


def _bounds(verdict: Verdict) -> Iterator[list[str]]:
    """A row for each learner whose runs a bound binds."""
    for one in verdict.evidence:
        if isinstance(one, Kept):
            cells = [one.learner, verdict.experiment, str(one.interval.runs), one.measure, f"{one.counted:.0f}"]
            cells += [f"{one.bound:.0f}", f"{one.share:.3f}", f"{one.least:.3f}", f"{one.norm:.1f}", f"{one.loss:.0f}"]
            yield [*cells, str(one.rounds)]


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
            "compared": words.decisive(verdict),
            "tolerance": words.tolerance(verdict),
            "in_spreads": "" if verdict.in_spreads is None else f"{verdict.in_spreads:.3g}",
            "runs": min((one.interval.runs for one in verdict.evidence), default=""),
            "basis": verdict.said.basis,
            "state": verdict.outcome.name,
            "corrected": verdict.corrected.name,
            "over_test_sets": verdict.over_test_sets.name if verdict.over_test_sets else "",
            "explanation": words.explanation(verdict),
            "readings": " ".join(verdict.readings),
            "note": words.sentences(words.reason(verdict.reason), words.over_test_sets(verdict), *verdict.substitutes),
        }
        for verdict in verdicts
    ]
    return pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")


FORMATS: dict[str, Callable[[Sequence[Verdict]], str]] = {"markdown": markdown, "csv": comma_separated}


def write_verdicts(verdicts: Sequence[Verdict], folder: Path | str, force: bool = False) -> list[Path]:
    """Write `verdicts.md` and `verdicts.csv` into a folder; returns their paths.

    Raises
    ------
    RequestError : what is written there has verdicts that these ones do not, as fewer results are at hand; not where
        `force` is set.
    """
    paths = [Path(folder) / "verdicts.md", Path(folder) / "verdicts.csv"]
    lost = [] if force else _lost(verdicts, paths[1])
    if lost:
        raise RequestError(
            f"--write: {paths[1]} has verdicts on {', '.join(lost)}, which would become not run, as not all "
            "runs are at hand. Run what is missing, or write them all the same with --force."
        )
    for path, text in zip(paths, (markdown(verdicts), comma_separated(verdicts)), strict=True):
        replace_file(path, text)
    return paths


def _lost(verdicts: Iterable[Verdict], written: Path) -> list[str]:
    """The experiments on which there are written verdicts, and none any more."""
    if not written.is_file():
        return []
    table = pd.read_csv(written, index_col="id", keep_default_na=False)
    decided = set(table.index[table["state"] != NOT_RUN.name])
    return sorted({one.experiment for one in verdicts if one.outcome is NOT_RUN and one.id in decided})


def shown(verdicts: Sequence[Verdict]) -> RenderableType:
    """What was run, by paper and item, then what was not, then the counts."""
    return Group(*_parts(verdicts))


def _parts(verdicts: Sequence[Verdict]) -> Iterator[RenderableType]:
    titles = {paper.key: f"{paper.authors[0]} et al. {paper.year}: {paper.title}" for paper in papers()}
    for key, of_paper in by_paper(verdicts):
        yield Text(titles[key], style="bold")
        run = [verdict for verdict in of_paper if verdict.outcome is not NOT_RUN]
        for item, of_item in groupby(run, key=lambda verdict: verdict.said.item):
            yield Text(f"\n{item}", style="bold")
            found = list(of_item)
            yield from _numbers([verdict for verdict in found if isinstance(verdict.said, Number)])
            yield from _claims([verdict for verdict in found if not isinstance(verdict.said, Number)])
        yield Text(f"\nMeasured: {words.tally(of_paper)}")
        yield Text(f"{_apart(of_paper)}\n", style="dim")
    absent = {one.reason.values["experiment"] for one in verdicts if one.reason and one.reason.kind == "no_results"}
    if absent:
        yield Text(f"Without results: {', '.join(sorted(absent))}\n")
    measured = sum(verdict.said.basis == "measured" for verdict in verdicts)
    yield Text(f"{measured} measured numbers and claims: {words.tally(verdicts)}", style="bold")
    yield Text("\n".join(filter(None, (words.on_one_test_set(verdicts), _apart(verdicts)))), style="dim")


def _apart(verdicts: Sequence[Verdict]) -> str:
    apart = words.apart(verdicts)
    return f"Not counted: {apart}" if apart else ""


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
    difference = words.difference(verdict, interval=False, unit=False)
    return [*said, difference, words.spreads(verdict), _outcome(verdict)]


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
    corrected = f"Corrected for the paper's comparisons: {verdict.corrected.name}."
    told = [corrected] if verdict.corrected is not verdict.outcome else []
    if verdict.outcome in (EXPLAINED, FAILS) or verdict.substitutes:
        told.insert(0, words.remark(verdict))
    elif words.over_test_sets(verdict):
        told.insert(0, words.sentences(words.over_test_sets(verdict)))
    if verdict.readings:
        told.append(f"Shown by {', '.join(verdict.readings)}.")
    return " ".join(told)


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
