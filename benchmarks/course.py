"""The page of all commits that were measured, `benchmarks/results/README.md`, and its figure.

python benchmarks/course.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from budgetbench.learners import learners
from budgetbench.plots import save
from budgetbench.plots.style import COLOURS, MARKERS, close_panels, new_panels, styled

FOLDER = Path(__file__).with_name("results")
FIGURE = "course"
#: Endings of names, and what the panels of those benchmarks are called; what has neither goes into the last one.
PANELS = {", stream": "Passes over a stream", ", gram": "Passes with the Gram matrix", "": "All together, and parts"}
OTHER = "–"
Record = dict[str, Any]


def records(folder: Path) -> list[Record]:
    """What was measured, in the order of the commits."""
    return sorted((json.loads(path.read_text()) for path in folder.glob("*.json")), key=lambda one: one["date"])


def ratios(measured: list[Record]) -> pd.DataFrame:
    """Times over floors: a row for each benchmark that has a floor, a column for each commit."""
    columns = {
        one["commit"]: {name: told["ratio"] for name, told in one["benchmarks"].items() if told["ratio"]}
        for one in measured
    }
    names = [name for name, told in measured[-1]["benchmarks"].items() if told["ratio"]]
    return pd.DataFrame(columns, index=names)


def panel_of(name: str) -> str:
    return next(title for ending, title in PANELS.items() if name.endswith(ending))


def draw(measured: list[Record], folder: Path) -> list[Path]:
    table = ratios(measured)
    table = table[[":" not in name for name in table.index]]  # generated data alone, which every machine has
    places = np.arange(len(measured))
    with styled():
        figure, panels = new_panels(1, len(PANELS), 6.8, 2.9, 3, sharey=True)
        shown: dict[str, Any] = {}
        for axes, title in zip(panels[0], PANELS.values(), strict=True):
            for name, row in table[[panel_of(name) == title for name in table.index]].iterrows():
                label, colour, marker = look_of(str(name), len(shown))
                (line,) = axes.plot(places, row, color=colour, marker=marker, label=label)
                shown.setdefault(label, line)
            axes.axhline(1, color="#555555", linewidth=0.8, linestyle=(0, (1.2, 1.4)))
            axes.set_title(title, loc="left")
            axes.set_yscale("log")
            axes.set_xticks(places, [one["commit"][:7] for one in measured], rotation=45, ha="right")
        panels[0, 0].yaxis.set_major_formatter("{x:g}")
        panels[0, 0].yaxis.set_minor_formatter("")
        panels[0, 0].set_yticks([1, 2, 5, 10, 20, 50])
        panels[0, 0].set_ylabel("Time over its floor")
        caption = "Processor time, medians; 1 is the floor: the products and sums that no arrangement avoids."
        close_panels(figure, "What passes cost, by commit", caption, list(shown.values()), list(shown), 4)
    data = table.rename_axis("benchmark").reset_index()
    return save(figure, data, folder, FIGURE)


def look_of(name: str, number: int) -> tuple[str, str, str]:
    """Label, colour and marker of a benchmark: its learner's, where it has one."""
    subject = name.partition(",")[0]
    if subject not in learners:
        return subject, COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
    return learners[subject].title, learners[subject].color, learners[subject].marker


def page(measured: list[Record]) -> str:
    """The page, in Markdown."""
    last = measured[-1]
    machine, versions = last["machine"], last["versions"]
    return "\n".join(
        [
            "# Measured speed",
            "",
            "Made by `make bench`; [benchmarks/README.md](../README.md) says what is measured and how. Times are",
            "processor time; ratios are taken in one process, and are what can be compared between machines.",
            "",
            f"![What passes cost, by commit]({FIGURE}.png)",
            "",
            f"## Commit {last['commit']}",
            "",
            f"{last['subject']} ({last['date'][:10]}). Measured on {machine['processor']}, {machine['cores']} cores, "
            f"{machine['system']}, with Python {versions['python']}, NumPy {versions['numpy']}, "
            f"SciPy {versions['scipy']} and Numba {versions['numba']}.",
            "",
            *table(
                [
                    "",
                    "seconds",
                    "over its floor",
                    "transcription over it",
                    "MB",
                    "kernel values",
                    "products",
                    "operations",
                ],
                [
                    [
                        name,
                        digits(told["seconds"]),
                        digits(told["ratio"]),
                        digits(told["twin"]),
                        OTHER if told["megabytes"] is None else f"{told['megabytes']:.0f}",
                        *(f"{told['counts'][what]:,}" for what in ("kernel_values", "products", "operations")),
                    ]
                    for name, told in last["benchmarks"].items()
                ],
            ),
            "",
            "## Time over its floor, by commit",
            "",
            *table(
                ["", *(one["commit"][:7] for one in measured)],
                [[str(name), *map(digits, row)] for name, row in ratios(measured).iterrows()],
            ),
            "",
            *table(
                ["commit", "date", "", "processor"],
                [
                    [one["commit"], one["date"][:16].replace("T", " "), one["subject"], one["machine"]["processor"]]
                    for one in measured
                ],
            ),
            "",
        ]
    )


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a table; all columns but the first are numbers, but where they are words."""
    lines = [head, ["---", *(["---:"] * (len(head) - 1))], *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def digits(value: float | None) -> str:
    """Three of them."""
    if value is None or np.isnan(value):
        return OTHER
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def main() -> None:
    measured = records(FOLDER)
    (FOLDER / "README.md").write_text(page(measured))
    for path in (FOLDER / "README.md", *draw(measured, FOLDER)):
        print(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


if __name__ == "__main__":
    main()
