"""Configurations: YAML files that say what to run, checked strictly before anything runs.

>>> from budgetbench.config import load
>>> experiment = load("configs/quickstart.yaml", overrides=["permutations=2"])  # doctest: +SKIP
"""

from __future__ import annotations

from budgetbench.config.algorithms import Algorithm
from budgetbench.config.document import dump
from budgetbench.config.experiment import Experiment
from budgetbench.config.loading import load
from budgetbench.config.problems import Problem, Problems
from budgetbench.config.sections import DatasetSection, LabelNoise, Reproduces, Table

__all__ = [
    "Algorithm",
    "DatasetSection",
    "Experiment",
    "LabelNoise",
    "Problem",
    "Problems",
    "Reproduces",
    "Table",
    "dump",
    "load",
]
