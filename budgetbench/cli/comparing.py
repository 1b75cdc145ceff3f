"""The command that compares learners over datasets."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from budgetbench.cli.options import Quiet, ResultsArgument, memory_of
from budgetbench.cli.output import console
from budgetbench.errors import RequestError, nearest, shown
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from budgetbench import archive, comparison
    from budgetbench.results import formats, measures
else:
    archive, comparison = lazy("budgetbench.archive"), lazy("budgetbench.comparison")
    formats, measures = lazy("budgetbench.results.formats"), lazy("budgetbench.results.measures")


EXAMPLES = re.compile(r"\s*([1-9][0-9]{0,8})\s*examples?\s*")


def _memory(text: str) -> comparison.Memory:
    examples = EXAMPLES.fullmatch(text)
    return comparison.Memory(int(examples[1]), examples=True) if examples else comparison.Memory(memory_of(text))


def compare(
    results: ResultsArgument = Path("results"),
    measure: Annotated[str, typer.Option(metavar="MEASURE", help="The error that is compared.")] = "test_error",
    memory: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE",
            help="What a model may take: 100kB; or 80examples, as much as these take on each dataset, with their "
            "coefficients. [default: 1, 4, 16, ... kB]",
        ),
    ] = None,
    select: Annotated[
        Literal["validation_error", "online_error", "test_error"] | None,
        typer.Option(help="What chooses parameters. [default: validation_error, or else online_error]"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the files go. [default: compare in RESULTS]")
    ] = None,
    form: Annotated[
        Literal["text", "markdown", "latex", "csv"], typer.Option("--format", help="How the table is written.")
    ] = "text",
    quiet: Quiet = False,
) -> None:
    """Compare learners over several datasets at equal memory: ranks, tests, a critical-difference figure."""
    known = measures.ERRORS
    if measure not in known:
        hint = nearest(measure, known)
        raise RequestError(f"--measure: found {shown(measure)}; accepted: {', '.join(known)}. {hint}".rstrip())
    sizes = sorted({_memory(text) for text in memory or ()}, key=lambda size: (size.examples, size.amount))
    criteria = (select,) if select else comparison.CRITERIA
    read = list(archive.each(archive.experiment_folders(results), archive.read_results))
    report = comparison.compare(read, measure, sizes, criteria)
    if not quiet:
        if form == "text":
            screen, table = console(), comparison.table(report)
            screen.print(formats.fitting(replace(table, notes=table.notes[:1]), screen.width))
            for finding in table.notes[1:]:
                typer.echo(finding)
            typer.echo()
        else:
            typer.echo(comparison.FORMATS[form](report), nl=False)
    for path in comparison.write(report, out or results / "compare"):
        if not quiet:
            typer.echo(path, err=form != "text")
