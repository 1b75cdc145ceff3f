"""Comparisons that statements are made of, and how several of them become one verdict.

A statement is often about several comparisons: one for each budget, say. It holds when none of them is refuted and
their mean, taken run by run, is shown. So a single size at which five runs decide nothing does not overturn a claim,
and ten sizes that each point the right way by chance do not carry one. With few runs the mean alone decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from budgetbench.results.measures import MEASURES, Unit
from budgetbench.results.sizes import signs
from budgetbench.verdicts.model import Evidence, Finding, MissingError, Reason
from budgetbench.verdicts.selection import Candidate
from budgetbench.verdicts.statistics import OPEN, REFUTED, SHOWN, WIDER, Interval, mean_difference, of_values

Judge = Callable[[Interval], str]
"""From an interval to ``shown``, ``open`` or ``refuted``."""
Named = tuple[str, Interval]
"""One quantity that a statement is about: what it is, and its mean."""


def matched(first: Sequence[Candidate], second: Sequence[Candidate]) -> list[tuple[Candidate, Candidate]]:
    """All pairs whose sizes agree as far as both have them.

    Raises
    ------
    MissingError : there is none.
    """
    pairs = [(a, b) for a in first for b in second if _fit(a, b)]
    if not pairs:
        raise MissingError(f"{first[0].label} and {second[0].label} have no size in common")
    return pairs


def _fit(a: Candidate, b: Candidate) -> bool:
    sizes = [(a.sizes.get(name), b.sizes.get(name)) for name in signs()]
    return all(left is None or right is None or left == right for left, right in sizes)


def difference(a: Candidate, b: Candidate, measure: str) -> Interval:
    """Mean of a - b: over pairs of runs where they saw the same permutations, else of all runs of each."""
    first, second = a.values(measure), b.values(measure)
    interval = mean_difference(first, second, paired=a.permutation == b.permutation)
    if interval.runs == 0:
        raise MissingError(f"{a.label} and {b.label} have no run in common")
    return replace(interval, allowance=WIDER * MEASURES[measure].same(first.mean(), second.mean()))


def differences(pairs: Sequence[tuple[Candidate, Candidate]], measure: str) -> tuple[list[Named], Interval]:
    """The difference of each pair, and of their means."""
    single = [(f"{a.label} - {b.label}", difference(a, b, measure)) for a, b in pairs]
    first, second = (pd.DataFrame([pair[side].values(measure) for pair in pairs]).mean(skipna=False) for side in (0, 1))
    same = all(a.permutation == b.permutation for a, b in pairs)
    return single, _pooled(single, mean_difference(first, second, paired=same))


def of_runs(values: Sequence[tuple[str, pd.Series]], allowance: float) -> tuple[list[Named], Interval]:
    """Quantities that each run has by itself, given as its values, and their means."""
    single = [(what, replace(of_values(found), allowance=allowance)) for what, found in values]
    if any(interval.runs == 0 for _, interval in single):
        raise MissingError("no runs in common")
    return single, _pooled(single, of_values(pd.DataFrame([found for _, found in values]).mean(skipna=False)))


def _pooled(single: Sequence[Named], mean: Interval) -> Interval:
    """The mean of all; where no run has all of them, the one with fewest runs stands for it."""
    intervals = [interval for _, interval in single]
    whole = mean if mean.runs else min(intervals, key=lambda interval: interval.runs)
    return replace(whole, allowance=float(np.mean([interval.allowance for interval in intervals])))


def judged(
    single: Sequence[Named], pooled: Interval, judge: Judge, unit: Unit, claimed: str, signed: bool = True
) -> Finding:
    """The finding on comparisons, by the rule this module begins with; `signed` where they are differences."""
    *comparisons, whole = (
        Evidence(what, interval, unit, judge(interval), signed) for what, interval in (*single, ("mean of all", pooled))
    )
    holds = whole.outcome == SHOWN and (pooled.few or not refuted(comparisons))
    return Finding(holds, claimed, tuple(comparisons), whole, reason(comparisons, pooled, judge))


def refuted(comparisons: Sequence[Evidence]) -> int:
    """How many comparisons show the opposite."""
    return sum(comparison.outcome == REFUTED for comparison in comparisons)


def reason(comparisons: Sequence[Evidence], pooled: Interval, judge: Judge) -> Reason | None:
    """How comparisons came to what they say together."""
    opposite = refuted(comparisons)
    if pooled.few:
        return Reason("few_runs", {"runs": pooled.runs})
    if opposite:
        return Reason("opposite", {"refuted": opposite, "of": len(comparisons)}) if len(comparisons) > 1 else None
    if judge(pooled) == OPEN:
        return Reason("undecided", {"runs": pooled.runs})
    return Reason("signs") if judge(replace(pooled, values=())) == OPEN else None
