"""Error against the time that learning takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from budgetbench.plots.axes import set_scale
from budgetbench.plots.base import SCALE, Drawing, NothingToDraw, figure_kind, one_of
from budgetbench.plots.series import SIZES, Series, runs_text, series_over_sizes
from budgetbench.plots.style import COLOURS, LINES, MARKERS, finish, new_figure
from budgetbench.results import Results
from budgetbench.results.names import learner, learner_title, parameters_text, varying
from budgetbench.results.summary import params_of

BARS = {"stderr": "± standard error", "std": "± standard deviation", "none": ""}


@figure_kind(
    "error_vs_time",
    "test error against training time, learners with several budgets as lines",
    error_bars=one_of(*BARS),
    x=one_of("log", "linear"),
    y=SCALE,
)
def error_vs_time(results: Results, spec: Mapping[str, Any]) -> Drawing:
    """Mean test error (%) over the median training time of the runs; numbers beside the points are the budgets.

    The median, because a run during which the machine was busy with other things takes much longer than the others.
    """
    summary = results.summary
    rows = summary[summary["selected"].astype(bool) & summary["test_error_mean"].notna()]
    seconds = results.trials.groupby("point")["train_seconds"].median().astype(float)
    rows = rows.assign(seconds=seconds.reindex(rows.index).to_numpy())
    rows = rows[rows["seconds"] > 0]
    if rows.empty:
        raise NothingToDraw("no finished run has test_error and train_seconds")
    series = series_over_sizes(results, rows)
    labels = _labels(series)
    parts = []
    for one, label in zip(series, labels, strict=True):
        own = one.rows.sort_values("budget", kind="stable")
        reach = own["test_error_std"].fillna(0.0) * (0 if spec["error_bars"] == "none" else 1)
        if spec["error_bars"] == "stderr":
            reach = reach / np.sqrt(own["runs"])
        mean = own["test_error_mean"]
        parts.append(
            pd.DataFrame(
                {
                    "series": label,
                    "budget": own["budget"],
                    "runs": own["runs"],
                    "seconds": own["seconds"],
                    "y": 100 * mean,
                    "low": 100 * (mean - reach),
                    "high": 100 * (mean + reach),
                }
            )
        )
    data = pd.concat(parts, ignore_index=True)
    figure, axes = new_figure(spec["size"], labels)
    for number, label in enumerate(labels):
        drawn = data[data["series"] == label]
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        offset = ((3, 3), (3, -8), (-11, 3))[number % 3]  # labels of neighbouring points on different sides
        x, y, low, high = (drawn[name].to_numpy(dtype=float) for name in ("seconds", "y", "low", "high"))
        bars = np.vstack([y - low, high - y]).clip(min=0)
        axes.errorbar(
            x,
            y,
            yerr=bars,
            label=label,
            color=colour,
            marker=marker,
            linestyle=LINES[number % len(LINES)] if len(drawn) > 1 else "none",
            linewidth=0.9,
            elinewidth=0.9,
            capsize=2.2,
            capthick=0.9,
        )
        for budget, place in zip(drawn["budget"], zip(x, y, strict=True), strict=True):
            if not pd.isna(budget):
                axes.annotate(str(budget), place, offset, textcoords="offset points", fontsize=6, color=colour)
    set_scale(axes, "x", spec["x"], data["seconds"].to_numpy())
    set_scale(axes, "y", spec["y"], data[["y", "low", "high"]].to_numpy().ravel())
    axes.set_xlabel("Training time (s)")
    axes.set_ylabel("Test error (%)")
    bars_text = BARS[spec["error_bars"]] if (data["high"] > data["low"]).any() else ""
    caption = f"{runs_text(data['runs'])}, median time{f'; bars: {bars_text}' if bars_text else ''}; numbers: budgets."
    finish(figure, axes, spec, spec["title"] or str(results.experiment.get("title") or results.folder.name), caption)
    return Drawing(figure, data)


def _labels(series: list[Series]) -> list[str]:
    """The learner's name and the parameters that are other than usual: what a variant is called matters here more than
    what it has in common with the others."""
    params = {id(one): params_of(one.rows)[0] for one in series}
    labels = []
    for one in series:
        own = params[id(one)]
        cls = learner(one.algorithm)
        usual = {name: default for name, (_, default) in cls.own_parameters().items()} if cls else {}
        siblings = [params[id(other)] for other in series if other.algorithm == one.algorithm]
        names = [name for name in varying(siblings, without=SIZES) if own.get(name) != usual.get(name)]
        words = parameters_text(own, names)
        labels.append(f"{learner_title(one.algorithm)} ({words})" if words else learner_title(one.algorithm))
    return labels
