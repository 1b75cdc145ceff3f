"""Panels of errors against the number of support vectors: Crammer, Kandola, Singer 2003, Figure 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import MinLen

from budgetbench.errors import RequestError
from budgetbench.lazy import lazy, pd
from budgetbench.parameters import DIFFERENT, Accepted
from budgetbench.plots.axes import positive_floor, set_scale
from budgetbench.plots.base import Drawing, NothingToDraw, Options, Scale, figure_kind
from budgetbench.plots.series import Series, chosen_text, runs_text, series_of
from budgetbench.plots.style import COLOURS, MARKERS, SIZES, close_panels, limit, new_panels
from budgetbench.results import Results
from budgetbench.results.measures import ERRORS, MEASURES, Error

if TYPE_CHECKING:
    from matplotlib import ticker
    from matplotlib.axes import Axes
else:
    ticker = lazy("matplotlib.ticker")

BESIDE = Accepted("a list of different experiments whose results lie beside these")
SEVERAL = Accepted(f"a list of different ones of {', '.join(ERRORS)}")
ROW_HEIGHT = 1.75  # inches, where there are several rows


@dataclass(frozen=True)
class _Column:
    """One experiment: its title and its series."""

    name: str
    title: str
    series: list[Series]


@dataclass(frozen=True)
class SupportPanels(Options):
    """How it is drawn.

    Parameters
    ----------
    experiments : a column for each; by default this one alone.
    measures : a row for each.
    x, y : how the axes are divided.
    """

    experiments: Annotated[list[str], MinLen(1), DIFFERENT, BESIDE] | None = None
    measures: Annotated[list[Error], MinLen(1), DIFFERENT, SEVERAL] = field(
        default_factory=lambda: ["test_error", "online_error", "margin_error"]
    )
    x: Scale = "log"
    y: Scale = "log"


@figure_kind(
    "several errors (rows) of several experiments (columns) against the number of support vectors, in one figure",
    SupportPanels,
)
def support_panels(results: Results, options: SupportPanels) -> Drawing:
    """Mean errors (%) over mean support size, a row for each measure and a column for each experiment.

    Parameter sets that differ in the budget alone are joined by a line, others are points. All panels share one
    legend, in which a learner whose parameters were searched for stands once, whatever was found best. The margin
    error, of which most are large, has a linear axis from 0 in any case.
    """
    columns = _styled([_column(one) for one in _experiments(results, options.experiments)])
    data = pd.concat([_numbers(column, measure) for column in columns for measure in options.measures])
    if data.empty:
        raise NothingToDraw(f"no finished run has support_size and one of {', '.join(options.measures)}")
    single = len(options.measures) == len(columns) == 1
    width, height = SIZES[options.size if single else "double"]
    height = height if single else ROW_HEIGHT * len(options.measures)
    handles: dict[str, Any] = {}
    labels = list(dict.fromkeys(one.label for column in columns for one in column.series))
    legend_columns = 2 if width < SIZES["double"][0] else 3
    legend_rows = -(-len(labels) // legend_columns)
    figure, grid = new_panels(len(options.measures), len(columns), width, height, legend_rows, sharex="col")
    for axes_row, measure in zip(grid, options.measures, strict=True):
        for axes, column in zip(axes_row, columns, strict=True):
            _panel(axes, column, data[(data["experiment"] == column.name) & (data["measure"] == measure)], options)
            if options.x == "log" and len(columns) > 2:
                _sparse_ticks(axes)
            limit(axes, options)
            handles |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        axes_row[0].set_ylabel(MEASURES[measure].label)
    if len(columns) > 1:
        for axes, column in zip(grid[0], columns, strict=True):
            axes.set_title(column.title, loc="left", pad=6)
    for axes in grid[-1]:
        axes.set_xlabel(MEASURES["support_size"].label)
    title = options.title or (columns[0].title if len(columns) == 1 else "")
    shown = [label for label in labels if label in handles]
    caption = f"{runs_text(data['runs'])}.{chosen_text(results)}"
    close_panels(figure, title, caption, [handles[label] for label in shown], shown, legend_columns)
    return Drawing(figure, data.reset_index(drop=True))


def _experiments(results: Results, names: Sequence[str] | None) -> list[Results]:
    """The results of the experiments named, which lie in the same folder as these."""
    found = []
    for name in names or [results.folder.name]:
        try:
            found.append(results if name == results.folder.name else results.beside(name))
        except RequestError:
            raise NothingToDraw(f"there are no results of {name} in {results.folder.parent}") from None
    return found


def _column(results: Results) -> _Column:
    summary = results.summary
    rows = summary[summary["selected"].astype(bool) & summary["support_size_mean"].notna()]
    rows = rows.assign(size=rows["support_size_mean"].astype(float))
    series = [replace(one, label=_common(one.label)) for one in series_of(results, rows, over_sizes=True)]
    return _Column(results.folder.name, results.experiment.title, series)


def _common(label: str) -> str:
    """A label without what was found best, and without what a line says: `SVM (best C)` for `SVM (best C = 10)`."""
    label = label.replace(", by budget", "")
    head, mark, tail = label.partition("(best ")
    if not mark:
        return label
    return head + mark + ", ".join(word.partition(" = ")[0] for word in tail.removesuffix(")").split(", ")) + ")"


def _styled(columns: list[_Column]) -> list[_Column]:
    """Give every series its own colour and marker, the same in all columns, as points cannot show line styles."""
    firsts = {one.label: one for column in columns for one in column.series}
    looks: dict[str, tuple[str, str]] = {}
    for one in firsts.values():
        if one.algorithm not in {firsts[label].algorithm for label in looks}:
            looks[one.label] = (one.colour, one.marker)
    colours = [colour for colour in COLOURS if colour not in {taken for taken, _ in looks.values()}]
    markers = [marker for marker in MARKERS if marker not in {taken for _, taken in looks.values()}]
    for number, label in enumerate(label for label in firsts if label not in looks):
        looks[label] = (colours[number % len(colours)], markers[number % len(markers)])

    def styled(one: Series) -> Series:
        colour, marker = looks[one.label]
        return replace(one, colour=colour, marker=marker, line="-", filled=True)

    return [replace(column, series=[styled(one) for one in column.series]) for column in columns]


def _numbers(column: _Column, measure: str) -> pd.DataFrame:
    """What is drawn of one experiment and measure, in percent, with its spread, which is not drawn."""
    parts = []
    for one in column.series:
        rows = one.rows[one.rows[f"{measure}_mean"].notna()].sort_values("size", kind="stable")
        part = {"experiment": column.name, "measure": measure, "series": one.label, "algorithm": one.algorithm}
        part |= {name: rows[name] for name in ("params", "budget", "runs")} | {"support_size": rows["size"]}
        spread = {name: 100 * rows[f"{measure}_{name}"] for name in ("mean", "std", "min", "max")}
        parts.append(pd.DataFrame(part | spread, index=rows.index))
    found: pd.DataFrame = pd.concat(parts) if parts else pd.DataFrame()
    return found


def _panel(axes: Axes, column: _Column, data: pd.DataFrame, options: SupportPanels) -> None:
    if data.empty:
        axes.set_axis_off()
        return
    for one in column.series:
        own = data[data["series"] == one.label]
        if own.empty:
            continue
        alone = len(own) == 1
        x = own["support_size"].clip(lower=1.0)
        style = one.drawn() | {"markersize": 6.0 if alone else 3.2, "linestyle": "none" if alone else one.line}
        axes.plot(x, own["mean"], zorder=3 if alone else 2, markeredgewidth=0.7, **style)
    values = data["mean"].to_numpy(dtype=float)
    scale = "linear" if (data["measure"] == "margin_error").all() else options.y
    set_scale(axes, "x", options.x, _x_values(column))
    set_scale(axes, "y", scale, values.clip(min=positive_floor(values)) if scale == "log" else values)
    if scale == "linear":
        axes.set_ylim(0, 1.05 * float(np.nanmax(values)))
    if options.x == "linear":
        axes.set_xlim(0, 1.05 * float(_x_values(column).max()))


def _sparse_ticks(axes: Axes) -> None:
    """Fewer numbers on the x axis of a narrow panel, so that they do not run into one another."""
    low, high = axes.get_xlim()
    steps = (1.0, 2.0, 5.0) if high < 15 * low else (1.0, 3.0) if high < 60 * low else (1.0,)
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=steps, numticks=50))


def _x_values(column: _Column) -> Any:
    """Sizes in all panels of a column, as these share an axis."""
    return np.concatenate([one.rows["size"].to_numpy(dtype=float) for one in column.series]).clip(min=1.0)
