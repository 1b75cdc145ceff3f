"""Which rows and columns a table has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from budgetbench.experiment import Experiment
from budgetbench.lazy import pd
from budgetbench.learners import learners
from budgetbench.published import PAPERS, Value, cited, rows_of
from budgetbench.results.measures import MEASURES, POINTS
from budgetbench.results.names import (
    learner,
    parameter_name,
    parameter_text,
    parameters_text,
    value_text,
    varying,
)
from budgetbench.results.selection import selection_notes
from budgetbench.results.sizes import budgets
from budgetbench.results.summary import params_of, titles_of
from budgetbench.results.table import Cell, Column, Group, Table

Row = Mapping[str, Any]
Maker = Callable[[Row], Cell]

SPREAD = "mean ± standard deviation"
RANGE = "(minimum–maximum)"


def accuracy(summary: pd.DataFrame, experiment: Experiment) -> Table:
    """Test error first, one row for each algorithm and parameter set, in the configuration's order."""
    columns: list[tuple[Column, Maker]] = [
        *_naming(summary, experiment),
        _count("Budget", "budget"),
        _count("Runs", "runs"),
        _measure("test_error", with_range=True),
        _measure("averaged_test_error"),
        _measure("validation_error"),
        _measure("online_error", dispensable=True),
        _measure("support_size"),
        _measure("model_bytes", dispensable=True),
        _count("Failed", "failed"),
    ]
    notes = [f"Test error: {SPREAD} {RANGE} over the runs; other measures: {SPREAD}."]
    return _table(summary, experiment, columns, notes, grouped=False)


def mistakes(summary: pd.DataFrame, experiment: Experiment) -> Table:
    """Online mistakes and size of the support set, grouped by budget: Orabona et al. 2008, Tables 1 to 3.

    An experiment that reproduces one of them has the published values beside its own.
    """
    published = _printed_rows(summary, experiment)
    columns: list[tuple[Column, Maker]] = [
        *_naming(summary, experiment, without=budgets()),
        _count("Runs", "runs"),
        _measure("online_error", "Mistakes, %"),
        _printed("Paper", "online_error", published),
        _measure("support_size", "Size of support set"),
        _printed("Paper", "support_size", published),
        _measure("model_bytes", dispensable=True),
        _count("Failed", "failed"),
    ]
    notes = [f"{SPREAD.capitalize()} over the runs."]
    if published and experiment.reproduces:
        notes.append(f"Paper: as printed in {cited(experiment.reproduces.paper, experiment.reproduces.item)}.")
    return _table(summary, experiment, columns, notes, grouped=True)


def cache(summary: pd.DataFrame, experiment: Experiment) -> Table:
    """What Crammer et al. 2003 show in Figure 4 and say of it: three errors, support size, insertions and removals."""
    columns: list[tuple[Column, Maker]] = [
        *_naming(summary, experiment),
        _count("Budget", "budget"),
        _count("Runs", "runs"),
        _measure("test_error"),
        _measure("online_error", dispensable=True),
        _measure("margin_error", dispensable=True),
        _measure("support_size"),
        _measure("insertions"),
        _measure("removals"),
        _count("Failed", "failed"),
    ]
    return _table(summary, experiment, columns, [f"{SPREAD.capitalize()} over the runs."], grouped=False)


Layout = Callable[["pd.DataFrame", Experiment], Table]
LAYOUTS: dict[str, Layout] = {"accuracy": accuracy, "mistakes": mistakes, "cache": cache}


def table(summary: pd.DataFrame, experiment: Experiment) -> Table:
    """The table of an experiment, in the layout that it asks for; else test or validation errors first, if it has any.

    Parameters
    ----------
    summary : as `summarise` returns it; rows that are not selected stay out.
    """
    tested = summary[["test_error_mean", "validation_error_mean"]].notna().any(axis=None)
    usual = "accuracy" if tested else "mistakes"
    return LAYOUTS[experiment.table.layout if experiment.table else usual](summary, experiment)


def _table(
    summary: pd.DataFrame,
    experiment: Experiment,
    columns: list[tuple[Column, Maker]],
    notes: list[str],
    grouped: bool,
) -> Table:
    shown = summary[summary["selected"].astype(bool)]
    if not (shown["runs"] > 1).any():
        notes = []
    groups = _groups(shown, experiment, columns, grouped)
    cells = [row for group in groups for row in group.rows]
    # A column that says nothing anywhere is left out, except the first, which names the rows.
    kept = [i for i in range(len(columns)) if i == 0 or any(row[i].text for row in cells)]
    return Table(
        title=experiment.title,
        columns=[columns[i][0] for i in kept],
        groups=[Group(group.heading, [[row[i] for i in kept] for row in group.rows]) for group in groups],
        notes=notes + selection_notes(experiment.algorithms),
    )


def _groups(
    shown: pd.DataFrame, experiment: Experiment, columns: list[tuple[Column, Maker]], grouped: bool
) -> list[Group]:
    """The rows by budget, or in one group; variants of a learner come one after the other, each over its budgets."""
    headings = [f"B = {budget}" if grouped and not pd.isna(budget) else "" for budget in shown["budget"]]
    rows: dict[str, list[tuple[int, float, list[Cell]]]] = {"": [], **{heading: [] for heading in headings}}
    variants: dict[tuple[str, ...], int] = {}
    for heading, (_, row) in zip(headings, shown.iterrows(), strict=True):
        name, parameters, *_ = cells = [make(row) for _, make in columns]  # type: ignore[arg-type]
        searched = bool(experiment.algorithms[row["entry"]].searched)  # each budget may have parameters of its own
        variant = (name.text, str(row["entry"])) if searched else (name.text, parameters.text)
        budget = row["budget"] if searched and not pd.isna(row["budget"]) else 0
        rows[heading].append((variants.setdefault(variant, len(variants)), budget, cells))
    in_turn = {heading: sorted(own, key=lambda row: row[:2]) for heading, own in rows.items() if own}
    return [Group(heading, [cells for *_, cells in own]) for heading, own in in_turn.items()]


