"""Intervals worked out by hand or by simulation, and what follows from them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from budgetbench.results.measures import POINTS
from budgetbench.significance import ALPHA
from budgetbench.verdicts.evidence import Evidence
from budgetbench.verdicts.statistics import (
    FEW,
    OPEN,
    REFUTED,
    SHOWN,
    Interval,
    below,
    mean_difference,
    of_values,
    spread_ratio,
    within,
)


def of(*values: float) -> Interval:
    return of_values(pd.Series(values))


def test_student_interval_by_hand() -> None:
    found = of(1.0, 2.0, 3.0, 4.0, 5.0)
    half = 2.776445 * math.sqrt(2.5 / 5)  # t for 4 degrees of freedom; variance 2.5
    assert found.mean == 3
    assert (found.low, found.high) == pytest.approx((3 - half, 3 + half), rel=1e-6)


def test_pairs_are_of_the_same_run() -> None:
    a = pd.Series({0: 10.0, 1: 20.0, 2: 30.0, 3: 40.0, 4: 50.0, 7: 0.0})
    b = pd.Series({4: 49.0, 3: 39.0, 2: 29.0, 1: 19.0, 0: 9.0})
    found = mean_difference(a, b, paired=True)
    assert (found.runs, found.mean, found.low, found.high) == (5, 1, 1, 1)
    wide = mean_difference(a.drop(7), b, paired=False)
    assert wide.mean == pytest.approx(1)
    assert wide.low is not None
    assert wide.low < -20  # what pairing takes away


def test_welch_interval_by_hand() -> None:
    # Variances 2.5 and 10 with 5 runs each: s² = 0.5 + 2, degrees of freedom 2.5² / (0.5² / 4 + 2² / 4) = 5.882
    found = mean_difference(pd.Series([1.0, 2, 3, 4, 5]), pd.Series([2.0, 4, 6, 8, 10]), paired=False)
    assert found.mean == -3
    assert found.high == pytest.approx(-3 + 2.4588 * math.sqrt(2.5), rel=1e-3)


def test_welch_covers_as_often_as_it_says() -> None:
    random = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        a, b = pd.Series(random.normal(0, 1, 6)), pd.Series(random.normal(0, 3, 12))
        found = mean_difference(a, b, paired=False)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0 <= found.high
    assert 930 <= covered <= 970


def test_three_ways() -> None:
    low = of(-1.0, -1.1, -0.9, -1.0, -1.05)
    mixed = of(-1.0, 1.1, -0.9, 1.0, -1.05)
    high = of(1.0, 1.1, 0.9, 1.0, 1.05)
    assert [outcome(below(found, 0)) for found in (low, mixed, high)] == [SHOWN, OPEN, REFUTED]
    assert [outcome(within(low, *bounds)) for bounds in ((-2, 0), (-1, 1), (0, 1))] == [SHOWN, OPEN, REFUTED]
    assert outcome(within(mixed, -0.5, 0.5)) == OPEN  # it reaches beyond both bounds


def outcome(doubt: float) -> str:
    return Evidence("a - b", Interval(FEW, 0.0), POINTS, doubt).outcome


@pytest.mark.parametrize("found", [of(1.0, 2.0, 3.0, 4.0, 5.0), spread_ratio(A := pd.Series([1.0, 2, 3, 4, 5]), A**2)])
def test_the_test_says_what_the_interval_says(found: Interval) -> None:
    assert found.low is not None
    assert found.high is not None
    assert below(found, found.high) == pytest.approx(ALPHA / 2)
    assert below(found, found.low) == pytest.approx(1 - ALPHA / 2)
    assert within(found, found.low, 10 * found.high) == pytest.approx(ALPHA / 2)


def test_p_is_two_sided() -> None:
    values = [-1.0, 1.1, -0.9, 1.0, -1.05]
    one = Evidence("a - b", of(*values), POINTS, below(of(*values), 0.5))
    assert one.p == pytest.approx(stats.ttest_1samp(values, 0.5).pvalue)
    assert replace(one, adjusted=0.9).corrected == OPEN


def test_few_runs_have_no_interval_and_get_an_allowance() -> None:
    few = of(*[0.5] * (FEW - 1))
    allowed = replace(few, allowance=0.9)
    assert few.low is None
    assert [below(few, 0), below(allowed, 0), below(allowed, -1)] == [1, 0.5, 1]
    assert [within(few, -0.1, 0.1), within(allowed, -0.1, 0.1)] == [1, 0.5]
    assert [Evidence("few", few, POINTS, doubt).outcome for doubt in (0.5, 1)] == [OPEN, REFUTED]


def test_no_difference_is_neither_below_nor_above() -> None:
    same = of(*[0.1] * 5)
    assert outcome(below(same, 0.1)) == OPEN
    assert outcome(below(same, 0.2)) == SHOWN
    assert within(same, 0.1, 0.1) == 0
    assert within(same, 0.2, 0.3) == 1


def test_spreads() -> None:
    narrow, wide = pd.Series([1.0, 2, 3, 4, 5]), pd.Series([10.0, 30, 50, 70, 90])
    found = spread_ratio(narrow, wide)
    assert found.mean == pytest.approx(1 / 20)
    # F(0.975; 4, 4) = 9.6045
    assert found.high == pytest.approx(math.sqrt(9.6045) / 20, rel=1e-4)
