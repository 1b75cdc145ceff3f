"""The runner: expands an experiment into runs, does what is missing, and records each run as it ends."""

from __future__ import annotations

from budgetbench.runner.merging import Merged, merge
from budgetbench.runner.run import Crew, Outcome, run, run_experiment
from budgetbench.runner.shards import Shard

__all__ = ["Crew", "Merged", "Outcome", "Shard", "merge", "run", "run_experiment"]
