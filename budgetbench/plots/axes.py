"""Scales, ticks and points that would cover each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from matplotlib import ticker
    from matplotlib.axes import Axes
else:
    ticker = lazy("matplotlib.ticker")

Vector = NDArray[np.float64]


def number_text(value: float) -> str:
    """A tick's number as people write it, thousands apart from 10 000 on."""
    if abs(value) >= 10000:
        return f"{value:,.0f}".replace(",", "\u2009")
    return f"{value:.6g}"


def set_scale(axes: Axes, which: str, scale: str, values: Vector) -> None:
    """Make the `x` or `y` axis linear or logarithmic, with limits that leave room around the values.

    On a logarithmic axis numbers are written out (20, 50, 100), no powers of ten.
    """
    axis = axes.xaxis if which == "x" else axes.yaxis
    values = values[np.isfinite(values)]
    formatter = ticker.FuncFormatter(lambda value, _: number_text(value))
    if scale == "log":
        axes.set(**{f"{which}scale": "log"})
        low, high = float(values.min()), float(values.max())
        room = max(np.log10(high / low) * 0.05, 0.06)
        axes.set(**{f"{which}lim": (low / 10**room, high * 10**room)})
        decades = np.log10(high / low)
        steps = (1.0, 2.0, 3.0, 5.0, 7.0) if decades < 0.8 else (1.0, 2.0, 5.0) if decades < 3.6 else (1.0,)
        axis.set_major_locator(ticker.LogLocator(subs=steps, numticks=50))
        axis.set_minor_locator(ticker.LogLocator(subs=[float(step) for step in range(1, 10)], numticks=100))
        axis.set_minor_formatter(ticker.NullFormatter())
    axis.set_major_formatter(formatter)


def positive_floor(values: Vector) -> float:
    """The lowest value a logarithmic axis shows: the lowest positive one that is not the rounding of a difference."""
    finite = values[np.isfinite(values)]
    positive = finite[finite > 1e-12 * max(finite.max(initial=0.0), 0.0)]
    return float(positive.min()) if len(positive) else 1.0


def dodged(groups: list[Vector], scale: str, closeness: float = 0.012, step: float = 0.007) -> list[Vector]:
    """Shift points sideways where those of several series would stand on one another.

    Parameters
    ----------
    groups : the x values of each series.
    closeness, step : how near counts as covering, and by how much neighbours are moved apart, in parts of the axis.

    Returns
    -------
    The x values to draw at, centred on the true ones. A series that collides nowhere stays where it is; one that
    collides somewhere is moved by the same amount throughout, so that its line keeps its shape.
    """
    axis = [np.log10(values) if scale == "log" else values for values in groups]
    everything = np.concatenate(axis) if axis else np.empty(0)
    width = float(np.ptp(everything)) if len(everything) else 0.0
    if width == 0.0:
        width = 1.0
    colliding = [
        i
        for i, own in enumerate(axis)
        if any(
            np.min(np.abs(own[:, None] - other[None, :])) < closeness * width
            for j, other in enumerate(axis)
            if i != j and len(own) and len(other)
        )
    ]
    moved = list(groups)
    for rank, i in enumerate(colliding):
        shifted = axis[i] + (rank - (len(colliding) - 1) / 2) * step * width
        moved[i] = 10**shifted if scale == "log" else shifted
    return moved
