"""Every kind of statement on results for which it is known to hold, and on others for which it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.results import records

from budgetbench.verdicts import statements
from budgetbench.verdicts.evidence import Finding, MissingError
from budgetbench.verdicts.selection import View
from budgetbench.verdicts.statistics import OPEN, REFUTED, SHOWN
from budgetbench.verdicts.words import amount, outcomes, reason

Make = Callable[..., Any]

PERCEPTRON = {"algorithm": "perceptron"}
BUDGET = {"algorithm": "budget_perceptron"}
TIGHTER = {"algorithm": "tighter_budget_perceptron"}
STOPTRON = {"algorithm": "stoptron"}


def check(view: View, kind: str, **arguments: Any) -> Finding:
    """The statement's finding, complete enough to be shown."""
    found = statements[kind](view, **arguments)
    assert all((found.evidence, found.claimed, outcomes(found.comparisons), amount(found.decisive)))
    return found


def errors(mean: float, width: float = 0.01, runs: int = 5) -> list[float]:
    """Test errors around a mean, in the same pattern each time."""
    return [mean + width * offset for offset in (-1.0, 1.0, 0.0, 0.5, -0.5)[:runs]]


@pytest.fixture
def sizes() -> Make:
    """Records of a learner at several sizes, given as size to mean error."""

    def made(name: str, means: dict[int, float], runs: int = 5, width: float = 0.01, **params: Any) -> list[Any]:
        return [
            record
            for size, mean in means.items()
            for record in records(
                name, {"budget": size, **params}, test_error=errors(mean, width, runs), support_size=[size] * runs
            )
        ]

    return made


@pytest.fixture
def view(write: Make, sizes: Make) -> View:
    """The Tighter Budget Perceptron below the Perceptron below the Budget Perceptron, but for one size."""
    return write(
        records("perceptron", test_error=errors(0.20), support_size=[400] * 5),
        sizes("budget_perceptron", {10: 0.50, 20: 0.40, 500: 0.20}),
        sizes("tighter_budget_perceptron", {10: 0.12, 20: 0.10, 500: 0.20}),
    )


def test_below(view: View) -> None:
    found = check(view, "below", lower={**TIGHTER, "budget": [10, 20]}, upper=BUDGET, measure="test_error")
    assert found.outcome == SHOWN
    assert amount(found.decisive).startswith("−38.00 [")
    assert [row.what.count("B = ") for row in found.evidence] == [2, 2]
    assert check(view, "below", lower=BUDGET, upper=PERCEPTRON, measure="test_error").outcome != SHOWN
    assert check(view, "below", lower=PERCEPTRON, upper=PERCEPTRON, measure="test_error").outcome != SHOWN


def test_sizes_that_are_asked_for_need_not_be_the_same(view: View) -> None:
    small, large = {**TIGHTER, "budget": 10}, {**TIGHTER, "budget": 500}
    found = check(view, "below", lower=small, upper=large, measure="test_error")
    assert (found.outcome, len(found.comparisons)) == (SHOWN, 1)
    assert found.decisive.what.endswith("B = 10 - Tighter Budget Perceptron, B = 500")
    ends = {"lower": {**TIGHTER, "at": "smallest"}, "upper": {**TIGHTER, "at": "largest"}, "measure": "test_error"}
    assert check(view, "below", **ends).comparisons == found.comparisons
    with pytest.raises(MissingError, match="have no size in common"):  # a list is matched size by size
        check(view, "below", lower=small, upper={**TIGHTER, "budget": [20, 500]}, measure="test_error")
    both = check(view, "below", lower={**TIGHTER, "budget": 20}, upper=BUDGET, measure="test_error")
    assert [row.what.count("B = 20") for row in both.comparisons] == [2]


