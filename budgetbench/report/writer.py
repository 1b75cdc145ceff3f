"""Gathering the page and writing it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from budgetbench.archive import each, experiment_folders
from budgetbench.datasets import datasets
from budgetbench.errors import RequestError
from budgetbench.report.comparison import PaperPart, paper_parts
from budgetbench.report.experiments import ExperimentPart, read_experiment_part
from budgetbench.report.palette import DARK, LIGHT, variables
from budgetbench.report.words import Anchors, counted
from budgetbench.results.names import learner_title
from budgetbench.verdicts import check, papers
from budgetbench.verdicts.model import OUTCOMES, Paper, Verdict, counts
from budgetbench.verdicts.words import RULE
from budgetbench.version import __version__

FILE = "report.html"


def write_report(root: Path | str, out: Path | str | None = None) -> Path:
    """Write the report on the results in a folder.

    Parameters
    ----------
    root : folder of all results, or of one experiment's.
    out : the file; without it `report.html` in `root`.

    Returns
    -------
    The file's path. The same results give the same bytes.

    Raises
    ------
    RequestError : no results there, or `out` cannot be written.
    """
    folders = experiment_folders(root)  # before anything else, so that a wrong folder is said at once
    page = render(folders, check(root), papers())
    out = Path(root) / FILE if out is None else Path(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(page)
    except OSError as error:
        raise RequestError(f"--out: {out} cannot be written ({error.strerror}). Name a file to write to.") from error
    return out


def render(folders: Sequence[Path], verdicts: Sequence[Verdict], papers: Iterable[Paper]) -> str:
    """The page as text.

    Parameters
    ----------
    folders : of the experiments shown.
    verdicts, papers : the comparison with the papers; experiments of other papers stand under a heading of their own.
    """
    anchors = Anchors()
    experiments = list(each(folders, lambda folder: read_experiment_part(folder, anchors)))
    parts = paper_parts(papers, verdicts, experiments, anchors)
    theirs = {experiment.name for part in parts for experiment in part.experiments}
    others = [experiment for experiment in experiments if experiment.name not in theirs]
    colours = {colour for experiment in experiments for colour in experiment.colours}
    environment = Environment(
        loader=PackageLoader("budgetbench.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"counted": counted, "learner_title": learner_title, "dataset_title": dataset_title}
    return environment.get_template("report.html.j2").render(
        papers=parts,
        others=others,
        experiments=experiments,
        verdicts=verdicts,
        counts=counts(verdicts),
        outcomes=OUTCOMES,
        rule=RULE,
        choices=_choices(parts, experiments),
        versions=_distinct(experiment.version for experiment in experiments),
        commits=_distinct(experiment.commit for experiment in experiments),
        machines=_distinct(experiment.machine for experiment in experiments),
        program=__version__,
        light=Markup(variables(LIGHT, colours)),
        dark=Markup(variables(DARK, colours)),
        style=_asset("report.css"),
        script=_asset("report.js"),
    )


def dataset_title(name: str) -> str:
    """How a dataset is called in print."""
    return datasets[name].title if name in datasets else name


def _choices(parts: Sequence[PaperPart], experiments: Sequence[ExperimentPart]) -> dict[str, list[tuple[str, str]]]:
    """What the filter offers: name and title of the learners and datasets that are on the page."""
    rows = [row for part in parts for item in part.items for row in (*item.numbers, *item.claims)]
    used = {name for row in rows for name in row.learners} | {name for one in experiments for name in one.learners}
    data = {name for row in rows for name in row.datasets} | {one.dataset for one in experiments if one.dataset}
    return {
        "learners": _sorted((name, learner_title(name)) for name in used),
        "datasets": _sorted((name, dataset_title(name)) for name in data),
    }


def _sorted(choices: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted(choices, key=lambda choice: (choice[1].lower(), choice[0]))


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, texts)))


def _asset(name: str) -> Markup:
    """A file of the package, put into the page as it is."""
    source: Any = resources.files("budgetbench.report") / "templates" / name
    return Markup(source.read_text(encoding="utf-8"))
