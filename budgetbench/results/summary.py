"""What one experiment's runs come to: mean, spread and range of each measure for each parameter set."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.experiment import Algorithm, Experiment, Parameters
from budgetbench.lazy import pd
from budgetbench.results.curves import at_checkpoints
from budgetbench.results.measures import MEASURES, SUMMARISED
from budgetbench.results.names import canonical_json, complete, learner_title
from budgetbench.results.records import completed
from budgetbench.results.sizes import budget_of

STATISTICS = ("mean", "std", "min", "max")


@dataclass(frozen=True)
class Results:
    """What one experiment's folder holds.

    Attributes
    ----------
    trials : the runs that the experiment asks for, see `assigned`.
    summary : see `summarise`.
    beside : reads the results of another experiment, by its name, in the folder in which this one's lies.
    example_bytes : what an example of the dataset takes in a model, with its coefficients; None where it was not
        recorded.
    """

    folder: Path
    experiment: Experiment
    trials: pd.DataFrame
    summary: pd.DataFrame
    beside: Callable[[str], Results]
    example_bytes: int | None = None


def assigned(trials: pd.DataFrame, experiment: Experiment, keys: Sequence[str] = ()) -> pd.DataFrame:
    """The runs that an experiment asks for, out of all that its folder holds.

    A folder keeps the runs of earlier configurations, so that going back to one costs nothing.

    Parameters
    ----------
    trials : as `read_trials` returns them.
    keys : of the experiment's trials, in the order of its plan: run by run, every parameter set. Where they are not
        known, a run belongs to the parameter set that equals its own, in a run and with a seed that are asked for.

    Returns
    -------
    The runs, their curves with as many checkpoints as the experiment asks for, and with one column more: `point`, the
    place of their parameter set among the experiment's. Where some have `kernel_seconds`, those without lose their
    `train_seconds`: an older version took them, in which the kernel values that a learner needs were not all its own.
    """
    sets = experiment.parameter_sets
    if len(keys) == len(sets) * experiment.permutations:
        places = {key: place % len(sets) for place, key in enumerate(keys)}
        points = trials["key"].map(places)
    else:
        points = _points_by_equality(trials, experiment)
    chosen = trials.assign(
        point=points.astype("Int64"),
        curve=pd.Series([_thinned(curve, experiment.checkpoints) for curve in trials["curve"]], trials.index, object),
    )
    chosen = chosen[chosen["point"].notna()]
    # the same run under another key (another kernel, say): what was written last is what was asked for last
    chosen = chosen.drop_duplicates(["point", "run"], keep="last")
    whole = chosen["kernel_seconds"].notna()
    if whole.any():
        chosen = chosen.assign(train_seconds=chosen["train_seconds"].where(whole))
    return chosen.sort_values(["point", "run"], kind="stable").reset_index(drop=True)


def _points_by_equality(trials: pd.DataFrame, experiment: Experiment) -> pd.Series[Any]:
    places = {_identity(algorithm.name, params): i for i, (algorithm, params) in enumerate(experiment.parameter_sets)}
    runs = zip(trials["algorithm"], trials["params"], strict=True)
    points = pd.Series([places.get(_identity(*run)) for run in runs], trials.index, dtype="Int64")
    asked = (trials["run"] < experiment.permutations) & (trials["seed"] == experiment.seed).fillna(True)
    return points.where(asked)


def _identity(algorithm: str, params: Parameters) -> str:
    return f"{algorithm} {canonical_json(complete(algorithm, params))}"


def _thinned(curve: dict[str, Any] | None, checkpoints: int) -> dict[str, Any] | None:
    if curve is None or not checkpoints:
        return None
    return at_checkpoints(curve, checkpoints) or curve


def summarise(chosen: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    """One row for each algorithm and parameter set that has at least one run.

    Parameters
    ----------
    chosen : as `assigned` returns them.

    Returns
    -------
    A frame in the configuration's order: `algorithm`, `params` (JSON with sorted names), `budget`, `runs` (that ended
    well), `failed`, `entry` (position in the configuration's `algorithms`), `selected`, and for each measure
    `<measure>_mean`, `_std` (with n - 1; NaN for one run), `_min`, `_max`. Errors are fractions.

    Where an entry of the configuration says `select`, of each size that it has (a budget) only the parameter set with
    the lowest mean of that measure is selected, the first of them on a tie; where the kernel does, for each parameter
    set the best kernel; where both do, the best of all combinations for each size.
    """
    sets = experiment.parameter_sets
    entries = [number for number, algorithm in enumerate(experiment.algorithms) for _ in algorithm.trials]
    rows: list[dict[str, Any]] = []
    index: list[int] = []
    measured = pd.DataFrame({measure: MEASURES[measure].recorded(chosen) for measure in SUMMARISED})
    for number, group in chosen.groupby("point", sort=True):
        index.append(int(str(number)))
        good = completed(group).index
        row = _row(*sets[index[-1]], measured.loc[good].to_numpy())
        rows.append(row | {"failed": len(group) - len(good), "entry": entries[index[-1]]})
    summary: pd.DataFrame = pd.DataFrame(rows, columns=_columns(), index=pd.Index(index, dtype="int64", name="point"))
    summary["budget"] = summary["budget"].astype("Int64")
    for number, own in summary.groupby("entry"):
        algorithm = experiment.algorithms[int(str(number))]
        for points in _alternatives(own, algorithm):
            means = own.loc[points, f"{algorithm.chosen_by}_mean"]
            best = points[0] if means.isna().all() else means.idxmin()  # the first of equals
            summary.loc[points, "selected"] = [point == best for point in points]
    return summary


def titles_of(summary: pd.DataFrame, experiment: Experiment) -> pd.Series[str]:
    """How the learners of a summary's rows are called in print."""
    entries = experiment.algorithms
    rows = zip(summary["algorithm"], summary["entry"], strict=True)
    return pd.Series([entries[entry].title or learner_title(name) for name, entry in rows], summary.index, dtype=object)


def _alternatives(own: pd.DataFrame, algorithm: Algorithm) -> list[list[Any]]:
    """The points of an entry among which one is to be chosen: those that differ in what is searched for alone."""
    found: dict[str, list[Any]] = {}
    for point, params in zip(own.index, params_of(own), strict=True):
        shown = {name: value for name, value in params.items() if not algorithm.is_searched(name)}
        found.setdefault(canonical_json(shown), []).append(point)
    return list(found.values()) if algorithm.chosen_by else []


def params_of(summary: pd.DataFrame) -> list[dict[str, Any]]:
    """The parameter sets of a summary's rows."""
    return [json.loads(text) for text in summary["params"]]


def _columns() -> list[str]:
    fixed = ["algorithm", "params", "budget", "runs", "failed", "entry", "selected"]
    return [*fixed, *(f"{measure}_{name}" for measure in SUMMARISED for name in STATISTICS)]


def _row(algorithm: Algorithm, params: Parameters, measured: NDArray[np.float64]) -> dict[str, Any]:
    """What is said of one parameter set, of whose runs that ended well these are the measures."""
    row: dict[str, Any] = {
        "algorithm": algorithm.name,
        "params": canonical_json(params),
        "budget": budget_of(params),
        "runs": len(measured),
        "selected": True,
    }
    for measure, values in zip(SUMMARISED, measured.T, strict=True):
        statistics = _statistics(values[~np.isnan(values)])
        row |= {f"{measure}_{name}": value for name, value in zip(STATISTICS, statistics, strict=True)}
    return row


def _statistics(values: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Mean, standard deviation, minimum and maximum; NaN where there is none."""
    if len(values) == 0:
        return np.nan, np.nan, np.nan, np.nan
    low, high = float(values.min()), float(values.max())
    if low == high:  # exactly, without the rounding of a sum
        return low, 0.0 if len(values) > 1 else np.nan, low, high
    return float(values.mean()), float(values.std(ddof=1)), low, high
