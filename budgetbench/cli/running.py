"""`budgetbench run`."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from budgetbench.cli.showing import print_table
from budgetbench.config import load, restricted
from budgetbench.datasets import Cache, datasets
from budgetbench.errors import BudgetbenchError, RequestError
from budgetbench.experiment import Experiment
from budgetbench.runner import Outcome, run_experiment


def run_all(
    configs: Sequence[Path],
    *,
    results: Path,
    data: Path,
    mirror: str | None,
    permutations: int | None,
    overrides: Sequence[str],
    only: Sequence[str],
    skip: Sequence[str],
    dry: bool,
    quiet: bool,
    **how: Any,
) -> None:
    """Run each configuration; one that fails does not stop the others. All are checked before the first is run."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` has it
            signal.signal(number, _end)
    atexit.register(_heed_no_more)
    experiments = [load(path, overrides, permutations) for path in configs]
    _refuse_shared_folders(configs, experiments)
    for experiment in experiments:
        restricted(experiment, only)
    left_out = {datasets[name].name for name in skip}
    cache = Cache(data, mirror, quiet=quiet)
    problems: list[str] = []
    exit_code = 2
    for experiment in experiments:
        if experiment.dataset.name in left_out:
            typer.echo(f"{experiment.name}: left out, as its dataset {experiment.dataset.name} is to be skipped")
            continue
        try:
            outcome = run_experiment(experiment, cache, results, only=only, dry=dry, quiet=quiet, **how)
        except BudgetbenchError as error:
            if len(experiments) == 1:
                raise
            problems.append(f"{experiment.name}: {error}")
            exit_code = min(exit_code, error.exit_code)
            continue
        failures = _report(experiment, outcome, dry, quiet)
        problems += failures
        exit_code = 1 if failures else exit_code
    if problems:
        raise (RequestError if exit_code == 2 else BudgetbenchError)("\n".join(problems))


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
    if number == signal.SIGHUP:  # a closed terminal takes no more words
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            if stream.isatty():
                os.dup2(nowhere, stream.fileno())
    raise SystemExit(128 + number)


def _heed_no_more() -> None:
    """When all is written, a signal ends the program at once, and not in the middle of Python's own last steps."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _report(experiment: Experiment, outcome: Outcome, dry: bool, quiet: bool) -> list[str]:
    """Say what was done; the failures as one message."""
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
