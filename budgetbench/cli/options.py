"""Options that several commands share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from budgetbench.cli import completing
from budgetbench.errors import RequestError, clipped

_CONFIGS = typer.Argument(
    metavar="CONFIG...",
    help="Configuration files, or names of those that come with the program (budgetbench list configs).",
    show_default=False,
    autocompletion=completing.configs,
)
Configs = Annotated[list[Path], _CONFIGS]
#: Where a command takes something else in their place.
NoConfigs = Annotated[list[Path] | None, _CONFIGS]
Results = Annotated[Path, typer.Option(envvar="BUDGETBENCH_RESULTS", metavar="DIR", help="Folder of results.")]
ResultsArgument = Annotated[
    Path,
    typer.Argument(
        metavar="[RESULTS]",
        envvar="BUDGETBENCH_RESULTS",
        help="Folder of all results, or of one experiment's.",
        autocompletion=completing.folders,
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

#: Bytes of each unit in which a memory is given.
UNITS = {"": 1, "B": 1, "kB": 1000, "MB": 1000**2, "GB": 1000**3, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}


def memory_of(text: str) -> int:
    """Bytes of a memory such as ``100kB``, ``1.5MB`` or ``64KiB``.

    Raises
    ------
    RequestError
        For what is none, or less than one byte.
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([A-Za-z]*)\s*", text)
    units = {unit.lower(): size for unit, size in UNITS.items()}
    size = float(found[1]) * units[found[2].lower()] if found and found[2].lower() in units else 0.0
    if not 1 <= size < 2**60:
        accepted = "a number with one of the units B, kB, MB, GB, KiB, MiB, GiB, such as 100kB"
        raise RequestError(f"--memory: found {clipped(text)}; accepted: {accepted}")
    return int(size)
