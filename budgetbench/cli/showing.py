"""The commands that show, check and fetch: `table`, `list`, `validate`, `fetch`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from budgetbench.cli.output import console
from budgetbench.config import load
from budgetbench.datasets import Cache, datasets
from budgetbench.errors import BudgetbenchError, RequestError
from budgetbench.kernels import kernels
from budgetbench.lazy import lazy
from budgetbench.learners import learners
from budgetbench.parameters import Parameters
from budgetbench.results import Table, table

if TYPE_CHECKING:
    from rich import table as tables

    from budgetbench import archive
    from budgetbench.results import formats
else:
    archive, formats, tables = map(lazy, ("budgetbench.archive", "budgetbench.results.formats", "rich.table"))
#: Column headings and rows.
Listing = tuple[tuple[str, ...], Iterable[tuple[str, ...]]]


def print_table(folder: Path) -> None:
    """One experiment's table on the terminal, with its title and notes."""
    screen = console()
    screen.print(formats.fitting(_table(folder), screen.width))


def show_tables(root: Path, form: str) -> None:
    """The tables of all experiments under a folder."""
    screen = console()
    for number, shown in enumerate(archive.each(archive.experiment_folders(root), _table)):
        if number:
            typer.echo()
        if form == "text":
            screen.print(formats.fitting(shown, screen.width))
        else:
            typer.echo(formats.document(shown) if form == "markdown" else formats.render(shown, form), nl=False)


def _table(folder: Path) -> Table:
    results = archive.read_results(folder)
    return table(results.summary, results.experiment)


def validate_configs(paths: Sequence[Path]) -> None:
    """Check every configuration; all are reported on, and the first problem decides the exit code."""
    problems = []
    for path in paths:
        try:
            experiment = load(path)
        except RequestError as error:
            problems.append(str(error))
            continue
        typer.echo(f"{path}: ok, {experiment.n_trials} trials in {experiment.permutations} runs")
    if problems:
        raise RequestError("\n".join(problems))


def fetch_datasets(names: Sequence[str], everything: bool, data: Path, mirror: str | None, quiet: bool) -> None:
    """Have the files of datasets; one that cannot be had does not stop the others."""
    if not names and not everything:
        raise RequestError("fetch: name datasets, or give --all. See: budgetbench list datasets")
    wanted = {datasets.canonical(name): datasets[name] for name in names}
    if everything:
        wanted = {name: datasets[name] for name in datasets if datasets[name].files}
    cache, problems = Cache(data, mirror, quiet=quiet), []
    for name, dataset in wanted.items():
        if not dataset.files:
            typer.echo(f"{name}: nothing to fetch")
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


def show_list(kind: str, data: Path, configs: Path) -> None:
    """What configurations can name."""
    listings: dict[str, Callable[[], Listing]] = {
        "algorithms": _algorithms,
        "datasets": lambda: _datasets(data),
        "kernels": _kernels,
        "configs": lambda: _configs(configs),
    }
    headers, rows = listings[kind]()
    shown = tables.Table(box=None, pad_edge=False, header_style="bold")
    for header in headers:
        shown.add_column(header, overflow="fold", no_wrap=header == headers[0])
    for row in rows:
        shown.add_row(*row)
    console().print(shown)


def _algorithms() -> Listing:
    headers = ("name", "accepted", "default", "what it is")
    return headers, [
        row
        for name in learners
        for row in ((name, "", "", learners[name].title), *_parameters(learners[name].own_parameters()))
    ]


def _kernels() -> Listing:
    headers = ("name", "accepted", "default", "K(x, z)")
    return headers, [
        row
        for name in kernels
        for row in ((name, "", "", kernels[name].summary), *_parameters(kernels[name].parameters()))
    ]


def _parameters(parameters: Parameters) -> Iterator[tuple[str, ...]]:
    """For each parameter its name, what it accepts, its default and its meaning."""
    for name, parameter in parameters.items():
        default = "" if parameter.default in (None, ...) else str(parameter.default)
        unit = f" ({parameter.unit})" if parameter.unit else ""
        yield f"  {name}", parameter.accepted + unit, default, parameter.meaning


def _datasets(data: Path) -> Listing:
    rows = []
    for name in datasets:
        dataset = datasets[name]
        sizes = " + ".join(str(size) for size in (dataset.n_train, dataset.n_test) if size) or "?"
        here = "generated" if dataset.generated else "-"
        if dataset.files:
            here = "cached" if any((data / file).exists() for file in dataset.files) else "to fetch"
        inputs, classes = str(dataset.n_features or "?"), str(len(dataset.classes or ()) or "?")
        rows.append((name, sizes, inputs, classes, here, dataset.summary))
        for option, accepted, default, meaning in _parameters(dataset.parameters()):
            said = f"{accepted}; by default {default}" if default else accepted
            rows.append((option, "", "", "", "", f"{meaning.rstrip('.')} ({said})"))
    return ("name", "examples", "inputs", "classes", "files", "what it is"), rows


def _configs(folder: Path) -> Listing:
    rows = []
    for path in sorted(folder.glob("*.yaml")):
        experiment = load(path)
        reproduces = experiment.reproduces
        rows.append((str(path), experiment.title, f"{reproduces.paper}, {reproduces.item}" if reproduces else ""))
    if not rows:
        raise RequestError(f"no configurations in {folder}. Name another folder with --configs.")
    return ("file", "title", "reproduces"), rows
