"""The runner: expands an experiment into runs, does what is missing, and records each run as it ends."""

from __future__ import annotations

from budgetbench.runner.run import Crew, Outcome, run, run_experiment

__all__ = ["Crew", "Outcome", "run", "run_experiment"]
