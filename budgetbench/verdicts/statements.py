"""The kinds of statement that a paper's claims are written in, each a function registered by its name.

A statement's keyword arguments are the keys that its entries in `budgetbench/published/*.yaml` may have. Bounds are in
the units of the measure: percentage points for errors, examples for sizes. `statistics` says what is shown by how many
runs, `comparing` how several comparisons make one verdict, `selection` what a selector means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from math import inf, nan

import numpy as np
import pandas as pd

from budgetbench.registry import Registry
from budgetbench.results.measures import MEASURES, PLAIN, TIMES, MeasureName, Unit
from budgetbench.verdicts.comparing import Judge, differences, judged, matched, of_runs
from budgetbench.verdicts.evidence import Evidence, Finding, MissingError, Reason
from budgetbench.verdicts.selection import Candidate, Selector, Selectors, View
from budgetbench.verdicts.statistics import FEW, OPEN, REFUTED, SHOWN, WIDER, Interval, below, spread_ratio, within

Statement = Callable[..., Finding]

statements: Registry[Statement] = Registry("statement")

ERROR = "online_error"
"""What the statements about courses are about."""


@statements.register("below")
def is_below(view: View, *, lower: Selectors, upper: Selectors, measure: MeasureName) -> Finding:
    """The measure of `lower` is below that of `upper`, wherever their sizes match."""
    compared = differences(matched(view.pick(lower), view.pick(upper)), measure)
    return judged(compared, partial(below, threshold=0.0), MEASURES[measure].unit, "difference < 0")


@statements.register("not_above")
def not_above(view: View, *, lower: Selectors, upper: Selectors, measure: MeasureName, margin: float) -> Finding:
    """The measure of `lower` is at most `margin` above that of `upper`, wherever their sizes match."""
    return _less(matched(view.pick(lower), view.pick(upper)), measure, margin)


def _less(pairs: Sequence[tuple[Candidate, Candidate]], measure: str, margin: float) -> Finding:
    unit = MEASURES[measure].unit
    claimed = f"difference < {margin:g} {unit.name}".rstrip()
    return judged(differences(pairs, measure), partial(below, threshold=margin), unit, claimed)


@statements.register("close")
def close(view: View, *, of: Selectors, to: Selectors, measure: MeasureName, tolerance: float) -> Finding:
    """The measure of `of` differs from that of `to` by at most `tolerance`, wherever their sizes match."""
    compared = differences(matched(view.pick(of), view.pick(to)), measure)
    unit, judge = MEASURES[measure].unit, partial(within, low=-tolerance, high=tolerance)
    return judged(compared, judge, unit, f"within ±{tolerance:g} {unit.name}".rstrip())


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
    return _bounded(values, MEASURES[measure].same(1.0), at_least, at_most, TIMES)


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
    return _bounded(values, how.same(*finite), at_least, at_most, how.unit)


def _bounded(values: Sequence[tuple[str, pd.Series]], same: float, low: float, high: float, unit: Unit) -> Finding:
    words = [f"{name} {bound:g}" for name, bound in (("at least", low), ("at most", high)) if np.isfinite(bound)]
    claimed = f"{', '.join(words)} {unit.name}".rstrip()
    return judged(of_runs(values, WIDER * same), partial(within, low=low, high=high), unit, claimed, signed=False)


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
    return _less(pairs, measure, margin)


@statements.register("range_of_sizes")
def range_of_sizes(view: View, *, of: Selector, measure: MeasureName, margin: float, factor: float) -> Finding:
    """Around the best size the measure stays within `margin` of the best over sizes whose quotient is `factor`."""
    sizes = sorted(view.pick(of), key=lambda candidate: candidate.sizes["budget"])
    best = min(sizes, key=lambda candidate: candidate.values(measure).mean())
    others = [candidate for candidate in sizes if candidate is not best]
    compared = _less([(candidate, best) for candidate in others], measure, margin)

    def around(outcomes: Sequence[str], good: Sequence[str]) -> tuple[int, int]:
        """The smallest and the largest size of the stretch around the best one where outcomes are `good`."""
        kept = {best, *(one for one, outcome in zip(others, outcomes, strict=True) if outcome in good)}
        stretches = (list(group) for _, group in groupby(sizes, key=kept.__contains__))
        stretch = next(one for one in stretches if best in one)
        return stretch[0].sizes["budget"], stretch[-1].sizes["budget"]

    def conclude(outcomes: Sequence[str]) -> str:
        for good, outcome in (((SHOWN,), SHOWN), ((SHOWN, OPEN), OPEN)):
            first, last = around(outcomes, good)
            if last / first >= factor:
                return outcome
        return REFUTED

    first, last = around([one.outcome for one in compared.comparisons], (SHOWN,))
    made = Evidence("largest over smallest size", Interval(len(best.runs), last / first), TIMES, signed=False)
    claimed = f"sizes over a factor of {factor:g}"
    return Finding(claimed, compared.comparisons, conclude, f"sizes {first} to {last}", made)


@statements.register("best_parameter")
def best_parameter(
    view: View, *, of: Selector, parameter: str, value: float, measure: MeasureName, margin: float
) -> Finding:
    """No other value of the parameter is better by more than `margin`."""
    values = view.pick(of, all_sets=True)
    chosen = [candidate for candidate in values if candidate.params.get(parameter) == value]
    others = [candidate for candidate in values if candidate not in chosen]
    if not chosen or not others:
        raise MissingError(f"no runs of {parameter} = {value} and of others")
    compared = [
        (f"{parameter} = {value:g} - {parameter} = {other.params[parameter]:g}", interval)
        for other, (_, interval) in zip(others, differences([(chosen[0], one) for one in others], measure), strict=True)
    ]
    best = min(values, key=lambda candidate: candidate.values(measure).mean())
    found = judged(
        compared, partial(below, threshold=margin), MEASURES[measure].unit, f"{parameter} = {value:g} is best"
    )
    return replace(found, found=f"{parameter} = {best.params[parameter]:g}")


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
    judge = partial(within, low=at_least, high=1.0)
    return judged(compared, judge, PLAIN, f"correlation at least {at_least:g}", signed=False)


@statements.register("spread_largest")
def spread_largest(view: View, *, of: Selector, among: Selectors, measure: MeasureName) -> Finding:
    """The standard deviation over runs of `of` is larger than that of each of the others, wherever sizes match."""
    pairs = matched(view.pick(of), view.pick(among))
    compared = [
        (f"spread of {b.label} / {a.label}", spread_ratio(b.values(measure), a.values(measure))) for a, b in pairs
    ]
    if any(interval.few for _, interval in compared):
        raise MissingError(f"a spread needs at least {FEW} runs", Reason("spread", {"needed": FEW}))
    found = judged(compared, partial(below, threshold=1.0), TIMES, "spread is the largest", signed=False)
    own, rest = (max(pair[side].values(measure).std() for pair in pairs) for side in (0, 1))
    return replace(found, found=f"{own:.2f}, others up to {rest:.2f} {MEASURES[measure].unit.name}")


@statements.register("tracks")
def tracks(view: View, *, of: Selector, beside: Selector, tolerance: float) -> Finding:
    """After the first tenth of the stream the online error of `of` is never further than this from `beside`'s."""
    compared = [
        (f"largest distance of {a.label} from {b.label}", _each_run(a, b, _distance))
        for a, b in matched(view.pick(of), view.pick(beside))
    ]
    judge = partial(within, low=0.0, high=tolerance)
    return _of_courses(compared, judge, f"within {tolerance:g} {MEASURES[ERROR].unit.name}", signed=False)


