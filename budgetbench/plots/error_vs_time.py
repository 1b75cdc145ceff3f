"""Error against the time that learning takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from budgetbench.lazy import pd
from budgetbench.plots.axes import set_scale
from budgetbench.plots.base import Drawing, NothingToDraw, Options, Scale, figure_kind
from budgetbench.plots.series import Series, bars_text, draw_means, in_percent, runs_text, series_of
from budgetbench.plots.style import COLOURS, LINES, MARKERS, finish, new_figure
from budgetbench.results import Results
from budgetbench.results.measures import MEASURES
from budgetbench.results.names import learner, learner_title, parameters_text, varying
from budgetbench.results.sizes import kept
from budgetbench.results.summary import params_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Diameters of the marks for the smallest and for the largest budget, in points.
SMALLEST, LARGEST = 3.5, 9.0


@dataclass(frozen=True)
class ErrorVsTime(Options):
    """How it is drawn.

    Parameters
    ----------
    error_bars : what the bars show.
    x, y : how the axes are divided.
    """

    error_bars: Literal["stderr", "std", "none"] = "stderr"
    x: Scale = "log"
    y: Scale = "linear"


@figure_kind("test error against training time, learners with several budgets as lines", ErrorVsTime)
def error_vs_time(results: Results, options: ErrorVsTime) -> Drawing:
    """Mean test error (%) over the median training time of the runs; marks grow with the budget.

    The median, because a run during which the machine was busy with other things takes much longer than the others.
    """
    summary = results.summary
    rows = summary[summary["selected"].astype(bool) & summary["test_error_mean"].notna()]
    seconds = results.trials.groupby("point")["train_seconds"].median().astype(float)
    rows = rows.assign(seconds=seconds.reindex(rows.index).to_numpy())
    rows = rows[rows["seconds"] > 0]
    if rows.empty:
        raise NothingToDraw("no finished run has test_error and train_seconds")
    series = series_of(results, rows, over_sizes=True)
    labels = _labels(series)
    parts = []
    for one, label in zip(series, labels, strict=True):
        own = one.rows.sort_values("budget", kind="stable")
        means = pd.DataFrame(in_percent(own, "test_error", options.error_bars))
        parts.append(own.assign(series=label)[["series", "budget", "runs", "seconds"]].join(means))
    data = pd.concat(parts, ignore_index=True)
    figure, axes = new_figure(options.size, labels)
    budgets = sorted(data["budget"].dropna().unique())
    for number, label in enumerate(labels):
        _draw(axes, data[data["series"] == label], number, label, budgets)
    set_scale(axes, "x", options.x, data["seconds"].to_numpy())
    set_scale(axes, "y", options.y, data[["y", "low", "high"]].to_numpy().ravel())
    axes.set_xlabel(MEASURES["train_seconds"].label)
    axes.set_ylabel(MEASURES["test_error"].label)
    caption = f"{runs_text(data['runs'])}, median time{bars_text(data, options.error_bars)}"
    if len(budgets) > 1:
        caption += f"; the larger the mark, the larger the budget: {', '.join(map(str, budgets))}"
    finish(figure, axes, options, options.title or results.experiment.title, f"{caption}.")
    return Drawing(figure, data)


def _draw(axes: Axes, drawn: pd.DataFrame, number: int, label: str, budgets: Sequence[int]) -> None:
    """One line, whose marks grow with the budget."""
    colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
    line = LINES[number % len(LINES)] if len(drawn) > 1 else "none"
    style: dict[str, Any] = {"label": label, "color": colour, "marker": marker, "markersize": SMALLEST}
    draw_means(axes, drawn, "seconds", linestyle=line, linewidth=0.9, **style)
    rank = [0 if pd.isna(budget) else budgets.index(budget) for budget in drawn["budget"]]
    sizes = np.linspace(SMALLEST, LARGEST, max(2, len(budgets)))[rank]
    axes.scatter(drawn["seconds"], drawn["y"], s=sizes**2, color=colour, marker=marker, linewidths=0, zorder=3)


def _labels(series: list[Series]) -> list[str]:
    """The learner's name and the parameters that are other than usual: what a variant is called matters here more than
    what it has in common with the others."""
    params = [params_of(one.rows)[0] for one in series]
    labels = []
    for one, own in zip(series, params, strict=True):
        cls = learner(one.algorithm)
        usual = cls.defaults() if cls else {}
        siblings = [other for other, its in zip(params, series, strict=True) if its.algorithm == one.algorithm]
        names = [name for name in varying(siblings, without=kept(one.algorithm)) if own.get(name) != usual.get(name)]
        words = parameters_text(own, names)
        labels.append(f"{learner_title(one.algorithm)} ({words})" if words else learner_title(one.algorithm))
    return labels
