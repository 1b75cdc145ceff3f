"""Verdicts in print: for the terminal, as markdown and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from budgetbench.verdicts.model import DOES_NOT_HOLD, HOLDS, KNOWN, NOT_RUN, Verdict, counts
from budgetbench.verdicts.published import papers
from budgetbench.verdicts.statistics import FEW, WIDER

MARK = {HOLDS: "✓", KNOWN: "≈", DOES_NOT_HOLD: "✗", NOT_RUN: "–"}

NUMBER_HEAD = ("", "Where", "Experiment", "Number", "Published", "Ours", "Difference", "In spreads", "Verdict")
CLAIM_HEAD = ("", "Where", "Experiment", "Claim", "Claimed", "Found", "Mean difference", "Verdict")

HOW = (
    "Intervals are two-sided 95 % confidence intervals over runs, paired where both sides saw the same streams. A "
    "claim holds when the interval of its mean difference, or a sign test, shows it and no single comparison "
    "refutes it. A number holds within three published standard deviations, or 0.3 percentage points or 3 % of a size "
    f"if that is more. With fewer than {FEW} runs means are compared, with tolerances widened to {WIDER:g} times that."
)


def tally_text(verdicts: Iterable[Verdict]) -> str:
    """The counts in one line."""
    found = counts(verdicts)
    words = {HOLDS: "hold", KNOWN: "known deviations", DOES_NOT_HOLD: "do not hold", NOT_RUN: "not run"}
    return ", ".join(f"{number} {words[outcome]}" for outcome, number in found.items())


def spreads_text(verdict: Verdict) -> str:
    """The difference in units of the published spread, signed."""
    return "" if verdict.in_spreads is None else f"{verdict.in_spreads:+.1f}".replace("-", "−")


def remark(verdict: Verdict) -> str:
    """What is to be said beside the outcome: the reason of a known deviation, and how the verdict was reached."""
    return " ".join(f"{text.rstrip('.')}." for text in (verdict.deviation or "", verdict.note) if text)


def markdown(verdicts: Sequence[Verdict]) -> str:
    """A page: the counts, then a table of numbers and one of claims for each paper."""
    titles = {paper.key: f"{paper.authors}: {paper.title} ({paper.year})" for paper in papers()}
    lines = ["# Verdicts", "", f"{len(verdicts)} published numbers and claims: {tally_text(verdicts)}.", "", HOW, ""]
    for key, of_paper in _by_paper(verdicts):
        lines += [f"## {titles[key]}", "", f"{tally_text(of_paper).capitalize()}.", ""]
        numbers = [verdict for verdict in of_paper if verdict.kind == "number"]
        claims = [verdict for verdict in of_paper if verdict.kind == "claim"]
        if numbers:
            lines += _pipe_table(NUMBER_HEAD, [_number_cells(verdict) for verdict in numbers])
        if claims:
            lines += _pipe_table(CLAIM_HEAD, [_claim_cells(verdict) for verdict in claims])
    return "\n".join(lines).rstrip() + "\n"


def _number_cells(verdict: Verdict) -> tuple[str, ...]:
    middle = (verdict.published, verdict.ours, verdict.difference, spreads_text(verdict))
    return (MARK[verdict.outcome], verdict.item, verdict.experiments[0], verdict.text, *middle, _outcome(verdict))


def _claim_cells(verdict: Verdict) -> tuple[str, ...]:
    middle = (verdict.published, verdict.ours, verdict.difference)
    where = verdict.quote[:1].upper() + verdict.quote[1:]
    return (MARK[verdict.outcome], where, verdict.experiments[0], verdict.text, *middle, _outcome(verdict))


def _outcome(verdict: Verdict) -> str:
    said = remark(verdict)
    return f"{verdict.outcome}: {said}" if said else verdict.outcome


def _pipe_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    table = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return [f"| {' | '.join(row)} |" for row in table] + [""]


def comma_separated(verdicts: Sequence[Verdict]) -> str:
    """One row for each verdict, without its evidence."""
    fields = ("id", "paper", "item", "kind", "experiments", "text", "quote", "published", "ours", "difference")
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*fields, "in_spreads", "runs", "state", "deviation", "note"])
    for verdict in verdicts:
        values = {name: getattr(verdict, name) for name in fields} | {"experiments": " ".join(verdict.experiments)}
        spreads = "" if verdict.in_spreads is None else f"{verdict.in_spreads:.3g}"
        runs = min((row.runs for row in verdict.evidence), default="")
        writer.writerow([*values.values(), spreads, runs, verdict.state, verdict.deviation or "", verdict.note])
    return stream.getvalue()


def text(verdicts: Sequence[Verdict], width: int = 80) -> str:
    """As on a terminal of this width, without colours."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False, highlight=False)
    print_verdicts(verdicts, console.print)
    return "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())  # type: ignore[attr-defined]