@statements.register("stops_improving")
def stops_improving(view: View, *, of: Selectors, beside: Selector, share: float = 0.5) -> Finding:
    """Once full, `of` lowers its online error by less than this share of what `beside` does over the same examples."""
    compared = []
    for a, b in matched(view.pick(of), view.pick(beside)):
        values = _each_run(a, b, partial(_excess, budget=a.sizes["budget"], share=share), f"{a.label} never was full")
        compared.append((f"fall of {a.label} - {share:g} of that of {b.label}", values))
    return _of_courses(compared, partial(below, threshold=0.0), f"falls less than {share:g} of it")


@statements.register("below_at_equal_size")
def below_at_equal_size(view: View, *, lower: Selectors, upper: Selector) -> Finding:
    """With as many examples stored, the online error of `lower` is below that of `upper`.

    Over the sizes from a fifth of the final one of `lower` to that one. A size is reached once and kept while more
    examples are seen: the error is that at the end of this stretch.
    """
    compared = []
    for a, b in matched(view.pick(lower), view.pick(upper)):
        values = _each_run(a, b, _gap, f"{a.label} and {b.label} never had as many examples")
        compared.append((f"{a.label} - {b.label}, at equal size", values))
    return _of_courses(compared, partial(below, threshold=0.0), "difference < 0")


def _of_courses(compared: Sequence[tuple[str, pd.Series]], judge: Judge, claimed: str, signed: bool = True) -> Finding:
    measure = MEASURES[ERROR]
    return judged(of_runs(compared, WIDER * measure.close), judge, measure.unit, claimed, signed)


def _each_run(a: Candidate, b: Candidate, value: Callable[..., float], problem: str = "") -> pd.Series:
    """What `value` makes of both courses of each run where they were recorded at the same examples.

    A course has the columns `seen`, `error` in points and `size`.

    Raises
    ------
    MissingError : there are no such courses, or `problem`: the value is NaN in all runs.
    """
    found = {}
    for run in a.runs.index.intersection(b.runs.index):
        first, second = a.runs["curve"][run], b.runs["curve"][run]
        if first and second and first["seen"] == second["seen"]:
            found[run] = value(_course(first), _course(second))
    if not found:
        raise MissingError(f"no course of {a.label} and {b.label} was recorded")
    values = pd.Series(found, dtype=float).dropna()
    if values.empty:
        raise MissingError(problem)
    return values


def _course(curve: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    error = MEASURES[ERROR].unit.scale * np.asarray(curve[ERROR], dtype=float)
    return pd.DataFrame({"seen": curve["seen"], "error": error, "size": curve["support_size"]})


def _distance(first: pd.DataFrame, second: pd.DataFrame) -> float:
    late = first["seen"] >= first["seen"].iloc[-1] / 10
    return float((first["error"] - second["error"])[late].abs().max())


def _excess(first: pd.DataFrame, second: pd.DataFrame, budget: int, share: float) -> float:
    full = int((first["size"] >= budget).argmax())
    falls = [float(course["error"][full] - course["error"].iloc[-1]) for course in (first, second)]
    return falls[0] - share * falls[1] if first["size"][full] >= budget else nan


def _gap(first: pd.DataFrame, second: pd.DataFrame) -> float:
    """The mean distance of the first error from the second over sizes that both reach, NaN if there are none."""
    first, second = (course.drop_duplicates("size", keep="last") for course in (first, second))
    size = first["size"]
    both = first[(size >= size.iloc[-1] / 5) & (size <= second["size"].iloc[-1])]
    return float((both["error"] - np.interp(both["size"], second["size"], second["error"])).mean())