def test_one_refuted_size_is_enough(write: Make, sizes: Make) -> None:
    view = write(
        sizes("budget_perceptron", {10: 0.50, 20: 0.10}), sizes("tighter_budget_perceptron", {10: 0.1, 20: 0.11})
    )
    found = check(view, "below", lower=TIGHTER, upper=BUDGET, measure="test_error")
    assert found.outcome == REFUTED
    assert found.decisive == found.comparisons[1]
    assert outcomes(found.comparisons) == "1 of 2 shown, 1 opposite"


def test_not_above_and_close(view: View) -> None:
    arguments = {"lower": {**TIGHTER, "at": "smallest"}, "upper": {**TIGHTER, "at": "best"}, "measure": "test_error"}
    assert check(view, "not_above", margin=2.5, **arguments).outcome == SHOWN
    assert check(view, "not_above", margin=1.5, **arguments).outcome != SHOWN
    arguments = {"of": {**TIGHTER, "budget": 500}, "to": PERCEPTRON, "measure": "test_error"}
    assert check(view, "close", tolerance=0.1, **arguments).outcome == SHOWN
    assert check(view, "close", tolerance=0.1, **{**arguments, "of": {**TIGHTER, "budget": 20}}).outcome != SHOWN


def test_ratio_and_between(view: View) -> None:
    arguments = {"of": {**TIGHTER, "budget": 20}, "to": PERCEPTRON, "measure": "support_size"}
    assert check(view, "ratio", at_most=0.05, **arguments).outcome == SHOWN
    assert check(view, "ratio", at_least=0.06, **arguments).outcome != SHOWN
    assert check(view, "between", of=PERCEPTRON, measure="test_error", at_least=18, at_most=22).outcome == SHOWN
    assert check(view, "between", of=PERCEPTRON, measure="test_error", at_most=18).outcome != SHOWN


def test_at_its_size(write: Make) -> None:
    def stored(size: int, insertions: int, params: dict[str, Any]) -> list[Any]:
        made = [insertions + run for run in range(5)]
        return records("budget_perceptron", params, support_size=[size] * 5, insertions=made)

    view = write(
        stored(30, 70, {"size": "variable", "budget": None, "beta": 0.1}),
        *(stored(size, made, {"budget": size}) for size, made in {40: 40, 10: 90, 20: 60}.items()),  # in no order
    )
    arguments = {"of": {**BUDGET, "size": "variable"}, "measure": "insertions"}
    fixed = {**BUDGET, "size": "fixed"}
    found = check(view, "at_its_size", among=fixed, at_least=1.3, **arguments)
    assert found.outcome == SHOWN
    # between 60 with 20 and 40 with 40 lie 50 with 30: 70 / 50, 71 / 51, ...
    assert found.decisive.interval.mean == pytest.approx(sum((70 + run) / (50 + run) for run in range(5)) / 5)
    assert check(view, "at_its_size", among=fixed, at_least=1.45, **arguments).outcome == REFUTED
    with pytest.raises(MissingError, match="around the 30 that Budget Perceptron, size: variable stores"):
        check(view, "at_its_size", among={**fixed, "budget": [10, 20]}, at_least=1, **arguments)


def test_holding_keeps_the_sizes_that_are_large_enough(view: View) -> None:
    (large,) = view.pick({**BUDGET, "holding": PERCEPTRON})
    assert large.sizes["budget"] == 500
    with pytest.raises(MissingError, match="no size as large as the 400 that Perceptron stores"):
        view.pick({**BUDGET, "budget": [10, 20], "holding": PERCEPTRON})


def test_best_size_is_chosen_on_the_other_runs(write: Make) -> None:
    small = [0.10, 0.10, 0.10, 0.10, 0.90]
    large = [0.20, 0.20, 0.20, 0.20, 0.10]
    view = write(
        records("budget_perceptron", {"budget": 1}, test_error=small, online_error=large),
        records("budget_perceptron", {"budget": 2}, test_error=large, online_error=small),
    )
    (best,) = view.pick({**BUDGET, "at": "best"})
    # without the last run the small size is best, with it the large one: no run may choose for itself
    assert list(best.values("test_error")) == [20, 20, 20, 20, 90]
    (chosen,) = view.pick({**BUDGET, "at": "best", "by": "online_error"})
    assert list(chosen.values("test_error")) == [20, 20, 20, 20, 90]


