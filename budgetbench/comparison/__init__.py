"""Learners compared over several datasets at equal memory: `choosing` says which parameter set stands for a learner,
`ranks` what its ranks show, `comparing` makes the one of the other, `diagram` draws it and `writing` writes it down.
"""

from __future__ import annotations

from budgetbench.comparison.choosing import CRITERIA
from budgetbench.comparison.comparing import Comparison, Memory, Report, compare
from budgetbench.comparison.writing import FORMATS, table, write

__all__ = ["CRITERIA", "FORMATS", "Comparison", "Memory", "Report", "compare", "table", "write"]
