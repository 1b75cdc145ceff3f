"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Configs = Annotated[list[Path], typer.Argument(metavar="CONFIG...", help="Configuration files.", show_default=False)]
Results = Annotated[Path, typer.Option(envvar="BUDGETBENCH_RESULTS", metavar="DIR", help="Folder of results.")]
ResultsArgument = Annotated[
    Path,
    typer.Argument(
        metavar="[RESULTS]", envvar="BUDGETBENCH_RESULTS", help="Folder of all results, or of one experiment's."
    ),
]
Data = Annotated[Path, typer.Option(envvar="BUDGETBENCH_DATA", metavar="DIR", help="Folder of dataset files.")]
Mirror = Annotated[
    str | None,
    typer.Option(
        envvar="BUDGETBENCH_MIRROR",
        metavar="DIR_OR_URL",
        help="Holds <dataset>/<file>; asked before the public sources.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
