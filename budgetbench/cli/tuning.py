"""`budgetbench tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from budgetbench.cli import completing
from budgetbench.cli.options import Data, Mirror, Quiet, memory_of
from budgetbench.cli.output import console
from budgetbench.errors import RequestError
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from budgetbench import datasets, runner, tuning
    from budgetbench.results import formats
    from budgetbench.tuning import telling
else:
    datasets, runner, tuning = map(lazy, ("budgetbench.datasets", "budgetbench.runner", "budgetbench.tuning"))
    formats = lazy("budgetbench.results.formats")
    telling = lazy("budgetbench.tuning.telling")


def tune(
    asked: Annotated[
        str,
        typer.Argument(
            metavar="CONFIG|DATA",
            help="A configuration, a file of data, or a dataset's name.",
            show_default=False,
            autocompletion=completing.data_or_configs,
        ),
    ],
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Bytes that a model may take: 100kB, 1MB.")] = "100kB",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The configuration found. [default: NAME-tuned.yaml]")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Runs at once; -1: one for each core.")] = -1,
    data: Data = Path("data"),
    mirror: Mirror = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Another value, such as dataset.limit=500.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ALGORITHM", help="Try this learner alone; may be repeated.", autocompletion=completing.algorithms
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Find learner, width, size and parameters for a memory, by validation error, and write the configuration."""
    # Test labels play no part in it.
    size = memory_of(memory)
    experiment = tuning.question(asked, overrides or ())
    path = out or Path(f"{experiment.name}-tuned.yaml")
    if out is None and path.exists():
        raise RequestError(f"{path}: found it there already; accepted: a new file. Name one with --out.")
    cache = datasets.Cache(data, mirror, quiet=quiet)
    found = tuning.tune(experiment, size, cache, runner.Crew(jobs), only or (), quiet)
    telling.write_config(found, size, path)
    if not quiet:
        console().print(formats.rich_table(telling.shown(found, size)))
        typer.echo(f"written to {path}; to run it: budgetbench run {path}")
