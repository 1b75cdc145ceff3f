"""Comparisons that statements are made of.

A statement is often about several comparisons: one for each budget, say. Each is tested by itself, as differences of
opposite sign must not cancel: it holds when all are shown, fails when one is refuted, and is undecided otherwise
(`model.every`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pandas as pd

from budgetbench.results.measures import MEASURES, Unit
from budgetbench.results.sizes import signs
from budgetbench.verdicts.evidence import Evidence, Finding, MissingError
from budgetbench.verdicts.selection import Candidate
from budgetbench.verdicts.statistics import WIDER, Interval, mean_difference, of_values

Judge = Callable[[Interval], float]
"""From an interval to the doubt about what is claimed of it, as `statistics.below` has it."""
Named = tuple[str, Interval]
"""One quantity that a statement is about: what it is, and its mean."""


def matched(first: Sequence[Candidate], second: Sequence[Candidate]) -> list[tuple[Candidate, Candidate]]:
    """All pairs whose sizes agree as far as both have them, or are not the same because that is what was asked for.

    Raises
    ------
    MissingError : there is none.
    """
    pairs = [(a, b) for a in first for b in second if _fit(a, b)]
    if not pairs:
        raise MissingError(f"{first[0].label} and {second[0].label} have no size in common")
    return pairs


def _fit(a: Candidate, b: Candidate) -> bool:
    sizes = [(a.sizes.get(name), b.sizes.get(name)) for name in signs().keys() - (a.asked & b.asked)]
    return all(left is None or right is None or left == right for left, right in sizes)


def difference(a: Candidate, b: Candidate, measure: str) -> Interval:
    """Mean of a - b: over pairs of runs where they saw the same permutations, else of all runs of each."""
    first, second = a.values(measure), b.values(measure)
    interval = mean_difference(first, second, paired=a.permutation == b.permutation)
    if interval.runs == 0:
        raise MissingError(f"{a.label} and {b.label} have no run in common")
    return replace(interval, allowance=WIDER * MEASURES[measure].same(first.mean(), second.mean()))


def differences(pairs: Sequence[tuple[Candidate, Candidate]], measure: str) -> list[Named]:
    """The difference of each pair, the second subtracted from the first."""
    return [(" - ".join(_labels(a, b)), difference(a, b, measure)) for a, b in pairs]


def _labels(*compared: Candidate) -> list[str]:
    """What is compared, with the experiments where these are not the same."""
    same = len({one.experiment for one in compared}) == 1
    return [one.label if same else f"{one.label} on {one.experiment}" for one in compared]


def of_runs(values: Sequence[tuple[str, pd.Series]], allowance: float) -> list[Named]:
    """The means of quantities that each run has by itself, given as its values."""
    named = [(what, replace(of_values(found), allowance=allowance)) for what, found in values]
    if any(interval.runs == 0 for _, interval in named):
        raise MissingError("no runs in common")
    return named


def judged(compared: Iterable[Named], judge: Judge, unit: Unit, claimed: str, signed: bool = True) -> Finding:
    """The finding on comparisons all of which have to be shown; `signed` where they are differences."""
    return Finding(claimed, tuple(Evidence(what, found, unit, judge(found), signed) for what, found in compared))
