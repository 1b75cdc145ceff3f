"""What runs say about a mean: its confidence interval, and how far it is from what a claim says of it.

One test decides each comparison: Student's over the runs or over pairs of runs, Welch's where the two sides saw
different streams, the F test for spreads; two-sided, at the level of `significance`. What it says is what the interval
says: a comparison is *shown* when the interval lies on the claim's side of the threshold, *refuted* when it lies on
the other side, and *open* when the threshold is inside. That two things are alike is shown by two one-sided tests: the
whole interval lies between the bounds.

Runs that are all tested on one set of examples say nothing of how another set would have come out. What that adds to
the variance of a mean has a bound (`comparing.of_test_set`), and `over_test_sets` is the interval with both sources.

With fewer than `FEW` runs, which is the least that the papers have, nothing is shown. Means are compared then, and the
threshold moves in the claim's favour by `WIDER` times what passes for the same (`Measure.same`), that is by 0.9
percentage points or 9 % of a size: a claim fails when all its comparisons are further off. This is for a quick look and
for continuous integration; it finds what is broken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil, inf, log, sqrt

import numpy as np
import pandas as pd
from scipy import stats

from budgetbench.significance import ALPHA

FEW = 5
WIDER = 3.0
INNER = 0.9
"""What lies among rows is no further from their middle than this share of all such rows."""
ROWS = ceil(log(ALPHA / 2) / log(INNER))
"""With fewer rows even one that is further out than all of them may be one of the outer tenth."""

SHOWN, OPEN, REFUTED = "shown", "open", "refuted"


@dataclass(frozen=True)
class OneTestSet:
    """What the one test set of all runs does to a mean: its examples, and its standard error over such sets at most."""

    examples: int
    error: float

    @property
    def half(self) -> float:
        """Half the width of the interval that comes of the test set alone."""
        return float(stats.norm.ppf(1 - ALPHA / 2)) * self.error


@dataclass(frozen=True)
class Interval:
    """A mean over runs with its confidence interval.

    Attributes
    ----------
    low, high : None with fewer than `FEW` runs, or of a mean that has none.
    tail : from a threshold to the one-sided p of "the mean is not below it"; None where there is no interval.
    allowance : by how much thresholds move in the claim's favour where runs are few.
    error, freedom : standard error of the mean over runs, and its degrees of freedom, of a Student's interval.
    test : None where each run has test examples of its own, or has none to do with it.
    """

    runs: int
    mean: float
    low: float | None = None
    high: float | None = None
    tail: Callable[[float], float] | None = field(default=None, compare=False, repr=False)
    allowance: float = 0.0
    error: float | None = field(default=None, compare=False)
    freedom: float = field(default=inf, compare=False)
    test: OneTestSet | None = None

    @property
    def few(self) -> bool:
        return self.runs < FEW


def of_values(values: pd.Series) -> Interval:
    """The mean of independent values, those that there are; the interval is Student's."""
    given = values.dropna().astype(float)
    mean, n = float(given.mean()), len(given)
    if n < FEW:
        return Interval(n, mean)
    error = 0.0 if given.min() == given.max() else float(given.std() / np.sqrt(n))
    return student(n, mean, error, n - 1)


def mean_difference(a: pd.Series, b: pd.Series, paired: bool) -> Interval:
    """Mean of a - b: over the runs that both have where these saw the same; else of independent runs, Welch's."""
    if paired:
        return of_values(a - b)
    first, second = a.dropna().astype(float), b.dropna().astype(float)
    mean, n = float(first.mean() - second.mean()), min(len(first), len(second))
    if n < FEW:
        return Interval(n, mean)
    return welch(mean, (first.std(), len(first)), (second.std(), len(second)))


def welch(difference: float, first: tuple[float, int], second: tuple[float, int]) -> Interval:
    """Welch's interval from (standard deviation, number of runs) of both sides."""
    squares = [deviation**2 / n for deviation, n in (first, second)]
    freedom = sum(squares) ** 2 / max(
        sum(square**2 / (n - 1) for square, (_, n) in zip(squares, (first, second), strict=True)), 1e-300
    )
    return student(min(first[1], second[1]), difference, float(np.sqrt(sum(squares))), max(freedom, 1.0))


