"""`budgetbench new`: a configuration to start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from budgetbench.errors import ParameterError, RequestError
from budgetbench.lazy import lazy
from budgetbench.shipped import SUFFIX, meant, schema_file

if TYPE_CHECKING:
    from budgetbench.config import language, starting
else:
    language, starting = lazy("budgetbench.config.language"), lazy("budgetbench.config.starting")


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is to be called.", show_default=False)],
    source: Annotated[
        str, typer.Option("--from", metavar="CONFIG", help="A configuration, by path or name, that it is made from.")
    ] = "quickstart",
) -> None:
    """Write a configuration to edit, with every key explained."""
    name = name.removesuffix(SUFFIX)
    path = Path(f"{name}{SUFFIX}")
    try:
        language.KEYS["name"].checked(name)
    except ParameterError as error:
        raise RequestError(str(error)) from None
    if path.exists():
        raise RequestError(f"{path}: found it there already; accepted: the name of a new one")
    text = starting.started(meant(source), name, schema_file().as_uri())
    path.write_text(text, encoding="utf-8")
    typer.echo(f"written to {path}; to run it: budgetbench run {name}")