def test_variants_that_are_not_named_are_the_default(write: Make, sizes: Make) -> None:
    view = write(
        sizes("tighter_budget_perceptron", {10: 0.3}, removal="before_insertion"),
        sizes("tighter_budget_perceptron", {10: 0.1}, removal="after_insertion"),
    )
    (default,) = view.pick(TIGHTER)
    assert default.params["removal"] == "after_insertion"
    (other,) = view.pick({**TIGHTER, "removal": "before_insertion"})
    assert other.label == "Tighter Budget Perceptron, removal: before insertion, B = 10"


def test_smaller_suffices(view: View) -> None:
    arguments = {"measure": "test_error", "margin": 0.3}
    assert check(view, "smaller_suffices", of=TIGHTER, beside=BUDGET, **arguments).outcome == SHOWN
    assert check(view, "smaller_suffices", of=BUDGET, beside=TIGHTER, **arguments).outcome != SHOWN


def test_range_of_sizes(write: Make, sizes: Make) -> None:
    view = write(sizes("budget_perceptron", {10: 0.5, 20: 0.104, 40: 0.1, 80: 0.105, 160: 0.3, 320: 0.1}))
    found = check(view, "range_of_sizes", of=BUDGET, measure="test_error", margin=1, factor=4)
    assert found.outcome == SHOWN
    assert (found.found, amount(found.decisive)) == ("sizes 20 to 80", "4.00 times")
    assert check(view, "range_of_sizes", of=BUDGET, measure="test_error", margin=1, factor=5).outcome != SHOWN


def test_a_range_is_undecided_where_sizes_are(write: Make, sizes: Make) -> None:
    level = [0.1] * 5
    view = write(
        records("budget_perceptron", {"budget": 10}, test_error=level),
        sizes("budget_perceptron", {20: 0.11, 40: 0.5}),  # 1 ± 1 points above the best
    )
    outcomes = [
        check(view, "range_of_sizes", of=BUDGET, measure="test_error", margin=1.2, factor=factor).outcome
        for factor in (1, 2, 4)
    ]
    assert outcomes == [SHOWN, OPEN, REFUTED]


def test_best_parameter(write: Make) -> None:
    means = {1.0: 0.20, 10.0: 0.10, 100.0: 0.1005}
    sets = [records("svm", {"C": C}, test_error=errors(mean), support_size=[50] * 5) for C, mean in means.items()]
    view = write(*sets, selects=["svm"])
    arguments = {"of": {"algorithm": "svm"}, "parameter": "C", "measure": "test_error", "margin": 0.1}
    assert check(view, "best_parameter", value=10, **arguments).outcome == SHOWN
    assert check(view, "best_parameter", value=100, **arguments).outcome == SHOWN  # the difference is within the margin
    found = check(view, "best_parameter", value=1, **arguments)
    assert found.outcome != SHOWN
    assert found.found == "C = 10"
    assert found.decisive.what == "C = 1 - C = 10"
    (chosen,) = view.pick({"algorithm": "svm"})
    assert chosen.params["C"] == 10


def test_correlates(write: Make) -> None:
    tests, onlines, falling = [0.5, 0.3, 0.2, 0.1], [0.6, 0.4, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4]
    sets = [
        records(
            "budget_perceptron",
            {"budget": 10 * (i + 1)},
            test_error=errors(tests[i]),
            online_error=errors(onlines[i], 0.02),
            margin_errors=[round(100 * falling[i])] * 5,
        )
        for i in range(4)
    ]
    view = write(*sets)
    assert (
        check(view, "correlates", of=BUDGET, measure="online_error", other="test_error", at_least=0.9).outcome == SHOWN
    )
    assert (
        check(view, "correlates", of=BUDGET, measure="margin_error", other="test_error", at_least=0.5).outcome != SHOWN
    )
    with pytest.raises(MissingError, match="three sizes"):
        check(view, "correlates", of={**BUDGET, "budget": 10}, measure="test_error", other="test_error", at_least=0)


