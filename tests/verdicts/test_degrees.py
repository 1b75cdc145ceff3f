"""Statements of degree on results for which they are known to hold, and on others for which they do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.results import records

from budgetbench.verdicts import statements
from budgetbench.verdicts.evidence import Finding, MissingError
from budgetbench.verdicts.selection import View
from budgetbench.verdicts.statistics import REFUTED, SHOWN

Write = Callable[..., View]

PERCEPTRON = {"algorithm": "perceptron"}
BUDGET = {"algorithm": "budget_perceptron"}
TIGHTER = {"algorithm": "tighter_budget_perceptron"}


def check(view: View, kind: str, **arguments: Any) -> Finding:
    return statements[kind](view, **{"measure": "test_error", **arguments})


def around(mean: float) -> list[float]:
    return [mean - 0.01, mean + 0.01, mean, mean, mean]


def sizes(name: str, means: dict[int, float]) -> list[Any]:
    return [one for size, mean in means.items() for one in records(name, {"budget": size}, test_error=around(mean))]


@pytest.fixture
def view(write: Write) -> View:
    """The Budget Perceptron loses more than twice what the other does in small caches; the Perceptron stores 40."""
    perceptron = records("perceptron", test_error=around(0.10), support_size=[40, 41, 42, 43, 44])
    means = {10: 0.30, 20: 0.20, 40: 0.10}
    write(perceptron, sizes("budget_perceptron", means), sizes("tighter_budget_perceptron", {10: 0.2}), name="calm")
    return write(
        perceptron,
        sizes("budget_perceptron", {10: 0.50, 20: 0.40, 40: 0.10, 41: 0.10}),
        sizes("tighter_budget_perceptron", {10: 0.20, 20: 0.14, 40: 0.10}),
    )


def test_so_many_times(view: View) -> None:
    arguments = {"lower": {**TIGHTER, "budget": 10}, "upper": {**BUDGET, "budget": 10}}
    found = check(view, "below", times=2, **arguments)
    assert found.outcome == SHOWN
    assert found.comparisons[0].what.startswith("2 × Tighter Budget Perceptron, B = 10 - Budget")
    assert check(view, "below", times=3, **arguments).outcome == REFUTED


def test_each_below_compares_one_by_one(view: View) -> None:
    small, large = {**BUDGET, "budget": 10}, {**BUDGET, "budget": 40}
    found = check(view, "each_below", lower=[PERCEPTRON, large], upper=[small, {**TIGHTER, "budget": 10}], times=1.5)
    assert [round(one.interval.mean) for one in found.comparisons] == [-35, -5]
    assert found.outcome == SHOWN
    assert check(view, "each_below", lower=[PERCEPTRON, small], upper=[small, PERCEPTRON]).outcome == REFUTED


def test_short_of_keeps_the_sizes_that_are_too_small_in_every_run(view: View) -> None:
    found = view.pick({**BUDGET, "short_of": PERCEPTRON})
    assert [one.sizes["budget"] for one in found] == [10, 20]
    with pytest.raises(MissingError, match="no size below the 40 that Perceptron stores"):
        view.pick({**BUDGET, "budget": 40, "short_of": PERCEPTRON})


def test_differs_by(view: View) -> None:
    arguments = {"of": {**BUDGET, "budget": 10}, "to": {**TIGHTER, "budget": 10}}
    found = check(view, "differs_by", at_least=20, at_most=40, **arguments)
    assert (found.outcome, found.claimed) == (SHOWN, "difference from 20 to 40 points")
    assert check(view, "differs_by", at_most=29, **arguments).outcome == REFUTED
    assert check(view, "differs_by", at_least=31, **arguments).outcome == REFUTED


def test_gap_above(view: View) -> None:
    of_both = {"lower": PERCEPTRON, "upper": BUDGET, "than_lower": PERCEPTRON, "than_upper": TIGHTER}
    small = {**of_both, "upper": {**BUDGET, "budget": [10, 20]}}
    found = check(view, "gap_above", times=2, **small)
    assert [(one.outcome, round(one.interval.mean)) for one in found.comparisons] == [(SHOWN, -20), (SHOWN, -22)]
    assert check(view, "gap_above", times=5, **small).outcome == REFUTED
    assert len(check(view, "gap_above", **of_both).comparisons) == 3  # at 40, which both have, there is no gap


def test_a_gap_beside_that_of_another_experiment(view: View) -> None:
    there = {"than_lower": {**TIGHTER, "experiment": "calm"}, "than_upper": {**BUDGET, "experiment": "calm"}}
    found = check(view, "gap_above", lower=TIGHTER, upper=BUDGET, **there)
    assert [round(one.interval.mean) for one in found.comparisons] == [-20]  # at the size that all four have
    assert " on calm" in found.comparisons[0].what
    there = {name: {**one, "budget": 20} for name, one in there.items()}
    with pytest.raises(MissingError):
        check(view, "gap_above", lower={**TIGHTER, "budget": 10}, upper=BUDGET, **there)


def test_gaps_of_other_streams_are_not_paired(write: Write) -> None:
    def stream(dataset: str, gap: float, width: float) -> View:
        low = [0.1, 0.2, 0.3, 0.4, 0.5]
        high = [one + gap + width * offset for one, offset in zip(low, (-1, 1, 0, 1, -1), strict=True)]
        sets = records("perceptron", test_error=low), records("stoptron", {"budget": 9}, test_error=high)
        return write(*sets, name=dataset, dataset={"name": dataset})

    both = {"lower": {"algorithm": "perceptron"}, "upper": {"algorithm": "stoptron"}}
    there = {
        f"than_{side}": [{**one, "experiment": name} for name in ("usps", "waveform")] for side, one in both.items()
    }
    stream("usps", 0.01, 0.01)
    stream("waveform", 0.02, 0.0)
    found = statements["gap_above"](stream("banana", 0.05, 0.01), **both, **there, measure="test_error")
    # Neither is one side of a gap on one stream and the other side on another.
    assert [round(one.interval.mean, 6) for one in found.comparisons] == [-4, -3]
    # Welch's intervals: that of the pairs, in which both gaps are off by the same, would have no width.
    assert [round(one.interval.high - one.interval.low, 2) for one in found.comparisons] == [2.92, 2.48]


def test_increases(write: Write) -> None:
    sets = [
        records("perceptron", {"beta": beta, "epochs": 1}, support_size=[size, size + 1, size, size, size])
        for beta, size in ((1.0, 30), (0.0, 10), (0.1, 20), (3.0, 20))
    ]
    view = write(*sets)
    rising = {**PERCEPTRON, "beta": [0.0, 0.1, 1.0]}
    found = check(view, "increases", of=rising, parameter="beta", measure="support_size")
    assert found.outcome == SHOWN
    assert [one.what for one in found.comparisons] == ["beta = 0 - beta = 0.1", "beta = 0.1 - beta = 1"]
    assert check(view, "increases", of=PERCEPTRON, parameter="beta", measure="support_size").outcome == REFUTED
    with pytest.raises(MissingError, match="fewer than two values of beta"):
        check(view, "increases", of={**PERCEPTRON, "beta": 1.0}, parameter="beta", measure="support_size")


@pytest.mark.parametrize(("last", "outcome"), [(7, SHOWN), (8, REFUTED)])
def test_mostly_equal(write: Write, last: int, outcome: str) -> None:
    stored = {9: {10: [5] * 5, 20: [6] * 5, 30: [7] * 5}, 10: {10: [6] * 5, 20: [6] * 5, 30: [last] * 5}}
    view = write(
        *(
            records("tighter_budget_perceptron", {"budget": size, "epochs": epochs}, insertions=found)
            for epochs, sized in stored.items()
            for size, found in sized.items()
        )
    )
    both = {"of": {**TIGHTER, "epochs": 10}, "to": {**TIGHTER, "epochs": 9}, "measure": "insertions"}
    assert check(view, "mostly_equal", **both).outcome == outcome
