"""Configurations: YAML files that say what to run, checked strictly before anything runs.

>>> from budgetbench.config import load
>>> experiment = load("configs/quickstart.yaml", overrides=["permutations=2"])  # doctest: +SKIP
"""

from __future__ import annotations

from budgetbench.config.loading import load, made_of, restricted
from budgetbench.config.recorded import recorded

__all__ = ["load", "made_of", "recorded", "restricted"]
