"""The commands that give results to others, and what `run --from` says of a pack beside what came of it here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from budgetbench.cli import completing
from budgetbench.cli.options import Quiet, ResultsArgument
from budgetbench.cli.output import console
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from rich import table as tables
    from rich import text as texts

    from budgetbench import runner, sharing
else:
    sharing, tables, texts = map(lazy, ("budgetbench.sharing", "rich.table", "rich.text"))

#: Runs with other numbers that are shown; the others are counted.
MOST_SHOWN = 10


def cite(results: ResultsArgument = Path("results")) -> None:
    """Print BibTeX of the papers, datasets and programs that results make use of."""
    typer.echo(sharing.cite(results), nl=False)


def pack(
    experiment: Annotated[
        Path,
        typer.Argument(
            metavar="EXPERIMENT", help="Folder of its results.", show_default=False, autocompletion=completing.folders
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where it goes. [default: NAME.zip in this folder]")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Put an experiment into one file, without its data, that others run and compare with: run --from FILE."""
    packed = sharing.pack(experiment, out)
    if not quiet:
        failed = f" ({packed.failed} that failed are left out)" if packed.failed else ""
        typer.echo(f"{packed.runs} runs{failed}, configuration, provenance and references; written to {packed.path}")
        typer.echo("Data files are not in it, their fingerprint is. Reproduce it: budgetbench run --from FILE")


def compare(pack: sharing.Pack, outcome: runner.Outcome, in_part: bool, quiet: bool) -> list[str]:
    """Say what differs between a pack and what came of it here; what is wrong with that as one message.

    in_part : not all that was packed was to be run.
    """
    found = sharing.reproduced(pack, outcome.folder, outcome.experiment)
    different, compared = len(found.differing), found.equal + len(found.differing)
    if not quiet:
        if outcome.done:
            typer.echo(f"{outcome.done} runs were in {outcome.folder} before; --fresh makes them again.")
        more = [f"{found.absent} of the pack were not run here"] * bool(found.absent)
        more += [f"{found.beyond} are not in the pack"] * bool(found.beyond)
        typer.echo(
            f"{', '.join([f'{compared} runs compared: {found.equal} with the same numbers, {different} not', *more])}."
        )
        if found.otherwise:
            typer.echo(f"{found.otherwise} have other keys; found by algorithm, parameters, run and seed.")
        for difference in found.differing[:MOST_SHOWN]:
            typer.echo(f"  {difference}")
        if different > MOST_SHOWN:
            typer.echo(f"  and {different - MOST_SHOWN} more")
        _explain(found)
    if different:
        return [f"{outcome.experiment.name}: {different} of {compared} runs have other numbers than in {pack.path}"]
    if not compared or (found.absent and not in_part):
        return [f"{outcome.experiment.name}: {found.absent} runs of {pack.path} have none here to compare with"]
    return []


def _explain(found: sharing.Reproduction) -> None:
    """What differs of data, program and machine, side by side."""
    if not found.environment:
        why = ": neither data, versions nor machine explain the numbers" if found.differing else ""
        typer.echo(f"Data, program and machine are the same, as far as they are told{why}.")
        return
    if found.differing:
        typer.echo("The data are not the same, which may explain all:" if found.other_data else "What may be why:")
    else:
        typer.echo("What differs otherwise:")
    shown = tables.Table(box=None, pad_edge=False, header_style="bold")
    for header in ("", "in the pack", "here"):
        shown.add_column(header, overflow="fold")
    for row in found.environment:
        shown.add_row(*map(texts.Text, row))
    console().print(shown)
