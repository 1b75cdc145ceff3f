"""What the page is made of: papers with the verdicts on their tables and figures, and experiments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup

from budgetbench.archive import read_provenance, read_results
from budgetbench.experiment import Experiment
from budgetbench.plots import drawings, figures
from budgetbench.report.numbers import behind
from budgetbench.report.vector import inline_svg
from budgetbench.report.words import Anchors, counted
from budgetbench.results import Results, Table, failed, table
from budgetbench.results.names import learner_title
from budgetbench.verdicts.model import NOT_RUN, Number, Outcome, Paper, Verdict, counts

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

MESSAGES = 5
"""Different messages of failed runs that are shown; the trials hold all."""


@dataclass(frozen=True)
class Figure:
    """One figure: as SVG, with a caption and the numbers behind it."""

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


def read_experiment_part(folder: Path, anchors: Anchors) -> ExperimentPart:
    """Everything of one experiment, its figures drawn.

    Raises
    ------
    RequestError : the folder does not hold what it should.
    """
    results = read_results(folder)
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
        yield Figure(anchor, svg, f"{summary[:1].upper()}{summary[1:]}.", numbers)


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


@dataclass(frozen=True)
class ItemPart:
    """One table or figure of a paper: the verdicts on its numbers and on its claims."""

    name: str
    anchor: str
    numbers: list[Verdict]
    claims: list[Verdict]

    @property
    def run(self) -> bool:
        """Whether anything of it was run."""
        return any(verdict.outcome is not NOT_RUN for verdict in (*self.numbers, *self.claims))


@dataclass(frozen=True)
class PaperPart:
    """A paper: its verdicts, then its experiments."""

    paper: Paper
    anchor: str
    items: list[ItemPart]
    experiments: list[ExperimentPart]
    counts: dict[Outcome, int]


def paper_parts(
    papers: Iterable[Paper], verdicts: Sequence[Verdict], experiments: Sequence[ExperimentPart], anchors: Anchors
) -> list[PaperPart]:
    """The papers with their verdicts and experiments; papers that have neither stay out."""
    parts = []
    for paper in papers:
        own = [verdict for verdict in verdicts if verdict.said.paper == paper.key]
        done = [part for part in experiments if part.paper == paper.key]
        done.sort(key=lambda part: (_place(part.item, paper.items), _natural(part.item), part.name))
        if own or done:
            items = list(_items(paper, own, anchors))
            parts.append(PaperPart(paper, anchors.new(paper.key), items, done, counts(own)))
    return parts


def _items(paper: Paper, verdicts: list[Verdict], anchors: Anchors) -> Iterable[ItemPart]:
    for item in paper.items:
        own = [verdict for verdict in verdicts if verdict.said.item == item]
        numbers, claims = ([one for one in own if isinstance(one.said, Number) is wanted] for wanted in (True, False))
        if own:
            yield ItemPart(item, anchors.new(paper.key, item), numbers, claims)


def _place(item: str, items: Sequence[str]) -> int:
    """Where in the paper an experiment's item is: that of the longest name it begins with."""
    fitting = [i for i, name in enumerate(items) if item.startswith(name)]
    return max(fitting, key=lambda i: len(items[i]), default=len(items))


def _natural(text: str) -> list[tuple[int, str]]:
    """A key that sorts Figure 9 before Figure 10."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", text)]
