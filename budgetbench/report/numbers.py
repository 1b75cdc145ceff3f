"""The numbers behind a figure as a table."""

from __future__ import annotations

from typing import Any

import pandas as pd

from budgetbench.plots.base import Drawing
from budgetbench.report.vector import axis_labels
from budgetbench.report.words import number
from budgetbench.results.measures import MEASURES
from budgetbench.results.table import Cell, Column, Group, Table

POINTS = 12
"""Points of a curve that the page lists; the csv beside the figure has all."""

WORDS = {name: measure.title for name, measure in MEASURES.items()} | {
    "series": "Series",
    "budget": "Budget",
    "runs": "Runs",
    "seen": "Examples seen",
    "mean": "Mean",
    "std": "Standard deviation",
    "min": "Minimum",
    "max": "Maximum",
    "low": "Bar from",
    "high": "Bar to",
}
LEFT_OUT = ("algorithm", "params")


def behind(drawing: Drawing, file: str) -> Table:
    """The numbers of a figure, long curves thinned out evenly; `file` is where all of them are.

    As in a table of results the value of a row's first cell is the learner that it is about, here if any.
    """
    data = drawing.data
    thinned = _thinned(data)
    notes = []
    if len(thinned) < len(data):
        notes.append(f"{len(thinned)} of {len(data)} points, evenly spaced; budgetbench plot writes all to {file}.")
    columns = [name for name in thinned.columns if name not in LEFT_OUT and thinned[name].notna().any()]
    if "low" in columns and (thinned["low"] == thinned["high"]).all():
        columns = [name for name in columns if name not in ("low", "high")]
    if any(name in columns and _near(thinned, name) for name in ("seen", "support_size")):
        columns.remove("x")  # the same, apart from a shift that keeps points from covering each other
    labels = _labels(drawing)
    shown = {name: _texts(thinned[name]) for name in columns}
    learners = thinned["algorithm"] if "algorithm" in thinned else [""] * len(thinned)
    rows = [[Cell(shown[name][i], (str(learner),)) for name in columns] for i, learner in enumerate(learners)]
    headings = [labels.get(name, name.replace("_", " ").capitalize()) for name in columns]
    numeric = [pd.api.types.is_numeric_dtype(thinned[name]) for name in columns]
    return Table("", list(map(Column, headings, numeric)), [Group("", rows)], notes)


def _thinned(data: pd.DataFrame) -> pd.DataFrame:
    if not {"series", "seen"} <= set(data.columns):  # no curves
        return data
    kept: list[int] = []
    for _, rows in data.reset_index(drop=True).groupby("series", sort=False):
        size = len(rows)
        # the last point of a curve is its result, so counting goes back from it
        places = range(size) if size <= 2 * POINTS else sorted(size - 1 - i * size // POINTS for i in range(POINTS))
        kept += [int(rows.index[place]) for place in places]
    thinned: pd.DataFrame = data.reset_index(drop=True).loc[sorted(kept)].reset_index(drop=True)
    return thinned


def _near(data: pd.DataFrame, name: str) -> bool:
    if "x" not in data.columns:
        return False
    x, other = (data[one].astype(float) for one in ("x", name))
    return bool(((x - other).abs() <= 0.1 * other.abs().clip(lower=1.0)).all())


def _labels(drawing: Drawing) -> dict[str, str]:
    named = {name: set(filter(None, labels)) for name, labels in zip("xy", axis_labels(drawing), strict=True)}
    return WORDS | {name: labels.pop() for name, labels in named.items() if len(labels) == 1}


def _texts(column: pd.Series[Any]) -> list[str]:
    """The cells of a column; numbers with the same number of decimals, so that they can be compared by eye."""
    if not pd.api.types.is_numeric_dtype(column):
        words = {"measure", "evaluate"}  # names of the program, not of people
        texts = ["" if pd.isna(value) else str(value) for value in column]
        return [text.replace("_", " ") for text in texts] if column.name in words else texts
    values = column.dropna().astype(float)
    whole = bool(((values - values.round()).abs() < 1e-9).all())
    small = not whole and bool((values.abs() < 1).all())
    if whole or small or float(values.abs().max()) >= 10000:
        return [number(value) if whole or not small else f"{float(value):.4f}" for value in column]
    return ["" if pd.isna(value) else f"{float(value):.2f}".replace("-", "\u2212") for value in column]
