"""Drawing the figures that experiments ask for."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from budgetbench.errors import RequestError
from budgetbench.plots.base import NothingToDraw, checked_plots, figures
from budgetbench.plots.style import styled
from budgetbench.plots.writer import save
from budgetbench.results import Results, experiment_folders, read_results

CURVES = ("online_error_vs_seen", "support_vs_seen", "online_error_vs_support")


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
    paths: list[Path] = []
    for folder in folders:
        try:
            paths += plot_experiment(folder)
        except NothingToDraw as error:
            warnings.warn(str(error), stacklevel=2)
    if not paths:
        raise RequestError(f"no figure could be drawn from the {len(folders)} experiments in {root}; see the warnings")
    return paths


def plot_experiment(folder: Path | str) -> list[Path]:
    """Draw the figures of one experiment into its `figures/`: those of its key `plots`, else those that suit it.

    Returns
    -------
    The files written: of each figure a png, a pdf and the csv with the numbers drawn.

    Raises
    ------
    RequestError : no results there.
    NothingToDraw : the results hold nothing that the figures show.
    ConfigError : the experiment's `plots` are not as they should be.
    """
    results = read_results(folder)
    if results.experiment.get("plots") is not None:
        specs = checked_plots(results.experiment["plots"])
    else:
        specs = checked_plots([{"kind": kind} for kind in _suitable(results)])
    paths: list[Path] = []
    problems: list[str] = []
    for spec, stem in zip(specs, _stems(specs), strict=True):
        try:
            with styled():
                drawing = figures[spec["kind"]].draw(results, spec)
                paths += save(drawing.figure, drawing.data, results.folder / "figures", stem)
        except NothingToDraw as error:
            problems.append(f"{spec['kind']}: {error}")
    if not paths and (problems or not specs):
        found = "; ".join(problems) or "neither test errors nor curves of the online error"
        raise NothingToDraw(
            f"nothing to draw in {results.folder}: {found}. Are its runs done? budgetbench run CONFIG finishes them."
        )
    for problem in problems:
        warnings.warn(f"{results.folder}: figure left out: {problem}", stacklevel=2)
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
