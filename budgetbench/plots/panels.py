"""Figures of several panels, with one legend and one caption under all of them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from budgetbench.lazy import lazy
from budgetbench.plots.style import GREY, LEGEND_LINE

if TYPE_CHECKING:
    import numpy as np
    from matplotlib import figure as figures
    from matplotlib.backends import backend_agg as agg
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
else:
    agg = lazy("matplotlib.backends.backend_agg")
    figures = lazy("matplotlib.figure")

HEAD = 0.34  # inches for the title above the panels


def new_panels(
    rows: int, columns: int, width: float, height: float, legend_rows: int, **options: Any
) -> tuple[Figure, NDArray[np.object_]]:
    """A figure of rows × columns panels, high enough for a title above and a legend under them.

    Parameters
    ----------
    width, height : of the figure without title and legend, in inches.
    options : for matplotlib's `Figure.subplots`.
    """
    figure = figures.Figure(figsize=(width, height + HEAD + LEGEND_LINE * (legend_rows + 1)))
    agg.FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def close_panels(
    figure: Figure, title: str, caption: str, handles: Sequence[Any], labels: Sequence[str], columns: int
) -> None:
    """Title above the panels; legend and caption below them."""
    wide = figure.get_figwidth()
    figure.suptitle(textwrap.fill(title, int(13 * wide)), x=0.01, ha="left", fontsize=9)
    if not handles:
        figure.text(0.01, 0.005, caption, color=GREY, fontsize=7)
        return
    legend = figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=columns,
        title=textwrap.fill(caption, int(18 * wide)),
    )
    legend.get_title().set_color(GREY)
