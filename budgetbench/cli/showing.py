"""The commands that show, check and fetch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from budgetbench.cli import completing
from budgetbench.cli.options import Configs, Data, Mirror, Quiet, ResultsArgument
from budgetbench.cli.output import console
from budgetbench.errors import BudgetbenchError, RequestError
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from rich import table as tables

    from budgetbench import archive, comparators, config, datasets, kernels, learners, packages, streams, verdicts
    from budgetbench import report as reports
    from budgetbench import results as recorded
    from budgetbench.results import formats, selection
    from budgetbench.verdicts import words, writing
else:
    names = "archive", "comparators", "config", "datasets", "kernels", "learners", "packages", "streams", "verdicts"
    ours = (lazy(f"budgetbench.{name}") for name in names)
    archive, comparators, config, datasets, kernels, learners, packages, streams, verdicts = ours
    reports, recorded, formats = map(lazy, ("budgetbench.report", "budgetbench.results", "budgetbench.results.formats"))
    words, writing = lazy("budgetbench.verdicts.words"), lazy("budgetbench.verdicts.writing")
    tables, selection = lazy("rich.table"), lazy("budgetbench.results.selection")


def plot(results: ResultsArgument = Path("results"), quiet: Quiet = False) -> None:
    """Draw the figures of all experiments, or of one."""
    for path in archive.plot_results(results):
        if not quiet:
            typer.echo(path)


def table(
    results: ResultsArgument = Path("results"),
    form: Annotated[
        Literal["text", "markdown", "latex", "csv"], typer.Option("--format", help="How the tables are written.")
    ] = "text",
) -> None:
    """Show the tables of all experiments, or of one."""
    # What a program reads on has one header: one table of all experiments, which it names.
    named = archive.each(archive.experiment_folders(results), lambda folder: (folder.name, _table(folder)))
    if form in ("latex", "csv"):
        tables = dict(named)
        shown = recorded.joined(tables) if len(tables) > 1 else next(iter(tables.values()))
        typer.echo(formats.FORMATS[form](shown), nl=False)
        return
    screen = console()
    for number, (_, shown) in enumerate(named):
        if number:
            typer.echo()
        if form == "text":
            screen.print(formats.fitting(shown, screen.width))
        else:
            typer.echo(formats.document(shown), nl=False)


def print_table(folder: Path) -> None:
    """One experiment's table on the terminal, with its title and notes."""
    screen = console()
    screen.print(formats.fitting(_table(folder), screen.width))


def _table(folder: Path) -> recorded.Table:
    results = archive.read_results(folder)
    return recorded.table(results.summary, results.experiment)


def check(
    results: ResultsArgument = Path("results"),
    form: Annotated[
        Literal["text", "markdown", "csv"], typer.Option("--format", help="How the verdicts are written.")
    ] = "text",
    write: Annotated[bool, typer.Option("--write", help="Write verdicts.md and verdicts.csv there.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also where verdicts that are written there become not run.")
    ] = False,
) -> None:
    """Set every published number and claim beside our results; exit 1 when one fails and that is not explained, or
    cannot be told from the runs of its experiments."""
    found = verdicts.check(results)
    if form == "text":
        console().print(writing.shown(found))
    else:
        typer.echo(writing.FORMATS[form](found), nl=False)
    for path in verdicts.write_verdicts(found, results, force) if write else []:
        typer.echo(f"written to {path}", err=True)
    failed = verdicts.failures(found)
    if failed:
        listed = "\n".join(f"  {verdict.id}: {words.title(verdict)}{_failed(verdict)}" for verdict in failed)
        what = f"{len(failed)} of {len(found)} published numbers and claims"
        raise BudgetbenchError(f"{what} fail, hold and are explained away, or cannot be told from the runs:\n{listed}")


def _failed(verdict: verdicts.Verdict) -> str:
    said = words.reason(verdict.reason) if verdict.unanswered else words.explanation(verdict)
    return f" {said[:1].upper()}{said[1:]}." if said else ""


def bounds(
    results: ResultsArgument = Path("results"), data: Data = Path("data"), mirror: Mirror = None, quiet: Quiet = False
) -> None:
    """Look for the hypotheses beside which theorems bound the recorded runs; check shows the bounds."""
    # What cannot be had for one experiment does not stop the others.
    cache, problems = datasets.Cache(data, mirror, quiet=quiet), []
    for folder in archive.experiment_folders(results):
        try:
            searched = comparators.make_comparators(folder, cache)
        except BudgetbenchError as error:
            problems.append(str(error))
            continue
        if searched and not quiet:
            typer.echo(f"{folder / comparators.FILE}: {searched} stream{'s' * (searched != 1)}")
    if problems:
        raise BudgetbenchError("\n".join(problems))


def report(
    results: ResultsArgument = Path("results"),
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page. [default: report.html in RESULTS]")
    ] = None,
    experiment: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="This experiment alone; may be repeated.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write one self-contained HTML page: verdicts, figures, tables, configurations and provenance."""
    path = reports.write_report(results, out, experiment or ())
    if not quiet:
        typer.echo(path)


def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DATASET]...", show_default=False, autocompletion=completing.data),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Fetch every dataset.")] = False,
    data: Data = Path("data"),
    mirror: Mirror = None,
    quiet: Quiet = False,
) -> None:
    """Download datasets, check them and keep them."""
    # One that cannot be had does not stop the others.
    if not names and not everything:
        raise RequestError("fetch: name datasets, or give --all. See: budgetbench list datasets")
    known = datasets.datasets
    wanted = {known.canonical(name): known[name] for name in names or ()}
    if everything:
        wanted = {name: known[name] for name in known if known[name].files}
    cache, problems = datasets.Cache(data, mirror, quiet=quiet), []
    for name, dataset in wanted.items():
        if not dataset.files:
            typer.echo(f"{name}: {dataset.fetched}")
            continue
        try:
            loaded = dataset.load(cache)
        except BudgetbenchError as error:
            problems.append(str(error))
            continue
        test = 0 if loaded.test is None else len(loaded.test)
        typer.echo(f"{name}: {len(loaded.train)} + {test} examples, {loaded.train.X.shape[1]} inputs, checked")
    if problems:
        raise BudgetbenchError("\n".join(problems))


def validate(configs: Configs, data: Data = Path("data")) -> None:
    """Check configurations without running them, and the data that is at hand."""
    # All are reported on.
    problems, exit_code = [], 2
    cache = datasets.Cache(data, quiet=True)
    for path in configs:
        try:
            experiment = config.load(path)
            section = experiment.dataset
            if datasets.datasets[section.name].at_hand(cache, section.options):
                problem, _ = streams.load_problem(experiment, cache)
                streams.check_classes(experiment, problem, experiment.algorithms)
        except BudgetbenchError as error:
            problems.append(str(error))
            exit_code = min(exit_code, error.exit_code)
            continue
        typer.echo(f"{path}: ok, {experiment.n_trials} trials in {experiment.permutations} runs")
        for note in selection.selection_notes(experiment.algorithms):
            typer.echo(f"  {note}")
    if problems:
        raise (RequestError if exit_code == 2 else BudgetbenchError)("\n".join(problems))