def _naming(
    summary: pd.DataFrame, experiment: Experiment, without: tuple[str, ...] = ("budget",)
) -> list[tuple[Column, Maker]]:
    """The columns that say which algorithm and which of its parameter sets a row is."""
    params = dict(zip(summary.index, params_of(summary), strict=True))
    titles = titles_of(summary, experiment)
    names: dict[str, list[str]] = {}
    for title, rows in summary.groupby(titles, sort=False):
        names[str(title)] = varying((params[i] for i in rows.index), without)

    def algorithm_cell(row: Row) -> Cell:
        return Cell(titles[row.name], (row["algorithm"],))  # type: ignore[attr-defined]

    def parameters_cell(row: Row) -> Cell:
        own = params[row.name]  # type: ignore[attr-defined]
        grid = experiment.algorithms[row["entry"]].searched
        rest = parameters_text(own, [name for name in names[titles[row.name]] if name not in grid])  # type: ignore[attr-defined]
        found = [_best_of(name, own.get(name), values) for name, values in grid.items()]
        text = ", ".join([*found, *([rest] if rest else [])])
        return Cell(text, (text,))

    return [
        (Column("Algorithm", fields=("algorithm",)), algorithm_cell),
        (Column("Parameters", fields=("parameters",)), parameters_cell),
    ]


def _best_of(name: str, value: Any, values: tuple[Any, ...]) -> str:
    return f"{parameter_text(name, value)} (best of {parameter_name(name)} = {value_text(values)})"


def _count(header: str, field: str) -> tuple[Column, Maker]:
    def cell(row: Row) -> Cell:
        value = row[field]
        text: str = "" if pd.isna(value) else str(int(value))
        # no failure is the normal case, so that 0 says nothing
        return Cell("" if field == "failed" and text == "0" else text, (text,))

    return Column(header, True, (field,), dispensable=field == "runs"), cell


def _measure(name: str, header: str = "", with_range: bool = False, dispensable: bool = False) -> tuple[Column, Maker]:
    """Mean and spread of a measure, in its unit; under another heading where the paper's table has one."""
    measure = MEASURES[name]
    names = ("mean", "std", "min", "max") if with_range else ("mean", "std")
    stem = f"{name}_percent" if measure.unit is POINTS else name

    def cell(row: Row) -> Cell:
        values = mean, std, *_ = [row[f"{name}_{one}"] * measure.unit.scale for one in names]
        if np.isnan(mean):
            return Cell("", ("",) * len(names))
        text = brief = measure.unit.text(mean, std)
        if with_range and not np.isnan(std):
            text += " ({:.{digits}f}–{:.{digits}f})".format(*values[2:], digits=measure.unit.digits)
        return Cell(text, tuple(map(_plain, values)), brief)

    return Column(header or measure.heading, True, tuple(f"{stem}_{one}" for one in names), dispensable), cell


def _printed(header: str, measure: str, published: Mapping[int, Mapping[str, Value]]) -> tuple[Column, Maker]:
    """The paper's own number."""

    def cell(row: Row) -> Cell:
        value = published.get(row.name, {}).get(measure)  # type: ignore[attr-defined]
        if value is None:
            return Cell("", ("", ""))
        spread = np.nan if value.spread is None else value.spread
        return Cell(value.text.removesuffix(" %"), (_plain(value.mean), _plain(spread)))

    return Column(header, True, (f"{measure}_paper_mean", f"{measure}_paper_std"), dispensable=True), cell


def _printed_rows(summary: pd.DataFrame, experiment: Experiment) -> dict[int, dict[str, Value]]:
    """The published values by measure, for each row of the summary that has any.

    A published row is about the parameters that it names; of several variants that fit, about the one with most of
    the learner's defaults.
    """
    reproduces = experiment.reproduces
    if reproduces is None or reproduces.paper not in PAPERS:
        return {}
    params = dict(zip(summary.index, params_of(summary), strict=True))
    found: dict[int, dict[str, Value]] = {}
    for of, values in rows_of(reproduces.paper, reproduces.item):
        fitting = [number for number in params if _fits(of, summary.loc[number], params[number])]
        if fitting:
            usual = max(fitting, key=lambda number: _defaults(of["algorithm"], params[number]))
            found.setdefault(usual, {}).update(values)
    return found


def _fits(of: Mapping[str, Any], row: Any, params: Mapping[str, Any]) -> bool:
    if learners.canonical(of["algorithm"]) != row["algorithm"]:
        return False
    budget = None if pd.isna(row["budget"]) else int(row["budget"])
    named = {name: wanted for name, wanted in of.items() if name not in ("algorithm", "budget")}
    return of.get("budget") == budget and all(params.get(name) == wanted for name, wanted in named.items())


def _defaults(algorithm: str, params: Mapping[str, Any]) -> int:
    cls = learner(algorithm)
    own = cls.defaults() if cls else {}
    return sum(params.get(name) == default for name, default in own.items() if name not in budgets())


def _plain(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.6g}"
