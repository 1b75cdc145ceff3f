"""The critical-difference diagram (Demšar 2006, section 3.2.4): average ranks on a line, and bars under those learners
that the tests cannot tell apart.

Drawn here as the package's other figures are. scikit-posthocs, which has such a diagram too, would bring statsmodels
and seaborn along for some lines and labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from budgetbench.comparison.comparing import Comparison, Report
from budgetbench.plots.base import Drawing
from budgetbench.plots.style import GREY, close_panels, learner_style, new_panels
from budgetbench.results.measures import MEASURES
from budgetbench.significance import ALPHA

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Inches: width of the figure, height of a line of text and of a bar, from the axis to the first of them, and above it.
WIDTH, LINE, BAR, GAP = 6.8, 0.17, 0.09, 0.12
HEAD = 2.2 * LINE
#: Room for labels on either side of the axis, as a share of its length.
ROOM = 0.62


def diagram(report: Report) -> Drawing:
    """Average ranks, the best on the left, in a panel for each memory size."""
    heights = [_height(one) for one in report.comparisons]
    ratios = {"gridspec_kw": {"height_ratios": heights}}
    figure, panels = new_panels(len(heights), 1, WIDTH, sum(heights), 1, **ratios)
    chosen = pd.concat([one.chosen for one in report.comparisons])
    algorithms = dict(zip(chosen["learner"], chosen["algorithm"], strict=True))
    for axes, comparison, height in zip(panels[:, 0], report.comparisons, heights, strict=True):
        _panel(axes, comparison, height, algorithms)
    title = f"Average ranks by {MEASURES[report.measure].title.lower()} over {len(report.experiments)} datasets"
    close_panels(figure, title, _caption(report), [], [], 1)
    return Drawing(figure, _numbers(report))


def _caption(report: Report) -> str:
    few = [one for one in report.comparisons if one.datasets < one.needed]
    barred = f"Learners over one bar do not differ significantly (Wilcoxon, Holm, {ALPHA:.0%} level)."
    unbarred = f"No bars where the datasets are too few for any two to differ at the {ALPHA:.0%} level."
    return " ".join(([barred] if len(few) < len(report.comparisons) else []) + ([unbarred] if few else []))


def _height(comparison: Comparison) -> float:
    """Of a panel, in inches: its title and the numbers of the axis, bars, labels, and some room below."""
    return HEAD + GAP + BAR * len(comparison.groups) + LINE * (-(-len(comparison.ranks) // 2) + 0.9)


def _panel(axes: Axes, comparison: Comparison, height: float, algorithms: Mapping[str, str]) -> None:
    """In y the unit is an inch, downwards from the axis."""
    ranks, groups = comparison.ranks, comparison.groups
    best, worst = 1, len(ranks)
    reach = ROOM * (worst - best)
    axes.set(xlim=(best - reach, worst + reach), ylim=(height - HEAD, -HEAD))
    axes.axis("off")
    axes.text(best - reach, -1.5 * LINE, comparison.memory.words, fontsize=8.5)
    axes.plot([best, worst], [0, 0], color="black", linewidth=0.9)
    for tick in range(best, worst + 1):
        axes.plot([tick, tick], [-0.25 * LINE, 0], color="black", linewidth=0.9)
        axes.text(tick, -0.4 * LINE, str(tick), ha="center", va="bottom", fontsize=7.5)
    for place, group in enumerate(groups):
        ends = np.array([ranks[group[0]] - 0.012 * reach, ranks[group[-1]] + 0.012 * reach])
        axes.plot(ends, [GAP / 2 + BAR * (place + 0.5)] * 2, color=GREY, linewidth=3.0, solid_capstyle="butt")
    first = GAP + BAR * len(groups) + LINE / 2
    half, named = -(-len(ranks) // 2), [(algorithm, learner) for learner, algorithm in algorithms.items()]
    for place, (learner, rank) in enumerate(ranks.items()):
        left = place < half
        y = first + LINE * (place if left else len(ranks) - 1 - place)
        colour, marker = learner_style((algorithms[str(learner)], str(learner)), named)
        end = best - 0.06 * reach if left else worst + 0.06 * reach
        axes.plot([rank, rank, end], [0, y, y], color=colour, linewidth=0.9)
        axes.plot([rank], [0], color=colour, marker=marker, markersize=4.5, zorder=3)
        words = f"{learner}  {rank:.2f}" if left else f"{rank:.2f}  {learner}"
        axes.text(end - (0.03 if left else -0.03) * reach, y, words, ha="right" if left else "left", va="center")


def _numbers(report: Report) -> pd.DataFrame:
    """A row for each learner and memory size: its average rank, and the numbers of the bars over which it stands."""
    rows = [
        (one.memory.text, learner, rank, " ".join(str(n) for n, group in enumerate(one.groups, 1) if learner in group))
        for one in report.comparisons
        for learner, rank in one.ranks.items()
    ]
    return pd.DataFrame(rows, columns=["memory", "learner", "average_rank", "bars"])
