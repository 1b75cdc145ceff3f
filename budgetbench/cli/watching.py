"""The command that shows runs as they end."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from budgetbench.cli.options import ResultsArgument
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from budgetbench import watch as watching
else:
    watching = lazy("budgetbench.watch")


def watch(
    results: ResultsArgument = Path("results"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where the page is; 0 for any port that is free.")] = 8765,
) -> None:
    """Show runs as they end on a page of this machine alone, until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        watching.serve(results, port, lambda address: typer.echo(f"{address} shows {results}; Ctrl-C ends it"))
