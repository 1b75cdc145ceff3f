"""Choosing a learner, its size and its parameters for data and a memory, on training examples alone."""

from __future__ import annotations

from budgetbench.tuning.asking import question
from budgetbench.tuning.search import Tuned, tune

__all__ = ["Tuned", "question", "tune"]
