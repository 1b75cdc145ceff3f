"""Decision rules in the plane: Weston, Bordes, Bottou 2005, Figures 6 to 8."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from budgetbench.datasets import datasets
from budgetbench.experiment import Experiment
from budgetbench.lazy import lazy, pd
from budgetbench.parameters import Accepted
from budgetbench.plots.base import Drawing, NothingToDraw, Options, figure_kind
from budgetbench.plots.refit import Refit, refit
from budgetbench.plots.style import close_panels, new_panels
from budgetbench.results import Results
from budgetbench.results.names import entry_title, parameter_text, varying
from budgetbench.sparse import dense

if TYPE_CHECKING:
    from matplotlib import lines
else:
    lines = lazy("matplotlib.lines")

Floats = NDArray[np.float64]

PANEL = 1.72  # inches
WIDEST = 33  # letters of a panel's title in one line
FINENESS = 241  # points along an axis at which a decision surface is computed
NEGATIVE, POSITIVE, STORED, BEST = "#D55E00", "#0072B2", "#000000", "#009E73"
#: From the colour of the one class over white to that of the other.
SHADES = ["#F3B68C", "#F6C7A6", "#F9D9C3", "#FCEADF", "#FEF6F1", "#F1F6FA", "#DEEAF3", "#C1D9EA", "#A3C8E0", "#86B6D7"]
#: Parameters that a panel's title shows in words of its own, or not at all.
TITLED = ("budget", "epochs", "backfitting", "iterations", "C")


@dataclass(frozen=True)
class Decision2D(Options):
    """How it is drawn.

    Parameters
    ----------
    columns : how many panels stand side by side.
    best_line : draw the best rule that a line gives, where the dataset knows it.
    surface : show how decision values fall off beside the rule.
    errors : which ones a panel's title counts.
    notes : lines under the panels' titles, such as published counts.
    """

    columns: Annotated[int, Ge(1), Le(6), Accepted("an integer from 1 to 6")] = 3
    best_line: bool = False
    surface: bool = False
    errors: Literal["test", "training"] = "test"
    notes: Annotated[list[str], Accepted("a list of texts, one for each panel")] | None = None


@figure_kind(
    "data in the plane, with the decision rule and the support vectors of each learner in the first run",
    Decision2D,
)
def decision_2d(results: Results, options: Decision2D) -> Drawing:
    """A panel for each parameter set: the training data, where f = 0 and, with `surface`, how f falls off beside it.

    Models are not recorded, so they are learnt again, from the same stream.
    """
    again = refit(results, inputs=2)
    found = list(again.models(results))
    if not found:
        raise NothingToDraw("no finished first run")
    notes = list(options.notes or [""] * len(found))
    if len(notes) != len(found):
        raise NothingToDraw(f"notes has {len(notes)} texts for {len(found)} panels")
    columns = min(options.columns, len(found))
    rows = -(-len(found) // columns)
    titles = _titles([trial for trial, _ in found], results.experiment)
    title_lines = 2 + max(title.count("\n") for title in titles) + (options.notes is not None)
    height = rows * (PANEL + 0.125 * title_lines)
    figure, panels = new_panels(rows, columns, PANEL * columns + 0.15, height, 1)
    gap = rows * columns - len(found)
    cells = [*panels[:-1].ravel(), *panels[-1, gap:]]  # a row that is not full stands to the right
    for axes in panels[-1, :gap]:
        axes.set_axis_off()
    frame = frame_of(dense(again.problem.X[again.stream.order]))
    for axes, (trial, model), title, note in zip(cells, found, titles, notes, strict=True):
        _panel(axes, again, model, frame, options)
        wrong = again.wrong(model)
        counts = _counts(trial, model, wrong if options.errors == "training" else None)
        axes.set_title("\n".join([title, counts, *([note] if options.notes else [])]), fontsize=7)
    handles, labels = _legend(options, again)
    caption = f"{len(again.stream.order)} training examples of one run."
    heading = options.title or results.experiment.title
    close_panels(figure, heading, caption, handles, labels, len(labels))
    return Drawing(figure, _numbers(again, found))


def frame_of(inputs: NDArray[Any]) -> tuple[Floats, Floats]:
    """The lowest and the highest value of each input, with room around them; as long one way as the other."""
    X = inputs.astype(np.float64)
    centre, reach = (X.min(axis=0) + X.max(axis=0)) / 2, 0.53 * float(np.ptp(X, axis=0).max())
    return centre - reach, centre + reach


def _titles(trials: list[pd.Series[Any]], experiment: Experiment) -> list[str]:
    """The learner's name, its budget, and what else tells it from its siblings."""
    called = [entry_title(experiment.parameter_sets[trial["point"]][0]) for trial in trials]
    titles = []
    for trial, name in zip(trials, called, strict=True):
        params = trial["params"]
        siblings = [other["params"] for other, its in zip(trials, called, strict=True) if its == name]
        words = [parameter_text(key, params[key]) for key in varying(siblings, without=TITLED)]
        if "backfitting" in params:
            name = f"{'Backfitting' if params['backfitting'] else 'Basic'} {name}"
        elif params.get("budget") is not None:
            name = name.replace("Budget Perceptron", "Budget P.") if len(name) > 20 else name
            words.insert(0, f"p = {params['budget']}")
        title = ", ".join([name, *words])
        titles.append(title if len(title) <= WIDEST else ",\n".join([name, ", ".join(words)]).removesuffix(",\n"))
    return titles


