"""Error against number of support vectors: Weston, Bordes, Bottou 2005, Figures 9 to 12."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from budgetbench.lazy import pd
from budgetbench.plots.axes import dodged, positive_floor, set_scale
from budgetbench.plots.base import Drawing, NothingToDraw, Options, Scale, figure_kind
from budgetbench.plots.series import Series, bars_text, chosen_text, draw_means, in_percent, runs_text, series_of
from budgetbench.plots.style import finish, new_figure
from budgetbench.results import Results
from budgetbench.results.measures import MEASURES, Error


@dataclass(frozen=True)
class ErrorVsSupport(Options):
    """How it is drawn.

    Parameters
    ----------
    measure : which error.
    error_bars : what the bars show.
    x, y : how the axes are divided.
    """

    measure: Error = "test_error"
    error_bars: Literal["minmax", "std", "stderr", "none"] = "minmax"
    x: Scale = "log"
    y: Scale = "linear"


@figure_kind("error against the number of support vectors, learners with several budgets as lines", ErrorVsSupport)
def error_vs_support(results: Results, options: ErrorVsSupport) -> Drawing:
    """Mean error (%) over mean support size, with bars; a learner with one parameter set is a point.

    The papers show the test error; Crammer et al. 2003, Figure 4, also the online error and the online margin error
    (`measure`). Where the points of several learners coincide they are set a little apart.
    """
    summary = results.summary
    measure = options.measure
    rows = summary[summary["selected"].astype(bool) & summary[f"{measure}_mean"].notna()]
    rows = rows.assign(size=rows["support_size_mean"].fillna(rows["budget"].astype("Float64")).astype(float))
    rows = rows[rows["size"].notna()]
    if rows.empty:
        raise NothingToDraw(f"no finished run has {measure} and support_size")
    series = series_of(results, rows, over_sizes=True)
    data = _numbers(series, measure, options)
    figure, axes = new_figure(options.size, [one.label for one in series])
    for one in series:
        own = data[data["series"] == one.label]
        alone: dict[str, Any] = {"linestyle": "none", "markersize": 6.0, "zorder": 3}
        style = one.drawn() | (alone if len(own) == 1 else {"linestyle": one.line, "zorder": 2})
        draw_means(axes, own, "x", options.error_bars != "none", **style)
    set_scale(axes, "x", options.x, data["x"].to_numpy())
    set_scale(axes, "y", options.y, data[["y", "low", "high"]].to_numpy().ravel())
    if options.x == "linear":
        axes.set_xlim(-0.02 * data["x"].max(), 1.03 * data["x"].max())
    if options.y == "linear":
        top = axes.get_ylim()[1]
        # a marker close to 0 is to be seen whole
        axes.set_ylim(-0.03 * top if data["y"].min() < 0.03 * top else 0.0, top)
    axes.set_xlabel(MEASURES["support_size"].label)
    axes.set_ylabel(MEASURES[measure].label)
    caption = f"{runs_text(data['runs'])}{bars_text(data, options.error_bars)}.{chosen_text(results)}"
    finish(figure, axes, options, options.title or results.experiment.title, caption)
    return Drawing(figure, data)


def _numbers(series: list[Series], measure: str, options: ErrorVsSupport) -> pd.DataFrame:
    """What is drawn: x (with its shift), y and the ends of the bar, the last three in percent."""
    parts = []
    for one in series:
        rows = one.rows.sort_values("size", kind="stable")
        part = {"series": one.label, "algorithm": one.algorithm}
        part |= {name: rows[name] for name in ("params", "budget", "runs")} | {"support_size": rows["size"]}
        # a logarithmic axis has no place for an empty support set
        part["x"] = rows["size"].clip(lower=1.0) if options.x == "log" else rows["size"]
        parts.append(pd.DataFrame(part | in_percent(rows, measure, options.error_bars)))
    shifted = dodged([part["x"].to_numpy(dtype=float) for part in parts], options.x)
    data: pd.DataFrame = pd.concat(
        [part.assign(x=x) for part, x in zip(parts, shifted, strict=True)], ignore_index=True
    )
    if options.y == "log":
        floor = positive_floor(data[["y", "low"]].to_numpy(dtype=float).ravel()) / 2
        data[["y", "low"]] = data[["y", "low"]].clip(lower=floor)
    return data
