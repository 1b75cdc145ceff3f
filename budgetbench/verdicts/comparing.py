"""Comparisons that statements are made of.

A statement is often about several comparisons: one for each budget, say. Each is tested by itself, as differences of
opposite sign must not cancel: it holds when all are shown, fails when one is refuted, and is undecided otherwise
(`model.every`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np
import pandas as pd

from budgetbench.results.measures import MEASURES, Unit
from budgetbench.results.sizes import signs
from budgetbench.verdicts.evidence import Evidence, Finding, MissingError
from budgetbench.verdicts.selection import Candidate
from budgetbench.verdicts.statistics import WIDER, Interval, OneTestSet, mean_difference, of_values, over_test_sets

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
    pairs = [(a, b) for a in first for b in second if fit(a, b)]
    if not pairs:
        raise MissingError(f"{first[0].label} and {second[0].label} have no size in common")
    return pairs


def fit(a: Candidate, b: Candidate) -> bool:
    """Whether two sizes agree, or are not the same because that is what was asked for."""
    sizes = [(a.sizes.get(name), b.sizes.get(name)) for name in signs().keys() - (a.asked & b.asked)]
    return all(left is None or right is None or left == right for left, right in sizes)


def difference(a: Candidate, b: Candidate, measure: str, times: float = 1.0) -> Interval:
    """Mean of times·a - b: over pairs of runs where they saw the same permutations, else of all runs of each."""
    first, second = times * a.values(measure), b.values(measure)
    interval = mean_difference(first, second, paired=a.permutation == b.permutation)
    if interval.runs == 0:
        raise MissingError(f"{a.label} and {b.label} have no run in common")
    allowance = WIDER * MEASURES[measure].same(first.mean(), second.mean())
    return replace(interval, allowance=allowance, test=of_test_set(measure, a, b))


def of_test_set(measure: str, *compared: Candidate) -> OneTestSet | None:
    """What the test set does to a mean test error, or to the difference of two; None where each run has its own.

    An example counts in a difference where one side alone errs on it. On which examples a run errs is not recorded, but
    no more than p + q of them can count, p and q being the two errors, and none where both sides did the same: a share
    s of them, on average over runs. So what an example adds has a variance of at most s - (p - q)²; it is less where
    both sides err on the same examples. Of a single error the variance is p (1 - p).
    """
    sizes = pd.concat([one.runs["test_size"] for one in compared]).dropna()
    if not MEASURES[measure].tested or not any(one.one_test_set for one in compared) or sizes.empty:
        return None
    n, scale = int(sizes.min()), MEASURES[measure].unit.scale
    errors = [one.values(measure) / scale for one in compared]
    mean = errors[0].mean() - sum(one.mean() for one in errors[1:])
    share = _apart(*compared, *errors) if len(compared) == 2 else mean
    return OneTestSet(n, scale * sqrt(max(share - mean**2, 0.0) / n))


def _apart(a: Candidate, b: Candidate, p: pd.Series, q: pd.Series) -> float:
    """The share of examples on which one of two sides alone can err, given the errors of their runs."""
    if a.permutation != b.permutation:
        return min(p.mean() + q.mean(), 1.0)
    both = (p + q).dropna().clip(upper=1.0)
    return float(np.where(_alike(a.runs.loc[both.index], b.runs.loc[both.index]), 0.0, both).mean())


def _alike(a: pd.DataFrame, b: pd.DataFrame) -> list[bool]:
    """Of pairs of runs on one stream, whether both did the same, as far as all counts and the course of both tell."""
    counts = ["margin_errors", "insertions", "removals", "support_size", "test_error"]
    same = (a[counts].to_numpy() == b[counts].to_numpy()).all(axis=1)
    courses = zip(same, a["curve"], b["curve"], strict=True)
    return [bool(one) and left is not None and left == right for one, left, right in courses]


def differences(pairs: Sequence[tuple[Candidate, Candidate]], measure: str, times: float = 1.0) -> list[Named]:
    """The difference of each pair, the second subtracted from so many times the first."""
    by = "" if times == 1 else f"{times:g} × "
    return [(by + " - ".join(labels(a, b)), difference(a, b, measure, times)) for a, b in pairs]


def labels(*compared: Candidate) -> list[str]:
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

    def evidence(what: str, found: Interval) -> Evidence:
        wide = over_test_sets(found)
        wider = Evidence(what, wide, unit, judge(wide), signed) if wide else None
        return Evidence(what, found, unit, judge(found), signed, wider=wider)

    return Finding(claimed, tuple(evidence(*named) for named in compared))
