"""The pictures of learners on the site: what each of them decides in the plane."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from budgetbench.datasets import datasets
from budgetbench.learners import learners
from budgetbench.plots.decision_2d import PANEL, frame_of, marks, panel
from budgetbench.plots.style import close_panels, new_panels, styled

EXAMPLES, TESTED, FLIPS, GAMMA = 300, 3000, 0.05, 2.0
#: What is varied from panel to panel: the first of these that a learner has.
VARIED: dict[str, tuple[Any, ...]] = {"budget": (5, 20, 80), "n_components": (5, 20, 80), "epochs": (1, 3, 10)}
VARIED |= {"C": (0.1, 1.0, 100.0), "neighbors": (1, 3, 5)}
#: What else is said of a learner, so that it varies.
GIVEN: dict[str, dict[str, Any]] = {"mira": {"size": "fixed"}, "nogd": {"rank": 5}}
GIVEN |= {"kernel_matching_pursuit": {"backfitting": True}}


def picture(name: str) -> Figure:
    """Three panels of a learner."""
    X, labels = drawn(0, EXAMPLES, FLIPS)
    with styled():
        figure, panels = new_panels(1, 3, 3 * PANEL + 0.15, PANEL + 0.2, 1)
        for axes, (title, model) in zip(panels.ravel(), models(name, X, labels), strict=True):
            panel(axes, model, X, labels == 1, frame_of(X), surface=True)
            axes.set_title(f"{title}\n{told(model)}", fontsize=7)
        shown = marks((-1, 1))
        handles = [Line2D([], [], **one) for one in shown.values()]
        close_panels(figure, "", "", handles, list(shown), len(shown))
    return figure


def models(name: str, X: NDArray[Any], labels: NDArray[Any]) -> Iterator[tuple[str, Any]]:
    """What is varied, and the model."""
    learner = learners[name]
    key = next(key for key in VARIED if key in learner.own_parameters())
    for value in VARIED[key]:
        params = {key: value, **GIVEN.get(name, {})}
        yield f"{key} = {value:g}", learner(**params, gamma=GAMMA, random_state=0).fit(X, labels)


def told(model: Any) -> str:
    """How much it stores, and how often it errs."""
    outcome, (X, labels) = model.outcome(), drawn(1, TESTED, 0.0)
    stored = f"{outcome.size} stored, " if len(outcome.points.inputs) else ""
    return f"{stored}{outcome.model_bytes:,} B, {np.mean(model.predict(X) != labels):.1%} errors"


def drawn(seed: int, n: int, flips: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Inputs (n, 2) and labels 0 and 1 (n,), a share of them wrong."""
    random = np.random.default_rng(seed)
    examples = datasets["toy_nonlinear"].draw(random, n)  # type: ignore[attr-defined]
    return examples.X.astype(np.float32), np.where(random.random(n) < flips, 1 - examples.y, examples.y)
