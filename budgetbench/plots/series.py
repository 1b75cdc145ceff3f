"""What is drawn as one line or one point: rows of the summary that belong together, with a label and a style."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetbench.lazy import pd
from budgetbench.plots.style import LINES, learner_style
from budgetbench.results import Results
from budgetbench.results.names import canonical_json, entry_title, parameter_name, parameter_text, varying
from budgetbench.results.selection import selection_notes
from budgetbench.results.sizes import budgets, kept, sizes
from budgetbench.results.summary import params_of, titles_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BARS = {"minmax": "minimum to maximum", "std": "± standard deviation", "stderr": "± standard error"}
"""What the bars of a figure can show, in words; `none` is no bars."""


@dataclass(frozen=True)
class Series:
    """Rows of one learner and how they are drawn.

    Attributes
    ----------
    title : what the learner is called; the label has its parameters too, where they tell it from others.
    rows : of the summary, indexed by point.
    line, filled : its line style, and whether its markers are filled: they tell a learner's variants apart.
    """

    algorithm: str
    title: str
    label: str
    rows: pd.DataFrame
    colour: str
    marker: str
    line: Any
    filled: bool

    def drawn(self) -> dict[str, Any]:
        """Keywords for matplotlib's `plot` and `errorbar`."""
        return {
            "label": self.label,
            "color": self.colour,
            "marker": self.marker,
            "markerfacecolor": self.colour if self.filled else "white",
        }


def series_of(results: Results, rows: pd.DataFrame, over_sizes: bool) -> list[Series]:
    """One series for each row, or (`over_sizes`) one for all rows of a learner that differ in how much it keeps."""
    params = dict(zip(rows.index, params_of(rows), strict=True))
    entries = results.experiment.algorithms
    named = list(dict.fromkeys((entry.name, entry_title(entry)) for entry in entries))
    found: list[Series] = []
    for called, own in rows.groupby(["algorithm", titles_of(rows, results.experiment)], sort=False):
        algorithm, title = map(str, called)
        joined = kept(algorithm) if over_sizes else ()
        groups: dict[tuple[str, tuple[str, ...]], list[Any]] = {}
        for i in own.index:
            sized = tuple(name for name in joined if params[i].get(name) is not None)
            searched = entries[int(rows.loc[i, "entry"])].searched
            rest = {name: value for name, value in params[i].items() if name not in (*joined, *searched)}
            groups.setdefault((canonical_json(rest), sized), []).append(i)
        differing = varying((params[members[0]] for members in groups.values()), without=joined)
        ways = {sized for _, sized in groups}
        colour, marker = learner_style((algorithm, title), named)
        for number, ((_, sized), members) in enumerate(groups.items()):
            first = members[0]
            best = entries[int(rows.loc[first, "entry"])].searched
            words = [_best(name, [params[member].get(name) for member in members]) for name in best]
            words += _words(params[first], [name for name in differing if name not in best])
            if len(ways) > 1 and joined and sized:
                words.append("by " + ", ".join(name.replace("_", " ") for name in sized))
            label = _label(title, words)
            line, filled = LINES[number % len(LINES)], number % 2 == 0
            found.append(Series(algorithm, title, label, rows.loc[members], colour, marker, line, filled))
    return found


def _best(name: str, values: list[Any]) -> str:
    """What was found best; of a line whose sizes have different ones, that it is the best of each."""
    return f"best {parameter_text(name, values[0]) if len(set(values)) == 1 else parameter_name(name)}"


def chosen_text(results: Results) -> str:
    """How the best parameters were chosen, as further lines of a caption; nothing where none were."""
    return "".join(f"\n{note}" for note in selection_notes(results.experiment.algorithms))


def _words(params: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    """What tells a variant from its siblings, as short as a legend wants it."""
    words = []
    for name in names:
        value = params.get(name)
        if value is None:
            continue
        if name in budgets():
            words.append(f"{sizes()[name].sign} = {value}")
        elif name == "epochs":
            words.append(f"{value} epoch" if value == 1 else f"{value} epochs")
        else:
            words.append(parameter_text(name, value))
    return words


def _label(title: str, words: list[str]) -> str:
    return f"{title} ({', '.join(words)})" if words else title


def runs_text(runs: Iterable[int]) -> str:
    """`Mean of 5 runs`, `Mean of 3 to 5 runs`, `One run`."""
    counts = sorted(set(runs))
    if counts == [1]:
        return "One run"
    return f"Mean of {counts[0]} runs" if len(counts) == 1 else f"Mean of {counts[0]} to {counts[-1]} runs"


def in_percent(rows: pd.DataFrame, measure: str, bars: str) -> dict[str, pd.Series[float]]:
    """The means of a summary's rows (`y`) and where the bars around them end; `bars` is one of `BARS`."""
    mean, spread = rows[f"{measure}_mean"], rows[f"{measure}_std"].fillna(0.0)
    if bars == "minmax":
        low, high = rows[f"{measure}_min"], rows[f"{measure}_max"]
    else:
        reach = spread / {"none": np.inf, "std": 1.0, "stderr": np.sqrt(rows["runs"])}[bars]
        low, high = mean - reach, mean + reach
    return {"y": 100 * mean, "low": 100 * low, "high": 100 * high}


def draw_means(axes: Axes, data: pd.DataFrame, x: str, bars: bool = True, **style: Any) -> None:
    """Points with bars around them, of numbers that `in_percent` made."""
    at, y, low, high = (data[name].to_numpy(dtype=float) for name in (x, "y", "low", "high"))
    reach = np.vstack([y - low, high - y]).clip(min=0) if bars else None
    axes.errorbar(at, y, yerr=reach, elinewidth=0.9, capsize=2.2, capthick=0.9, **style)


def bars_text(data: pd.DataFrame, bars: str) -> str:
    """What the bars are, for a caption; nothing where there are none to be seen."""
    return f"; bars: {BARS[bars]}" if bars != "none" and (data["high"] > data["low"]).any() else ""