def test_spread_largest(write: Make) -> None:
    view = write(
        records("stoptron", {"budget": 10}, online_error=errors(0.2, 0.1)),
        records("forgetron", {"budget": 10}, online_error=errors(0.2, 0.005)),
    )
    found = check(view, "spread_largest", of=STOPTRON, among={"algorithm": "forgetron"}, measure="online_error")
    assert found.outcome == SHOWN
    assert found.found == "7.91, others up to 0.40 points"
    among = {"of": STOPTRON, "among": {"algorithm": "forgetron"}, "measure": "online_error"}
    assert check(view, "spread_largest", factor=5, **among).outcome == SHOWN
    assert check(view, "spread_largest", factor=10, **among).outcome == OPEN  # 20 ± a factor of 3
    assert (
        check(view, "spread_largest", of={"algorithm": "forgetron"}, among=STOPTRON, measure="online_error").outcome
        != SHOWN
    )


def test_one_run_has_no_spread(write: Make) -> None:
    view = write(
        records("stoptron", {"budget": 10}, online_error=[0.1]),
        records("forgetron", {"budget": 10}, online_error=[0.1]),
    )
    with pytest.raises(MissingError, match="a spread needs at least 5 runs"):
        check(view, "spread_largest", of=STOPTRON, among={"algorithm": "forgetron"}, measure="online_error")


def course(errors_at: list[float], sizes_at: list[int]) -> dict[str, Any]:
    return {"seen": [25, 50, 75, 100], "online_error": errors_at, "support_size": sizes_at}


def test_tracks(write: Make) -> None:
    courses = {10: [0.4, 0.305, 0.3, 0.3], 20: [0.4, 0.35, 0.3, 0.3], 30: [0.415, 0.315, 0.315, 0.315]}
    view = write(
        records("perceptron", curve=[course([0.4, 0.3, 0.3, 0.3], [10, 20, 30, 40])] * 5),
        *(
            records("projectron", {"bound_budget": B}, curve=[course(e, [5, 9, 10, 10])] * 5)
            for B, e in courses.items()
        ),
    )

    def outcome(budget: int) -> list[str]:
        of = {"algorithm": "projectron", "budget": budget}
        found = check(view, "tracks", of=of, beside=PERCEPTRON, tolerance=1.4, furthest=2)
        return [found.outcome, *(one.outcome for one in found.comparisons)]

    assert outcome(10) == [SHOWN, SHOWN, SHOWN]
    assert outcome(20) == [REFUTED, SHOWN, REFUTED]  # once 5 points off, 1.25 on average
    assert outcome(30) == [REFUTED, REFUTED, SHOWN]  # always 1.5 off


def test_stops_improving(write: Make) -> None:
    perceptron = course([0.4, 0.3, 0.25, 0.2], [10, 20, 30, 40])
    view = write(
        records("forgetron", {"budget": 20}, curve=[course([0.4, 0.3, 0.297, 0.298], [10, 20, 20, 20])] * 5),
        records("stoptron", {"budget": 20}, curve=[course([0.4, 0.3, 0.297, 0.295], [10, 20, 20, 20])] * 5),
        records("randomized_budget_perceptron", {"budget": 50}, curve=[perceptron] * 5),
    )
    assert check(view, "stops_improving", of={"algorithm": "forgetron"}, margin=0.3).outcome == SHOWN
    assert check(view, "stops_improving", of=STOPTRON, margin=0.3).outcome == REFUTED
    with pytest.raises(MissingError, match="never was full"):
        check(view, "stops_improving", of={"algorithm": "randomized_budget_perceptron"}, margin=0.3)


