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

from dataclasses import dataclass

import numpy as np

from budgetbench.published import Value
from budgetbench.results.names import learner_title, parameters_text
from budgetbench.verdicts.comparing import few_runs, interval_text
from budgetbench.verdicts.facts import FACTS
from budgetbench.verdicts.measures import Measure, Values, measure_named
from budgetbench.verdicts.model import DOES_NOT_HOLD, HOLDS, NOT_RUN, Evidence, State, Verdict
from budgetbench.verdicts.published import Number
from budgetbench.verdicts.selection import SIZES, MissingError, Selector, View
from budgetbench.verdicts.statistics import FEW, REFUTED, SHOWN, WIDER, Interval, welch

SPREADS = 3.0
PUBLISHED_RUNS = 5
"""Runs behind a published mean and standard deviation: only Orabona et al. print one, over five permutations."""
DRAWS = 10
"""Draws of ours that make a distribution."""


@dataclass(frozen=True)
class Found:
    """Ours beside a published number; the fields are those of `Verdict`."""

    state: State
    ours: str = ""
    difference: str = ""
    in_spreads: float | None = None
    note: str = ""
    evidence: tuple[Evidence, ...] = ()


def check_number(number: Number, paper: str, view: View) -> Verdict:
    """The verdict on one published number."""
    try:
        found = _fact(number, view) if number.of is None else _mean(number, number.of, view)
    except MissingError as error:
        found = Found(NOT_RUN, note=str(error))
    return Verdict(
        id=number.id,
        paper=paper,
        item=number.item,
        kind="number",
        text=text_of(number),
        quote=number.quote,
        published=number.value.text,
        ours=found.ours,
        difference=found.difference,
        in_spreads=found.in_spreads,
        state=found.state,
        deviation=number.deviation if found.state == DOES_NOT_HOLD else None,
        note=found.note,
        experiments=(number.experiment,),
        evidence=found.evidence,
    )


def text_of(number: Number) -> str:
    """Which number it is: `Projectron, B = 1500: mistakes`."""
    if number.of is None:
        return FACTS[number.name].words.capitalize()
    others = {name: value for name, value in number.of.items() if name not in ("algorithm", *SIZES)}
    words = [learner_title(number.of["algorithm"]), parameters_text(others, others)]
    words += [f"{sign} = {number.of[name]}" for name, sign in zip(SIZES, ("B", "q"), strict=True) if name in number.of]
    return f"{', '.join(word for word in words if word)}: {measure_named(number.name).words}"


def _fact(number: Number, view: View) -> Found:
    fact = FACTS[number.name]
    ours = fact.value(view.results())
    difference = ours - number.value.mean
    words = f"{difference:+.3g}".replace("-", "−") if difference else "0"
    if not fact.least:
        return Found(_state(abs(difference) <= fact.relative * number.value.mean), f"{ours:.6g}", words)
    if difference >= 0:
        return Found(HOLDS, f"{ours:.0f}", words)
    return Found(NOT_RUN, f"{ours:.0f}", words, note=f"{ours:.0f} of {number.value.mean:.0f} runs")


def _mean(number: Number, of: Selector, view: View) -> Found:
    measure, values = measure_named(number.name), view.pick(of)[0].values(number.name)
    printed, mean, n = number.value, float(values.mean()), len(values)
    spread = float(values.std(ddof=1)) if n > 1 else None
    interval = _interval(printed, mean, spread, n)
    draws = number.draws and n >= DRAWS
    few = n < (DRAWS if number.draws else FEW)
    tolerance = _tolerance(measure, printed, spread if draws else None) * (WIDER if few else 1.0)
    holds = abs(mean - printed.mean) <= tolerance
    ours = measure.text(mean) + (f" ± {measure.text(spread)}" if spread else "")
    difference = Interval(n, interval.mean, None, None)
    row = (n, interval.mean, interval.low, interval.high, measure.unit, SHOWN if holds else REFUTED)
    return Found(
        state=_state(holds),
        ours=f"{ours} %" if measure.unit == "points" else ours,
        difference=interval_text(difference, measure.unit),
        in_spreads=(mean - printed.mean) / printed.spread if printed.spread else None,
        note=few_runs(n) if few else _quantile(values, printed, n) if draws else "",
        evidence=(Evidence("ours - published", *row),),
    )


def _interval(printed: Value, mean: float, spread: float | None, n: int) -> Interval:
    difference = mean - printed.mean
    if n < FEW or spread is None:
        return Interval(n, difference, None, None)
    return welch(difference, (spread, n), (printed.spread or 0.0, PUBLISHED_RUNS))


def _tolerance(measure: Measure, printed: Value, draws_spread: float | None) -> float:
    if draws_spread is not None:
        return SPREADS * draws_spread
    return max(SPREADS * (printed.spread or 0.0), measure.same(printed.mean))


def _quantile(values: Values, printed: Value, n: int) -> str:
    """Where the published number lies among our draws."""
    below = float(np.mean(values < printed.mean) + np.mean(values == printed.mean) / 2)
    return f"at quantile {below:.2f} of our {n} draws"


def _state(holds: bool) -> State:
    return HOLDS if holds else DOES_NOT_HOLD
