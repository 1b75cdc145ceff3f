"""`budgetbench inspect`: what is in a file, and a configuration to start from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from budgetbench.cli.output import console
from budgetbench.document import dump
from budgetbench.errors import RequestError
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    import numpy as np
    from rich import table as tables

    from budgetbench.datasets import columns, survey
else:
    np = lazy("numpy")
    tables, columns, survey = map(lazy, ("rich.table", "budgetbench.datasets.columns", "budgetbench.datasets.survey"))

#: Rows of which a fifth is kept for testing; of more, so many are.
MOST_TESTED = 10_000
BUDGETS = (10, 30, 100)
#: Columns and classes that are shown.
MOST_SHOWN = 60


def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table or another file of yours.", show_default=False)],
    label: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The label: name or position from 0. [default: looked for]")
    ] = None,
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line names the columns.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="CONFIG", help="Write the configuration there.")] = None,
) -> None:
    """Show a file's columns, classes and gaps, and a configuration to start from."""
    if out is not None and out.exists():
        raise RequestError(f"--out: {out} is there already; accepted: a new file")
    wanted = int(label) if label is not None and re.fullmatch(r"-?\d+", label) else label
    found = survey.survey(file, wanted, header)
    config = start(found)
    say(found)
    if out is not None:
        out.write_text(dump(config), encoding="utf-8")
        typer.echo(f"A configuration to start from: {out}\nbudgetbench run {out}")
    else:
        typer.echo(f"A configuration to start from (--out FILE writes it):\n\n{dump(config)}", nl=False)


def say(found: survey.Survey) -> None:
    """Print what is in a file."""
    named = "" if found.label is None else f", and the label {found.label}"
    typer.echo(f"{found.path}: {found.kind}, {found.n} rows with {found.d} inputs{named}\n")
    if found.sheet is not None:
        shown = tables.Table(box=None, pad_edge=False, header_style="bold")
        for header in ("column", "holds", "different", "missing", "values"):
            shown.add_column(header, overflow="fold", justify="right" if header in ("different", "missing") else "left")
        identifiers = found.identifiers
        for j, column in enumerate(found.sheet.columns[:MOST_SHOWN]):
            name = column.name if found.sheet.named else str(column.key)
            shown.add_row(name, *_row(column, found.sheet.X[:, j], column in identifiers))
        console().print(shown)
        if found.d > MOST_SHOWN:
            typer.echo(f"and {found.d - MOST_SHOWN} more columns")
        typer.echo()
    counts = [f"{name} {count}" for name, count in list(found.classes.items())[:MOST_SHOWN]]
    more = f" and {len(found.classes) - MOST_SHOWN} more" if len(found.classes) > MOST_SHOWN else ""
    typer.echo(f"{len(found.classes)} classes: {', '.join(counts)}{more}")
    if found.unlabelled:
        typer.echo(f"{found.unlabelled} rows have no label")
    typer.echo()


def _row(column: columns.Column, values: columns.Numbers, identifies: bool) -> tuple[str, ...]:
    """What a column holds, in words."""
    known = values[~np.isnan(values)]
    holds = f"{column.kind}, an identifier?" if identifies else column.kind
    if not column.usable:
        return holds, "", "", "" if column.first is None else column.first[1][:40]
    if column.words:
        told = ", ".join(word[:20] for word in column.words[:4]) + ", …" * (len(column.words) > 4)
    else:
        told = f"{known.min():g} to {known.max():g}"
    missing = len(values) - len(known)
    return holds, str(len(np.unique(known))), str(missing) if missing else "", told


def start(found: survey.Survey) -> dict[str, Any]:
    """A configuration, as plain data, that runs on the file."""
    dataset: dict[str, Any] = {"name": found.kind, "path": str(found.path)}
    n, inputs = found.n, found.d
    if found.sheet is not None:
        handling, n, inputs = _handling(found, found.sheet)
        dataset |= {"label": found.label} | ({} if found.header is None else {"header": found.header}) | handling
    tested = min(n // 5, MOST_TESTED)
    if tested < 1 or len(found.classes) < 2:
        what = f"{n} rows of {len(found.classes)} classes"
        raise RequestError(f"{found.path}: {what}; accepted: five rows or more, of two classes or more. See --label")
    dataset |= {"scale": "unit"} if found.sparse else {"scale": "standard"} if found.to_scale else {}
    dataset |= {"train_size": n - tested, "test_size": tested}
    budgets = [budget for budget in BUDGETS if budget < n - tested] or [1]
    several = len(found.classes) > 2
    return {
        "name": re.sub(r"[^A-Za-z0-9_-]+", "_", found.path.stem).strip("_-")[:60] or "mine",
        "dataset": dataset,
        "kernel": {"name": "rbf", "gamma": 0.5 if found.sparse else float(f"{0.5 / inputs:.2g}")},
        "permutations": 5,
        "algorithms": [
            *([{"name": "mira", "size": "unlimited"}] if several else [{"name": "perceptron"}]),
            {"name": "mira", "size": "fixed", "budget": budgets}
            if several
            else {"name": "forgetron", "budget": budgets},
            *([] if several else [{"name": "tighter_budget_perceptron", "budget": list(budgets)}]),
            {"name": "multiclass_svm" if several else "svm", "C": 1},
        ],
    }


def _handling(found: survey.Survey, sheet: columns.Sheet) -> tuple[dict[str, Any], int, int]:
    """What is to be said of columns that are no numbers, and how many rows and inputs that leaves."""
    identifiers = found.identifiers
    dropped = [column for column in sheet.columns if not column.usable or column in identifiers]
    kept = [j for j, column in enumerate(sheet.columns) if column not in dropped]
    if not kept:
        raise RequestError(f"{found.path}: no column is left as an input: each is a date, a text or an identifier")
    handling: dict[str, Any] = {"drop": [column.key for column in dropped]} if dropped else {}
    gaps = np.isnan(sheet.X[:, kept]).any(axis=1)
    n = found.n
    if found.unlabelled:  # rows without a label can only be dropped, and then go with all others that have gaps
        handling["missing"], n = "drop", int((found.labelled & ~gaps).sum())
    elif gaps.any():
        handling["missing"] = "mean"
    if any(sheet.columns[j].words for j in kept):
        handling["categorical"] = "onehot"
    return handling, n, sum(len(sheet.columns[j].words) or 1 for j in kept)
