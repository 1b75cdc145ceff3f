"""How all figures look. The only module that knows matplotlib's settings."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from budgetbench.lazy import lazy
from budgetbench.private import spare_matplotlib_its_home
from budgetbench.results.names import learner

if TYPE_CHECKING:
    import matplotlib
    import numpy as np
    from matplotlib import colors
    from matplotlib import figure as figures
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from budgetbench.plots.base import Options
else:
    colors = lazy("matplotlib.colors")
    figures = lazy("matplotlib.figure")
    matplotlib = lazy("matplotlib")

SIZES = {"single": (4.3, 3.0), "double": (6.8, 4.0)}
"""Width, and height of the axes with their labels, in inches; legends come on top of the height."""

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F3C8D", "#5C4A32")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""For learners that are not registered: told apart by the colour-blind too (after Okabe and Ito)."""

LINES: tuple[Any, ...] = ("-", (0, (4, 1.6)), (0, (1.2, 1.4)), (0, (5, 1.4, 1.2, 1.4)))
GREY = "#555555"
LEGEND_LINE, HEAD = 0.185, 0.34  # inches: a line of the legend, the title above panels

SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.6,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "xtick.minor.width": 0.5,
    "ytick.minor.width": 0.5,
    "legend.fontsize": 7.5,
    "legend.title_fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "legend.columnspacing": 1.4,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.2,
    "lines.markeredgewidth": 0.9,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.h_pad": 0.04,
    "figure.constrained_layout.w_pad": 0.04,
    "pdf.fonttype": 42,  # TrueType: editable text, accepted by publishers
    "savefig.facecolor": "white",
    "text.parse_math": False,  # titles come from configurations, where a dollar is a dollar
}


@contextmanager
def styled() -> Iterator[None]:
    """Matplotlib's defaults with our settings, whatever the user's own settings are."""
    spare_matplotlib_its_home()
    with matplotlib.rc_context():
        # Without the backend, which setting would load; figures are drawn on their own canvas.
        defaults = {name: value for name, value in matplotlib.rcParamsDefault.items() if "backend" not in name}
        matplotlib.rcParams.update(defaults)
        matplotlib.rcParams.update(SETTINGS)  # type: ignore[arg-type]
        yield


def new_figure(size: str, labels: Sequence[str]) -> tuple[Figure, Axes]:
    """A figure with one pair of axes, high enough for a legend with these labels under it."""
    width, height = SIZES[size]
    rows = -(-len(labels) // _legend_columns(size, labels))
    figure = figures.Figure(figsize=(width, height + LEGEND_LINE * (rows + 1)))
    return figure, figure.subplots()


def finish(figure: Figure, axes: Axes, options: Options, title: str, caption: str) -> None:
    """Title above; legend and caption below the axes, where they cover no data."""
    handles, labels = axes.get_legend_handles_labels()
    # The legend of an error bar would show the bar; the line with its marker says enough.
    handles = [handle[0] if isinstance(handle, tuple) else handle for handle in handles]
    axes.set_title(textwrap.fill(title, 88 if options.size == "double" else 58), loc="left", pad=8)
    said = "\n".join(textwrap.fill(line, 120 if options.size == "double" else 78) for line in caption.split("\n"))
    _legend(figure, handles, labels, _legend_columns(options.size, labels), said)
    limit(axes, options)


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
    _legend(figure, handles, labels, columns, textwrap.fill(caption, int(18 * wide)))


def _legend(figure: Figure, handles: Sequence[Any], labels: Sequence[str], columns: int, caption: str) -> None:
    legend = figure.legend(handles, labels, loc="outside lower center", ncols=columns, title=caption)
    legend.get_title().set_color(GREY)


def limit(axes: Axes, options: Options) -> None:
    """The limits that were asked for."""
    for axis, limits in (("x", options.x_limits), ("y", options.y_limits)):
        if limits is not None:
            axes.set(**{f"{axis}lim": tuple(limits)})


def learner_style(one: tuple[str, str], algorithms: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Colour and marker of a learner: its own, or by its place among the unregistered ones of the experiment.

    Parameters
    ----------
    one, algorithms : a name with its title, and all those of the experiment.
    """
    cls = learner(one[0])
    if cls is not None:
        return str(cls.color), str(cls.marker)
    classes = [learner(name) for name, _ in algorithms]
    strangers = [other for other, cls in zip(algorithms, classes, strict=True) if cls is None]
    place = strangers.index(one) if one in strangers else 0
    taken = {str(value).lower() for cls in classes if cls is not None for value in (cls.color, cls.marker)}
    colours = [colour for colour in COLOURS if colour.lower() not in taken] or COLOURS
    markers = [marker for marker in MARKERS if marker.lower() not in taken] or MARKERS
    return colours[place % len(colours)], markers[place % len(markers)]


def shade(colour: str, number: int, of: int) -> str:
    """One of so many shades of a colour, from dark to light, none of them too pale on white."""
    place = number / max(1, of - 1)
    towards, share = (0.0, 0.55 * (1 - 2 * place)) if place < 0.5 else (1.0, 0.55 * (2 * place - 1))
    red, green, blue = ((1 - share) * part + share * towards for part in colors.to_rgb(colour))
    return colors.to_hex((red, green, blue)).upper()


def _legend_columns(size: str, labels: Sequence[str]) -> int:
    """As many columns as the longest label allows, in characters of the legend's font."""
    room = 100 if size == "double" else 62
    longest = max((len(label) for label in labels), default=1) + 7
    return max(1, min(room // longest, 3 if size == "single" else 4, len(labels)))
