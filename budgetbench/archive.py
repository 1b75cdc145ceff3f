"""The folders of results: which there are, what one of them holds, and what is made of it there."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from budgetbench.config import recorded
from budgetbench.errors import Notice, RequestError
from budgetbench.plots import NothingToDraw, drawings, save
from budgetbench.results import Results, assigned, compact, read_trials, summarise, table
from budgetbench.results.files import replace_file
from budgetbench.results.formats import document
from budgetbench.results.records import FILE, file_of

Part = TypeVar("Part")


def experiment_folders(root: Path | str) -> list[Path]:
    """The experiment folders at `root`: itself when it is one, else those directly in it, by name.

    Raises
    ------
    RequestError : there is no such folder, or no results in it.
    """
    root = Path(root)
    if file_of(root).is_file():
        return [root]
    advice = "Run an experiment first (budgetbench run CONFIG), or name the folder that holds the results."
    if not root.is_dir():
        raise RequestError(f"no results folder {root}. {advice}")
    found = sorted({path.parent for name in (FILE, compact.FILE) for path in root.glob(f"*/{name}")})
    if not found:
        looked = f"{FILE} and {compact.FILE} in it and in the folders directly in it"
        raise RequestError(f"no results in {root}: looked for {looked}. {advice}")
    return found


def each(folders: Iterable[Path], read: Callable[[Path], Part]) -> Iterator[Part]:
    """What `read` makes of each experiment's folder; a damaged one of several is passed over with a warning.

    Raises
    ------
    RequestError : none of them can be read.
    """
    folders, problems = list(folders), []
    for folder in folders:
        try:
            part = read(folder)
        except RequestError as error:
            problems.append(error)
            if len(folders) > 1:
                warnings.warn(f"{folder} is left out: {error}", Notice, stacklevel=2)
        else:
            yield part
    if problems and len(problems) == len(folders):
        raise problems[0]


def read_results(folder: Path | str) -> Results:
    """What an experiment's folder holds.

    Raises
    ------
    RequestError : there are no results, or its files cannot be read.
    """
    folder = Path(folder)
    trials = read_trials(folder)
    experiment = recorded(folder / "experiment.yaml")
    provenance = read_provenance(folder)
    chosen = assigned(trials, experiment, _keys(provenance))
    return Results(
        folder=folder,
        experiment=experiment,
        trials=chosen,
        summary=summarise(chosen, experiment),
        beside=lambda name: read_results(folder.parent / name),
        example_bytes=_example_bytes(provenance),
    )


def _keys(provenance: Mapping[str, Any]) -> Sequence[str]:
    """The keys of the experiment's trials in the order of its plan, where the provenance lists them."""
    keys = provenance.get("keys")
    return keys if isinstance(keys, list) and all(isinstance(key, str) for key in keys) else ()


def _example_bytes(provenance: Mapping[str, Any]) -> int | None:
    """What an example takes in a model, where the provenance tells."""
    data = provenance.get("data")
    size = data.get("example_bytes") if isinstance(data, dict) else None
    return size if isinstance(size, int) and size > 0 else None


def read_provenance(folder: Path) -> dict[str, Any]:
    """The content of `provenance.json`; empty where it cannot be had, as it is a help and never a condition."""
    try:
        content = json.loads((folder / "provenance.json").read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def data_identity(folder: Path) -> str:
    """Names the content of the data that an experiment's runs saw; empty where the provenance does not say."""
    data = read_provenance(folder).get("data")
    identity = data.get("identity") if isinstance(data, dict) else None
    return identity if isinstance(identity, str) else ""


def write_summary(folder: Path | str) -> list[Path]:
    """Write `summary.csv` and `table.md` of an experiment's folder; returns their paths."""
    results = read_results(folder)
    paths = [results.folder / "summary.csv", results.folder / "table.md"]
    replace_file(paths[0], results.summary.to_csv(index=False, lineterminator="\n"))
    replace_file(paths[1], document(table(results.summary, results.experiment)))
    return paths


def plot_results(root: Path | str) -> list[Path]:
    """Draw the figures of every experiment under `root`, or of the one whose folder it is.

    Returns
    -------
    The files written.

    Raises
    ------
    RequestError : no results there, or none that can be drawn.
    """
    folders = experiment_folders(root)
    if len(folders) == 1:
        return plot_experiment(folders[0])
    paths = [path for drawn in each(folders, _drawn) for path in drawn]
    if not paths:
        raise RequestError(f"no figure could be drawn from the {len(folders)} experiments in {root}; see the warnings")
    return paths


def _drawn(folder: Path) -> list[Path]:
    try:
        return plot_experiment(folder)
    except NothingToDraw as error:
        warnings.warn(str(error), Notice, stacklevel=2)
        return []


def plot_experiment(folder: Path | str) -> list[Path]:
    """Draw the figures of one experiment into its `figures/`: those of its key `plots`, else those that suit it.

    Returns
    -------
    The files written: of each figure a png, a pdf and the csv with the numbers drawn. None where `plots` is empty.

    Raises
    ------
    RequestError : no results there.
    NothingToDraw : the results hold nothing that the figures show.
    """
    results = read_results(folder)
    paths: list[Path] = []
    problems: list[str] = []
    for wanted in drawings(results):
        if wanted.drawing is None:
            problems.append(f"{wanted.spec['kind']}: {wanted.problem}")
        else:
            paths += save(wanted.drawing.figure, wanted.drawing.data, results.folder / "figures", wanted.stem)
    if not paths and results.experiment.plots != ():
        found = "; ".join(problems) or "neither test errors nor curves of the online error"
        raise NothingToDraw(
            f"nothing to draw in {results.folder}: {found}. Are its runs done? budgetbench run CONFIG finishes them."
        )
    for problem in problems:
        warnings.warn(f"{results.folder}: figure left out: {problem}", Notice, stacklevel=2)
    return paths
