"""What a configuration says about showing results: its figures and its table."""

from __future__ import annotations

from typing import Any

from budgetbench.config.document import Document
from budgetbench.config.problems import NOTHING, Key, Problem
from budgetbench.config.sections import FOLDER_NAME, is_folder_name, validated
from budgetbench.errors import ConfigError, nearest
from budgetbench.experiment import Table
from budgetbench.plots import figures
from budgetbench.results.layouts import LAYOUTS


def plots_of(document: Document, raw: Any, problems: list[Problem]) -> tuple[dict[str, Any], ...] | None:
    """The figures with all their options; None where the results decide which figures suit them."""
    if raw is None:
        return None
    if not isinstance(raw, list):
        problems.append(document.problem(("plots",), raw, "a list of mappings, each with a kind"))
        return None
    plots = [_plot(document, ("plots", number), entry, problems) for number, entry in enumerate(raw)]
    return tuple(plot for plot in plots if plot)


def _plot(document: Document, key: Key, raw: Any, problems: list[Problem]) -> dict[str, Any] | None:
    if not isinstance(raw, dict):
        problems.append(document.problem(key, raw, "a mapping with a kind"))
        return None
    kind = raw.get("kind", NOTHING)
    if not isinstance(kind, str) or kind not in figures:
        problems.append(document.problem((*key, "kind"), kind, ", ".join(figures), nearest(kind, figures)))
        return None
    if raw.get("name") is not None and not is_folder_name(raw["name"]):  # the figure's files are called so
        problems.append(document.problem((*key, "name"), raw["name"], FOLDER_NAME.replace("folder", "file")))
        return None
    try:
        return figures[kind].checked(raw, key)
    except ConfigError as error:
        problems.append(document.problem(error.key, error.found, error.accepted, error.hint))
        return None


def table_of(document: Document, raw: Any, problems: list[Problem]) -> Table | None:
    """The table's layout; None where the results decide which suits them."""
    if raw is None:
        return None
    table: Table | None = validated(Table, document, ("table",), raw, problems)
    if table and table.layout not in LAYOUTS:
        hint = nearest(table.layout, LAYOUTS)
        problems.append(document.problem(("table", "layout"), table.layout, ", ".join(LAYOUTS), hint))
        return None
    return table
