"""Error against the time that learning takes."""

from __future__ import annotations

from dataclasses import dataclass

from budgetbench.plots.base import Drawing, figure_kind
from budgetbench.plots.costs import CostOptions, error_against
from budgetbench.results import Results
from budgetbench.results.measures import MEASURES
from budgetbench.results.records import completed


@dataclass(frozen=True)
class ErrorVsTime(CostOptions):
    """How it is drawn."""


@figure_kind("error against training time, learners with several budgets as lines, with the Pareto front", ErrorVsTime)
def error_vs_time(results: Results, options: ErrorVsTime) -> Drawing:
    """Mean error (%) over the median training time of the runs, kernel values included.

    The median, because a run during which the machine was busy with other things takes much longer than the others.
    Runs whose time was taken in another way are left out.
    """
    runs = completed(results.trials)
    seconds = runs.groupby("point")["train_seconds"].median().astype(float)
    words, other = ", median time", int(runs["train_seconds"].isna().sum())
    if other and runs["train_seconds"].notna().any():
        words += f" ({'1 run' if other == 1 else f'{other} runs'} timed in another way left out)"
    machines = runs["host"].nunique()
    if machines > 1:
        words += f" on {machines} machines, which may not be alike"
    return error_against(results, options, MEASURES["train_seconds"], seconds, "seconds", words, growing=True)
