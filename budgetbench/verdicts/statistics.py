"""What runs say about a difference: an interval where there are enough of them, and what follows for a claim.

A comparison is *shown* when the two-sided 95 % confidence interval of its mean lies on the claim's side of the
threshold, *refuted* when it lies on the other side, and *open* when it contains the threshold. Test errors of the
Perceptron on noisy labels have heavy tails (one run in five is off by tens of points), which makes the interval of
the mean wide although every single run agrees. So a sign test at the same level counts as well: a comparison whose
mean is on the claim's side is shown when so many paired runs are that chance gives as many in less than one case in
twenty (5 of 5, 9 of 10, 26 of 40).

With fewer than `FEW` runs, which is the least that the papers have, intervals are too wide to decide anything. Means
are compared then, and the threshold moves in the claim's favour by `WIDER` times what passes for the same
(`Measure.same`), that is by 0.9 percentage points or 9 % of a size. This is for a quick look and for continuous
integration: it finds what is broken, it shows nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

FEW = 5
WIDER = 3.0
LEVEL = 0.95

SHOWN, OPEN, REFUTED = "shown", "open", "refuted"


@dataclass(frozen=True)
class Interval:
    """A mean over runs with its confidence interval.

    Attributes
    ----------
    low, high : None with fewer than `FEW` runs, or of a mean that has none.
    values : what each run says, where it says something by itself (not in a difference of unpaired runs).
    allowance : by how much thresholds move in the claim's favour where runs are few.
    """

    runs: int
    mean: float
    low: float | None = None
    high: float | None = None
    values: tuple[float, ...] = ()
    allowance: float = 0.0

    @property
    def few(self) -> bool:
        return self.runs < FEW


def of_values(values: pd.Series) -> Interval:
    """The mean of independent values, those that there are; the interval is Student's."""
    given = values.dropna().astype(float)
    mean, n = float(given.mean()), len(given)
    if n < FEW:
        return Interval(n, mean, values=tuple(given))
    half = float(stats.t.ppf((1 + LEVEL) / 2, n - 1) * given.std() / np.sqrt(n))
    return Interval(n, mean, mean - half, mean + half, tuple(given))


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
    half = float(stats.t.ppf((1 + LEVEL) / 2, max(freedom, 1.0)) * np.sqrt(sum(squares))) if sum(squares) else 0.0
    return Interval(min(first[1], second[1]), difference, difference - half, difference + half)


def spread_ratio(a: pd.Series, b: pd.Series) -> Interval:
    """Standard deviation of a over that of b; the interval is the F distribution's, for normal values."""
    n = min(len(a), len(b))
    above, below = float(a.std()), float(b.std())
    ratio = above / below if below else np.inf
    if n < FEW:
        return Interval(n, ratio)
    bound = np.sqrt(stats.f.ppf((1 + LEVEL) / 2, n - 1, n - 1))
    return Interval(n, ratio, ratio / bound, ratio * bound)


def geometric_mean(ratios: Sequence[Interval]) -> Interval:
    """Of ratios and of their bounds: as wide as one of them, as they may share their runs."""
    mean, low, high = stats.gmean([(ratio.mean, ratio.low, ratio.high) for ratio in ratios]).tolist()
    return Interval(min(ratio.runs for ratio in ratios), mean, low, high)


def below(found: Interval, threshold: float) -> str:
    """What runs say about "the mean is below the threshold"."""
    if found.low is None or found.high is None:
        return SHOWN if found.mean < threshold + found.allowance else REFUTED
    if found.high < threshold or (found.mean < threshold and _most(v < threshold for v in found.values)):
        return SHOWN
    if found.low > threshold or (found.mean > threshold and _most(v > threshold for v in found.values)):
        return REFUTED
    return OPEN


def within(found: Interval, low: float, high: float) -> str:
    """What runs say about "the mean is between these bounds", the bounds included."""
    if found.low is None or found.high is None:
        return SHOWN if low - found.allowance <= found.mean <= high + found.allowance else REFUTED
    if low <= found.low and found.high <= high:
        return SHOWN
    return REFUTED if found.low > high or found.high < low else OPEN


def _most(agreeing: Iterable[bool]) -> bool:
    """Whether so many agree that a fair coin does as well in less than one case in twenty."""
    votes = list(agreeing)
    return bool(votes) and bool(stats.binom.sf(sum(votes) - 1, len(votes), 0.5) <= 1 - LEVEL)
