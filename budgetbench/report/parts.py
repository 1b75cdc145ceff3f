"""What the page says of an experiment: its figures, its table, its runs, and where they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup

from budgetbench.archive import read_provenance
from budgetbench.experiment import Experiment
from budgetbench.plots import drawings, figures
from budgetbench.report.numbers import behind
from budgetbench.report.runs import runs_data
from budgetbench.report.vector import inline_svg
from budgetbench.report.words import Anchors, counted
from budgetbench.results import Results, Table, failed, table
from budgetbench.results.names import learner_title

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

MESSAGES = 5
"""Different messages of failed runs that are shown; the trials hold all."""


@dataclass(frozen=True)
class Figure:
    """One figure: as SVG, with a caption and the numbers behind it.

    Attributes
    ----------
    file : what its files are called.
    title : its experiment's.
    """

    file: str
    title: str
    anchor: str
    svg: Markup
    caption: str
    numbers: Table


@dataclass(frozen=True)
class ExperimentPart:
    """One experiment.

    Attributes
    ----------
    name : of its folder.
    runs : how many runs the means are over.
    notices : what a reader has to know before trusting it: missing and failed runs.
    configuration : the resolved configuration as it was written.
    provenance : texts by name; empty where nothing was recorded.
    colours : in the figures.
    runs_data : all its runs, see `report.runs`.
    elsewhere : the figures that stand beside the verdicts on them: their items, with the anchors.
    """

    name: str
    anchor: str
    experiment: Experiment
    runs: str
    notices: list[str]
    figures: list[Figure]
    table: Table | None
    configuration: str
    provenance: dict[str, str]
    colours: set[str]
    runs_data: Markup
    elsewhere: tuple[tuple[str, str], ...] = ()

    @property
    def paper(self) -> str:
        """Key of the paper that it reproduces something of, empty where there is none."""
        return self.experiment.reproduces.paper if self.experiment.reproduces else ""

    @property
    def item(self) -> str:
        """What it reproduces of it."""
        return self.experiment.reproduces.item if self.experiment.reproduces else ""

    @property
    def learners(self) -> tuple[str, ...]:
        """Names of its algorithms."""
        return tuple(dict.fromkeys(entry.name for entry in self.experiment.algorithms))

    @property
    def machine(self) -> str:
        """Where it ran, empty where the provenance does not say."""
        platform, python = self.provenance.get("platform", ""), self.provenance.get("python")
        return ", ".join(filter(None, (platform, python and f"Python {python}")))


def experiment_part(results: Results, anchors: Anchors) -> ExperimentPart:
    """Everything of one experiment, its figures drawn.

    Raises
    ------
    RequestError : the folder does not hold what it should.
    """
    folder = results.folder
    notices = list(_notices(results))
    colours: set[str] = set()
    drawn = list(_figures(results, anchors, notices, colours))
    return ExperimentPart(
        name=folder.name,
        anchor=anchors.new("experiment", folder.name),
        experiment=results.experiment,
        runs=_runs(results),
        notices=notices,
        figures=drawn,
        table=None if results.summary.empty else table(results.summary, results.experiment),
        configuration=(folder / "experiment.yaml").read_text(encoding="utf-8-sig"),
        provenance=_texts(read_provenance(folder)),
        colours=colours,
        runs_data=runs_data(results),
    )


def _figures(results: Results, anchors: Anchors, notices: list[str], colours: set[str]) -> Iterator[Figure]:
    for wanted in drawings(results):
        kind = wanted.spec["kind"]
        summary = figures[kind].summary
        if wanted.drawing is None:
            notices.append(f"The figure of {summary} is not drawn: {wanted.problem}.")
            continue
        _without_title(wanted.drawing.figure, results.experiment.title)
        anchor = anchors.new("figure", results.folder.name, wanted.stem)
        svg, used = inline_svg(wanted.drawing, anchor)
        colours |= used
        numbers = behind(wanted.drawing, f"{results.folder.name}/figures/{wanted.stem}.csv")
        caption = f"{summary[:1].upper()}{summary[1:]}."
        yield Figure(wanted.stem, results.experiment.title, anchor, svg, caption, numbers)


def _without_title(figure: MatplotlibFigure, title: str) -> None:
    """Take off a title that stands above the figure already, unless it tells one panel from the others."""
    titled = [axes for axes in figure.axes if axes.get_title(loc="left")]
    if all(axes.get_title(loc="left").split() == title.split() for axes in titled):
        for axes in titled:
            axes.set_title("", loc="left")
    if figure.get_suptitle().split() == title.split():
        figure.suptitle("")


def _notices(results: Results) -> Iterator[str]:
    trials = results.trials
    broken = failed(trials)
    wanted = results.experiment.n_trials
    done = len(trials) - len(broken)
    if done + len(broken) < wanted:
        yield f"Unfinished: {done} of {counted(wanted, 'run')} are done."
    messages = broken["error"].fillna("no message").astype(str)
    groups = list(broken.groupby([broken["algorithm"], messages], sort=False))
    for (algorithm, message), rows in groups[:MESSAGES]:
        yield f"{counted(len(rows), 'run')} of {learner_title(str(algorithm))} failed: {message}"
    if len(groups) > MESSAGES:
        rest = sum(len(rows) for _, rows in groups[MESSAGES:])
        yield f"{counted(rest, 'more run')} failed, see {results.folder.name}/trials.jsonl."


def _runs(results: Results) -> str:
    """How many runs the means are over, such as `5 runs`."""
    counts = sorted({int(runs) for runs in results.summary["runs"] if not pd.isna(runs) and runs})
    if not counts:
        return "no finished run"
    return counted(counts[0], "run") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} runs"


def _texts(provenance: Mapping[str, Any]) -> dict[str, str]:
    texts = {str(name): _text(value) for name, value in provenance.items()}
    # the keys name thousands of runs, to the program alone
    return {name: text for name, text in texts.items() if name != "keys" and text}


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {text}" for name, inner in value.items() if (text := _text(inner)))
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    return "" if value is None else str(value)
