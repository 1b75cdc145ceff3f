"""The summary: mean, spread and range of each measure for each algorithm and parameter set."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from budgetbench.results.files import replace_file
from budgetbench.results.grid import Point, canonical_json, point_of, points, points_of_runs
from budgetbench.results.measures import MEASURES, SUMMARISED
from budgetbench.results.names import budget_of
from budgetbench.results.trials import completed

STATISTICS = ("mean", "std", "min", "max")


def current_trials(
    trials: pd.DataFrame, experiment: Mapping[str, Any] | None = None, keys: Collection[str] | None = None
) -> pd.DataFrame:
    """The runs that an experiment asks for, out of all that its folder holds.

    A folder keeps the runs of earlier configurations, so that going back to one costs nothing. Left out here are runs
    of other parameter sets, of a run index beyond `permutations`, of another seed and, where `keys` names the runs
    wanted, all others.

    Returns
    -------
    The runs, with one column more: `point`, the index of their parameter set.
    """
    chosen, _ = _assigned(trials, experiment, keys)
    return chosen


def summarise(
    trials: pd.DataFrame, experiment: Mapping[str, Any] | None = None, keys: Collection[str] | None = None
) -> pd.DataFrame:
    """One row for each algorithm and parameter set that has at least one run.

    Parameters
    ----------
    trials : as `read_trials` returns them.
    experiment : the configuration; without it every run enters, in order of appearance, and all rows are selected.
    keys : the runs that enter; without it all that fit the configuration do.

    Returns
    -------
    A frame in the configuration's order: `algorithm`, `params` (JSON with sorted names), `budget`, `runs` (that ended
    well), `failed`, `entry` (position in the configuration's `algorithms`), `selected`, and for each measure
    `<measure>_mean`, `_std` (with n - 1; NaN for one run), `_min`, `_max`. Errors are fractions.

    Where an entry of the configuration says `select: test_error`, only its parameter set with the lowest mean test
    error is selected, the first of them on a tie.
    """
    chosen, candidates = _assigned(trials, experiment, keys)
    rows: list[dict[str, Any]] = []
    index: list[int] = []
    for number, group in chosen.groupby("point", sort=True):
        index.append(int(str(number)))
        rows.append(_row(candidates[index[-1]], group))
    summary: pd.DataFrame = pd.DataFrame(rows, columns=_columns(), index=pd.Index(index, dtype="int64", name="point"))
    summary["budget"] = summary["budget"].astype("Int64")
    summary["selected"] = _selected(summary, candidates)
    return summary


def write_summary(folder: Path | str) -> list[Path]:
    """Write `summary.csv` and `table.md` of an experiment's folder; returns their paths."""
    from budgetbench.results.folder import read_results
    from budgetbench.results.table import table

    results = read_results(folder)
    paths = [results.folder / "summary.csv", results.folder / "table.md"]
    replace_file(paths[0], results.summary.to_csv(index=False, lineterminator="\n"))
    replace_file(paths[1], table(results.summary, results.experiment).document())
    return paths


def params_of(summary: pd.DataFrame) -> list[dict[str, Any]]:
    """The parameter sets of a summary's rows."""
    return [json.loads(text) for text in summary["params"]]


def _assigned(
    trials: pd.DataFrame, experiment: Mapping[str, Any] | None, keys: Collection[str] | None
) -> tuple[pd.DataFrame, list[Point]]:
    chosen = trials if keys is None else trials[trials["key"].isin(list(keys))]
    if experiment is not None and "permutations" in experiment:
        chosen = chosen[(chosen["run"] < int(experiment["permutations"])).fillna(False)]
    if experiment is not None and "seed" in experiment:
        chosen = chosen[(chosen["seed"] == int(experiment["seed"])).fillna(True)]
    runs = [
        (algorithm, _complete(params, budget))
        for algorithm, params, budget in zip(chosen["algorithm"], chosen["params"], chosen["budget"], strict=True)
    ]
    candidates = points_of_runs(runs) if experiment is None else points(experiment)
    numbers = [point_of(algorithm, params, candidates) for algorithm, params in runs]
    chosen = chosen.assign(
        params=pd.Series([params for _, params in runs], index=chosen.index, dtype=object),
        point=pd.Series(numbers, index=chosen.index, dtype="Int64"),
    )
    chosen = chosen[chosen["point"].notna()]
    # the same run under another key (another kernel, say): what was written last is what was asked for last
    chosen = chosen.drop_duplicates(["point", "run"], keep="last")
    chosen = chosen.sort_values(["point", "run"], kind="stable").reset_index(drop=True)
    return chosen, candidates


def _complete(params: Mapping[str, Any], budget: Any) -> dict[str, Any]:
    """The parameters of a record, with the budget that stands beside them."""
    return dict(params) if pd.isna(budget) or "budget" in params else {**params, "budget": int(budget)}


def _columns() -> list[str]:
    fixed = ["algorithm", "params", "budget", "runs", "failed", "entry", "selected"]
    return [*fixed, *(f"{measure}_{name}" for measure in SUMMARISED for name in STATISTICS)]


def _row(point: Point, group: pd.DataFrame) -> dict[str, Any]:
    good = completed(group)
    params = (good if len(good) else group)["params"].iloc[-1]
    row: dict[str, Any] = {
        "algorithm": point.algorithm,
        "params": canonical_json(params),
        "budget": budget_of(params, group["budget"].iloc[-1]),
        "runs": len(good),
        "failed": len(group) - len(good),
        "entry": point.entry,
        "selected": True,
    }
    for measure in SUMMARISED:
        statistics = _statistics(MEASURES[measure].recorded(good).dropna().to_numpy())
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


def _selected(summary: pd.DataFrame, candidates: list[Point]) -> list[bool]:
    best: dict[int, int] = {}
    by_entry = {number: candidates[number] for number in summary.index}
    for number, point in by_entry.items():
        if point.select is None:
            continue
        means = summary[f"{point.select}_mean"]
        rival = best.get(point.entry)
        # strictly lower, so that the first of equals stays; a row without a value never wins over one that has it
        if rival is None or means[number] < means[rival] or (np.isnan(means[rival]) and not np.isnan(means[number])):
            best[point.entry] = number
    return [point.select is None or best[point.entry] == number for number, point in by_entry.items()]
