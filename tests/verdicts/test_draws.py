"""Whole rows of a table among rows of ours, on simulated draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.results import Record, records

from budgetbench.published import rows_of
from budgetbench.verdicts import statements
from budgetbench.verdicts.evidence import MissingError
from budgetbench.verdicts.statistics import INNER, OPEN, REFUTED, ROWS, SHOWN, below, share_nearer

Make = Callable[..., Any]

PLUS_PLUS = "projectron_plus_plus"


def simulated(seed: int, n: int = 50, columns: int = 12) -> pd.DataFrame:
    """Rows whose columns move together with the draw, by 0.5, and by themselves by 0.1."""
    random = np.random.default_rng(seed)
    return pd.DataFrame(19 + 0.5 * random.standard_normal((n, 1)) + 0.1 * random.standard_normal((n, columns)))


def doubt(rows: pd.DataFrame, shift: float = 0.0) -> float:
    """Of the last row, which leaves the others in its first column."""
    other = rows.iloc[-1].copy()
    other.iloc[0] += shift
    return below(share_nearer(rows.iloc[:-1], other), INNER)


def test_a_row_like_ours_is_seldom_refuted() -> None:
    doubts = np.array([doubt(simulated(seed, n=51)) for seed in range(100)])
    assert 1 <= (doubts > 0.975).sum() <= 5  # one in 51 rows is the outermost
    assert (doubts < 0.025).sum() > 65


def test_a_row_against_the_grain_is_refuted_though_each_number_is_near() -> None:
    doubts = np.array([doubt(simulated(seed, n=51), shift=0.8) for seed in range(20)])
    assert (doubts > 0.975).sum() >= 18
    assert simulated(0).std().min() * 2 > 0.8


def test_it_makes_no_difference_which_column_is_subtracted() -> None:
    rows, other = simulated(1), simulated(2).iloc[0]
    less = [one.copy() for one in (rows, other)]
    less[0].iloc[:, 1:] = rows.iloc[:, 1:].sub(rows[0], axis=0)
    less[1].iloc[1:] = other.iloc[1:] - other[0]
    assert share_nearer(*less).mean == share_nearer(rows, other).mean


def test_few_rows_decide_nothing() -> None:
    rows = simulated(3)
    far = rows.iloc[-1] + 100 * np.arange(12)
    assert 0.9**ROWS <= 0.025 < 0.9 ** (ROWS - 1)
    assert below(share_nearer(rows.iloc[: ROWS - 1], far), INNER) == 0.5
    assert below(share_nearer(rows.iloc[:ROWS], far), INNER) > 0.975


def test_the_outermost_place_but_one_decides_nothing() -> None:
    rows = pd.DataFrame([*range(49), 100.0])
    found = [share_nearer(rows, pd.Series([far])) for far in (60.0, 200.0)]
    assert [one.mean for one in found] == [49 / 50, 1]
    assert [below(one, INNER) for one in found] == pytest.approx([1 - (0.9**50 + 5 * 0.9**49), 1 - 0.9**50])


def test_a_column_that_never_varies() -> None:
    rows = simulated(4).assign(constant=7.0)
    inside = pd.concat([simulated(5).iloc[0], pd.Series({"constant": 7.0})])
    assert share_nearer(rows, inside).mean == share_nearer(rows.drop(columns="constant"), inside).mean
    assert share_nearer(rows, inside + pd.Series({"constant": 0.1}).reindex(inside.index, fill_value=0)).mean == 1


@pytest.fixture
def table() -> list[list[Record]]:
    """Draws of all rows of Table 3 about what is printed, and Projectron++ as printed further down."""
    draw, sets = 0.005 * np.random.default_rng(0).standard_normal(50), []
    rows = list(rows_of("orabona2008", "Table 3"))
    rows += [({**of, "progress": "printed"}, values) for of, values in rows if of["algorithm"] == PLUS_PLUS]
    for number, (of, values) in enumerate(rows):
        params = {name: value for name, value in of.items() if name != "algorithm"}
        if of["algorithm"].startswith("projectron"):
            params["bound_budget"] = params.pop("budget")
        own = 0.002 * np.random.default_rng(number + 1).standard_normal(50) - 0.012 * ("progress" in params)
        if of["algorithm"] == PLUS_PLUS:
            params.setdefault("progress", "fixed_cost")
        errors = (values["online_error"].mean / 100 + draw + own).tolist()
        sets.append(records(of["algorithm"], params, online_error=errors, support_size=[500] * 50))
    return sets


def test_a_printed_table_among_draws(write: Make, table: list[list[Record]]) -> None:
    among_draws, reproduces = statements["among_draws"], {"paper": "orabona2008", "item": "Table 3"}
    view = write(*table, reproduces=reproduces)
    usual, printed = {"algorithm": PLUS_PLUS}, {"algorithm": PLUS_PLUS, "progress": "printed"}
    assert among_draws(view, of=usual, measures=["online_error"]).outcome == SHOWN
    found = among_draws(view, of=[printed], measures=["online_error"])
    assert found.outcome == REFUTED
    assert found.decisive.what == "share of our draws nearer to the middle than the paper's, mistakes"
    assert found.decisive.interval.mean == 1
    sizes = among_draws(view, of=usual, measures=["support_size"])  # ours are all 500: not those that are printed
    assert sizes.outcome == REFUTED
    few = [[record for record in one if record["run"] < 10] for one in table]
    assert among_draws(write(*few, reproduces=reproduces), of=usual, measures=["online_error"]).outcome == OPEN
    with pytest.raises(MissingError, match="made_up does not say what it reproduces"):
        among_draws(write(*few), of=usual, measures=["online_error"])
