"""Published numbers beside ours: means of measures, and facts of an experiment (sizes of data, runs, kernel).

A number holds when ours, the mean over our runs, differs from it by no more than the larger of three published standard
deviations and a fixed tolerance: 0.3 percentage points, or 3 % of a size. Fewer than five runs of ours widen that
by `WIDER` and show nothing. The interval of the difference (Welch's, from the published and our standard deviation)
stands beside it and decides nothing: what is asked is how far ours is, not whether it differs at all.

Where the paper's data is one random draw (`draws`), the published standard deviation is that of permutations of this
draw and says nothing of how far another draw may be. The number is then looked for among our draws: it holds within
three of *our* standard deviations, and its quantile among them is told. With fewer than `DRAWS` of them the tolerance
is widened instead. What all learners owe to the draw would hide how they differ: so one learner tells where the draw
lies, and of the others the difference from a learner of the same draw is looked for (`Number.less`). Whole rows are
the matter of the statement `among_draws`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import pandas as pd

from budgetbench.datasets import Dataset, datasets
from budgetbench.published import Value
from budgetbench.results import Results
from budgetbench.results.measures import MEASURES, Measure
from budgetbench.results.records import completed
from budgetbench.verdicts.evidence import Evidence, Measured, MissingError, Reason, Tolerance
from budgetbench.verdicts.model import Number
from budgetbench.verdicts.selection import Selector, View
from budgetbench.verdicts.statistics import FEW, OPEN, REFUTED, SHOWN, WIDER, Interval, student, welch

SPREADS = 3.0
PUBLISHED_RUNS = 5
"""Runs behind a published mean and standard deviation: only Orabona et al. print one, over five permutations."""
DRAWS = 10
"""Draws of ours that make a distribution."""


@dataclass(frozen=True)
class Fact:
    """A number that an experiment has once, not for each run.

    Attributes
    ----------
    relative : share of the published number by which ours may differ.
    least : ours may be more, and less leaves it undecided.
    """

    words: str
    value: Callable[[Results], float]
    relative: float = 0.0
    least: bool = False


def _recorded(results: Results, column: str) -> float:
    sizes = completed(results.trials)[column].dropna().unique()
    if len(sizes) != 1:
        raise MissingError(f"no run of {results.folder.name} says its {column}")
    return float(sizes[0])


def _dataset(results: Results) -> Dataset:
    name = results.experiment.dataset.name
    if name not in datasets:
        raise MissingError(f"{results.folder.name} is on a dataset {name}, which is not known")
    return datasets[name]


def _kernel(results: Results, key: str) -> float:
    if results.experiment.kernel_grid:
        raise MissingError(f"{results.folder.name} has several kernels")
    value = getattr(results.experiment.kernel, key, None)
    if value is None:
        raise MissingError(f"{results.folder.name} has a kernel without {key}")
    return float(value)


def _variance(results: Results) -> float:
    return 1 / (2 * _kernel(results, "gamma"))


FACTS: dict[str, Fact] = {
    "train_size": Fact("training examples", lambda results: _recorded(results, "train_size")),
    "test_size": Fact("test examples", lambda results: _recorded(results, "test_size")),
    "inputs": Fact("inputs", lambda results: _dataset(results).n_features or 0),
    "classes": Fact("classes", lambda results: len(_dataset(results).classes or ())),
    "runs": Fact("runs", lambda results: results.summary["runs"].max(), least=True),
    "sizes": Fact("cache sizes", lambda results: results.summary["budget"].nunique(), least=True),
    "sigma": Fact("kernel σ", lambda results: sqrt(_variance(results)), relative=0.03),
    "variance": Fact("kernel σ²", _variance, relative=0.03),
    "degree": Fact("kernel degree", lambda results: _kernel(results, "degree")),
}


def beside(number: Number, view: View) -> Measured:
    """Ours beside a published number.

    Raises
    ------
    MissingError : there is none.
    """
    return _fact(number, view) if number.of is None else _mean(number, number.of, view)


def _fact(number: Number, view: View) -> Measured:
    fact, wanted = FACTS[number.name], number.value.mean
    ours = float(fact.value(view.results()))
    if not fact.least:
        return Measured(SHOWN if abs(ours - wanted) <= fact.relative * wanted else REFUTED, ours)
    if ours >= wanted:
        return Measured(SHOWN, ours)
    return Measured(OPEN, ours, reason=Reason("more_to_run", {"ours": ours, "wanted": wanted, "what": fact.words}))


def _mean(number: Number, of: Selector, view: View) -> Measured:
    measure, values = MEASURES[number.name], view.pick(of)[0].values(number.name)
    if number.less is not None:
        values = (values - view.pick(number.less)[0].values(number.name)).dropna()
    printed, mean, n = number.value, float(values.mean()), len(values)
    spread = float(values.std()) if n > 1 else None
    few = n < (DRAWS if number.draws else FEW)
    tolerance = _tolerance(printed, measure, spread if number.draws and not few else None, few)
    near = abs(mean - printed.mean) <= tolerance.amount
    # Of a difference no spread is printed, and few draws have none of their own: nothing says how far off is too far.
    untold = few and number.draws and printed.spread is None
    outcome = OPEN if untold else REFUTED if not near else OPEN if few else SHOWN
    reason = Reason("few_runs", {"runs": n}) if few else _quantile(values, printed) if number.draws else None
    between = _from_a_draw(printed, mean, spread, n) if number.draws else _interval(printed, mean, spread, n)
    row = Evidence("ours - published", between, measure.unit)
    return Measured(outcome, mean, spread, tolerance, reason, (row,))


def _tolerance(printed: Value, measure: Measure, among: float | None, few: bool) -> Tolerance:
    """By how much ours may differ; `among` is the spread of our draws where the number is looked for among them."""
    if among is not None:
        return Tolerance(SPREADS * among, "draws")
    spreads, fixed = SPREADS * (printed.spread or 0.0), measure.same(printed.mean)
    amount = max(spreads, fixed) * (WIDER if few else 1.0)
    return Tolerance(amount, "spreads" if spreads > fixed else "fixed", widened=few)


def _interval(printed: Value, mean: float, spread: float | None, n: int) -> Interval:
    difference = mean - printed.mean
    if n < FEW or spread is None:
        return Interval(n, difference)
    return replace(welch(difference, (spread, n), (printed.spread or 0.0, PUBLISHED_RUNS)), runs=n)


def _from_a_draw(printed: Value, mean: float, spread: float | None, n: int) -> Interval:
    """Where the mean of our draws lies from the paper's, which is one more draw."""
    difference = mean - printed.mean
    if n < FEW or spread is None:
        return Interval(n, difference)
    return student(n, difference, spread * sqrt(1 + 1 / n), n - 1)


def _quantile(values: pd.Series[float], printed: Value) -> Reason:
    """Where the published number lies among our draws."""
    below = float(np.mean(values < printed.mean) + np.mean(values == printed.mean) / 2)
    return Reason("quantile", {"quantile": below, "draws": len(values)})
