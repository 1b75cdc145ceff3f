"""Runs on one fixed test set: what another one could have done, and what verdicts say of it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.results import records

from budgetbench.verdicts import Verdict, words
from budgetbench.verdicts.checking import verdict
from budgetbench.verdicts.comparing import difference, of_test_set
from budgetbench.verdicts.evidence import Finding
from budgetbench.verdicts.model import HOLDS, UNDECIDED, Claim
from budgetbench.verdicts.selection import View
from budgetbench.verdicts.statements import statements
from budgetbench.verdicts.statistics import (
    OPEN,
    REFUTED,
    SHOWN,
    OneTestSet,
    over_test_sets,
    within,
)
from budgetbench.verdicts.statistics import of_values as interval
from budgetbench.verdicts.writing import FORMATS, markdown

Make = Callable[..., View]
SIZE = 2000
BELOW = {"lower": {"algorithm": "projectron"}, "upper": {"algorithm": "perceptron"}, "measure": "test_error"}
CLAIM = Claim(
    id="weston2005.made_up",
    paper="weston2005",
    item="Table 1",
    quote="page 1",
    experiments=("made_up",),
    text="It errs less.",
    statement="below",
    arguments=BELOW,
)


def runs_of(algorithm: str, *errors: float, **more: Any) -> list[dict[str, Any]]:
    return records(algorithm, test_error=list(errors), test_size=[SIZE] * len(errors), **more)


def near(write: Make, **experiment: Any) -> View:
    """4.0 against 4.5 % in each run, within a hair."""
    low = runs_of("projectron", 0.0400, 0.0401, 0.0399, 0.0400, 0.0400)
    return write(low, runs_of("perceptron", 0.0450, 0.0450, 0.0450, 0.0451, 0.0449), **experiment)


def made(view: View) -> Verdict:
    return verdict(CLAIM, view)


def test_the_bound_by_hand(write: Make) -> None:
    view = near(write)
    low, high = (view.pick({"algorithm": name})[0] for name in ("projectron", "perceptron"))
    found = of_test_set("test_error", low, high)
    assert found is not None
    assert found.examples == SIZE
    assert found.error == pytest.approx(100 * math.sqrt((0.085 - 0.005**2) / SIZE))
    assert found.half == pytest.approx(1.959964 * found.error)
    assert difference(low, high, "test_error").test == found
    alone = of_test_set("test_error", low)
    assert alone is not None
    assert alone.error == pytest.approx(100 * math.sqrt(0.04 * 0.96 / SIZE))


@pytest.mark.parametrize("shared", [0.0, 0.5, 1.0])
def test_no_errors_on_single_examples_do_more_than_the_bound(write: Make, shared: float) -> None:
    """Both sides err on the same examples, on others, or by chance; in several runs."""
    random = np.random.default_rng(0)
    common = random.random(SIZE) < 0.2 * shared
    a = common | (random.random((3, SIZE)) < 0.1 * (1 - shared))
    b = common | (random.random((3, SIZE)) < 0.2 * (1 - shared))
    view = write(runs_of("projectron", *a.mean(axis=1)), runs_of("perceptron", *b.mean(axis=1)))
    found = of_test_set("test_error", *(view.pick({"algorithm": name})[0] for name in ("projectron", "perceptron")))
    assert found is not None
    per_example = 100 * (a.astype(float) - b).mean(axis=0)
    assert per_example.std() / math.sqrt(SIZE) <= found.error


def test_both_sources_add_up_to_one_interval() -> None:
    """Variances 0.5 over 5 runs and 4 over test sets: Satterthwaite's freedom is 4 (4.5 / 0.5)² = 324."""
    over_runs = interval(pd.Series([1.0, 2.0, 3.0, 4.0, 5.0]))
    found = over_test_sets(type(over_runs)(**(vars(over_runs) | {"test": OneTestSet(100, 2.0)})))
    assert found is not None
    assert found.mean == 3
    assert found.high == pytest.approx(3 + 1.967318 * math.sqrt(4.5), rel=1e-5)
    assert [SHOWN, OPEN][within(found, -2.0, 8.0) > 0.025] == SHOWN
    assert over_test_sets(over_runs) is None


