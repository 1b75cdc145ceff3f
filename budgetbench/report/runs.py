"""All runs of an experiment, small enough to lie in the page, which lists them when it is asked to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd
from markupsafe import Markup

from budgetbench.experiment import Experiment
from budgetbench.results import Results
from budgetbench.results.measures import MEASURES
from budgetbench.results.names import entry_title, parameters_text, varying

#: What the list shows of each run, and what a run shows when it is opened besides.
SHOWN = ("test_error", "online_error", "support_size", "train_seconds")
OPENED = ("validation_error", "averaged_test_error", "online_mistakes", "margin_errors", "insertions", "removals",
          "kernel_evaluations", "model_bytes", "state_bytes", "kernel_seconds", "predict_seconds")  # fmt: skip
OF_RUN = ("key", "status", "error", "seed", "train_size", "test_size", "version", "commit", "host")


def runs_data(results: Results) -> Markup:
    """The runs as JSON that can stand in a `script` element.

    ``sets`` are the parameter sets (learner, title, the parameters that differ in words, all parameters), ``rows`` the
    runs: place of the parameter set, run, then the values of ``columns``; a column whose values are all alike stands in
    ``same`` instead.
    """
    trials = results.trials.sort_values(["point", "run"], kind="stable")
    columns: dict[str, list[Any]] = {name: [_plain(value) for value in trials[name]] for name in OF_RUN}
    for name in (*SHOWN, *OPENED):
        columns[name] = [_rounded(value) for value in MEASURES[name].values(trials)]
    same = {name: values[0] for name, values in columns.items() if len(trials) > 1 and len(set(values)) == 1}
    told = {name: values for name, values in columns.items() if name not in same}
    data = {
        "experiment": results.folder.name,
        "words": {name: _words(name) for name in (*OF_RUN, *SHOWN, *OPENED)},
        "shown": [name for name in SHOWN if name in told or same.get(name) is not None],
        "sets": list(_sets(results.experiment)),
        "same": {name: value for name, value in same.items() if value is not None},
        "columns": list(told),
        "rows": list(map(list, zip(trials["point"].tolist(), trials["run"].tolist(), *told.values(), strict=True))),
    }
    # what would end the element, or begin a comment in it, is written in another way
    return Markup(json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"))


def _sets(experiment: Experiment) -> Iterator[dict[str, Any]]:
    """The parameter sets, in words with what tells them from the others of their learner."""
    for entry in experiment.algorithms:
        told = varying(entry.trials)
        for params in entry.trials:
            yield {
                "learner": entry.name,
                "title": entry_title(entry),
                "text": parameters_text(params, told),
                "params": {name: value for name, value in params.items() if value is not None},
            }


def _words(name: str) -> str:
    return MEASURES[name].label if name in MEASURES else name.replace("_", " ").capitalize()


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    return None if pd.isna(value) else int(value) if isinstance(value, int) else str(value)


def _rounded(value: float) -> float | int | None:
    """A number with four figures after the point at most, whole numbers as they are."""
    if pd.isna(value):
        return None
    value = round(value, 4)
    return int(value) if value == int(value) else value
