"""`budgetbench list KIND NAME`: all there is to know of one learner, dataset, kernel, figure or configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from inspect import getdoc
from typing import TYPE_CHECKING, Any

import typer

from budgetbench.cli.output import console
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from rich import table as tables

    from budgetbench import packages, parameters, shipped
    from budgetbench.config import language
    from budgetbench.parameters import Parameters
else:
    ours = "packages", "parameters", "shipped", "config.language"
    packages, parameters, shipped, language = (lazy(f"budgetbench.{one}") for one in ours)
    tables = lazy("rich.table")

#: The key of a configuration under which one of a kind stands.
KEYS = {"algorithms": "algorithms", "datasets": "dataset", "kernels": "kernel", "plots": "plots"}
#: What is told of a dataset, beside its summary.
TOLD = ("source", "licence", "citation", "preparation")


def explain(kind: str, name: str) -> None:
    """Print what `name` is, where it comes from, and what each of its parameters means."""
    if kind == "configs":
        path = shipped.meant(name)
        typer.echo(f"# {path}\n{path.read_text(encoding='utf-8')}", nl=False)
        return
    choice = language.CHOICES[KEYS[kind]]
    item = choice.items[name]
    own, *aliases = choice.items.names_of(choice.items.canonical(name))
    typer.echo(f"{own}{''.join(f', or {alias}' for alias in aliases)}: {choice.summary(item)}\n")
    for line in _ABOUT[kind](item):
        typer.echo(line)
    chosen = choice.chosen.name
    keys = {key: parameter for key, parameter in choice.parameters(own).items() if key != chosen}
    several = "; a list of values tries each of them" if choice.grid else ""
    typer.echo(f"\nKeys beside {chosen}: {own}{several}\n")
    console().print(_table(keys, item.defaults() if kind == "algorithms" else {}))


def _table(declared: Parameters, completed: Mapping[str, Any]) -> tables.Table:
    """What each means; `completed` are defaults that follow from others."""
    shown = tables.Table(box=None, pad_edge=False, header_style="bold")
    for header in ("key", "type and range", "default", "meaning"):
        shown.add_column(header, overflow="fold", no_wrap=header == "key")
    for name, parameter in declared.items():
        unit = f" ({parameter.unit})" if parameter.unit else ""
        default = completed.get(name, parameter.default)
        usual = "must be given" if default is ... else parameters.as_written(default)
        shown.add_row(name, parameter.accepted + unit, usual, parameter.meaning)
    return shown


def _of_learner(learner: Any) -> Iterator[str]:
    """Its rule, sources, cost and departures, as its docstring has them."""
    yield _documented(learner)
    yield _origin(learner.__module__)


def _of_dataset(dataset: Any) -> Iterator[str]:
    sizes = " + ".join(str(size) for size in (dataset.n_train, dataset.n_test) if size)
    yield f"examples: {sizes or 'as the file has'}; inputs: {dataset.n_features or 'as the file has'}"
    if dataset.classes:
        yield f"classes: {', '.join(map(str, dataset.classes))}"
    for what in TOLD:
        if getattr(dataset, what):
            yield f"{what}: {getattr(dataset, what)}"
    yield _origin(type(dataset).__module__)


def _of_kernel(kernel: Any) -> Iterator[str]:
    yield _documented(kernel)


def _of_figure(kind: Any) -> Iterator[str]:
    yield getdoc(kind.draw) or ""


def _documented(owner: Any) -> str:
    """The docstring of a class, without its parameters."""
    return (getdoc(owner) or "").partition("\nParameters\n---")[0].replace("``", "").strip()


def _origin(module: str) -> str:
    return f"code: {module}" + "".join(f" ({package})" for package in packages.packages_of(module))


_ABOUT: dict[str, Callable[[Any], Iterator[str]]] = {
    "algorithms": _of_learner,
    "datasets": _of_dataset,
    "kernels": _of_kernel,
    "plots": _of_figure,
}
