"""What the errors of several learners on several datasets show (Demšar 2006, JMLR 7, *Statistical comparisons of
classifiers over multiple data sets*).

Datasets are the blocks: each gives one number for each learner, a mean over its runs. Learners are ranked on each
dataset, the best is 1, and equal ones share the mean of their ranks. Friedman's test asks whether any differ,
Wilcoxon's signed-rank test which two do. As datasets are few and errors may be equal, the latter is exact here with
ties and zeros too, where tables and normal approximations are not.
"""

from __future__ import annotations

import math
from itertools import combinations, count
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from budgetbench.significance import ALPHA, holm


class Friedman(NamedTuple):
    """Friedman's test with Iman and Davenport's statistic F, which is less conservative than χ²."""

    F: float
    freedom: tuple[int, int]
    p: float


def average_ranks(values: pd.DataFrame) -> pd.Series[float]:
    """The mean rank of each learner (column) over the datasets (rows), the lowest first."""
    return values.rank(axis=1).mean().sort_values(kind="stable")


def friedman(values: pd.DataFrame) -> Friedman | None:
    """Whether any learner (column) differs, given the datasets (rows); None for fewer than three learners."""
    n, k = values.shape
    if k < 3:
        return None
    freedom = k - 1, (k - 1) * (n - 1)
    if (values.nunique(axis=1) == 1).all():
        return Friedman(0.0, freedom, 1.0)
    chi2 = float(stats.friedmanchisquare(*(values[name] for name in values)).statistic)
    left = n * (k - 1) - chi2
    F = (n - 1) * chi2 / left if left > 1e-9 * n * k else math.inf
    return Friedman(F, freedom, float(stats.f.sf(F, *freedom)))


def signed_rank(differences: ArrayLike) -> float:
    """The two-sided p of Wilcoxon's signed-rank test: the share of the 2ⁿ choices of signs whose rank sums are as far
    apart. Zeros take the lowest ranks, and half of them go to either side (Demšar 2006, section 3.1.3)."""
    given = np.asarray(differences, dtype=float)
    ranks = np.rint(2 * stats.rankdata(np.abs(given))).astype(int)[given != 0]  # twice the ranks are whole numbers
    share = np.ones(1)  # of the choices that give 0, 1, … as the sum of the positive ones
    for rank in ranks:
        share = (np.pad(share, (0, rank)) + np.pad(share, (rank, 0))) / 2
    total, positive = int(ranks.sum()), int(ranks[given[given != 0] > 0].sum())
    apart = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(share[apart >= abs(2 * positive - total)].sum()))


def pairs(values: pd.DataFrame) -> pd.DataFrame:
    """Each two learners: on how many datasets either is better or neither, and p of their difference.

    Returns
    -------
    A frame with the columns `first`, `second`, `wins` (of the first), `losses`, `ties`, `p` and `p_holm`.
    """
    rows = []
    for first, second in combinations(values, 2):
        difference = values[first] - values[second]
        won, lost = int((difference < 0).sum()), int((difference > 0).sum())
        rows.append((first, second, won, lost, len(values) - won - lost, signed_rank(difference)))
    found = pd.DataFrame(rows, columns=["first", "second", "wins", "losses", "ties", "p"])
    return found.assign(p_holm=holm(found["p"]))


def enough(learners: int) -> int:
    """The least number of datasets with which two of so many learners can differ significantly: when one is better on
    every dataset, p is 2 / 2ⁿ, times the number of pairs."""
    tests = math.comb(learners, 2)
    return next(n for n in count(1) if tests * 2.0 ** (1 - n) <= ALPHA)


def alike(ranks: pd.Series[float], tested: pd.DataFrame) -> list[list[str]]:
    """The largest groups of neighbours by rank of which no two differ significantly, those of one left out."""
    names = list(ranks.index)
    differing = {frozenset(pair) for *pair, p in tested[["first", "second", "p_holm"]].to_numpy() if p <= ALPHA}
    found: list[list[str]] = []
    reached = 0
    for start in range(len(names)):
        stop = start + 1
        while stop < len(names) and not any(frozenset((one, names[stop])) in differing for one in names[start:stop]):
            stop += 1
        if stop > max(reached, start + 1):
            found.append(names[start:stop])
            reached = stop
    return found
