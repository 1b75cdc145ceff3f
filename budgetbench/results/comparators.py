"""`comparators.csv`: what mistake bounds are made of, kept beside the runs; and the bounds themselves."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from budgetbench.engine.bounds import Bounds, Comparators
from budgetbench.errors import RequestError
from budgetbench.experiment import without_kernel
from budgetbench.lazy import pd
from budgetbench.results.files import replace_file
from budgetbench.results.names import complete, learner

FILE = "comparators.csv"
COLUMNS = {"examples": str, "norm": float, "loss": float, "square": float}
"""`Experiment.examples_key` of a stream, and of each comparator ‖g‖ and D₁; R² is the stream's."""


def read_comparators(folder: Path) -> dict[str, Comparators]:
    """The comparators of each stream in an experiment's folder, by `Experiment.examples_key`; none without the file.

    Raises
    ------
    RequestError : the file holds something else.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        table = pd.read_csv(path, dtype=COLUMNS, usecols=list(COLUMNS))
        numbers = table[["norm", "loss", "square"]].to_numpy()
        rising = table.groupby("examples")["norm"].is_monotonic_increasing.all()
        if not np.isfinite(numbers).all() or (numbers < 0).any() or not rising:
            raise ValueError("accepted are numbers from 0 on, the norms of a stream rising")
    except (OSError, ValueError) as error:
        raise RequestError(
            f"{path}: no table of comparators ({error}). Remove it; budgetbench bounds {folder} makes it anew."
        ) from None
    return {
        str(key): Comparators(rows["norm"].to_numpy(), rows["loss"].to_numpy(), float(rows["square"].max()))
        for key, rows in table.groupby("examples", sort=False)
    }


def write_comparators(folder: Path, found: Mapping[str, Comparators]) -> None:
    """Write the file, with seven digits of every number."""
    text = StringIO()
    text.write(",".join(COLUMNS) + "\n")
    for key, g in found.items():
        for norm, loss in zip(g.norms, g.losses, strict=True):
            text.write(f"{key},{norm:.7g},{loss:.7g},{g.square:.7g}\n")
    replace_file(folder / FILE, text.getvalue())


def bounds_of(algorithm: str, params: Mapping[str, Any], g: Comparators) -> Bounds:
    """What theorems say of a run of a learner with these parameters, see `KernelClassifier.bounds`."""
    cls = learner(algorithm)
    return cls(**without_kernel(complete(algorithm, params))).bounds(g) if cls else {}
