"""Error against what a learner costs, in memory or in time, with the front of those that nobody beats in both."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from budgetbench.lazy import pd
from budgetbench.plots.axes import positive_floor, set_scale
from budgetbench.plots.base import Drawing, NothingToDraw, Options, Scale
from budgetbench.plots.series import Series, bars_text, chosen_text, draw_means, in_percent, runs_text, series_of
from budgetbench.plots.style import LINES, MARKERS, finish, new_figure, shade
from budgetbench.results import Results
from budgetbench.results.measures import MEASURES, Error, Measure
from budgetbench.results.names import learner, parameters_text, varying
from budgetbench.results.sizes import kept
from budgetbench.results.summary import params_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Diameters of the marks for the smallest and for the largest budget, in points.
SMALLEST, LARGEST = 3.5, 9.0
FRONT = "Pareto front"
FRONT_COLOUR = "#BDBDBD"


@dataclass(frozen=True)
class CostOptions(Options):
    """How it is drawn.

    Parameters
    ----------
    measure : which error; by default on test examples where there are any, else online.
    error_bars : what the bars show.
    x, y : how the axes are divided.
    """

    measure: Error | None = None
    error_bars: Literal["stderr", "std", "none"] = "stderr"
    x: Scale = "log"
    y: Scale = "log"


def error_against(
    results: Results,
    options: CostOptions,
    cost: Measure,
    costs: pd.Series[float],
    column: str,
    words: str = "",
    growing: bool = False,
) -> Drawing:
    """Mean error (%) over a cost.

    Parameters
    ----------
    cost, costs : the measure, and its value for each point of the summary, as it is drawn.
    column, words : what it is called in the numbers, and what the caption says of it.
    growing : marks grow with the budget.
    """
    summary = results.summary
    measure = options.measure or ("test_error" if summary["test_error_mean"].notna().any() else "online_error")
    rows = summary[summary["selected"].astype(bool) & summary[f"{measure}_mean"].notna()]
    rows = rows.assign(cost=costs.reindex(rows.index).to_numpy(dtype=float))
    rows = rows[rows["cost"] > 0]
    if rows.empty:
        raise NothingToDraw(f"no finished run has {cost.name} and {options.measure or 'test_error or online_error'}")
    series = _told_apart(series_of(results, rows, over_sizes=True))
    data = _numbers(series, measure, options, column)
    budgets = sorted(data["budget"].dropna().unique()) if growing else []
    caption = f"{runs_text(data['runs'])}{words}{bars_text(data, options.error_bars)}"
    if len(budgets) > 1:
        caption += f"; marks grow with the budget, {budgets[0]} to {budgets[-1]}"
    lines = textwrap.wrap(f"{caption}.{chosen_text(results)}", 110 if options.size == "double" else 66)
    figure, axes = new_figure(options.size, [one.label for one in series] + [FRONT] * len(lines))
    for one in series:
        _draw(axes, data[data["series"] == one.label], one, column, budgets)
    set_scale(axes, "x", options.x, data[column].to_numpy())
    set_scale(axes, "y", options.y, data[["y", "low", "high"]].to_numpy().ravel())
    _draw_front(axes, data[data["front"]], column)
    axes.set_xlabel(cost.label)
    axes.set_ylabel(MEASURES[measure].label)
    finish(figure, axes, options, options.title or results.experiment.title, "\n".join(lines))
    return Drawing(figure, data)


def _told_apart(series: list[Series]) -> list[Series]:
    """With short labels; in shades of its colour, with marks of their own, where all are variants of one learner."""
    named = [replace(one, label=label) for one, label in zip(series, _labels(series), strict=True)]
    if len({one.title for one in named}) > 1:
        return named
    return [
        replace(
            one,
            colour=shade(one.colour, number, len(named)),
            marker=MARKERS[number % len(MARKERS)],
            line=LINES[number % len(LINES)],
            filled=True,
        )
        for number, one in enumerate(named)
    ]


def _labels(series: list[Series]) -> list[str]:
    """The learner's name and the parameters that are other than usual: what a variant is called matters here more than
    what it has in common with the others."""
    params = [params_of(one.rows)[0] for one in series]
    labels = []
    for one, own in zip(series, params, strict=True):
        cls = learner(one.algorithm)
        usual = cls.defaults() if cls else {}
        siblings = [other for other, its in zip(params, series, strict=True) if its.title == one.title]
        names = [name for name in varying(siblings, without=kept(one.algorithm)) if own.get(name) != usual.get(name)]
        words = parameters_text(own, names)
        labels.append(f"{one.title} ({words})" if words else one.title)
    return labels


def _numbers(series: list[Series], measure: str, options: CostOptions, column: str) -> pd.DataFrame:
    """What is drawn; `front` says which points nobody beats."""
    parts = []
    for one in series:
        own = one.rows.sort_values("budget", kind="stable").rename(columns={"cost": column})
        means = pd.DataFrame(in_percent(own, measure, options.error_bars))
        parts.append(own.assign(series=one.label)[["series", "budget", "runs", column]].join(means))
    data: pd.DataFrame = pd.concat(parts, ignore_index=True)
    if options.y == "log":  # which has no place for 0, nor for bars that all but reach it
        floor = positive_floor(data["y"].to_numpy(dtype=float)) / 2
        data[["y", "low", "high"]] = data[["y", "low", "high"]].clip(lower=floor)
    return data.assign(front=on_front(data[column].to_numpy(), data["y"].to_numpy()))


def on_front(costs: NDArray[np.float64], errors: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which points are on the Pareto front: no other costs and errs as little, and less in one of the two."""
    cheaper = (costs[:, None] <= costs) & (errors[:, None] <= errors)
    beaten: NDArray[np.bool_] = np.any(cheaper & ((costs[:, None] < costs) | (errors[:, None] < errors)), axis=0)
    return ~beaten


def _draw(axes: Axes, drawn: pd.DataFrame, one: Series, column: str, budgets: list[int]) -> None:
    """One line, whose marks grow with the budget if there are any."""
    style = one.drawn() | {"linestyle": one.line if len(drawn) > 1 else "none", "linewidth": 0.9}
    draw_means(axes, drawn, column, **style | {"markersize": SMALLEST})
    rank = [0 if pd.isna(budget) or not budgets else budgets.index(budget) for budget in drawn["budget"]]
    sizes = np.linspace(SMALLEST, LARGEST, max(2, len(budgets)))[rank]
    fill: dict[str, Any] = {"color": one.colour} if one.filled else {"facecolor": "white", "edgecolor": one.colour}
    fill["linewidths"] = 0 if one.filled else 0.9
    axes.scatter(drawn[column], drawn["y"], s=sizes**2, marker=one.marker, zorder=3, **fill)


def _draw_front(axes: Axes, front: pd.DataFrame, column: str) -> None:
    """A step down at each point of the front, behind everything, to the end of the axis."""
    points = front.sort_values([column, "y"])[[column, "y"]].to_numpy(dtype=float)
    right, bottom = axes.get_xlim()[1], points[-1, 1]
    x, y = np.append(points[:, 0], right), np.append(points[:, 1], bottom)
    axes.plot(x, y, drawstyle="steps-post", color=FRONT_COLOUR, linewidth=3.0, zorder=1, label=FRONT)
