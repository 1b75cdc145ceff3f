"""Drawing the figures that experiments ask for."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from budgetbench.errors import Notice, RequestError
from budgetbench.plots.base import Drawing, NothingToDraw, figures
from budgetbench.plots.style import styled
from budgetbench.plots.writer import save
from budgetbench.results import Results, each, experiment_folders, read_results

CURVES = ("online_error_vs_seen", "support_vs_seen", "online_error_vs_support")


@dataclass(frozen=True)
class Wanted:
    """A figure that an experiment asks for.

    Attributes
    ----------
    spec : its complete specification.
    stem : its file name without the ending.
    drawing : the figure, None where it could not be drawn.
    problem : why not.
    """

    spec: dict[str, Any]
    stem: str
    drawing: Drawing | None
    problem: str = ""


def drawings(results: Results) -> Iterator[Wanted]:
    """Draw the figures of an experiment one after the other, without writing them: those of its key `plots`, else
    those that suit it.

    Raises
    ------
    ParameterError : the experiment's `plots` are not as they should be.
    """
    asked = results.experiment.get("plots")
    wanted = [{"kind": kind} for kind in _suitable(results)] if asked is None else asked
    specs = [figures[spec["kind"]].checked(spec) for spec in wanted]
    for spec, stem in zip(specs, _stems(specs), strict=True):
        try:
            with styled():
                drawing = figures[spec["kind"]].drawn(results, spec)
        except NothingToDraw as error:
            yield Wanted(spec, stem, None, str(error))
        else:
            yield Wanted(spec, stem, drawing)


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
    The files written: of each figure a png, a pdf and the csv with the numbers drawn.

    Raises
    ------
    RequestError : no results there.
    NothingToDraw : the results hold nothing that the figures show.
    ParameterError : the experiment's `plots` are not as they should be.
    """
    results = read_results(folder)
    paths: list[Path] = []
    problems: list[str] = []
    for wanted in drawings(results):
        if wanted.drawing is None:
            problems.append(f"{wanted.spec['kind']}: {wanted.problem}")
        else:
            drawing = wanted.drawing
            paths += save(drawing.figure, drawing.data, results.folder / "figures", wanted.stem)
    if not paths:
        found = "; ".join(problems) or "neither test errors nor curves of the online error"
        raise NothingToDraw(
            f"nothing to draw in {results.folder}: {found}. Are its runs done? budgetbench run CONFIG finishes them."
        )
    for problem in problems:
        warnings.warn(f"{results.folder}: figure left out: {problem}", Notice, stacklevel=2)
    return paths


def _suitable(results: Results) -> list[str]:
    """The kinds that an experiment without `plots` gets."""
    kinds = []
    if results.summary["test_error_mean"].notna().any():
        kinds.append("error_vs_support")
    elif results.trials["curve"].notna().any():
        kinds += CURVES
    return kinds


def _stems(specs: list[dict[str, Any]]) -> list[str]:
    """A file name for each figure: its `name`, else its kind, numbered where several have it."""
    stems: list[str] = []
    for spec in specs:
        stem = base = spec["name"] or spec["kind"]
        number = 1
        while stem in stems:
            number += 1
            stem = f"{base}_{number}"
        stems.append(stem)
    return stems
