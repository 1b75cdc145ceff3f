"""What came of the runs, as values: records, the summary of each parameter set, and tables of it.

Raw before derived: `trials.jsonl` is the only thing that is not recomputed; everything here only reads it.
"""

from __future__ import annotations

from budgetbench.results.layouts import table
from budgetbench.results.measures import MEASURES
from budgetbench.results.records import completed, failed, read_trials
from budgetbench.results.summary import Results, assigned, summarise
from budgetbench.results.table import Table, joined

__all__ = [
    "MEASURES",
    "Results",
    "Table",
    "assigned",
    "completed",
    "failed",
    "joined",
    "read_trials",
    "summarise",
    "table",
]