def _counts(trial: pd.Series[Any], model: Any, wrong: int | None) -> str:
    """Support vectors, passes or steps where there may be several, and the training errors or else the test error."""
    size = model.outcome().size
    words = [] if size is None else [f"{size} SVs"]
    if getattr(model, "epochs", 1) > 1:
        words.append(f"{model.epochs_} epochs")
    if getattr(model, "iterations", None):
        words.append(f"{model.iterations} steps")
    if wrong is None:
        return ", ".join([*words, f"{100 * trial['test_error']:.1f} % error"])
    return ", ".join([*words, f"{wrong} error{'' if wrong == 1 else 's'}"])


def _panel(axes: Any, again: Refit, model: Any, frame: tuple[Floats, Floats], options: Decision2D) -> None:
    order = again.stream.order
    panel(axes, model, dense(again.problem.X[order]), again.stream.labels[order] == 1, frame, options.surface)
    line = _best_line(again) if options.best_line else None
    if line is not None:
        axes.axline((0, 0), (-line[1], line[0]), color=BEST, linewidth=1.1, linestyle=(0, (4, 2)), zorder=4)


def panel(
    axes: Any, model: Any, X: Floats, positive: NDArray[np.bool_], frame: tuple[Floats, Floats], surface: bool
) -> None:
    """Examples X (n, 2), those that a learner of two classes stores, and where it changes sides, within a frame."""
    low, high = frame
    across, up = np.linspace(low[0], high[0], FINENESS), np.linspace(low[1], high[1], FINENESS)
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2).astype(np.float32)
    f = model.decision_function(grid).reshape(FINENESS, FINENESS)
    if surface:
        unit = float(np.quantile(np.abs(f), 0.9)) or 1.0
        levels = unit * np.array([-1e9, -1, -0.6, -0.3, -0.1, 0, 0.1, 0.3, 0.6, 1, 1e9])
        axes.contourf(across, up, f, levels=levels, colors=SHADES, zorder=0)
    size = 220 / np.sqrt(len(X)) / 3
    for chosen, colour, marker in ((~positive, NEGATIVE, "o"), (positive, POSITIVE, "^")):
        axes.scatter(*X[chosen].T, s=size, c=colour, marker=marker, linewidths=0, alpha=0.75, zorder=2)
    axes.scatter(
        *dense(model.outcome().points.inputs).T, s=max(14.0, 2.2 * size), marker="s", facecolors="none",
        edgecolors=STORED, linewidths=0.6, zorder=3,
    )  # fmt: skip
    axes.contour(across, up, f, levels=[0.0], colors=STORED, linewidths=1.2, zorder=5)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xticks=[], yticks=[])
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


def _best_line(again: Refit) -> Floats | None:
    return getattr(datasets[again.experiment.dataset.name], "best_line", None)


def _legend(options: Decision2D, again: Refit) -> tuple[list[Any], list[str]]:
    shown = marks(again.problem.classes)
    if options.best_line and _best_line(again) is not None:
        shown["Bayes rule"] = {"color": BEST, "linewidth": 1.1, "linestyle": (0, (4, 2))}
    return [lines.Line2D([], [], **style) for style in shown.values()], list(shown)


def marks(classes: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """What is drawn in a panel, with its style, for a legend."""
    negative, positive = map(str, classes)
    return {
        f"class {negative}": {"color": NEGATIVE, "marker": "o", "linestyle": "none"},
        f"class {positive}": {"color": POSITIVE, "marker": "^", "linestyle": "none"},
        "support vector": {"color": STORED, "marker": "s", "linestyle": "none", "markerfacecolor": "none"},
        "decision rule": {"color": STORED, "linewidth": 1.2},
    }


def _numbers(again: Refit, found: list[tuple[pd.Series[Any], Any]]) -> pd.DataFrame:
    """The support vectors of every panel, with their coefficients."""
    parts = []
    for number, (trial, model) in enumerate(found, 1):
        points, classes = model.outcome().points, again.problem.classes[again.stream.labels]
        part = pd.DataFrame(
            {
                "panel": number,
                "algorithm": trial["algorithm"],
                "budget": trial["budget"],
                "epochs": getattr(model, "epochs_", None),
                "test_error": trial["test_error"],
                "training_errors": again.wrong(model),
                "example": points.examples,
                "x": dense(points.inputs)[:, 0],
                "y": dense(points.inputs)[:, 1],
                "class": pd.Series(classes[points.examples]).where(points.examples >= 0),  # else it is no example
                "coefficient": points.coefficients,
            }
        )
        parts.append(part)
    data: pd.DataFrame = pd.concat(parts, ignore_index=True)
    return data
