"""Drawing the figures that an experiment asks for, and writing them: for the screen, for print, the numbers in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from budgetbench.lazy import pd
from budgetbench.plots.base import Drawing, NothingToDraw, figures
from budgetbench.plots.style import styled
from budgetbench.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESOLUTION = 200

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
    tested = results.summary[results.summary["test_error_mean"].notna()]
    if len(tested):
        sized = tested["support_size_mean"].notna()  # what stores no examples is compared by its bytes
        return ["error_vs_support"] * bool(sized.any()) + ["error_vs_memory"] * bool(not sized.all())
    return list(CURVES) if results.trials["curve"].notna().any() else []


def _stems(specs: Sequence[dict[str, Any]]) -> list[str]:
    """A file name for each figure: its `name`, else its kind, numbered where several have it."""
    stems: list[str] = []
    for spec in specs:
        base = spec["name"] or spec["kind"]
        numbered = (f"{base}_{number}" for number in count(2))
        stems.append(next(stem for stem in chain([base], numbered) if stem not in stems))
    return stems


def save(figure: Figure, data: pd.DataFrame, folder: Path | str, stem: str) -> list[Path]:
    """Write `stem`.png, .pdf and .csv into a folder, which is made where it is missing.

    The same figure gives the same bytes: no dates and no version numbers go into the files.

    Parameters
    ----------
    data : the numbers drawn; written as they are, without the index.

    Returns
    -------
    The three paths.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{stem}.{ending}" for ending in ("png", "pdf", "csv")]
    with styled():
        figure.savefig(paths[0], dpi=RESOLUTION, metadata={"Software": None})
        figure.savefig(paths[1], metadata={"CreationDate": None, "Creator": None, "Producer": None})
    with paths[2].open("w", encoding="utf-8", newline="") as stream:
        data.to_csv(stream, index=False, lineterminator="\n")
    return paths
