"""Error against the number of evaluation examples: Weston, Bordes, Bottou 2005, Figure 13."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from budgetbench.lazy import pd
from budgetbench.plots.axes import set_scale
from budgetbench.plots.base import Drawing, NothingToDraw, Options, figure_kind
from budgetbench.plots.series import bars_text, draw_means, in_percent, runs_text
from budgetbench.plots.style import COLOURS, close_panels, limit, new_panels
from budgetbench.results import Results
from budgetbench.results.measures import MEASURES
from budgetbench.results.summary import params_of

#: What the ways to choose the examples are called, and how each is drawn.
RULES = {
    "all": ("all examples seen", COLOURS[0], "D"),
    "support": ("support vectors", COLOURS[3], "s"),
    "random": ("random examples", COLOURS[2], "o"),
    "flips": ("examples that change side most often", COLOURS[1], "^"),
    "flips_of_all": ("the same, chosen among all and not margin errors alone", COLOURS[4], "v"),
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
            limit(axes, replace(options, x_limits=None))  # there is an axis for each scale
        row[0].set_ylabel(MEASURES["test_error"].label)
    for axes in panels[-1]:
        axes.set_xlabel("Number of evaluation examples q")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    bars = bars_text(data, options.error_bars)
    caption = f"{runs_text(data['runs'])}{bars}. Before a removal, errors are counted on:"
    title = options.title or results.experiment.title
    close_panels(figure, title, caption, [handle[0] for handle in handles], labels, 2)
    return Drawing(figure, data)


def _numbers(results: Results, bars: str) -> pd.DataFrame:
    """What is drawn: for each budget and way the q, the mean test error and the ends of its bar, in percent."""
    summary = results.summary
    given = pd.DataFrame(params_of(summary), summary.index, ["evaluate", "evaluation_size"])
    data = given.join(summary[["budget", "runs"]]).assign(**in_percent(summary, "test_error", bars))
    data = data[data["evaluate"].isin(RULES) & data["y"].notna()]
    if data.empty:
        raise NothingToDraw("no finished run has test_error and a parameter evaluate")
    seen = results.trials.groupby("point")["train_size"].max().reindex(data.index)
    sizes = data["evaluation_size"].mask(data["evaluate"] == "support", summary["support_size_mean"])
    sizes = sizes.mask(data["evaluate"] == "all", seen).astype(float)
    data = data.assign(budget=data["budget"].astype(int), evaluation_size=sizes)
    order = {rule: number for number, rule in enumerate(RULES)}
    columns = ["budget", "evaluate", "evaluation_size", "runs", "y", "low", "high"]
    return data[columns].sort_values(columns[:3], key=lambda column: column.replace(order), ignore_index=True)


def _panel(axes: Any, data: pd.DataFrame, scale: str) -> None:
    for rule, (label, colour, marker) in RULES.items():
        own = data[data["evaluate"] == rule]
        if own.empty:
            continue
        line: dict[str, Any] = {"linestyle": "-", "zorder": 2}
        if rule in ("all", "support"):
            axes.axhline(own["y"].iloc[0], color=colour, linewidth=0.8, linestyle=(0, (1.2, 2.0)), zorder=1)
            line = {"linestyle": "none", "zorder": 3}
        draw_means(axes, own, "evaluation_size", label=label, color=colour, marker=marker, **line)
    set_scale(axes, "x", scale, data["evaluation_size"].to_numpy())
    set_scale(axes, "y", "linear", data["y"].to_numpy())
    least, most = data["evaluation_size"].min(), data["evaluation_size"].max()
    axes.set_xlim((-0.03 * most, 1.04 * most) if scale == "linear" else (0.75 * least, 1.33 * most))
    axes.set_ylim(0.0, 1.04 * data["high"].max())
