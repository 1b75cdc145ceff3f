"""`budgetbench run`, and `merge` for what several machines have run."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from budgetbench import system
from budgetbench.cli import completing
from budgetbench.cli.options import Data, Mirror, NoConfigs, Quiet, Results
from budgetbench.cli.sharing import compare
from budgetbench.cli.showing import print_table
from budgetbench.errors import BudgetbenchError, RequestError
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from budgetbench import config, datasets, runner, sharing
    from budgetbench.experiment import Experiment
else:
    names = "config", "datasets", "runner", "sharing"
    config, datasets, runner, sharing = (lazy(f"budgetbench.{name}") for name in names)


def run(
    configs: NoConfigs = None,
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
        list[str] | None,
        typer.Option(
            metavar="ALGORITHM",
            help="Run this algorithm alone; may be repeated.",
            autocompletion=completing.algorithms,
        ),
    ] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DATASET", help="Leave out experiments on it; may be repeated.", autocompletion=completing.data
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what was done before.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what is done and what is to run.")] = False,
    backend: Annotated[Literal["loky", "threading", "dask"], typer.Option(help="How the workers are run.")] = "loky",
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of the scheduler, with --backend dask.")
    ] = None,
    gram_limit: Annotated[
        float | None,
        typer.Option(metavar="GB", min=0, help="Largest Gram matrix, where it pays. [default: a quarter of memory]"),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="End a run that takes longer; it has failed. [default: no limit]"),
    ] = None,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Do the I-th of N parts alone, such as 3/20; see merge.")
    ] = None,
    save_every: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0, help="Save the learners of a stream so often, to go on from there."),
    ] = 60.0,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="PACK", help="In place of CONFIG: run what was packed, and compare the numbers."
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Run experiments, as far as they are not done yet, and show their tables."""
    # One that fails does not stop the others; all are checked before the first is run.
    crew = runner.Crew(jobs, backend, None if gram_limit is None else gram_limit * 1e9, timeout, scheduler, save_every)
    part = None if shard is None else runner.Shard.read(shard)
    for number in system.ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` has it
            signal.signal(number, _end)
    atexit.register(_heed_no_more)
    pack = None if from_ is None else sharing.read(from_)
    _refuse_two_sources(configs, overrides, from_)
    if pack is None:
        experiments = [config.load(path, overrides or (), permutations) for path in configs or ()]
        _refuse_shared_folders(configs or (), experiments)
    else:
        experiments = [pack.experiment(permutations)]
    for experiment in experiments:
        config.restricted(experiment, only or ())
    left_out = {datasets.datasets[name].name for name in skip or ()}
    cache = datasets.Cache(data, mirror, quiet=quiet)
    problems: list[str] = []
    exit_code = 2
    for experiment in experiments:
        if experiment.dataset.name in left_out:
            typer.echo(f"{experiment.name}: left out, as its dataset {experiment.dataset.name} is to be skipped")
            continue
        try:
            outcome = runner.run_experiment(
                experiment, cache, results, crew, only=only or (), fresh=fresh, dry=dry_run, quiet=quiet, shard=part
            )
        except BudgetbenchError as error:
            if len(experiments) == 1:
                raise
            problems.append(f"{experiment.name}: {error}")
            exit_code = min(exit_code, error.exit_code)
            continue
        failures = _report(outcome, dry_run, quiet)
        if pack and not dry_run:
            failures += compare(pack, outcome, in_part=bool(permutations or only or shard), quiet=quiet)
        problems += failures
        exit_code = 1 if failures else exit_code
    if problems:
        raise (RequestError if exit_code == 2 else BudgetbenchError)("\n".join(problems))


def _refuse_two_sources(configs: Sequence[Path] | None, overrides: Sequence[str] | None, pack: Path | None) -> None:
    """What is run stands in configurations or in a pack."""
    if pack is None and not configs:
        raise RequestError(
            "CONFIG: found nothing; accepted: configurations, or --from PACK. See: budgetbench list configs"
        )
    if pack is not None and (configs or overrides):
        found = ", ".join(map(str, configs or ())) or f"--set {(overrides or [''])[0]}"
        raise RequestError(f"--from: found {found} beside it; accepted: the pack alone, which says what is run.")


def _refuse_shared_folders(configs: Sequence[Path], experiments: Sequence[Experiment]) -> None:
    """Two experiments of one name would write into one folder; some systems take capitals for small letters."""
    first: dict[str, Path] = {}
    for path, experiment in zip(configs, experiments, strict=True):
        folder = experiment.name.casefold()
        if folder in first:
            message = f"{first[folder]}, {path}: found the name {experiment.name} in both; accepted: a name of its own"
            raise RequestError(f"{message} for each, as results are kept under it. Or run them with two --results.")
        first[folder] = path


def _end(number: int, frame: object) -> None:
    """Let what was made for the workers be removed when a batch system ends the program, or its terminal is closed."""
    if number == system.HANGUP:  # a closed terminal takes no more words
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            if stream.isatty():
                os.dup2(nowhere, stream.fileno())
    raise SystemExit(128 + number)


def _heed_no_more() -> None:
    """When all is written, a signal ends the program at once, and not in the middle of Python's own last steps."""
    for number in (signal.SIGINT, *system.ENDING):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _report(outcome: runner.Outcome, dry: bool, quiet: bool) -> list[str]:
    """Say what was done; the failures as one message."""
    experiment = outcome.experiment
    if dry:
        typer.echo(f"{experiment.name}: {outcome.done} runs done, {outcome.missing.total()} to run")
        for name, count in outcome.missing.items():
            typer.echo(f"  {name}: {count}")
        return []
    if not quiet:
        print_table(outcome.folder)
        typer.echo(f"{outcome.ran} runs done now, {outcome.done} before; written to {outcome.folder}")
        typer.echo(f"Figures: budgetbench plot {outcome.folder}")
    if not outcome.failed:
        return []
    shown = "\n".join(f"  {error}" for error in outcome.errors[:5])
    more = f"\n  and {outcome.failed - 5} more" if outcome.failed > 5 else ""
    return [f"{experiment.name}: {outcome.failed} of {outcome.ran} runs failed:\n{shown}{more}"]


def merge(
    sources: Annotated[
        list[Path],
        typer.Argument(
            metavar="A B...",
            help="Folders of results, such as those of shards.",
            show_default=False,
            autocompletion=completing.folders,
        ),
    ],
    into: Annotated[Path, typer.Option("--into", metavar="C", help="Folder that they are put together in.")],
    quiet: Quiet = False,
) -> None:
    """Put folders of results together; what is in C already stays."""
    for merged in runner.merge(sources, into):
        if quiet:
            continue
        planned = "" if merged.planned is None else f" of {merged.planned}"
        typer.echo(f"{merged.folder.name}: {merged.runs}{planned} runs done; written to {merged.folder}")
