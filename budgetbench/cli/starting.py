"""`budgetbench new` and `schema`: a configuration to start from, and what editors need to know of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from budgetbench.cli import completing
from budgetbench.errors import ParameterError, RequestError
from budgetbench.lazy import lazy
from budgetbench.shipped import SUFFIX, meant, schema_file

if TYPE_CHECKING:
    from budgetbench.config import language, schemas, starting
else:
    language, schemas, starting = (lazy(f"budgetbench.config.{name}") for name in ("language", "schemas", "starting"))


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is to be called.", show_default=False)],
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="CONFIG",
            help="A configuration, by path or name, that it is made from.",
            autocompletion=completing.configs,
        ),
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


def schema() -> None:
    """Print the JSON Schema of a configuration, for editors that complete and check while you type."""
    typer.echo(json.dumps(schemas.schema(), indent=1, ensure_ascii=False).encode())  # UTF-8, whatever the terminal has
