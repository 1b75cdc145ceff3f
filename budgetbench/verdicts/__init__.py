"""Verdicts: every number and claim of the papers beside our results.

`published` reads what the papers say, `selection` which of our runs that is about, `statements`, `degrees` and `draws`
have the kinds of statement, `statistics` what runs can show. `check` puts them together into the values of `evidence`
and `model`, `words` says them, and `writing` and the report show them.
"""

from __future__ import annotations

from budgetbench.verdicts import bounds as bounds
from budgetbench.verdicts import degrees as degrees
from budgetbench.verdicts import draws as draws
from budgetbench.verdicts.checking import check
from budgetbench.verdicts.model import Paper, Verdict, counts, failures
from budgetbench.verdicts.published import papers, published
from budgetbench.verdicts.statements import statements
from budgetbench.verdicts.writing import write_verdicts

__all__ = ["Paper", "Verdict", "check", "counts", "failures", "papers", "published", "statements", "write_verdicts"]
