"""Statements of degree: slightly, faster, the more the more, mostly. See `statements`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from math import inf

import numpy as np
import pandas as pd

from budgetbench.parameters import Positive
from budgetbench.results.measures import MEASURES, PLAIN, MeasureName
from budgetbench.verdicts.comparing import Named, differences, fit, judged, labels, matched, of_runs
from budgetbench.verdicts.evidence import Finding, MissingError
from budgetbench.verdicts.selection import Candidate, Selector, Selectors, View
from budgetbench.verdicts.statements import statements
from budgetbench.verdicts.statistics import WIDER, below, mean_difference, within


@statements.register("differs_by")
def differs_by(
    view: View, *, of: Selectors, to: Selectors, measure: MeasureName, at_least: float = -inf, at_most: float = inf
) -> Finding:
    """The measure of `of` less that of `to` lies within bounds, wherever their sizes match."""
    unit = MEASURES[measure].unit
    compared = differences(matched(view.pick(of), view.pick(to)), measure)
    words = [f"{name} {bound:g}" for name, bound in (("from", at_least), ("to", at_most)) if np.isfinite(bound)]
    claimed = f"difference {' '.join(words)} {unit.name}".rstrip()
    return judged(compared, partial(within, low=at_least, high=at_most), unit, claimed)


@statements.register("each_below")
def each_below(
    view: View, *, lower: list[Selector], upper: list[Selector], measure: MeasureName, times: Positive = 1.0
) -> Finding:
    """The measure of the first `lower`, even so many `times` it, is below that of the first `upper`, and so on."""
    pairs = [
        pair for one, other in zip(lower, upper, strict=True) for pair in matched(view.pick(one), view.pick(other))
    ]
    judge = partial(below, threshold=0.0)
    return judged(differences(pairs, measure, times), judge, MEASURES[measure].unit, "difference < 0")


@statements.register("gap_above")
def gap_above(
    view: View,
    *,
    lower: Selectors,
    upper: Selectors,
    than_lower: Selectors,
    than_upper: Selectors,
    measure: MeasureName,
    times: Positive = 1.0,
) -> Finding:
    """What `upper` has above `lower` is more than so many `times` what `than_upper` has above `than_lower`.

    Wherever all their sizes match, and both sides of a gap saw the same permutations; the two gaps may be of different
    streams.
    """
    narrow = _paired(view.pick(than_lower), view.pick(than_upper))
    values = []
    for low, high in _paired(view.pick(lower), view.pick(upper)):
        for base, top in narrow:
            if all(fit(one, other) for one in (low, high) for other in (base, top)):
                values.append(_gap(low, high, base, top, measure, times))
    if not values:
        raise MissingError("no size that all four have")
    how, by = MEASURES[measure], "" if times == 1 else f"{times:g} × "
    compared = [(what, replace(found, allowance=WIDER * how.same(0.0))) for what, found in values]
    return judged(compared, partial(below, threshold=0.0), how.unit, f"{by}the one gap - the other < 0")


def _paired(lower: Sequence[Candidate], upper: Sequence[Candidate]) -> list[tuple[Candidate, Candidate]]:
    return [(low, high) for low, high in matched(lower, upper) if low.permutation == high.permutation]


def _gap(low: Candidate, high: Candidate, base: Candidate, top: Candidate, measure: str, times: float) -> Named:
    """`times` the gap that is said to be narrower less the other one, and what that is in words."""
    four = (top, base, high, low)
    words, by = labels(*four), "" if times == 1 else f"{times:g} × "
    first, second, third, fourth = (one.values(measure) for one in four)
    found = mean_difference(times * (first - second), third - fourth, paired=low.permutation == base.permutation)
    if found.runs == 0:
        raise MissingError(f"{low.label}, {high.label}, {base.label} and {top.label} have no run in common")
    return f"{by}({words[0]} - {words[1]}) - ({words[2]} - {words[3]})", found


@statements.register("increases")
def increases(view: View, *, of: Selector, parameter: str, measure: MeasureName) -> Finding:
    """Each next larger value of a parameter raises the measure."""
    values = [one for one in view.pick(of, all_sets=True) if one.params.get(parameter) is not None]
    values.sort(key=lambda one: float(one.params[parameter]))
    if len(values) < 2:
        raise MissingError(f"fewer than two values of {parameter}")
    intervals = differences(list(pairwise(values)), measure)
    names = [f"{parameter} = {one.params[parameter]:g}" for one in values]
    compared = [(" - ".join(two), found) for two, (_, found) in zip(pairwise(names), intervals, strict=True)]
    claimed = f"each smaller {parameter} - the next < 0"
    return judged(compared, partial(below, threshold=0.0), MEASURES[measure].unit, claimed)


@statements.register("mostly_equal")
def mostly_equal(view: View, *, of: Selectors, to: Selectors, measure: MeasureName) -> Finding:
    """In a run, at more than half of the sizes that match, the measure of both is the same number."""
    pairs = matched(view.pick(of), view.pick(to))
    equal = pd.DataFrame([(a.values(measure) == b.values(measure)).astype(float) for a, b in pairs])
    what = f"share of {len(pairs)} sizes with equal {MEASURES[measure].said}"
    compared = of_runs([(what, equal.mean())], 0.05)
    return judged(compared, partial(within, low=0.5, high=1.0), PLAIN, "more than 0.5", signed=False)