def test_a_claim_that_runs_show_and_the_test_set_does_not(write: Make) -> None:
    found = made(near(write))
    assert (found.outcome, found.over_test_sets) == (HOLDS, UNDECIDED)
    text = words.over_test_sets(found)
    assert text.startswith(
        "Over test sets too it is undecided: Projectron, B = 100 − Perceptron is then −0.50 [−1.78, +0.78] "
    )
    assert text.endswith("of which the test set makes up to ±1.28 points (2000 examples)")
    assert f"holds: {text}." in markdown([found])
    assert "| ±1.28 points (2000 examples) | open |" in markdown([found])
    assert "1 of these verdicts is shown over runs on one test set, and not over test sets." in markdown([found])
    (row,) = csv.DictReader(io.StringIO(FORMATS["csv"]([found])))
    assert (row["state"], row["over_test_sets"]) == ("holds", "undecided")
    assert text in row["note"]


def test_what_is_far_apart_holds_over_test_sets(write: Make) -> None:
    low = runs_of("projectron", 0.0400, 0.0401, 0.0399, 0.0400, 0.0400)
    found = made(write(low, runs_of("perceptron", 0.10, 0.11, 0.10, 0.10, 0.10)))
    assert (found.outcome, found.over_test_sets) == (HOLDS, HOLDS)
    assert words.over_test_sets(found) == ""
    assert "and not over test sets" not in markdown([found])


def test_the_opposite_may_be_open_too(write: Make) -> None:
    view = near(write)
    found = statements["below"](view, lower=BELOW["upper"], upper=BELOW["lower"], measure="test_error")
    assert (found.outcome, found.over_test_sets) == (REFUTED, OPEN)


@pytest.mark.parametrize(
    "dataset",
    [
        {"name": "banana", "train_size": 4000, "test_size": 1300},
        {"name": "gaussian", "n": 300, "train_size": 200, "test_size": 100, "redraw": True},
    ],
    ids=["split anew", "drawn anew"],
)
def test_runs_with_test_examples_of_their_own_cover_them(write: Make, dataset: dict[str, Any]) -> None:
    found = made(near(write, dataset=dataset))
    assert (found.outcome, found.over_test_sets) == (HOLDS, None)
    assert words.over_test_sets(found) == ""


def test_measures_of_the_training_stream_have_no_test_set(write: Make) -> None:
    sets = [records(name, support_size=[size] * 5) for name, size in (("projectron", 100), ("perceptron", 200))]
    found = statements["below"](write(*sets), **(BELOW | {"measure": "support_size"}))
    assert found.over_test_sets is None


def test_few_runs_say_nothing_of_test_sets(write: Make) -> None:
    found = made(write(runs_of("projectron", 0.040, 0.041), runs_of("perceptron", 0.045, 0.045)))
    assert found.over_test_sets is None


def test_runs_that_did_the_same_differ_on_no_test_set(write: Make) -> None:
    """A budget that was never full: counts and courses are those of the Perceptron."""
    course = {"seen": [50, 100], "online_error": [0.2, 0.15], "support_size": [10, 15]}
    counts: dict[str, Any] = {"margin_errors": 15, "insertions": 15, "removals": 0, "support_size": 15, "curve": course}
    same = {name: [value] * 5 for name, value in counts.items()}
    arguments = {"of": BELOW["lower"], "to": BELOW["upper"], "measure": "test_error", "tolerance": 0.3}

    def close(**other: Any) -> Finding:
        sides = [runs_of("projectron", *[0.04] * 5, **(same | other)), runs_of("perceptron", *[0.04] * 5, **same)]
        return statements["close"](write(*sides), **arguments)

    assert (close().outcome, close().over_test_sets) == (SHOWN, SHOWN)
    another = close(removals=[0, 0, 0, 0, 1])
    assert (another.outcome, another.over_test_sets) == (SHOWN, OPEN)


def test_a_single_error_within_bounds(write: Make) -> None:
    view = write(runs_of("projectron", 0.0400, 0.0401, 0.0399, 0.0400, 0.0400))
    arguments = {"of": BELOW["lower"], "measure": "test_error"}
    found = statements["between"](view, **arguments, at_most=4.5)
    assert (found.outcome, found.over_test_sets) == (SHOWN, OPEN)
    assert statements["between"](view, **arguments, at_most=6.0).over_test_sets == SHOWN
