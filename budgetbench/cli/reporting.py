"""`budgetbench report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from budgetbench.cli.options import Quiet, ResultsArgument


def report(
    results: ResultsArgument = Path("results"),
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page. [default: report.html in RESULTS]")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write one self-contained HTML page: verdicts, figures, tables, configurations and provenance."""
    from budgetbench.report import write_report

    path = write_report(results, out)
    if not quiet:
        typer.echo(path)
