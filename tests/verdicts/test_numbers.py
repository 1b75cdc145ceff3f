"""Published numbers beside made-up results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.results import records

from budgetbench.published import Value
from budgetbench.verdicts import Verdict, failures, words, writing
from budgetbench.verdicts.checking import verdict as judged
from budgetbench.verdicts.model import Explanation, Number
from budgetbench.verdicts.selection import View

Make = Callable[..., Any]


def check(view: View, name: str, mean: float, spread: float | None = None, **more: Any) -> Verdict:
    """The verdict on a number of the Perceptron, unless it is of another."""
    fields: dict[str, Any] = {"of": {"algorithm": "perceptron"}, "value": Value(mean, spread, "as printed")} | more
    place = {"id": "id", "paper": "orabona2008", "item": "Table 1", "quote": "Table 1", "experiments": ("made_up",)}
    return judged(Number(name=name, **place, **fields), view)


@pytest.fixture
def view(write: Make) -> View:
    return write(
        records("perceptron", online_error=[0.209, 0.21, 0.211, 0.2095, 0.2105], support_size=[100, 102, 98, 101, 99])
    )


@pytest.mark.parametrize(
    ("mean", "spread", "state"),
    [
        (21.0, 0.01, "holds"),
        (21.29, 0.01, "holds"),  # 0.3 points
        (21.31, 0.01, "fails"),
        (21.59, 0.2, "holds"),  # three standard deviations
        (21.61, 0.2, "fails"),
        (21.31, None, "fails"),
    ],
)
def test_errors(view: View, mean: float, spread: float | None, state: str) -> None:
    verdict = check(view, "online_error", mean, spread)
    assert verdict.outcome.name == state
    assert words.ours(verdict) == "21.00 ± 0.08 %"
    assert verdict.in_spreads == (pytest.approx((21 - mean) / spread) if spread else None)


@pytest.mark.parametrize(("mean", "state"), [(100, "holds"), (103, "holds"), (103.2, "fails")])
def test_sizes(view: View, mean: float, state: str) -> None:
    assert check(view, "support_size", mean).outcome.name == state


def test_text_difference_and_interval(view: View) -> None:
    verdict = check(view, "online_error", 21.5, 0.1)
    assert words.title(verdict) == "Perceptron: mistakes"
    assert words.difference(verdict) == "−0.50 [−0.63, −0.37] points"
    assert words.tolerance(verdict) == "3 spreads, 0.30 points"
    found = verdict.evidence[0].interval
    assert found.runs == 5
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.mean < found.high < 0


def test_what_decides_is_told(view: View) -> None:
    assert words.tolerance(check(view, "online_error", 21.5, 0.2)) == "3 spreads, 0.60 points"
    lenient = check(view, "support_size", 102, 0.5)
    assert (lenient.outcome.name, words.tolerance(lenient)) == ("holds", "3 %, 3.1 examples")
    assert words.remark(lenient) == "within 3 %, 3.1 examples, and 4.0 published spreads off."
    assert not words.remark(check(view, "support_size", 100.5, 0.5))


def test_a_reason_explains_as_far_as_it_reaches(view: View) -> None:
    known = {"all": Explanation("Why.", -4, -2, ("one", "other"))}
    verdict = check(view, "online_error", 24, explained=known)
    assert verdict.outcome.name == "explained"
    assert words.remark(verdict) == "Why. This explains deviations of −4 to −2."
    assert verdict.readings == ("one", "other")
    told = "−2. [one](readings/readings_one/table.md) [other](readings/readings_other/table.md) |"
    assert told in writing.markdown([verdict])
    assert writing.comma_separated([verdict]).splitlines()[1].endswith(",one other,")
    beyond = check(view, "online_error", 26, explained=known)
    assert (beyond.outcome.name, failures([beyond])) == ("fails", [beyond])
    assert words.remark(beyond) == "It is explained for deviations of −4 to −2 alone."
    assert not beyond.readings


def test_a_reason_that_is_not_needed_is_an_error(view: View) -> None:
    verdict = check(view, "online_error", 21, explained={"all": Explanation("Why.", -4, -2)})
    assert (verdict.outcome.name, failures([verdict])) == ("holds", [verdict])
    assert words.remark(verdict) == "It holds, and yet is explained away."


def test_one_run_widens_the_tolerance_and_shows_nothing(write: Make) -> None:
    view = write(records("perceptron", online_error=[0.21]))
    found = [check(view, "online_error", mean) for mean in (21.89, 21.91)]
    assert [verdict.outcome.name for verdict in found] == ["undecided", "fails"]
    assert words.tolerance(found[0]) == "0.90 points"
    assert check(view, "online_error", 23, explained={"all": Explanation("Why.", -2, -1)}).outcome.name == "explained"


def test_a_drawn_data_set_is_looked_for_among_our_draws(write: Make) -> None:
    errors = [0.20 + 0.001 * i for i in range(20)]  # 20.0 to 21.9 %, standard deviation 0.59
    view = write(records("perceptron", online_error=errors))
    inside = check(view, "online_error", 20.25, 0.01, draws=True)
    assert (inside.outcome.name, words.reason(inside.reason)) == ("holds", "at quantile 0.15 of our 20 draws")
    assert check(view, "online_error", 19.15, draws=True).outcome.name == "fails"
    assert check(view, "online_error", 20.25, 0.01).outcome.name == "fails"


def test_what_all_owe_to_the_draw_does_not_hide_a_difference(write: Make) -> None:
    draws = [0.20 + 0.001 * i for i in range(20)]
    above = [error + 0.05 + 0.0001 * (-1) ** i for i, error in enumerate(draws)]  # by 5.00 points, spread 0.01
    view = write(records("perceptron", online_error=draws), records("forgetron", {"budget": 5}, online_error=above))
    of = {"algorithm": "forgetron", "budget": 5}
    near = check(view, "online_error", 5.02, draws=True, of=of, less={"algorithm": "perceptron"})
    assert (near.outcome.name, words.ours(near)) == ("holds", "5.00 ± 0.01 %")
    assert words.title(near) == "Forgetron, B = 5: mistakes − Perceptron"
    assert check(view, "online_error", 5.1, draws=True, of=of, less={"algorithm": "perceptron"}).outcome.name == "fails"
    one = write(records("perceptron", online_error=[0.2]), records("forgetron", {"budget": 5}, online_error=[0.3]))
    far = check(one, "online_error", 5.0, draws=True, of=of, less={"algorithm": "perceptron"})
    assert far.outcome.name == "undecided"  # one draw does not say how far apart draws are
    found = near.evidence[0].interval  # where another draw may lie, not the mean of ours
    assert found.high is not None
    assert found.high - found.mean == pytest.approx(2.093 * 0.01026 * (1 + 1 / 20) ** 0.5, rel=1e-2)


def test_facts_of_the_experiment(view: View) -> None:
    def fact(name: str, mean: float) -> tuple[str, str]:
        verdict = check(view, name, mean, of=None)
        return words.ours(verdict), verdict.outcome.name

    assert fact("train_size", 100) == ("100", "holds")
    assert fact("train_size", 101) == ("100", "fails")
    assert fact("inputs", 256) == ("256", "holds")
    assert fact("classes", 10) == ("10", "holds")
    assert fact("sigma", 5) == ("5", "holds")
    assert fact("variance", 4) == ("25", "fails")
    assert fact("runs", 5) == ("5", "holds")
    assert fact("runs", 4) == ("5", "holds")
    assert fact("runs", 11) == ("5", "undecided")  # fewer is not wrong, only not all


@pytest.mark.parametrize(
    ("name", "experiment", "note"),
    [
        ("sigma", {"kernel": {"name": "linear"}}, "made_up has a kernel without gamma"),
        ("variance", {"kernel": {"name": "cosine", "gamma": 2}}, "made_up has a kernel without gamma"),
        ("classes", {"dataset": {"name": "gone"}}, "made_up is on a dataset gone, which is not known"),
    ],
)
def test_facts_that_an_experiment_does_not_say(write: Make, name: str, experiment: dict[str, Any], note: str) -> None:
    view = write(records("perceptron", online_error=[0.2] * 3), **experiment)
    verdict = check(view, name, 3, of=None)
    assert (verdict.outcome.name, words.reason(verdict.reason)) == ("not run", note)


def test_a_size_that_runs_disagree_on_is_none(write: Make) -> None:
    sets = records("perceptron", online_error=[0.2] * 3)
    sets[1]["train_size"] = 99
    verdict = check(write(sets), "train_size", 100, of=None)
    assert (verdict.outcome.name, words.reason(verdict.reason)) == ("not run", "no run of made_up says its train_size")


def test_what_was_not_run(view: View) -> None:
    verdict = check(view, "online_error", 21, of={"algorithm": "stoptron", "budget": 5})
    assert (verdict.outcome.name, words.ours(verdict), words.difference(verdict)) == ("not run", "", "")
    assert words.title(verdict) == "Stoptron, B = 5: mistakes"
    assert words.reason(verdict.reason) == "no runs of Stoptron (budget = 5) in made_up"
