"""Comparisons that statements are made of, and how several of them become one verdict.

A statement is often about several comparisons: one for each budget, say. It holds when none of them is refuted and
their mean, taken run by run, is shown. So a single size at which five runs decide nothing does not overturn a claim,
and ten sizes that each point the right way by chance do not carry one. With few runs the mean alone decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from budgetbench.results.measures import MEASURES, Unit
from budgetbench.results.sizes import signs
from budgetbench.verdicts.model import Evidence, Finding, MissingError, Reason
from budgetbench.verdicts.selection import Candidate
from budgetbench.verdicts.statistics import (
    OPEN,
    REFUTED,
    SHOWN,
    WIDER,
    Interval,
    of_values,
    paired,
    unpaired,
)

Judge = Callable[[Interval, float], str]
"""From an interval and the allowance for few runs to ``shown``, ``open`` or ``refuted``."""


@dataclass(frozen=True)
class Comparison:
    """One quantity that a statement is about.

    Attributes
    ----------
    allowance : by how much the bound moves where runs are few.
    """

    what: str
    interval: Interval
    allowance: float = 0.0

    def judged(self, judge: Judge, unit: Unit, signed: bool = True) -> Evidence:
        """What runs say about it; `signed` where the quantity is a difference."""
        return Evidence(self.what, self.interval, unit, judge(self.interval, self.allowance), signed)


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
    interval = paired(first, second) if a.permutation == b.permutation else unpaired(first, second)
    if interval.runs == 0:
        raise MissingError(f"{a.label} and {b.label} have no run in common")
    return interval


def differences(pairs: Sequence[tuple[Candidate, Candidate]], measure: str) -> tuple[list[Comparison], Comparison]:
    """The comparison of each pair, and of their means."""
    single = [
        Comparison(f"{a.label} - {b.label}", difference(a, b, measure), _allowance(a, b, measure)) for a, b in pairs
    ]
    first, second = (pd.DataFrame([pair[side].values(measure) for pair in pairs]).mean(skipna=False) for side in (0, 1))
    same = all(a.permutation == b.permutation for a, b in pairs)
    mean = paired(first, second) if same else unpaired(first, second)
    return single, _pooled(single, mean if mean.runs else None)


def _allowance(a: Candidate, b: Candidate, measure: str) -> float:
    return WIDER * MEASURES[measure].same(a.values(measure).mean(), b.values(measure).mean())


def of_runs(comparisons: Sequence[tuple[str, pd.Series]], allowance: float) -> tuple[list[Comparison], Comparison]:
    """Comparisons that each run makes by itself, given as its values, and of their means."""
    single = [Comparison(what, of_values(values.dropna().tolist()), allowance) for what, values in comparisons]
    if any(comparison.interval.runs == 0 for comparison in single):
        raise MissingError("no runs in common")
    mean = pd.DataFrame([values for _, values in comparisons]).mean(skipna=False).dropna()
    return single, _pooled(single, of_values(mean.tolist()) if len(mean) else None)


def _pooled(single: Sequence[Comparison], mean: Interval | None) -> Comparison:
    """The mean of all; where no run has all of them, the one with fewest runs stands for it."""
    allowance = sum(comparison.allowance for comparison in single) / len(single)
    interval = mean or min((comparison.interval for comparison in single), key=lambda interval: interval.runs)
    return Comparison("mean of all", interval, allowance)


def judged(
    single: Sequence[Comparison], pooled: Comparison, judge: Judge, unit: Unit, claimed: str, signed: bool = True
) -> Finding:
    """The finding on comparisons, by the rule this module begins with."""
    comparisons = tuple(comparison.judged(judge, unit, signed) for comparison in single)
    whole = pooled.judged(judge, unit, signed)
    holds = whole.outcome == SHOWN and (pooled.interval.few or not refuted(comparisons))
    return Finding(holds, claimed, comparisons, whole, reason(comparisons, pooled, judge))


def refuted(comparisons: Sequence[Evidence]) -> int:
    """How many comparisons show the opposite."""
    return sum(comparison.outcome == REFUTED for comparison in comparisons)


def reason(comparisons: Sequence[Evidence], pooled: Comparison, judge: Judge) -> Reason | None:
    """How comparisons came to what they say together."""
    interval, opposite = pooled.interval, refuted(comparisons)
    if interval.few:
        return Reason("few_runs", {"runs": interval.runs})
    if opposite:
        return Reason("opposite", {"refuted": opposite, "of": len(comparisons)}) if len(comparisons) > 1 else None
    if judge(interval, pooled.allowance) == OPEN:
        return Reason("undecided", {"runs": interval.runs})
    if judge(replace(interval, values=()), pooled.allowance) == OPEN:
        return Reason("signs")
    return None