def test_below_at_equal_size(write: Make) -> None:
    small = course([0.5, 0.4, 0.3, 0.2], [3, 12, 15, 15])
    view = write(
        records("perceptron", curve=[course([0.55, 0.45, 0.4, 0.35], [3, 20, 30, 40])] * 5),
        records("projectron", {"bound_budget": 9}, curve=[small] * 5),
    )
    projectron = {"algorithm": "projectron"}
    found = check(view, "below_at_equal_size", lower=projectron, upper=PERCEPTRON)
    assert found.outcome == SHOWN
    fifths = [one.interval.mean for one in found.comparisons]
    assert fifths[0] == pytest.approx(100 * (0.5 - 0.55))  # at 3 examples of 15
    assert fifths[4] == pytest.approx(100 * (0.2 - (0.55 - 0.1 * 12 / 17)))  # at 15, once nothing is stored any more
    with pytest.raises(MissingError, match="Projectron, B = 9 never had as many examples as Perceptron"):
        check(view, "below_at_equal_size", lower=PERCEPTRON, upper=projectron)


def test_always_below_is_of_each_run(write: Make) -> None:
    view = write(
        records("perceptron", test_error=[0.2, 0.3, 0.25, 0.35, 0.3, 0.22]),
        records("stoptron", {"budget": 5}, test_error=[0.19, 0.28, 0.24, 0.33, 0.29, 0.21]),
        records("forgetron", {"budget": 5}, test_error=[0.19, 0.28, 0.24, 0.33, 0.29, 0.221]),
    )
    arguments = {"upper": PERCEPTRON, "measure": "test_error"}
    assert check(view, "always_below", lower=STOPTRON, **arguments).outcome == SHOWN
    found = check(view, "always_below", lower={"algorithm": "forgetron"}, **arguments)
    assert (found.outcome, found.decisive.interval.mean) == (REFUTED, pytest.approx(0.1))
    assert check(view, "below", lower={"algorithm": "forgetron"}, **arguments).outcome == SHOWN  # the mean is


def test_part_of_the_way(write: Make) -> None:
    view = write(
        records("perceptron", test_error=errors(0.30)),
        records("forgetron", {"budget": 5}, test_error=errors(0.25, 0.011)),
        records("stoptron", {"budget": 5}, test_error=errors(0.10)),
    )
    arguments = {"of": {"algorithm": "forgetron"}, "start": PERCEPTRON, "goal": STOPTRON, "measure": "test_error"}
    found = check(view, "part_of_the_way", at_least=0.2, **arguments)
    assert (found.outcome, found.decisive.interval.mean) == (SHOWN, pytest.approx(0.25))
    assert check(view, "part_of_the_way", at_least=0.3, **arguments).outcome == REFUTED
    other = write(records("mira", test_error=errors(0.1)), name="other", order="given")
    elsewhere = {name: {**arguments[name], "experiment": "made_up"} for name in ("start", "goal")}
    with pytest.raises(ValueError, match="saw the same permutation"):
        check(other, "part_of_the_way", at_least=0.2, **arguments | elsewhere | {"of": {"algorithm": "mira"}})


def test_measures_of_a_course(write: Make) -> None:
    view = write(records("perceptron", curve=[course([0.5, 0.4, 0.35, 0.3], [10, 20, 25, 25])] * 5))
    (model,) = view.pick(PERCEPTRON)
    values = {name: model.values(name).iloc[0] for name in ("growth", "fall", "full_at")}
    assert values == pytest.approx({"growth": 0.25, "fall": 10, "full_at": 75})


def test_one_open_size_leaves_it_undecided(write: Make, sizes: Make) -> None:
    view = write(sizes("budget_perceptron", {10: 0.5, 20: 0.1}), sizes("tighter_budget_perceptron", {10: 0.1, 20: 0.1}))
    found = check(view, "below", lower=TIGHTER, upper=BUDGET, measure="test_error")
    assert found.outcome == OPEN
    assert reason(found.reason) == "5 runs do not decide 1 of 2"


