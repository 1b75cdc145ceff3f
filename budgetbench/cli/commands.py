"""The commands. Each is a short call of the library, which is imported when the command runs."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from budgetbench.cli.options import Configs, Data, Mirror, Quiet, Results, ResultsArgument
from budgetbench.cli.reporting import report
from budgetbench.errors import RequestError
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from budgetbench import archive
    from budgetbench.cli import checking, running, showing
else:
    archive = lazy("budgetbench.archive")
    checking, running, showing = (lazy(f"budgetbench.cli.{name}") for name in ("checking", "running", "showing"))


class Backend(str, Enum):
    """How workers are run."""

    loky = "loky"
    threading = "threading"
    dask = "dask"


class Format(str, Enum):
    """How a table is written."""

    text = "text"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"


class VerdictFormat(str, Enum):
    """How verdicts are written."""

    text = "text"
    markdown = "markdown"
    csv = "csv"


class Kind(str, Enum):
    """What can be listed."""

    algorithms = "algorithms"
    datasets = "datasets"
    kernels = "kernels"
    configs = "configs"


def run(
    configs: Configs,
    jobs: Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Runs at once; -1: one for each core.")] = -1,
    results: Results = Path("results"),
    data: Data = Path("data"),
    mirror: Mirror = None,
    permutations: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Number of runs, in place of the configuration's.")
    ] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Another value, such as dataset.limit=500.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="ALGORITHM", help="Run this algorithm alone; may be repeated.")
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option(metavar="DATASET", help="Leave out experiments on it; may be repeated.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what was done before.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is done and what is to run.")] = False,
    backend: Annotated[Backend, typer.Option(help="How the workers are run.")] = Backend.loky,
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Of a dask scheduler.")] = None,
    gram_limit: Annotated[
        float | None,
        typer.Option(metavar="GB", min=0, help="Largest Gram matrix to keep. [default: a quarter of the memory]"),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="End a run that takes longer; it has failed. [default: no limit]"),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Run experiments, as far as they are not done yet, and show their tables."""
    if backend is Backend.dask or scheduler is not None:
        raise RequestError(
            "--backend dask: not available in this version; accepted: loky, threading. Leave the option out to use "
            "all cores of this machine."
        )
    running.run_all(
        configs,
        jobs=jobs,
        results=results,
        data=data,
        mirror=mirror,
        permutations=permutations,
        overrides=overrides or [],
        only=only or [],
        skip=skip or [],
        fresh=fresh,
        dry=dry_run,
        backend=backend.value,
        gram_limit=None if gram_limit is None else gram_limit * 1e9,
        timeout=timeout,
        quiet=quiet,
    )


def plot(results: ResultsArgument = Path("results"), quiet: Quiet = False) -> None:
    """Draw the figures of all experiments, or of one."""
    for path in archive.plot_results(results):
        if not quiet:
            typer.echo(path)


def table(
    results: ResultsArgument = Path("results"),
    form: Annotated[Format, typer.Option("--format", help="How the tables are written.")] = Format.text,
) -> None:
    """Show the tables of all experiments, or of one."""
    showing.show_tables(results, form.value)


def check(
    results: ResultsArgument = Path("results"),
    form: Annotated[VerdictFormat, typer.Option("--format", help="How the verdicts are written.")] = VerdictFormat.text,
    write: Annotated[bool, typer.Option("--write", help="Write verdicts.md and verdicts.csv there.")] = False,
) -> None:
    """Set every published number and claim beside our results; exit 1 when one does not hold for no known reason."""
    checking.check_results(results, form.value, write)


def fetch(
    names: Annotated[list[str] | None, typer.Argument(metavar="[DATASET]...", show_default=False)] = None,
    everything: Annotated[bool, typer.Option("--all", help="Fetch every dataset.")] = False,
    data: Data = Path("data"),
    mirror: Mirror = None,
    quiet: Quiet = False,
) -> None:
    """Download datasets, check them and keep them."""
    showing.fetch_datasets(names or [], everything, data, mirror, quiet)


def validate(configs: Configs) -> None:
    """Check configurations without running them."""
    showing.validate_configs(configs)


def list_(
    kind: Annotated[Kind, typer.Argument(help="What to list.", show_default=False)],
    data: Data = Path("data"),
    configs: Annotated[Path, typer.Option(metavar="DIR", help="Folder of configurations.")] = Path("configs"),
) -> None:
    """List what configurations can name: algorithms, datasets, kernels; or the configurations themselves."""
    showing.show_list(kind.value, data, configs)


COMMANDS: dict[str, Callable[..., None]] = {
    "run": run,
    "plot": plot,
    "table": table,
    "check": check,
    "report": report,
    "fetch": fetch,
    "list": list_,
    "validate": validate,
}
