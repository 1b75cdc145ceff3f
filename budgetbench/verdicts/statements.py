"""The kinds of statement that a paper's claims are written in, each a function registered by its name.

A statement's keyword arguments are the keys that its entries in `budgetbench/published/*.yaml` may have. Bounds are in
the units of the measure: percentage points for errors, examples for sizes. `statistics` says what is shown by how many
runs, `comparing` how several comparisons make one verdict, `selection` what a selector means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, zip_longest
from math import inf, nan

import numpy as np
import pandas as pd

from budgetbench.parameters import Positive
from budgetbench.registry import Registry
from budgetbench.results.measures import MEASURES, PLAIN, TIMES, MeasureName, Unit
from budgetbench.verdicts.comparing import Judge, differences, judged, matched, of_runs, of_test_set
from budgetbench.verdicts.evidence import Evidence, Finding, MissingError, Reason
from budgetbench.verdicts.selection import Candidate, Selector, Selectors, View, in_words
from budgetbench.verdicts.statistics import (
    FEW,
    OPEN,
    REFUTED,
    SHOWN,
    WIDER,
    Interval,
    OneTestSet,
    below,
    spread_ratio,
    within,
)

Statement = Callable[..., Finding]

statements: Registry[Statement] = Registry("statement")

ERROR = "online_error"
"""What the statements about courses are about."""


@statements.register("below")
def is_below(view: View, *, lower: Selectors, upper: Selectors, measure: MeasureName, times: Positive = 1.0) -> Finding:
    """The measure of `lower`, even so many `times` it, is below that of `upper`, wherever their sizes match."""
    compared = differences(matched(view.pick(lower), view.pick(upper)), measure, times)
    return judged(compared, partial(below, threshold=0.0), MEASURES[measure].unit, "difference < 0")


@statements.register("always_below")
def always_below(view: View, *, lower: Selectors, upper: Selectors, measure: MeasureName) -> Finding:
    """In each single run the measure of `lower` is below that of `upper`, wherever their sizes match."""
    values = [
        (f"{a.label} - {b.label}, the largest", _largest(a.values(measure) - b.values(measure)))
        for a, b in _same_streams(matched(view.pick(lower), view.pick(upper)))
    ]
    compared, how = of_runs(values, WIDER * MEASURES[measure].same(0.0)), MEASURES[measure]
    return judged(compared, partial(below, threshold=0.0), how.unit, "difference < 0 in each run")


def _largest(values: pd.Series) -> pd.Series:
    """The largest value, for each run."""
    return 0 * values + values.max()


def _same_streams(pairs: Sequence[tuple[Candidate, Candidate]]) -> Sequence[tuple[Candidate, Candidate]]:
    """The pairs, each of runs that saw the same permutations; ValueError if there is one that is not."""
    if any(a.permutation != b.permutation for a, b in pairs):
        raise ValueError("only runs that saw the same permutation are compared one by one")
    return pairs


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
    values = [
        (f"{a.label} / {b.label}", a.values(measure) / b.values(measure))
        for a, b in _same_streams(matched(view.pick(of), view.pick(to)))
    ]
    return _bounded(values, MEASURES[measure].same(1.0), at_least, at_most, TIMES)


@statements.register("at_its_size")
def at_its_size(
    view: View, *, of: Selector, among: Selector, measure: MeasureName, at_least: float = -inf, at_most: float = inf
) -> Finding:
    """The measure of `of`, in units of what `among` has with as many examples stored, lies within bounds.

    Between two sizes of `among` its measure is taken to be linear, in each run. What falls ever more slowly with the
    size is then taken for more than it is.
    """
    (one,), sizes = view.pick(of), view.pick(among)
    _same_streams([(one, other) for other in sizes])
    own, stored = one.values(measure), one.values("support_size")
    held, found = (pd.DataFrame([other.values(name) for other in sizes]) for name in ("support_size", measure))
    values = pd.Series(
        {run: own[run] / _between(stored[run], held[run], found[run]) for run in own.index.intersection(found.columns)},
        dtype=float,
    ).dropna()
    if values.empty:
        raise MissingError(f"no sizes of {in_words(among)} around the {stored.mean():.0f} that {one.label} stores")
    compared = [(f"{one.label} / {in_words(among)} of its size", values)]
    return _bounded(compared, MEASURES[measure].same(1.0), at_least, at_most, TIMES)


def _between(size: float, sizes: pd.Series, values: pd.Series) -> float:
    """The value at a size, linear between the given ones; NaN beyond them."""
    order = np.argsort(sizes)
    return float(np.interp(size, sizes.to_numpy()[order], values.to_numpy()[order], left=nan, right=nan))


@statements.register("part_of_the_way")
def part_of_the_way(
    view: View, *, of: Selectors, start: Selector, goal: Selector, measure: MeasureName, at_least: float
) -> Finding:
    """From the measure of `start` to that of `goal`, that of `of` has come this part of the way at least."""
    (first,), (last,), values = view.pick(start), view.pick(goal), []
    for one in view.pick(of):
        _same_streams([(one, first), (one, last)])
        begin, now, end = (candidate.values(measure) for candidate in (first, one, last))
        values.append((f"{one.label} from {first.label} to {last.label}", (begin - now) / (begin - end)))
    return _bounded(values, MEASURES[measure].same(1.0), at_least, inf, PLAIN)


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
    picked = view.pick(of)
    values = [(candidate.label, candidate.values(measure)) for candidate in picked]
    if every_run:
        values = [(label, _largest(found)) for label, found in values]
    tests = [None if every_run else of_test_set(measure, candidate) for candidate in picked]
    finite = [bound for bound in (at_least, at_most) if np.isfinite(bound)]
    return _bounded(values, how.same(*finite), at_least, at_most, how.unit, tests)


def _bounded(
    values: Sequence[tuple[str, pd.Series]],
    same: float,
    low: float,
    high: float,
    unit: Unit,
    tests: Iterable[OneTestSet | None] = (),
) -> Finding:
    words = [f"{name} {bound:g}" for name, bound in (("at least", low), ("at most", high)) if np.isfinite(bound)]
    claimed = f"{', '.join(words)} {unit.name}".rstrip()
    compared = [
        (what, replace(interval, test=test))
        for (what, interval), test in zip_longest(of_runs(values, WIDER * same), tests)
    ]
    return judged(compared, partial(within, low=low, high=high), unit, claimed, signed=False)


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
def spread_largest(view: View, *, of: Selector, among: Selectors, measure: MeasureName, factor: float = 1.0) -> Finding:
    """The standard deviation over runs of `of` is larger than that of each of the others by more than this factor,
    wherever sizes match."""
    pairs = matched(view.pick(of), view.pick(among))
    compared = [
        (f"spread of {b.label} / {a.label}", spread_ratio(b.values(measure), a.values(measure))) for a, b in pairs
    ]
    if any(interval.few for _, interval in compared):
        raise MissingError(f"a spread needs at least {FEW} runs", Reason("spread", {"needed": FEW}))
    claimed = "spread is the largest" + (f", by a factor of {factor:g}" if factor > 1 else "")
    found = judged(compared, partial(below, threshold=1 / factor), TIMES, claimed, signed=False)
    own, rest = (max(pair[side].values(measure).std() for pair in pairs) for side in (0, 1))
    return replace(found, found=f"{own:.2f}, others up to {rest:.2f} {MEASURES[measure].unit.name}")


@statements.register("tracks")
def tracks(view: View, *, of: Selector, beside: Selector, tolerance: float, furthest: float) -> Finding:
    """After the first tenth of the stream the online error of `of` is on average within `tolerance` of `beside`'s, and
    never further than `furthest`."""
    claimed = f"within {tolerance:g} on average, never {furthest:g} {MEASURES[ERROR].unit.name} off"
    comparisons: list[Evidence] = []
    for a, b in matched(view.pick(of), view.pick(beside)):
        for what, how, bound in (("average", np.mean, tolerance), ("largest", np.max, furthest)):
            values = _each_run(a, b, partial(_distance, how=how))
            named = [(f"{what} distance of {a.label} from {b.label}", values)]
            judge = partial(within, low=0.0, high=bound)
            comparisons += _of_courses(named, judge, claimed, signed=False).comparisons
    return Finding(claimed, tuple(comparisons))


@statements.register("stops_improving")
def stops_improving(view: View, *, of: Selectors, margin: float) -> Finding:
    """Once full, `of` lowers its online error by less than `margin` until the end of the stream."""
    compared = []
    for one in view.pick(of):
        fall = partial(_fall_once_full, budget=one.sizes["budget"])
        compared.append((f"fall of {one.label} once full", _each_run(one, one, fall, f"{one.label} never was full")))
    unit = MEASURES[ERROR].unit.name
    return _of_courses(compared, partial(below, threshold=margin), f"falls by less than {margin:g} {unit}")


@statements.register("below_at_equal_size")
def below_at_equal_size(view: View, *, lower: Selectors, upper: Selector) -> Finding:
    """With as many examples stored, the online error of `lower` is below that of `upper`.

    At each fifth of the final size of `lower`. A size is reached once and kept while more examples are seen: the error
    is that at the end of this stretch.
    """
    compared = []
    for a, b in matched(view.pick(lower), view.pick(upper)):
        for fifth in range(1, 6):
            values = _each_run(
                a, b, partial(_gap, part=fifth / 5), f"{b.label} never had as many examples as {a.label}"
            )
            compared.append((f"{a.label} - {b.label}, at {fifth}/5 of its size", values))
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


def _distance(first: pd.DataFrame, second: pd.DataFrame, how: Callable[..., float]) -> float:
    late = first["seen"] >= first["seen"].iloc[-1] / 10
    return float(how((first["error"] - second["error"])[late].abs()))


def _fall_once_full(course: pd.DataFrame, _: pd.DataFrame, budget: int) -> float:
    full = int((course["size"] >= budget).argmax())
    return float(course["error"][full] - course["error"].iloc[-1]) if course["size"][full] >= budget else nan


def _gap(first: pd.DataFrame, second: pd.DataFrame, part: float) -> float:
    """The distance of the first error from the second at this part of the first's final size, NaN if never reached."""
    first, second = (course.drop_duplicates("size", keep="last") for course in (first, second))
    size = part * first["size"].iloc[-1]
    if size > second["size"].iloc[-1]:
        return nan
    errors = [np.interp(size, course["size"], course["error"]) for course in (first, second)]
    return float(errors[0] - errors[1])
