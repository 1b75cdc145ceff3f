"""Error against the number of evaluation examples: Weston, Bordes, Bottou 2005, Figure 13."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from budgetbench.lazy import lazy
from budgetbench.plots.axes import set_scale
from budgetbench.plots.base import Drawing, NothingToDraw, Options, figure_kind
from budgetbench.plots.panels import close_panels, new_panels
from budgetbench.plots.series import BARS, bar_ends, runs_text
from budgetbench.plots.style import COLOURS
from budgetbench.results import Results
from budgetbench.results.measures import MEASURES
from budgetbench.results.summary import params_of

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = lazy("pandas")

#: What the ways to choose the examples are called, and how each is drawn.
RULES = {
    "all": ("all examples seen", COLOURS[0], "D"),
    "support": ("support vectors", COLOURS[3], "s"),
    "random": ("random examples", COLOURS[2], "o"),
    "flips": ("examples that change side most often", COLOURS[1], "^"),
}


@dataclass(frozen=True)
class ErrorVsEvaluationSize(Options):
    """How it is drawn.

    Parameters
    ----------
    error_bars : what the bars show.
    """

    error_bars: Literal["stderr", "std", "none"] = "stderr"


@figure_kind(
    "error_vs_evaluation_size",
    "test error against the number of examples on which the Tighter Budget Perceptron counts errors",
    ErrorVsEvaluationSize,
)
def error_vs_evaluation_size(results: Results, options: ErrorVsEvaluationSize) -> Drawing:
    """Mean test error (%) over q, one row of panels for each budget, with a logarithmic and with a linear scale of q.

    Counting on all examples, or on the support vectors, has one q only: a point at that q, with a line for reading off
    how many examples another way takes to come down to it.
    """
    data = _numbers(results, options.error_bars)
    budgets = sorted(data["budget"].unique())
    figure, panels = new_panels(len(budgets), 2, 6.8, 2.35 * len(budgets), 2, sharey="row")
    for row, budget in zip(panels, budgets, strict=True):
        own = data[data["budget"] == budget]
        for axes, scale in zip(row, ("log", "linear"), strict=True):
            _panel(axes, own, scale)
            axes.set_title(f"{budget} support vectors, {scale} scale", loc="left", fontsize=8)
            if options.y_limits is not None:
                axes.set_ylim(*options.y_limits)
        row[0].set_ylabel(MEASURES["test_error"].label)
    for axes in panels[-1]:
        axes.set_xlabel("Number of evaluation examples q")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    bars = BARS[options.error_bars] if (data["high"] > data["low"]).any() else ""
    caption = f"{runs_text(data['runs'])}{f'; bars: {bars}' if bars else ''}. Before a removal, errors are counted on:"
    title = options.title or results.experiment.title
    close_panels(figure, title, caption, [handle[0] for handle in handles], labels, 2)
    return Drawing(figure, data)


def _numbers(results: Results, bars: str) -> pd.DataFrame:
    """What is drawn: for each budget and way the q, the mean test error and the ends of its bar, in percent."""
    summary = results.summary
    lows, highs = bar_ends(summary, "test_error", bars)
    rows = []
    for (number, row), params, low, high in zip(summary.iterrows(), params_of(summary), lows, highs, strict=True):
        rule, mean = params.get("evaluate"), row["test_error_mean"]
        if rule not in RULES or np.isnan(mean):
            continue
        size: Any = params.get("evaluation_size")
        if rule == "support":
            size = row["support_size_mean"]
        elif rule == "all":
            size = results.trials.loc[results.trials["point"] == number, "train_size"].max()
        rows.append(
            {
                "budget": int(row["budget"]),
                "evaluate": rule,
                "evaluation_size": float(size),
                "runs": row["runs"],
                "y": 100 * mean,
                "low": 100 * low,
                "high": 100 * high,
            }
        )
    if not rows:
        raise NothingToDraw("no finished run has test_error and a parameter evaluate")
    order = {rule: number for number, rule in enumerate(RULES)}
    data = pd.DataFrame(rows)
    return data.sort_values(
        ["budget", "evaluate", "evaluation_size"], key=lambda column: column.replace(order), ignore_index=True
    )


def _panel(axes: Any, data: pd.DataFrame, scale: str) -> None:
    for rule, (label, colour, marker) in RULES.items():
        own = data[data["evaluate"] == rule]
        if own.empty:
            continue
        x, y, low, high = (own[name].to_numpy(dtype=float) for name in ("evaluation_size", "y", "low", "high"))
        alone = rule in ("all", "support")
        if alone:
            axes.axhline(y[0], color=colour, linewidth=0.8, linestyle=(0, (1.2, 2.0)), zorder=1)
        axes.errorbar(
            x,
            y,
            yerr=np.vstack([y - low, high - y]).clip(min=0),
            label=label,
            color=colour,
            marker=marker,
            linestyle="none" if alone else "-",
            elinewidth=0.9,
            capsize=2.2,
            capthick=0.9,
            zorder=3 if alone else 2,
        )
    set_scale(axes, "x", scale, data["evaluation_size"].to_numpy())
    set_scale(axes, "y", "linear", data["y"].to_numpy())
    least, most = data["evaluation_size"].min(), data["evaluation_size"].max()
    axes.set_xlim((-0.03 * most, 1.04 * most) if scale == "linear" else (0.75 * least, 1.33 * most))
    axes.set_ylim(0.0, 1.04 * data["high"].max())
