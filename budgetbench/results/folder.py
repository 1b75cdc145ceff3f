"""The folders of results: which there are, and what one of them holds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from budgetbench.errors import RequestError
from budgetbench.results.summary import current_trials, summarise
from budgetbench.results.trials import FILE, read_trials


@dataclass(frozen=True)
class Results:
    """What one experiment's folder holds.

    Attributes
    ----------
    experiment : the resolved configuration.
    trials : the runs that the configuration asks for; column `point` is the index of their row in `summary`.
    summary : see `summarise`.
    """

    folder: Path
    experiment: dict[str, Any]
    trials: pd.DataFrame
    summary: pd.DataFrame


def experiment_folders(root: Path | str) -> list[Path]:
    """The experiment folders at `root`: itself when it is one, else those directly in it, by name.

    Raises
    ------
    RequestError : there is no such folder, or no results in it.
    """
    root = Path(root)
    if (root / FILE).is_file():
        return [root]
    advice = "Run an experiment first (budgetbench run CONFIG), or name the folder that holds the results."
    if not root.is_dir():
        raise RequestError(f"no results folder {root}. {advice}")
    found = sorted(path.parent for path in root.glob(f"*/{FILE}"))
    if not found:
        raise RequestError(f"no results in {root}: looked for {FILE} in it and in the folders directly in it. {advice}")
    return found


def read_experiment(folder: Path | str) -> dict[str, Any]:
    """The resolved configuration of an experiment's folder, a mapping.

    Raises
    ------
    RequestError : `experiment.yaml` is missing or not a mapping.
    """
    path = Path(folder) / "experiment.yaml"
    advice = "Running the experiment again writes it anew and keeps the finished runs."
    if not path.is_file():
        raise RequestError(f"{Path(folder)} holds no experiment.yaml, which says what its runs are. {advice}")
    try:
        experiment = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise RequestError(f"{path} is not readable as YAML ({error}). {advice}") from error
    if not isinstance(experiment, dict):
        raise RequestError(f"{path}: found {type(experiment).__name__}; accepted: a mapping. {advice}")
    experiment.setdefault("name", Path(folder).name)
    return experiment


def read_results(folder: Path | str) -> Results:
    """Everything that tables and figures of one experiment need."""
    folder = Path(folder)
    trials = read_trials(folder)
    experiment = read_experiment(folder)
    keys = _current_keys(folder)
    return Results(folder, experiment, current_trials(trials, experiment, keys), summarise(trials, experiment, keys))


def _current_keys(folder: Path) -> set[str] | None:
    """The keys of the runs that the present configuration asks for, where the provenance lists them."""
    path = folder / "provenance.json"
    try:
        keys = json.loads(path.read_text(encoding="utf-8")).get("keys")
    except (OSError, ValueError, AttributeError):  # the provenance is a help here, never a condition
        return None
    return {str(key) for key in keys} if isinstance(keys, list) and keys else None
