"""Writing a figure: for the screen, for print, and the numbers in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from budgetbench.lazy import lazy
from budgetbench.plots.style import styled

if TYPE_CHECKING:
    import pandas as pd
else:
    pd = lazy("pandas")

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESOLUTION = 200


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