def test_differences_of_opposite_sign_do_not_cancel(write: Make, sizes: Make) -> None:
    view = write(
        sizes("budget_perceptron", {10: 0.20, 20: 0.20}), sizes("tighter_budget_perceptron", {10: 0.17, 20: 0.23})
    )
    arguments = {"of": TIGHTER, "to": BUDGET, "measure": "test_error"}
    assert check(view, "close", tolerance=2, **arguments).outcome == REFUTED
    assert check(view, "close", tolerance=4, **arguments).outcome == SHOWN


def test_alike_is_shown_only_by_an_interval_inside(write: Make) -> None:
    view = write(
        records("perceptron", test_error=[0.2] * 5),
        records("budget_perceptron", {"budget": 10}, test_error=errors(0.205, 0.02)),  # 0.5 ± 1.96 points
    )
    arguments = {"of": BUDGET, "to": PERCEPTRON, "measure": "test_error"}
    outcomes = [check(view, "close", tolerance=tolerance, **arguments).outcome for tolerance in (1, 2.4, 2.5)]
    assert outcomes == [OPEN, OPEN, SHOWN]


def test_few_runs_show_nothing_and_refute_what_is_far_off_everywhere(write: Make) -> None:
    view = write(
        records("perceptron", test_error=[0.105]),
        records("budget_perceptron", {"budget": 10}, test_error=[0.11]),
        records("budget_perceptron", {"budget": 20}, test_error=[0.13]),
    )
    near, far, both = ({"lower": {**BUDGET, "budget": size}, "upper": PERCEPTRON} for size in (10, 20, [10, 20]))
    found = check(view, "below", measure="test_error", **near)
    assert found.outcome == OPEN  # half a point the wrong way: one run does not say
    assert "1 run: means compared, with widened tolerance" in reason(found.reason)
    assert check(view, "below", measure="test_error", **far).outcome == REFUTED
    assert check(view, "below", measure="test_error", **both).outcome == OPEN
    assert found.comparisons[0].p is None


def test_experiments_with_the_same_permutations_are_paired(write: Make) -> None:
    write(records("perceptron", test_error=[0.1, 0.2, 0.3, 0.4, 0.5]), name="clean")
    noisy = records("perceptron", test_error=[0.11, 0.21, 0.31, 0.41, 0.51])
    arguments = {"lower": {**PERCEPTRON, "experiment": "clean"}, "upper": PERCEPTRON, "measure": "test_error"}
    assert check(write(noisy, name="noisy", label_noise={"rate": 0.1}), "below", **arguments).outcome == SHOWN
    other = write(noisy, name="other", dataset={"name": "banana"})  # another stream: Welch's interval, too wide
    found = check(other, "below", **arguments)
    assert found.outcome == OPEN
    assert found.comparisons[0].what == "Perceptron on clean - Perceptron on other"


def test_times_that_are_not_those_of_the_others_are_no_error(write: Make) -> None:
    timed = {"test_error": [0.1] * 5, "train_seconds": [1.0] * 5}
    view = write(records("stoptron", kernel_seconds=[0.5] * 5, **timed), records("perceptron", **timed))
    with pytest.raises(MissingError, match="no train_seconds of Perceptron") as caught:
        check(view, "below", lower=STOPTRON, upper=PERCEPTRON, measure="train_seconds")
    assert caught.value.reason.kind == "untimed"
    assert reason(caught.value.reason).endswith("run it again with --fresh")


def test_what_was_not_run_is_missing(view: View) -> None:
    with pytest.raises(MissingError, match="no runs of Stoptron in made_up"):
        view.pick(STOPTRON)
    with pytest.raises(MissingError, match="no results of elsewhere"):
        view.pick({**PERCEPTRON, "experiment": "elsewhere"})
    with pytest.raises(MissingError, match="no online_error of Perceptron"):
        check(view, "between", of=PERCEPTRON, measure="online_error", at_most=1)


def test_of_several_learners_the_first_that_was_run(view: View) -> None:
    (found,) = view.pick({"algorithm": ["stoptron", "perceptron"]})
    assert found.label == "Perceptron"
