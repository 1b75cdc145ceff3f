"""Verdicts in files: as Markdown and as CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path

import pandas as pd

from budgetbench.verdicts import words
from budgetbench.verdicts.model import Claim, Number, Verdict
from budgetbench.verdicts.published import papers

NUMBER_HEAD = ("", "Where", "Experiment", "Number", "Published", "Ours", "Difference", "In spreads", "Verdict")
CLAIM_HEAD = ("", "Where", "Experiment", "Claim", "Claimed", "Found", "Mean difference", "Verdict")


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
    texts = {"verdicts.md": markdown(verdicts), "verdicts.csv": comma_separated(verdicts)}
    for name, text in texts.items():
        with (Path(folder) / name).open("w", encoding="utf-8", newline="") as stream:  # the same bytes everywhere
            stream.write(text)
    return [Path(folder) / name for name in texts]
