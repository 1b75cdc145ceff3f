"""Error against the memory that a model takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from budgetbench.plots.base import Drawing, figure_kind
from budgetbench.plots.costs import CostOptions, error_against
from budgetbench.results import Results
from budgetbench.results.measures import MEASURES


@dataclass(frozen=True)
class ErrorVsMemory(CostOptions):
    """How it is drawn.

    Parameters
    ----------
    memory : what prediction needs, or what learning goes on from.
    """

    memory: Literal["model_bytes", "state_bytes"] = "model_bytes"


@figure_kind("error against bytes, learners with several budgets as lines, with the Pareto front", ErrorVsMemory)
def error_vs_memory(results: Results, options: ErrorVsMemory) -> Drawing:
    """Mean error (%) over the mean size of the model, or of the state of learning."""
    measure = MEASURES[options.memory]
    sizes = measure.unit.scale * results.summary[f"{measure.name}_mean"]
    return error_against(results, options, measure, sizes, "kilobytes")
