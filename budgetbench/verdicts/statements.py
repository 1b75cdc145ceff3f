"""The kinds of statement that a paper's claims are written in, each a function registered by its name.

A statement's keyword arguments are the keys that its entries in `budgetbench/published/*.yaml` may have. Bounds are in
the units of the measure: percentage points for errors, examples for sizes. `statistics` says what is shown by how many
runs, `comparing` how several comparisons make one verdict, `selection` what a selector means.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from budgetbench.registry import Registry
from budgetbench.results.measures import MEASURES, PLAIN, TIMES, MeasureName, Unit
from budgetbench.verdicts.comparing import (
    Comparison,
    Judge,
    differences,
    judged,
    matched,
    of_runs,
    reason,
    refuted,
)
from budgetbench.verdicts.model import Finding, MissingError
from budgetbench.verdicts.selection import Candidate, Selector, Selectors, View
from budgetbench.verdicts.statistics import (
    FEW,
    REFUTED,
    SHOWN,
    WIDER,
    Interval,
    below,
    geometric_mean,
    spread_ratio,
    within,
)

Statement = Callable[..., Finding]

statements: Registry[Statement] = Registry("statement")


def _below(threshold: float) -> Judge:
    return lambda interval, allowance: below(interval, threshold, allowance)


def _within(low: float, high: float) -> Judge:
    return lambda interval, allowance: within(interval, low, high, allowance)


@statements.register("below")
def is_below(view: View, *, lower: Selectors, upper: Selectors, measure: MeasureName) -> Finding:
    """The measure of `lower` is below that of `upper`, wherever their sizes match."""
    compared = differences(matched(view.pick(lower), view.pick(upper)), measure)
    return judged(*compared, _below(0.0), MEASURES[measure].unit, "difference < 0")


@statements.register("not_above")
def not_above(view: View, *, lower: Selectors, upper: Selectors, measure: MeasureName, margin: float) -> Finding:
    """The measure of `lower` is at most `margin` above that of `upper`, wherever their sizes match."""
    compared = differences(matched(view.pick(lower), view.pick(upper)), measure)
    unit = MEASURES[measure].unit
    return judged(*compared, _below(margin), unit, f"difference < {margin:g} {unit.name}".rstrip())


@statements.register("close")
def close(view: View, *, of: Selectors, to: Selectors, measure: MeasureName, tolerance: float) -> Finding:
    """The measure of `of` differs from that of `to` by at most `tolerance`, wherever their sizes match."""
    compared = differences(matched(view.pick(of), view.pick(to)), measure)
    unit = MEASURES[measure].unit
    return judged(*compared, _within(-tolerance, tolerance), unit, f"within ±{tolerance:g} {unit.name}".rstrip())


@statements.register("ratio")
def ratio(
    view: View, *, of: Selectors, to: Selectors, measure: MeasureName, at_least: float = -inf, at_most: float = inf
) -> Finding:
    """The measure of `of`, in units of that of `to`, lies within bounds, wherever their sizes match."""
    values = []
    for a, b in matched(view.pick(of), view.pick(to)):
        if a.permutation != b.permutation:
            raise ValueError("a ratio is of runs that saw the same permutation")
        values.append((f"{a.label} / {b.label}", a.values(measure) / b.values(measure)))
    allowance = WIDER * MEASURES[measure].same(1.0)
    claimed = _bounds(at_least, at_most, TIMES)
    return judged(*of_runs(values, allowance), _within(at_least, at_most), TIMES, claimed, signed=False)


@statements.register("between")
def between(
    view: View,
    *,
    of: Selectors,
    measure: MeasureName,
    at_least: float = -inf,
    at_most: float = inf,
    every_run: bool = False,
) -> Finding:
    """The measure lies within bounds: its mean, or with `every_run` the largest value of any run."""
    how = MEASURES[measure]
    values = [(candidate.label, candidate.values(measure)) for candidate in view.pick(of)]
    if every_run:
        values = [(label, 0 * found + found.max()) for label, found in values]
    finite = [bound for bound in (at_least, at_most) if np.isfinite(bound)]
    return judged(
        *of_runs(values, WIDER * how.same(*finite)),
        _within(at_least, at_most),
        how.unit,
        _bounds(at_least, at_most, how.unit),
        signed=False,
    )


def _bounds(low: float, high: float, unit: Unit) -> str:
    words = [f"{name} {bound:g}" for name, bound in (("at least", low), ("at most", high)) if np.isfinite(bound)]
    return f"{', '.join(words)} {unit.name}".rstrip()


@statements.register("smaller_suffices")
def smaller_suffices(view: View, *, of: Selector, beside: Selector, measure: MeasureName, margin: float) -> Finding:
    """At the next smaller size `of` does as well as `beside`, but for `margin`."""
    small = sorted(view.pick(of), key=lambda candidate: candidate.sizes["budget"])
    pairs = []
    for rival in view.pick(beside):
        smaller = [candidate for candidate in small if candidate.sizes["budget"] < rival.sizes["budget"]]
        if smaller:
            pairs.append((smaller[-1], rival))
    if not pairs:
        raise MissingError("no two sizes to compare")
    unit = MEASURES[measure].unit
    return judged(*differences(pairs, measure), _below(margin), unit, f"difference < {margin:g} {unit.name}".rstrip())


@statements.register("range_of_sizes")
def range_of_sizes(view: View, *, of: Selector, measure: MeasureName, margin: float, factor: float) -> Finding:
    """Around the best size the measure stays within `margin` of the best over sizes whose quotient is `factor`."""
    sizes = sorted(view.pick(of), key=lambda candidate: candidate.sizes["budget"])
    best = min(sizes, key=lambda candidate: candidate.values(measure).mean())
    good = [candidate for candidate in sizes if _as_good(candidate, best, measure, margin)]
    ends = [candidate.sizes["budget"] for candidate in _around(sizes, best, good)]
    quotient, runs = ends[-1] / ends[0], len(best.runs)
    single, _ = differences([(candidate, best) for candidate in sizes if candidate is not best], measure)
    compared = tuple(one.judged(_below(margin), MEASURES[measure].unit) for one in single)
    whole = Comparison("largest over smallest size", Interval(runs, quotient)).judged(
        lambda *_: SHOWN if quotient >= factor else REFUTED, TIMES, signed=False
    )
    found = f"sizes {ends[0]} to {ends[-1]}"
    return Finding(quotient >= factor, f"sizes over a factor of {factor:g}", compared, whole, found=found)


def _as_good(candidate: Candidate, best: Candidate, measure: str, margin: float) -> bool:
    if candidate is best:
        return True
    (compared,), _ = differences([(candidate, best)], measure)
    return below(compared.interval, margin, compared.allowance) == SHOWN


def _around(sizes: list[Candidate], best: Candidate, good: list[Candidate]) -> list[Candidate]:
    """The longest run of good sizes that contains the best."""
    first = last = sizes.index(best)
    while first > 0 and sizes[first - 1] in good:
        first -= 1
    while last + 1 < len(sizes) and sizes[last + 1] in good:
        last += 1
    return sizes[first : last + 1]


@statements.register("best_parameter")
def best_parameter(
    view: View, *, of: Selector, parameter: str, value: float, measure: MeasureName, margin: float
) -> Finding:
    """No other value of the parameter is shown to be better by more than `margin`."""
    values = view.pick(of, all_sets=True)
    chosen = [candidate for candidate in values if candidate.params.get(parameter) == value]
    others = [candidate for candidate in values if candidate not in chosen]
    if not chosen or not others:
        raise MissingError(f"no runs of {parameter} = {value} and of others")
    judge, unit = _below(margin), MEASURES[measure].unit
    single = [
        Comparison(f"{parameter} = {value} - {other.params[parameter]:g}", *_plain(chosen[0], other, measure))
        for other in others
    ]
    compared = tuple(one.judged(judge, unit) for one in single)
    worst = max(range(len(single)), key=lambda place: single[place].interval.mean)
    best = min(values, key=lambda candidate: candidate.values(measure).mean())
    return Finding(
        not refuted(compared),
        f"{parameter} = {value:g} is best",
        compared,
        compared[worst],
        reason(compared, single[worst], judge),
        f"{parameter} = {best.params[parameter]:g}",
    )


def _plain(a: Candidate, b: Candidate, measure: str) -> tuple[Any, float]:
    (compared,), _ = differences([(a, b)], measure)
    return compared.interval, compared.allowance


@statements.register("correlates")
def correlates(view: View, *, of: Selector, measure: MeasureName, other: MeasureName, at_least: float) -> Finding:
    """Over the sizes, two measures go together: the coefficient of correlation, in each run, is at least this."""
    sizes = view.pick(of)
    first, second = (pd.DataFrame([candidate.values(name) for candidate in sizes]) for name in (measure, other))
    if len(sizes) < 3:
        raise MissingError("fewer than three sizes to correlate over")
    runs = first.columns.intersection(second.columns)
    values = pd.Series({run: np.corrcoef(first[run], second[run])[0, 1] for run in runs}, dtype=float)
    words = [MEASURES[name].said for name in (measure, other)]
    compared = of_runs([(f"correlation of {words[0]} and {words[1]} over {len(sizes)} sizes", values)], 0.05)
    return judged(*compared, _within(at_least, 1.0), PLAIN, f"correlation at least {at_least:g}", signed=False)


@statements.register("spread_largest")
def spread_largest(view: View, *, of: Selector, among: Selectors, measure: MeasureName) -> Finding:
    """The standard deviation over runs of `of` is larger than that of each of the others, wherever sizes match."""
    pairs = matched(view.pick(of), view.pick(among))
    single = [
        Comparison(f"spread of {b.label} / {a.label}", spread_ratio(b.values(measure), a.values(measure)))
        for a, b in pairs
    ]
    if any(comparison.interval.few for comparison in single):
        raise MissingError(f"a spread needs at least {FEW} runs")
    pooled = Comparison("mean of all", geometric_mean([comparison.interval for comparison in single]))
    found = judged(single, pooled, _below(1.0), TIMES, "spread is the largest", signed=False)
    own, rest = (max(pair[side].values(measure).std() for pair in pairs) for side in (0, 1))
    unit = MEASURES[measure].unit
    return replace(found, found=f"{own:.2f}, others up to {rest:.2f} {unit.name}")
