"""`budgetbench report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from budgetbench.cli.options import Quiet, ResultsArgument
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from budgetbench import report as reports
else:
    reports = lazy("budgetbench.report")


def report(
    results: ResultsArgument = Path("results"),
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page. [default: report.html in RESULTS]")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write one self-contained HTML page: verdicts, figures, tables, configurations and provenance."""
    path = reports.write_report(results, out)
    if not quiet:
        typer.echo(path)