def student(runs: int, mean: float, error: float, freedom: float) -> Interval:
    """From a mean and its standard error, which is 0 where all runs agree."""

    def tail(threshold: float) -> float:
        distance = mean - threshold
        t = distance / error if error else (np.sign(distance) * inf if distance else 0.0)
        return float(stats.t.cdf(t, freedom))

    half = float(stats.t.ppf(1 - ALPHA / 2, freedom)) * error
    return Interval(runs, mean, mean - half, mean + half, tail, error=error, freedom=freedom)


def over_test_sets(found: Interval) -> Interval | None:
    """The interval over runs and test sets, None where it is that over runs: variances add up, and freedom is
    Satterthwaite's."""
    if found.test is None or found.error is None:
        return None
    runs, test = found.error**2, found.test.error**2
    freedom = found.freedom * ((runs + test) / runs) ** 2 if runs else inf
    wider = student(found.runs, found.mean, sqrt(runs + test), min(freedom, 1e9))
    return replace(wider, allowance=found.allowance)


def spread_ratio(a: pd.Series, b: pd.Series) -> Interval:
    """Standard deviation of a over that of b; the interval is the F distribution's, for normal values."""
    n = min(len(a), len(b))
    above, below = float(a.std()), float(b.std())
    ratio = above / below if below else inf
    if n < FEW:
        return Interval(n, ratio)
    law = stats.f(len(a) - 1, len(b) - 1)
    low, high = (ratio / np.sqrt(law.ppf(q)) for q in (1 - ALPHA / 2, ALPHA / 2))
    return Interval(n, ratio, float(low), float(high), lambda threshold: float(law.cdf((ratio / threshold) ** 2)))


def share_nearer(ours: pd.DataFrame, other: pd.Series) -> Interval:
    """The share of our rows that lie nearer to the middle than another row does, with Clopper and Pearson's interval.

    Distances are Mahalanobis': where columns move together, a row that leaves the others by little is far if it leaves
    them against the grain, and it makes no difference which column is subtracted from which. All rows have their part
    in the middle and in the covariance, the other one too: so if it is a row like ours, each place among the n + 1 is
    as probable for it, whatever their distribution. With fewer than `ROWS` rows, or than two for each column, the
    interval has no ends.

    Parameters
    ----------
    ours : of shape (n, columns).
    other : a value for each column.
    """
    rows = np.vstack([ours.to_numpy(dtype=float), other[ours.columns].to_numpy(dtype=float)])
    centred = rows - rows.mean(axis=0)
    scale = centred.std(axis=0)
    left, size, _ = np.linalg.svd(centred / np.where(scale, scale, 1.0), full_matrices=False)
    distances = np.square(left[:, size > 1e-9 * size[0]]).sum(axis=1)  # squared, in units of n
    n, k = len(ours), int((distances[:-1] < distances[-1]).sum())
    if n < max(ROWS, 2 * ours.shape[1]):
        return Interval(n, k / n, allowance=inf)
    ends = stats.binomtest(k, n).proportion_ci(1 - ALPHA)

    def tail(threshold: float) -> float:
        low, high = stats.binom.cdf(k, n, threshold), stats.binom.sf(k - 1, n, threshold)
        return float(low if low < high else 1 - high)

    return Interval(n, k / n, float(ends.low), float(ends.high), tail)


def below(found: Interval, threshold: float) -> float:
    """One-sided p against "the mean is below the threshold": near 0 where runs show it, near 1 where they refute it.

    Of few runs 0.5, or 1 where the mean is further off than they allow.
    """
    if found.tail is None:
        return 0.5 if found.mean < threshold + found.allowance else 1.0
    return found.tail(threshold)


def within(found: Interval, low: float, high: float) -> float:
    """The larger p of two one-sided tests against "the mean is between these bounds", ends included; see `below`."""
    if found.tail is None:
        return 0.5 if low - found.allowance <= found.mean <= high + found.allowance else 1.0
    if found.low == found.high:  # all runs agree
        return 0.0 if low <= found.mean <= high else 1.0
    return max(found.tail(high), 1 - found.tail(low))
