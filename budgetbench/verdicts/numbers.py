"""Published numbers beside ours.

A number holds when ours, the mean over our runs, differs from it by no more than the larger of three published standard
deviations and a fixed tolerance: 0.3 percentage points, or 3 % of a size. Fewer than five runs of ours widen that
by `WIDER`. The interval of the difference (Welch's, from the published and our standard deviation) is in the evidence.

Where the paper's data is one random draw (`draws`), the published standard deviation is that of permutations of this
draw and says nothing of how far another draw may be. The number is then looked for among our draws: it holds within
three of *our* standard deviations, and its quantile among them is told. With fewer than `DRAWS` of them the tolerance
is widened instead.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from budgetbench.published import Value
from budgetbench.results.measures import MEASURES, Measure
from budgetbench.verdicts.facts import FACTS
from budgetbench.verdicts.model import Evidence, Measured, Number, Reason
from budgetbench.verdicts.selection import Selector, View
from budgetbench.verdicts.statistics import FEW, REFUTED, SHOWN, WIDER, Interval, welch

SPREADS = 3.0
PUBLISHED_RUNS = 5
"""Runs behind a published mean and standard deviation: only Orabona et al. print one, over five permutations."""
DRAWS = 10
"""Draws of ours that make a distribution."""


def beside(number: Number, view: View) -> Measured:
    """Ours beside a published number.

    Raises
    ------
    MissingError : there is none.
    """
    return _fact(number, view) if number.of is None else _mean(number, number.of, view)


def _fact(number: Number, view: View) -> Measured:
    fact, wanted = FACTS[number.name], number.value.mean
    ours = fact.value(view.results())
    if not fact.least:
        return Measured(abs(ours - wanted) <= fact.relative * wanted, ours)
    return Measured(True, ours) if ours >= wanted else Measured(None, ours, reason=_more_to_run(ours, wanted))


def _more_to_run(runs: float, wanted: float) -> Reason:
    return Reason("more_to_run", {"runs": runs, "wanted": wanted})


def _mean(number: Number, of: Selector, view: View) -> Measured:
    measure, values = MEASURES[number.name], view.pick(of)[0].values(number.name)
    printed, mean, n = number.value, float(values.mean()), len(values)
    spread = float(values.std(ddof=1)) if n > 1 else None
    draws = number.draws and n >= DRAWS
    few = n < (DRAWS if number.draws else FEW)
    tolerance = _tolerance(measure, printed, spread if draws else None) * (WIDER if few else 1.0)
    holds = abs(mean - printed.mean) <= tolerance
    reason = Reason("few_runs", {"runs": n}) if few else _quantile(values, printed) if draws else None
    row = Evidence("ours - published", _interval(printed, mean, spread, n), measure.unit, SHOWN if holds else REFUTED)
    return Measured(holds, mean, spread, reason, (row,))


def _interval(printed: Value, mean: float, spread: float | None, n: int) -> Interval:
    difference = mean - printed.mean
    if n < FEW or spread is None:
        return Interval(n, difference)
    return replace(welch(difference, (spread, n), (printed.spread or 0.0, PUBLISHED_RUNS)), runs=n)


def _tolerance(measure: Measure, printed: Value, draws_spread: float | None) -> float:
    if draws_spread is not None:
        return SPREADS * draws_spread
    return max(SPREADS * (printed.spread or 0.0), measure.same(printed.mean))


def _quantile(values: pd.Series[float], printed: Value) -> Reason:
    """Where the published number lies among our draws."""
    below = float(np.mean(values < printed.mean) + np.mean(values == printed.mean) / 2)
    return Reason("quantile", {"quantile": below, "draws": len(values)})
