"""The published row that belongs to a row of a summary, for an experiment that says what it reproduces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from budgetbench.experiment import Experiment
from budgetbench.lazy import pd
from budgetbench.learners import learners
from budgetbench.published import PAPERS, Value, rows_of
from budgetbench.results.names import learner
from budgetbench.results.sizes import budgets
from budgetbench.results.summary import params_of


def printed_rows(summary: pd.DataFrame, experiment: Experiment) -> dict[int, dict[str, Value]]:
    """The published values by measure, for each row of the summary that has any.

    A published row is about the parameters that it names; of several variants that fit, about the one with most of
    the learner's defaults.
    """
    reproduces = experiment.reproduces
    if reproduces is None or reproduces.paper not in PAPERS:
        return {}
    params = dict(zip(summary.index, params_of(summary), strict=True))
    found: dict[int, dict[str, Value]] = {}
    for of, values in rows_of(reproduces.paper, reproduces.item):
        fitting = [number for number in params if _fits(of, summary.loc[number], params[number])]
        if fitting:
            usual = max(fitting, key=lambda number: _defaults(of["algorithm"], params[number]))
            found.setdefault(usual, {}).update(values)
    return found


def _fits(of: Mapping[str, Any], row: Any, params: Mapping[str, Any]) -> bool:
    if learners.canonical(of["algorithm"]) != row["algorithm"]:
        return False
    budget = None if pd.isna(row["budget"]) else int(row["budget"])
    named = {name: wanted for name, wanted in of.items() if name not in ("algorithm", "budget")}
    return of.get("budget") == budget and all(params.get(name) == wanted for name, wanted in named.items())


def _defaults(algorithm: str, params: Mapping[str, Any]) -> int:
    cls = learner(algorithm)
    own = cls.defaults() if cls else {}
    return sum(params.get(name) == default for name, default in own.items() if name not in budgets())
