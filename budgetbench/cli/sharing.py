"""The commands that give results to others: `cite` and `pack`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from budgetbench.cli.options import ResultsArgument
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from budgetbench import sharing
else:
    sharing = lazy("budgetbench.sharing")


def cite(results: ResultsArgument = Path("results")) -> None:
    """Print BibTeX of the papers, datasets and programs that results make use of."""
    typer.echo(sharing.cite(results), nl=False)
