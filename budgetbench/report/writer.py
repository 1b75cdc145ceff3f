"""Gathering the page and writing it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from budgetbench.archive import each, experiment_folders, read_results
from budgetbench.datasets import datasets
from budgetbench.errors import RequestError, nearest, shown
from budgetbench.report.palette import DARK, LIGHT, variables
from budgetbench.report.papers import paper_parts
from budgetbench.report.parts import experiment_part
from budgetbench.report.words import Anchors, counted, number
from budgetbench.results import Results
from budgetbench.results.names import learner_title
from budgetbench.verdicts import check, papers, words
from budgetbench.verdicts.model import OUTCOMES, Paper, Verdict, counts
from budgetbench.version import __version__

FILE = "report.html"


def write_report(root: Path | str, out: Path | str | None = None, experiments: Sequence[str] = ()) -> Path:
    """Write the report on the results in a folder.

    Parameters
    ----------
    root : folder of all results, or of one experiment's.
    out : the file; without it `report.html` in `root`.
    experiments : names of those that it is about, with the verdicts on them; all where nothing is named.

    Returns
    -------
    The file's path. The same results give the same bytes.

    Raises
    ------
    RequestError : no results there, an experiment that is not among them, or `out` cannot be written.
    """
    folders = experiment_folders(root)  # before anything else, so that a wrong folder is said at once
    read = cache(read_results)  # for the verdicts, and for what the page shows
    verdicts = check(root, read)
    if experiments:
        folders = _named(folders, experiments)
        verdicts = [verdict for verdict in verdicts if verdict.experiment in experiments]
    page = render(folders, verdicts, papers(), read)
    out = Path(root) / FILE if out is None else Path(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise RequestError(f"--out: {out} cannot be written ({error.strerror}). Name a file to write to.") from error
    return out


def _named(folders: Sequence[Path], names: Iterable[str]) -> list[Path]:
    """The folders of these experiments."""
    known = {folder.name: folder for folder in folders}
    for name in names:
        if name not in known:
            accepted = f"--experiment: found {shown(name)}; accepted: {', '.join(known)}"
            raise RequestError(f"{accepted}. {nearest(name, known)}".rstrip())
    return [known[name] for name in dict.fromkeys(names)]


def render(
    folders: Sequence[Path],
    verdicts: Sequence[Verdict],
    papers: Sequence[Paper],
    read: Callable[[Path], Results] = read_results,
) -> str:
    """The page as text.

    Parameters
    ----------
    folders : of the experiments shown.
    verdicts, papers : the comparison with the papers; experiments of other papers stand under a heading of their own.
    read : what an experiment's folder holds.
    """
    anchors = Anchors()
    experiments = list(each(folders, lambda folder: experiment_part(read(folder), anchors)))
    parts = paper_parts(papers, verdicts, experiments, anchors, dataset_title)
    run = [part for part in parts if part.run]
    verdicts = [verdict for verdict in verdicts if verdict.said.paper in {part.paper.key for part in run}]
    theirs = {experiment.name for part in parts for experiment in part.experiments}
    others = [experiment for experiment in experiments if experiment.name not in theirs]
    colours = {colour for experiment in experiments for colour in experiment.colours}
    loader = PackageLoader("budgetbench.report")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    style, script = (Markup(loader.get_source(environment, name)[0]) for name in ("report.css", "report.js"))
    on = {name: dataset for paper in papers for name, dataset in paper.datasets.items()}
    data = [on[name] for verdict in verdicts for name in verdict.experiments]
    data += [one.experiment.dataset.name for one in experiments]
    about = [*(verdict.said for verdict in verdicts), *experiments]
    links = {experiment.name: experiment.anchor for experiment in experiments}
    environment.globals |= {"anchors": anchors, "counted": counted, "dataset_title": dataset_title, "links": links}
    environment.filters |= {"text": words.title, "dataset": on.__getitem__, "reason": words.reason, "number": number}
    said = "published", "ours", "difference", "brief", "spreads", "tolerance", "explanation", "reading"
    environment.filters |= {
        name: getattr(words, name) for name in (*said, "minus_sign", "chance", "over_test_sets", "test_set")
    }
    return environment.get_template("report.html.j2").render(
        papers=parts,
        run=run,
        waiting=[part for part in parts if not part.run],
        others=others,
        experiments=experiments,
        verdicts=verdicts,
        counts=counts(verdicts),
        apart=words.apart(verdicts),
        on_one_test_set=words.on_one_test_set(verdicts),
        outcomes=OUTCOMES,
        rule=words.RULE,
        learners=_choices((name for one in about for name in one.learners), learner_title),
        datasets=_choices(data, dataset_title),
        versions=_distinct(experiment.provenance.get("budgetbench") for experiment in experiments),
        commits=_distinct(experiment.provenance.get("commit") for experiment in experiments),
        machines=_distinct(experiment.machine for experiment in experiments),
        program=__version__,
        light=variables(LIGHT, colours),
        dark=variables(DARK, colours),
        style=style,
        script=script,
    )


def dataset_title(name: str) -> str:
    """How a dataset is called in print."""
    return datasets[name].title if name in datasets else name


def _choices(names: Iterable[str], title: Callable[[str], str]) -> list[tuple[str, str]]:
    """What the filter offers: names with their titles, by title."""
    return sorted(((name, title(name)) for name in set(names)), key=lambda choice: (choice[1].lower(), choice[0]))


def _distinct(texts: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(filter(None, texts)))
