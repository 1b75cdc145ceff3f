"""Reading results: trials, the summary of each algorithm and parameter set, and tables of it.

Raw before derived: `trials.jsonl` is the only thing that is not recomputed; everything here only reads it.
"""

from __future__ import annotations

from budgetbench.results.folder import Results, each, experiment_folders, read_experiment, read_results
from budgetbench.results.measures import MEASURES
from budgetbench.results.summary import current_trials, summarise, write_summary
from budgetbench.results.table import Table, table
from budgetbench.results.trials import completed, failed, read_trials

__all__ = [
    "MEASURES",
    "Results",
    "Table",
    "completed",
    "current_trials",
    "each",
    "experiment_folders",
    "failed",
    "read_experiment",
    "read_results",
    "read_trials",
    "summarise",
    "table",
    "write_summary",
]
