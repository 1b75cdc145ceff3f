"""Which parameter set stands for a learner on a dataset, when its model may take so many bytes at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from budgetbench.results import Results
from budgetbench.results.names import entry_title

#: What chooses among parameter sets: the first that was recorded of all of them. Test errors choose nothing unless
#: that is asked for, as what they choose looks better than it is.
CRITERIA = ("validation_error", "online_error")


class Choice(NamedTuple):
    """A row of a summary, and by what it was chosen: nothing where there was no choice."""

    row: pd.Series
    by: str


class Unchosen(Exception):  # noqa: N818 - says what is the case
    """Several parameter sets fit, and nothing that may choose among them was recorded."""


def candidates(results: Results, measure: str) -> pd.DataFrame:
    """The rows of the summary that have the measure and the size of the model, with one column more: `learner`, what
    their entry is called, as several may be of one class."""
    entries = results.experiment.algorithms
    summary = results.summary.assign(learner=[entry_title(entries[place]) for place in results.summary["entry"]])
    return summary[summary[f"{measure}_mean"].notna() & summary["model_bytes_mean"].notna()]


def choose(rows: pd.DataFrame, memory: float, criteria: Sequence[str] = CRITERIA) -> Choice | None:
    """The best of a learner's parameter sets whose model takes at most `memory` bytes, in the mean over its runs.

    Returns
    -------
    None where no model is as small; of equally good ones the smallest, and of these the first.

    Raises
    ------
    Unchosen : none of the criteria was recorded of all parameter sets that fit.
    """
    fitting = rows[rows["model_bytes_mean"] <= memory]
    if len(fitting) < 2:
        return Choice(fitting.iloc[0], "") if len(fitting) else None
    for criterion in criteria:
        column = f"{criterion}_mean"
        if column in fitting and fitting[column].notna().all():
            return Choice(fitting.sort_values([column, "model_bytes_mean"], kind="stable").iloc[0], criterion)
    raise Unchosen