def print_verdicts(verdicts: Sequence[Verdict], show: Callable[..., None]) -> None:
    """Show what was run, by paper and item, then what was not, then the counts; fits 80 columns."""
    from rich.text import Text

    titles = {paper.key: f"{paper.authors.split(',')[0]} et al. {paper.year}: {paper.title}" for paper in papers()}
    for key, of_paper in _by_paper(verdicts):
        run = [verdict for verdict in of_paper if verdict.state != NOT_RUN]
        show(Text(titles[key], style="bold"))
        for item, of_item in groupby(run, key=lambda verdict: verdict.item):
            found = list(of_item)
            show(Text(f"\n{item}", style="bold"))
            _show_numbers([verdict for verdict in found if verdict.kind == "number"], show)
            _show_claims([verdict for verdict in found if verdict.kind == "claim"], show)
        show(Text(f"\n{tally_text(of_paper)}\n"))
    missing = sorted({name for verdict in verdicts for name in _missing(verdict)})
    if missing:
        show(Text(f"Without results: {', '.join(missing)}\n"))
    show(Text(f"{len(verdicts)} published numbers and claims: {tally_text(verdicts)}", style="bold"))


def _missing(verdict: Verdict) -> list[str]:
    return [name for name in verdict.experiments if verdict.note == f"no results of {name}"]


def _show_numbers(verdicts: Sequence[Verdict], show: Callable[..., None]) -> None:
    """Under each learner its numbers; each reason after the numbers that it is about."""
    widths = (17, 15, 13, 10, 7)
    if verdicts:
        show(_indented(_columns(widths, [("", "published", "ours", "difference", "spreads", "")], dim=True), 3))
    for learner, group in groupby(verdicts, key=_learner):
        of_learner = list(group)
        if learner:
            show(_indented(f"{learner}", 2))
        rows = [
            (
                verdict.text.rpartition(": ")[2],
                verdict.published,
                verdict.ours.replace(" %", ""),
                verdict.difference.partition(" ")[0],
                spreads_text(verdict),
                verdict,
            )
            for verdict in of_learner
        ]
        show(_indented(_columns(widths, rows), 3))
        for reason in dict.fromkeys(remark(verdict) for verdict in of_learner if _needs_reason(verdict)):
            show(_indented(reason, 4, dim=True))


def _show_claims(verdicts: Sequence[Verdict], show: Callable[..., None]) -> None:
    """Under each claim what each experiment says of it."""
    for words, of_claim in groupby(verdicts, key=lambda verdict: verdict.text):
        show(_indented(words, 2))
        for verdict in of_claim:
            row = (verdict.experiments[0], verdict.ours, verdict.difference, verdict)
            show(_indented(_columns((12, 15, 29), [row]), 4))
            if _needs_reason(verdict):
                show(_indented(remark(verdict), 6, dim=True))


def _learner(verdict: Verdict) -> str:
    """What stands above a number: the learner, or nothing above facts of an experiment."""
    return verdict.text.rpartition(": ")[0] or verdict.experiments[0]


def _needs_reason(verdict: Verdict) -> bool:
    return verdict.outcome in (KNOWN, DOES_NOT_HOLD) and bool(remark(verdict))


def _indented(shown: Any, by: int, dim: bool = False) -> Any:
    from rich.padding import Padding
    from rich.text import Text

    return Padding(Text(shown, style="dim" if dim else "") if isinstance(shown, str) else shown, (0, 0, 0, by))


def _columns(widths: Sequence[int], rows: Iterable[Sequence[str | Verdict]], dim: bool = False) -> Any:
    """Rows whose columns are at the same place in every table; the first is text, the last a verdict's outcome."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    for number, width in enumerate(widths):
        table.add_column(width=width, justify="right" if number and len(widths) > 3 else "left")
    table.add_column()
    for row in rows:
        table.add_row(*(_styled(cell) if isinstance(cell, Verdict) else Text(cell) for cell in row), style="dim" * dim)
    return table


def _styled(verdict: Verdict) -> Any:
    from rich.text import Text

    colours = {HOLDS: "green", KNOWN: "yellow", DOES_NOT_HOLD: "bold red", NOT_RUN: "dim"}
    return Text(f"{MARK[verdict.outcome]} {verdict.outcome}", style=colours[verdict.outcome])


def _by_paper(verdicts: Sequence[Verdict]) -> list[tuple[str, list[Verdict]]]:
    return [(key, list(group)) for key, group in groupby(verdicts, key=lambda verdict: verdict.paper)]


FORMATS: dict[str, Callable[[Sequence[Verdict]], str]] = {"text": text, "markdown": markdown, "csv": comma_separated}


def write_verdicts(verdicts: Sequence[Verdict], folder: Path | str) -> list[Path]:
    """Write `verdicts.md` and `verdicts.csv` into a folder; returns their paths."""
    paths = [Path(folder) / "verdicts.md", Path(folder) / "verdicts.csv"]
    for path, form in zip(paths, ("markdown", "csv"), strict=True):
        with path.open("w", encoding="utf-8", newline="") as stream:  # the same bytes on every platform
            stream.write(FORMATS[form](verdicts))
    return paths
