"""Time and memory for one more example as a stream goes on, by evaluation set of the Tighter Budget Perceptron.

Weston, Bordes, Bottou 2005, section 3.2: for all evaluation sets but `all` both should be bounded by a constant that
does not depend on how many examples were seen. The stream is Orabona's synthetic set, whose classes overlap and where
every tenth label is wrong, so that removals never cease. It is fed to `partial_fit` in portions.

    python benchmarks/weston.py [FOLDER] [EXAMPLES]

Writes `bounded_stream.csv`, `.png` and `.pdf` into the folder (by default benchmarks/figures). Memory is that of
everything that is kept between two portions.
"""

from __future__ import annotations

import pickle
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from budgetbench.datasets import Cache, datasets
from budgetbench.lazy import one_thread
from budgetbench.learners import TighterBudgetPerceptron
from budgetbench.plots import save
from budgetbench.plots.axes import set_scale
from budgetbench.plots.style import COLOURS, close_panels, new_panels, styled

EXAMPLES = 200_000
PORTION = 1000
BUDGET = SIZE = 100
#: Evaluation set → its size, and after how many examples to stop: the cost of `all` grows with each one.
SETS: dict[str, tuple[int | None, int]] = {
    "all": (None, 30_000),
    "support": (None, EXAMPLES),
    "random": (SIZE, EXAMPLES),
    "flips": (SIZE, EXAMPLES),
}
#: Portions of which the median is shown: single ones are disturbed by whatever else the machine does.
SMOOTHED = 5


def kept_bytes(model: Any) -> int:
    """Size of the learner with all that it holds."""
    return len(pickle.dumps(model))


def course(evaluate: str, X: np.ndarray, y: np.ndarray) -> pd.DataFrame:
    """Seconds for one example, and what is kept, portion by portion."""
    size, stop = SETS[evaluate]
    parameters: dict[str, Any] = {"budget": BUDGET, "evaluate": evaluate, "evaluation_size": size, "variance": 0.5}
    TighterBudgetPerceptron(**parameters).partial_fit(X[:50], y[:50])  # compiles
    model: Any = TighterBudgetPerceptron(**parameters, random_state=0)
    rows = []
    for start in range(0, min(stop, len(X)), PORTION):
        portion = slice(start, start + PORTION)
        begun = time.process_time()
        model.partial_fit(X[portion], y[portion])
        rows.append(
            {
                "evaluate": evaluate,
                "seen": start + len(X[portion]),
                "microseconds": 1e6 * (time.process_time() - begun) / len(X[portion]),
                "kept_examples": len(model._memory.X),
                "kept_kilobytes": kept_bytes(model) / 1000,
                "removals": model.removals_,
            }
        )
    return pd.DataFrame(rows)


def draw(data: pd.DataFrame, folder: Path) -> list[Path]:
    with styled():
        figure, panels = new_panels(1, 2, 6.8, 2.7, 1)
        for axes, (column, label) in zip(
            panels[0],
            (("microseconds", "Processor time for one example (µs)"), ("kept_kilobytes", "Memory kept (kB)")),
            strict=True,
        ):
            for number, (evaluate, own) in enumerate(data.groupby("evaluate", sort=False)):
                shown = own[column].rolling(SMOOTHED, center=True, min_periods=1).median()
                dashes = ("-", (0, (4, 1.6)), (0, (1.2, 1.4)), (0, (5, 1.4, 1.2, 1.4)))[number]
                axes.plot(own["seen"] / 1000, shown, color=COLOURS[number], linestyle=dashes, label=str(evaluate))
            set_scale(axes, "y", "log", data[column].to_numpy())
            axes.set(xlabel="Examples seen (thousands)", ylabel=label)
        handles, labels = panels[0, 0].get_legend_handles_labels()
        caption = (
            f"{BUDGET} support vectors, q = {SIZE}; medians of {SMOOTHED} portions of {PORTION} examples."
            f" Counting on all ends at {SETS['all'][1]}."
        )
        title = "A noisy stream: what one more example costs, by evaluation set"
        close_panels(figure, title, caption, handles, labels, 4)
    return save(figure, data, folder, "bounded_stream")


def main(folder: str = "benchmarks/figures", examples: str = str(EXAMPLES)) -> None:
    data = datasets["gaussian"].load(Cache("data", None, quiet=True), n=int(examples)).train
    y = 2 * data.y - 1
    with one_thread():
        found = pd.concat([course(evaluate, data.X, y) for evaluate in SETS], ignore_index=True)
    for evaluate, own in found.groupby("evaluate", sort=False):
        tenth = max(1, len(own) // 10)
        first, last = own["microseconds"][tenth : 2 * tenth].median(), own["microseconds"][-tenth:].median()
        print(
            f"{evaluate:8} {first:7.1f} µs each in the second tenth of {own['seen'].max()}, {last:7.1f} µs in "
            f"the last; kept {own['kept_kilobytes'].iloc[tenth]:.0f} and {own['kept_kilobytes'].iloc[-1]:.0f} kB"
        )
    for path in draw(found, Path(folder)):
        print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
