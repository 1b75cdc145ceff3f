"""Ranks and tests: the example of Demšar 2006, all signs counted one by one, and SciPy where it is exact."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from budgetbench.comparison.ranks import alike, average_ranks, enough, friedman, pairs, signed_rank
from budgetbench.significance import holm

#: Demšar 2006, Table 6: areas under the curve of four ways to grow trees on 14 datasets. Where two are printed alike
#: and ranked apart, the lesser is less.
TREES = pd.DataFrame(
    [
        (0.763, 0.768, 0.771, 0.798), (0.599, 0.591, 0.590, 0.569), (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657), (0.882, 0.888, 0.886, 0.898), (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685), (0.583, 0.583, 0.563, 0.625), (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000), (0.940, 0.962, 0.965, 0.962), (0.619, 0.666, 0.614, 0.669),
        (0.972, 0.981, 0.975, 0.9749), (0.957, 0.978, 0.946, 0.970),
    ],
    columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"],
)  # fmt: skip


def test_the_papers_example() -> None:
    ranks = average_ranks(-TREES)
    assert list(ranks.index) == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert ranks.tolist() == pytest.approx([1.964, 2.000, 2.893, 3.143], abs=5e-4)
    test = friedman(-TREES)
    assert test is not None
    assert test.freedom == (3, 39)
    assert pytest.approx(3.69, abs=0.5) == test.F  # the paper leaves out the correction for ties
    assert test.p < 0.05
    assert signed_rank(TREES["C4.5+m"] - TREES["C4.5"]) < 0.05  # 12 as the lesser sum of ranks, 21 the critical one


def test_friedman_by_hand() -> None:
    """Ranks 1 2 3, 1 2 3, 2 1 3: χ² = 12/(3·3·4) (4² + 5² + 9²) - 3·3·4 = 14/3, F = 2·(14/3)/(6 - 14/3) = 7."""
    test = friedman(pd.DataFrame([(1.0, 2.0, 3.0), (0.1, 0.2, 0.3), (6.0, 5.0, 7.0)]))
    assert test is not None
    assert (test.F, test.freedom) == (pytest.approx(7), (2, 4))
    assert test.p == pytest.approx(float(stats.f.sf(7, 2, 4)))


def test_friedman_at_the_ends() -> None:
    same = friedman(pd.DataFrame(np.ones((5, 3))))
    assert same is not None
    assert (same.F, same.p) == (0, 1)
    agreed = friedman(pd.DataFrame([(1.0, 2.0, 3.0)] * 5))
    assert agreed is not None
    assert (agreed.F, agreed.p) == (math.inf, 0)
    assert friedman(TREES.iloc[:, :2]) is None


def counted(differences: list[float]) -> float:
    """p by going through all signs of the differences that are not 0."""
    ranks = stats.rankdata(np.abs(differences))
    given = [(rank, difference > 0) for rank, difference in zip(ranks, differences, strict=True) if difference]
    apart = abs(sum(rank if positive else -rank for rank, positive in given))
    sums = [abs(sum(s * rank for s, (rank, _) in zip(signs, given, strict=True)))
            for signs in product((1, -1), repeat=len(given))]  # fmt: skip
    return sum(total >= apart - 1e-9 for total in sums) / len(sums)


@settings(max_examples=60, deadline=None)
@given(differences=st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=9))
def test_wilcoxon_is_exact_with_ties_and_zeros(differences: list[float]) -> None:
    assert signed_rank(differences) == pytest.approx(counted(differences), abs=1e-12)
    assert signed_rank(differences) == signed_rank([-one for one in differences])


def test_wilcoxon_is_scipys_without_them() -> None:
    random = np.random.default_rng(0)
    for n in (3, 6, 12, 25):
        differences = random.normal(0.4, 1, n)
        assert signed_rank(differences) == pytest.approx(float(stats.wilcoxon(differences, method="exact").pvalue))


def test_no_difference_is_none() -> None:
    assert signed_rank([0.0, 0.0, 0.0]) == 1
    assert signed_rank([0.0, 0.0, 1.0]) == 1  # one sign says nothing
    assert signed_rank([1.0] * 6) == pytest.approx(2 / 64)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.5]).tolist() == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert holm([0.9, 0.8]).tolist() == [1, 1]


@pytest.mark.parametrize(("learners", "datasets"), [(2, 6), (3, 7), (4, 8), (5, 9), (10, 11)])
def test_how_many_datasets_it_takes(learners: int, datasets: int) -> None:
    assert enough(learners) == datasets
    for n in (datasets - 1, datasets):  # as far apart as can be
        values = pd.DataFrame([range(learners)] * n, dtype=float)
        assert (pairs(values)["p_holm"] <= 0.05).any() == (n == datasets)


def test_pairs_say_who_won() -> None:
    found = pairs(pd.DataFrame({"a": [1.0, 1.0, 2.0], "b": [2.0, 1.0, 1.0]}))
    assert found.iloc[0].tolist() == ["a", "b", 1, 1, 1, 1.0, 1.0]


def differing(*names: str) -> Any:
    """A table of pairs in which those that are named differ."""
    rows = [(*pair, 0.01 if "".join(pair) in names else 0.5) for pair in ("ab", "ac", "ad", "bc", "bd", "cd")]
    return pd.DataFrame(rows, columns=["first", "second", "p_holm"])


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        ((), ["abcd"]),
        (("ad",), ["abc", "bcd"]),
        (("ac", "ad", "bd"), ["ab", "bc", "cd"]),
        (("ab", "ac", "ad"), ["bcd"]),
        (("bc",), ["ab", "cd"]),  # a and d are alike, and what lies between them is not
        (("ab", "ac", "ad", "bc", "bd", "cd"), []),
    ],
)
def test_bars_join_neighbours_of_which_none_differ(names: tuple[str, ...], groups: list[str]) -> None:
    ranks = pd.Series({"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0})
    assert ["".join(group) for group in alike(ranks, differing(*names))] == groups
