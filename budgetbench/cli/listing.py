"""`budgetbench list`: what configurations can name, and the configurations themselves."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from budgetbench.cli import completing, explaining
from budgetbench.cli.options import Data
from budgetbench.cli.output import console
from budgetbench.errors import BudgetbenchError, RequestError
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from rich import table as tables

    from budgetbench import datasets, document, kernels, learners, packages, plots, shipped
    from budgetbench.parameters import Parameters
else:
    ours = "datasets", "document", "kernels", "learners", "packages", "plots", "shipped"
    datasets, document, kernels, learners, packages, plots, shipped = (lazy(f"budgetbench.{one}") for one in ours)
    tables = lazy("rich.table")

#: Column headings and rows.
Listing = tuple[tuple[str, ...], Iterable[tuple[str, ...]]]


def list_(
    kind: Annotated[
        Literal["algorithms", "datasets", "kernels", "plots", "configs"],
        typer.Argument(help="What to list.", show_default=False),
    ],
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="Explain this one, key by key.", show_default=False, autocompletion=completing.listed
        ),
    ] = None,
    data: Data = Path("data"),
    configs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="List the configurations there. [default: those that have a name here]"),
    ] = None,
) -> None:
    """List what configurations can name: algorithms, datasets, kernels, plots; or the configurations themselves."""
    if name is not None:
        explaining.explain(kind, name)
        return
    listings: dict[str, Callable[[], Listing]] = {
        "algorithms": _algorithms,
        "datasets": lambda: _datasets(data),
        "kernels": _kernels,
        "plots": _figures,
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
    known = learners.learners
    what = ((name, _told(one.title, one.__module__), one.own_parameters()) for name in known for one in [known[name]])
    return _with_parameters("what it is", what)


def _told(what: str, module: str) -> str:
    """What something is, with the package that it comes from where that is not ours."""
    return " ".join([what, *(f"({package})" for package in packages.packages_of(module))])


def _kernels() -> Listing:
    known = kernels.kernels
    return _with_parameters("K(x, z)", ((name, known[name].summary, known[name].parameters()) for name in known))


def _figures() -> Listing:
    known = plots.figures
    return _with_parameters("what it shows", ((name, known[name].summary, known[name].parameters()) for name in known))


def _with_parameters(heading: str, items: Iterable[tuple[str, str, Parameters]]) -> Listing:
    rows = [row for name, what, parameters in items for row in ((name, "", "", what), *_parameters(parameters))]
    return ("name", "accepted", "default", heading), rows


def _parameters(parameters: Parameters) -> Iterator[tuple[str, ...]]:
    """For each parameter its name, what it accepts, its default and its meaning."""
    for name, parameter in parameters.items():
        unit = f" ({parameter.unit})" if parameter.unit else ""
        yield f"  {name}", parameter.accepted + unit, parameter.usual, parameter.meaning


def _datasets(data: Path) -> Listing:
    rows = []
    for name in datasets.datasets:
        dataset = datasets.datasets[name]
        sizes = " + ".join(str(size) for size in (dataset.n_train, dataset.n_test) if size) or "?"
        here = "generated" if dataset.generated else "-"
        if dataset.files:
            here = "cached" if any((data / file).exists() for file in dataset.files) else "to fetch"
        inputs, classes = str(dataset.n_features or "?"), str(len(dataset.classes or ()) or "?")
        rows.append((name, sizes, inputs, classes, here, _told(dataset.summary, type(dataset).__module__)))
        for option, accepted, default, meaning in _parameters(dataset.parameters()):
            said = f"{accepted}; by default {default}" if default else accepted
            rows.append((option, "", "", "", "", f"{meaning.rstrip('.')} ({said})"))
    return ("name", "examples", "inputs", "classes", "files", "what it is"), rows


def _configs(folder: Path | None) -> Listing:
    if folder is not None:
        there = {str(path): path for path in sorted(folder.rglob("*.yaml"))}
        rows = list(_described(there, str(folder)))
        if not rows:
            raise RequestError(f"no configurations in {folder}. Name another folder with --configs.")
    else:
        own = list(_described(shipped.own(), "this folder"))
        rows = [*own, *_described(shipped.shipped(), "shipped", hidden={name for name, *_ in own})]
    return ("name", "from", "title", "reproduces"), rows


def _described(files: Mapping[str, Path], origin: str, hidden: Container[str] = ()) -> Iterator[tuple[str, ...]]:
    """A row for each file that says which algorithms are run; `hidden` names mean other files."""
    for name, path in files.items():
        try:
            data = document.read(path).data
        except BudgetbenchError:
            yield name, origin, f"cannot be read: budgetbench validate {path}", ""
            continue
        if "algorithms" in data:
            where = f"{origin}, hidden by that of this folder" if name in hidden else origin
            reproduces = data.get("reproduces") or {}
            yield name, where, str(data.get("title") or name), ", ".join(map(str, reproduces.values()))
