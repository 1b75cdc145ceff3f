"""Published numbers beside made-up results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from budgetbench.verdicts.numbers import check_number
from budgetbench.verdicts.published import Number, Value
from budgetbench.verdicts.selection import View

Make = Callable[..., Any]


def number(name: str, mean: float, spread: float | None = None, **more: Any) -> Number:
    fields = {"of": {"algorithm": "perceptron"}, "draws": False, "deviation": None} | more
    value = Value(mean, spread, "as printed")
    return Number("id", "Table 1", "Table 1", "made_up", name=name, value=value, **fields)


@pytest.fixture
def view(write: Make, trials: Make) -> View:
    return write(
        trials("perceptron", online_error=[0.209, 0.21, 0.211, 0.2095, 0.2105], support_size=[100, 102, 98, 101, 99])
    )


@pytest.mark.parametrize(
    ("mean", "spread", "state"),
    [
        (21.0, 0.01, "holds"),
        (21.29, 0.01, "holds"),  # 0.3 points
        (21.31, 0.01, "does not hold"),
        (21.59, 0.2, "holds"),  # three standard deviations
        (21.61, 0.2, "does not hold"),
        (21.31, None, "does not hold"),
    ],
)
def test_errors(view: View, mean: float, spread: float | None, state: str) -> None:
    verdict = check_number(number("online_error", mean, spread), "paper", view)
    assert verdict.state == state
    assert verdict.ours == "21.00 ± 0.08 %"
    assert verdict.in_spreads == (pytest.approx((21 - mean) / spread) if spread else None)


@pytest.mark.parametrize(("mean", "state"), [(100, "holds"), (103, "holds"), (103.2, "does not hold")])
def test_sizes(view: View, mean: float, state: str) -> None:
    assert check_number(number("support_size", mean), "paper", view).state == state


def test_text_difference_and_interval(view: View) -> None:
    verdict = check_number(number("online_error", 21.5, 0.1), "paper", view)
    assert verdict.text == "Perceptron: mistakes"
    assert verdict.difference == "−0.50 points"
    (row,) = verdict.evidence
    assert row.low is not None
    assert row.high is not None
    assert row.low < row.difference < row.high < 0


def test_a_listed_reason_is_told_only_where_it_is_needed(view: View) -> None:
    assert check_number(number("online_error", 21, deviation="why"), "paper", view).deviation is None
    verdict = check_number(number("online_error", 25, deviation="why"), "paper", view)
    assert (verdict.deviation, verdict.outcome) == ("why", "known deviation")


def test_one_run_widens_the_tolerance(write: Make, trials: Make) -> None:
    view = write(trials("perceptron", online_error=[0.21]))
    states = [check_number(number("online_error", mean), "paper", view).state for mean in (21.89, 21.91)]
    assert states == ["holds", "does not hold"]


def test_a_drawn_data_set_is_looked_for_among_our_draws(write: Make, trials: Make) -> None:
    errors = [0.20 + 0.001 * i for i in range(20)]  # 20.0 to 21.9 %, standard deviation 0.59
    view = write(trials("perceptron", online_error=errors))
    inside = check_number(number("online_error", 20.25, 0.01, draws=True), "paper", view)
    assert (inside.state, inside.note) == ("holds", "at quantile 0.15 of our 20 draws")
    assert check_number(number("online_error", 19.15, draws=True), "paper", view).state == "does not hold"
    assert check_number(number("online_error", 20.25, 0.01), "paper", view).state == "does not hold"


def test_facts_of_the_experiment(view: View) -> None:
    def fact(name: str, mean: float) -> tuple[str, str]:
        verdict = check_number(number(name, mean, of=None), "paper", view)
        return verdict.ours, verdict.state

    assert fact("train_size", 100) == ("100", "holds")
    assert fact("train_size", 101) == ("100", "does not hold")
    assert fact("inputs", 256) == ("256", "holds")
    assert fact("classes", 10) == ("10", "holds")
    assert fact("sigma", 5) == ("5", "holds")
    assert fact("variance", 4) == ("25", "does not hold")
    assert fact("runs", 5) == ("5", "holds")
    assert fact("runs", 4) == ("5", "holds")
    assert fact("runs", 11) == ("5", "not run")  # fewer is not wrong, only not all


@pytest.mark.parametrize(
    ("name", "experiment", "note"),
    [
        ("sigma", {"kernel": {"name": "linear"}}, "made_up does not say its kernel gamma"),
        ("sigma", {"kernel": {"gamma": 0}}, "made_up has a kernel gamma of 0"),
        ("variance", {"kernel": {"gamma": "wide"}}, "made_up has a kernel gamma of 'wide'"),
        ("degree", {"kernel": {"degree": True}}, "made_up has a kernel degree of True"),
        ("inputs", {"dataset": None}, "made_up does not say its dataset name"),
        ("classes", {"dataset": {"name": "gone"}}, "made_up is on a dataset gone, which is not known"),
    ],
)
def test_facts_that_an_experiment_does_not_say(
    write: Make, trials: Make, name: str, experiment: dict[str, Any], note: str
) -> None:
    view = write(trials("perceptron", online_error=[0.2] * 3), **experiment)
    verdict = check_number(number(name, 3, of=None), "paper", view)
    assert (verdict.state, verdict.note) == ("not run", note)


def test_a_size_that_runs_disagree_on_is_none(write: Make, trials: Make) -> None:
    sets = trials("perceptron", online_error=[0.2] * 3)
    sets[1]["train_size"] = 99
    verdict = check_number(number("train_size", 100, of=None), "paper", write(sets))
    assert (verdict.state, verdict.note) == ("not run", "no run of made_up says its train_size")


def test_what_was_not_run(view: View) -> None:
    verdict = check_number(number("online_error", 21, of={"algorithm": "stoptron", "budget": 5}), "paper", view)
    assert (verdict.state, verdict.ours, verdict.difference) == ("not run", "", "")
    assert verdict.text == "Stoptron, B = 5: mistakes"
    assert verdict.note == "no runs of Stoptron (budget = 5) in made_up"
