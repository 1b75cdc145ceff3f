"""The folders of results: which there are, and what one of them holds."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import yaml

from budgetbench.errors import Notice, RequestError
from budgetbench.results.schema import Unfit, checked_experiment
from budgetbench.results.summary import current_trials, summarise
from budgetbench.results.trials import FILE, read_trials

Part = TypeVar("Part")


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


def each(folders: Iterable[Path], read: Callable[[Path], Part]) -> Iterator[Part]:
    """What `read` makes of each experiment's folder; a damaged one of several is passed over with a warning.

    Raises
    ------
    RequestError : none of them can be read.
    """
    folders, read_any, problem = list(folders), False, None
    for folder in folders:
        try:
            part = read(folder)
        except RequestError as error:
            problem = problem or error
            if len(folders) > 1:
                warnings.warn(f"{folder} is left out: {error}", Notice, stacklevel=2)
        else:
            read_any = True
            yield part
    if problem and not read_any:
        raise problem


def read_experiment(folder: Path | str) -> dict[str, Any]:
    """The resolved configuration of an experiment's folder, a mapping.

    Raises
    ------
    RequestError : `experiment.yaml` is missing or not what it should be.
    """
    path = Path(folder) / "experiment.yaml"
    advice = "Running the experiment again writes it anew and keeps the finished runs."
    if not path.exists():
        raise RequestError(f"{Path(folder)} holds no experiment.yaml, which says what its runs are. {advice}")
    try:
        experiment = checked_experiment(yaml.safe_load(path.read_text(encoding="utf-8-sig")))
    except Unfit as problem:
        raise RequestError(f"{path}: {problem}. {advice}") from None
    except OSError as error:
        raise RequestError(f"{path} cannot be read ({error.strerror}). {advice}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # also a date or a number that is none
        what = " ".join(str(error).split())[:200]
        raise RequestError(f"{path} is not readable as YAML ({what}). {advice}") from None
    return {"name": Path(folder).name} | experiment


def read_results(folder: Path | str) -> Results:
    """Everything that tables and figures of one experiment need."""
    folder = Path(folder)
    trials = read_trials(folder)
    experiment = read_experiment(folder)
    keys = _current_keys(folder)
    return Results(folder, experiment, current_trials(trials, experiment, keys), summarise(trials, experiment, keys))


def _current_keys(folder: Path) -> set[str] | None:
    """The keys of the runs that the present configuration asks for, where the provenance lists them."""
    keys = read_provenance(folder).get("keys")
    return set(keys) if isinstance(keys, list) and keys and all(isinstance(key, str) for key in keys) else None


def read_provenance(folder: Path) -> dict[str, Any]:
    """The content of `provenance.json`; empty where it cannot be had, as it is a help and never a condition."""
    try:
        content = json.loads((folder / "provenance.json").read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
