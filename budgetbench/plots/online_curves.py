"""The run of an online learner: Orabona, Keshet, Caputo 2008, Figures 1 to 3."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from budgetbench.lazy import pd
from budgetbench.parameters import Unit
from budgetbench.plots.axes import set_scale
from budgetbench.plots.base import Drawing, NothingToDraw, Options, Scale, figure_kind
from budgetbench.plots.series import Series, chosen_text, runs_text, series_of
from budgetbench.plots.style import finish, new_figure
from budgetbench.results import Results
from budgetbench.results.measures import MEASURES
from budgetbench.results.sizes import budget_of
from budgetbench.results.summary import params_of

LABELS = {"seen": "Number of examples seen"} | {name: MEASURES[name].label for name in ("online_error", "support_size")}
CROWD = 12  # more curves than this cannot be told apart
START = 0.02  # of the examples seen: earlier, the share of mistakes is that of a handful and would set the scale
BANDS = {"std": "; band: ± standard deviation", "minmax": "; band: minimum to maximum", "none": ""}


@dataclass(frozen=True)
class Curves(Options):
    """How it is drawn.

    Parameters
    ----------
    budget : draw this one alone, and learners without any.
    band : what the bands around the lines show.
    x, y : how the axes are divided.
    """

    budget: Annotated[int, Ge(1), Unit("examples")] | None = None
    band: Literal["std", "minmax", "none"] = "std"
    x: Scale = "linear"
    y: Scale = "linear"


@dataclass(frozen=True)
class CurvesOverSupport(Curves):
    """How it is drawn, by default without bands."""

    band: Literal["std", "minmax", "none"] = "none"
    x: Scale = "log"


@figure_kind("share of mistakes so far against the number of examples seen", Curves)
def online_error_vs_seen(results: Results, options: Curves) -> Drawing:
    """Orabona's Figure 1: mean online error (%) over the stream."""
    return _curves(results, options, "seen", "online_error")


@figure_kind("size of the support set against the number of examples seen", Curves)
def support_vs_seen(results: Results, options: Curves) -> Drawing:
    """Orabona's Figure 2: mean size of the support set over the stream."""
    return _curves(results, options, "seen", "support_size")


@figure_kind("share of mistakes so far against the size of the support set at that time", CurvesOverSupport)
def online_error_vs_support(results: Results, options: Curves) -> Drawing:
    """Orabona's Figure 3: mean online error (%) over mean size of the support set; a full set goes straight on."""
    return _curves(results, options, "support_size", "online_error")


def _curves(results: Results, options: Curves, across: str, up: str) -> Drawing:
    rows, budget = _chosen(results, options.budget, (across, up))
    series = series_of(results, rows, over_sizes=False)
    data = pd.concat([_numbers(results, one, across, up, options) for one in series], ignore_index=True)
    if (up == "online_error" and options.x == "linear") or across == "support_size":
        data = data[data["seen"] >= START * data["seen"].max()].reset_index(drop=True)
    if data.empty:
        raise NothingToDraw("the runs' curves have no checkpoint in common")
    figure, axes = new_figure(options.size, [one.label for one in series])
    for number, one in enumerate(series):
        own = data[data["series"] == one.label]
        if options.band != "none":
            axes.fill_between(own["x"], own["low"], own["high"], color=one.colour, alpha=0.15, linewidth=0, zorder=1)
        # markers are a ninth apart, and each series starts elsewhere so that they do not coincide
        every = (number / len(series) * 0.11, 0.11)
        axes.plot(own["x"], own["y"], linestyle=one.line, markevery=every, zorder=2, **one.drawn())
    set_scale(axes, "x", options.x, data["x"].to_numpy(dtype=float))
    set_scale(axes, "y", options.y, data["y"].to_numpy(dtype=float))
    if options.x == "linear":
        axes.set_xlim(0, data["x"].max() * 1.03)
    if options.y == "linear":
        axes.set_ylim(*_limits(data, from_zero=up == "support_size"))
    axes.set_xlabel(LABELS[across])
    axes.set_ylabel(LABELS[up])
    bands = BANDS[options.band] if data["runs"].max() > 1 else ""
    caption = f"{runs_text(data['runs'])}{bands}{f'; B = {budget}' if budget else ''}.{chosen_text(results)}"
    finish(figure, axes, options, options.title or results.experiment.title, caption)
    return Drawing(figure, data)


