"""Drawing the figures that an experiment asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from budgetbench.plots.base import Drawing, NothingToDraw, figures
from budgetbench.plots.style import styled
from budgetbench.results import Results

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
    """
    specs = results.experiment.plots
    if specs is None:
        specs = tuple(figures[kind].checked({}) for kind in _suitable(results))
    for spec, stem in zip(specs, _stems(specs), strict=True):
        try:
            with styled():
                drawing = figures[spec["kind"]].drawn(results, spec)
        except NothingToDraw as error:
            yield Wanted(spec, stem, None, str(error))
        else:
            yield Wanted(spec, stem, drawing)


def _suitable(results: Results) -> list[str]:
    """The kinds that an experiment without `plots` gets."""
    kinds = []
    if results.summary["test_error_mean"].notna().any():
        kinds.append("error_vs_support")
    elif results.trials["curve"].notna().any():
        kinds += CURVES
    return kinds


def _stems(specs: Sequence[dict[str, Any]]) -> list[str]:
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
