"""The results of the papers' experiments and their readings, as they are kept with the program."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path

import pandas as pd
import pytest

RESULTS = Path(__file__).parents[2] / "results"
SVMS = ("svm", "multiclass_svm")
KEPT = sorted(chain(RESULTS.glob("*/summary.csv"), RESULTS.glob("readings/*/summary.csv")))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.parent.name)
def test_the_best_c_does_not_lie_at_the_edge_of_its_grid(path: Path) -> None:
    """A larger grid could hold a better one, but where the last step gains next to nothing."""
    summary = pd.read_csv(path)
    for entry, rows in summary[summary["algorithm"].isin(SVMS)].groupby("entry"):
        values = rows["params"].map(lambda text: float(json.loads(text)["C"]))
        kernels = rows["params"].map(lambda text: json.dumps({**json.loads(text), "C": None}))
        if values.nunique() == 1 or not rows["selected"].any() or rows["selected"].all():
            continue  # nothing was chosen
        for at in rows.index[rows["selected"].astype(bool)]:
            of_kernel = rows[kernels == kernels[at]].assign(C=values).sort_values("C")["test_error_mean"]
            place = of_kernel.index.get_loc(at)
            beside = {0: 1, len(of_kernel) - 1: -2}.get(place)
            assert beside is None or of_kernel.iloc[beside] - of_kernel.iloc[place] < 0.0005, (entry, values[at])