def _limits(data: pd.DataFrame, from_zero: bool) -> tuple[float, float]:
    """Room for all means, and for the bands of the second half: early bands are wide and say little."""
    late = data[data["seen"] >= data["seen"].max() / 2]
    low = min(float(data["y"].min()), float(late["low"].min()))
    high = max(float(data["y"].max()), float(late["high"].max()))
    room = 0.06 * (high - low) or 1.0
    return 0.0 if from_zero else max(0.0, low - room), high + room


def _chosen(results: Results, budget: int | None, axes: tuple[str, str]) -> tuple[pd.DataFrame, int | None]:
    """The rows to draw, and the one budget among them where one was chosen.

    Learners without a budget are always in. Without a wish, all budgets are drawn, or the middle one where that would
    be a crowd.
    """
    told = [bool(curve) and all(curve.get(name) is not None for name in axes) for curve in results.trials["curve"]]
    with_curve = set(map(int, results.trials.loc[told, "point"]))
    summary = results.summary
    rows = summary[summary["selected"].astype(bool) & (summary["runs"] > 0) & summary.index.isin(with_curve)]
    if rows.empty:
        raise NothingToDraw("no finished run of an online learner has a curve")
    budgets = [budget_of(params) for params in params_of(rows)]
    known = sorted({one for one in budgets if one is not None})
    if budget is None and len(known) > 1 and len(rows) > CROWD:
        budget = known[len(known) // 2]
    if budget is None:
        return rows, known[0] if len(known) == 1 else None
    if budget not in known:
        raise NothingToDraw(f"budget {budget} has no curve; there are: {', '.join(map(str, known)) or 'none'}")
    return rows[[one is None or one == budget for one in budgets]], budget


def _numbers(results: Results, one: Series, across: str, up: str, options: Curves) -> pd.DataFrame:
    """Means over the runs at the checkpoints that all of them have."""
    trials = results.trials
    own = trials[(trials["point"] == one.rows.index[0]) & (trials["status"] != "failed") & trials["curve"].notna()]
    curves = list(own["curve"])
    seen: NDArray[np.int64] = reduce(np.intersect1d, (np.unique(curve["seen"]) for curve in curves))
    stacks: dict[str, NDArray[np.float64]] = {
        name: np.stack([_at(seen, curve, name) for curve in curves])
        for name in ("online_error", "support_size")
        if name in (across, up)
    }
    if "online_error" in stacks:
        stacks["online_error"] *= 100
    y = stacks[up].mean(axis=0)
    low, high = y, y
    if options.band == "minmax":
        low, high = stacks[up].min(axis=0), stacks[up].max(axis=0)
    elif options.band == "std" and len(curves) > 1:
        spread = stacks[up].std(axis=0, ddof=1)
        low, high = y - spread, y + spread
    data: pd.DataFrame = pd.DataFrame(
        {
            "series": one.label,
            "algorithm": one.algorithm,
            "params": one.rows["params"].iloc[0],
            "runs": len(curves),
            "seen": seen,
            "x": seen.astype(float) if across == "seen" else stacks["support_size"].mean(axis=0),
            "y": y,
            "low": low,
            "high": high,
        }
    )
    for name, axis in (("x", options.x), ("y", options.y)):
        if axis == "log":  # nothing stored, or no mistake, yet
            data = data[data[name] > 0]
    return data


def _at(checkpoints: NDArray[np.int64], curve: Mapping[str, Any], name: str) -> NDArray[np.float64]:
    """What a curve says at some of its checkpoints, NaN where it says nothing."""
    seen, places = np.unique(curve["seen"], return_index=True)
    values = np.asarray(curve[name] or np.full(len(curve["seen"]), np.nan), dtype=float)
    at: NDArray[np.float64] = values[places[np.searchsorted(seen, checkpoints)]]
    return at
