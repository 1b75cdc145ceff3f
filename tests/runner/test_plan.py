"""Which runs an experiment consists of, and what their keys depend on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from budgetbench import experiment as module
from budgetbench.errors import RequestError
from budgetbench.experiment import Algorithm, Experiment
from budgetbench.learners import learners
from budgetbench.results.curves import checkpoints_of
from budgetbench.runner import execute
from budgetbench.runner.costs import cost_of, parts_of
from budgetbench.runner.execute import units
from budgetbench.runner.plan import Trial, plan, to_do
from budgetbench.sections import DatasetSection, LabelNoise

CONFIG = """\
name: keys
title: Keys
dataset: {name: usps, positive: 0, scale: [minmax, unit], train_size: 400, test_size: 100, limit: 5000}
label_noise: {rate: 0.1, mode: exact, on: train}
kernel: {name: rbf, gamma: 0.5}
permutations: 2
algorithms:
  - {name: tighter_budget_perceptron, budget: 5, beta: 0.25}
"""

Keys = Callable[..., list[str]]


@pytest.fixture
def keys(experiment: Any) -> Keys:
    def keys(*overrides: str, text: str = CONFIG, identity: str = "usps/smoothed") -> list[str]:
        return [trial.key for trial in plan(experiment(*overrides, text=text), lambda run: identity)]

    return keys


def test_all_of_the_grid_in_every_run(experiment: Any) -> None:
    trials = plan(experiment("algorithms.0.budget=[3, 5]", "permutations=3", text=CONFIG), lambda run: "")
    assert [(trial.run, trial.params["budget"]) for trial in trials] == [(r, b) for r in range(3) for b in (3, 5)]
    assert len({trial.key for trial in trials}) == 6
    assert all(len(trial.key) == 16 for trial in trials)


def test_a_key_does_not_depend_on_how_the_file_is_written(keys: Keys) -> None:
    expected = keys()
    assert keys("epochs=1", "seed=0", "order=shuffled") == expected
    assert keys("algorithms=[{name: perceptron}, {beta: 0.25, budget: 5, name: tighter_budget_perceptron}]")[1::2] == (
        expected
    )
    assert keys("kernel={sigma: 1.0, name: rbf}") == expected  # γ = 1/(2σ²)
    lines = CONFIG.splitlines()
    turned = "\n".join([*lines[6:], *reversed(lines[1:6]), lines[0]]) + "\n"
    assert keys(text=turned) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("kernel={name: rbf, gamma: 1}", "kernel={name: rbf, gamma: 1.0}"),
        ("kernel={name: rbf, gamma: 1}", "kernel={name: rbf, variance: 0.5}"),
        ("kernel={name: polynomial, coef0: 0}", "kernel={name: polynomial, gamma: 1, coef0: -0.0}"),
        ("algorithms.0.beta=1", "algorithms.0.beta=1e0"),
        ("algorithms.0.beta=0", "algorithms.0.beta=-0.0"),
        ("label_noise.rate=1", "label_noise.rate=1.0"),
        ("dataset.scale=unit", "dataset={name: usps, positive: 0, scale: [unit], scale_on: all, "
         "train_size: 400, test_size: 100, limit: 5000}"),
    ],
)  # fmt: skip
def test_what_is_equal_has_equal_keys(keys: Keys, one: str, other: str) -> None:
    assert keys(one) == keys(other) != keys()


#: What a key of the configuration says something about: what all learners see (and so the outcome), the outcome alone,
#: the content of the data (which a key names by its fingerprint), or only what is shown of which runs.
STREAM, OUTCOME, DATA, SHOWN = "stream", "outcome", "data", "shown"
KEYS = {
    "name": (SHOWN, ["other"]),
    "title": (SHOWN, ["Another"]),
    "reproduces": (SHOWN, ["{paper: weston2005, item: Figure 10}"]),
    "permutations": (SHOWN, ["3"]),
    "checkpoints": (SHOWN, ["7"]),
    "plots": (SHOWN, ["[{kind: error_vs_support}]"]),
    "table": (SHOWN, ["{layout: cache}"]),
    "seed": (STREAM, ["1"]),
    "order": (STREAM, ["given"]),
    "epochs": (OUTCOME, ["2"]),
    "kernel": (
        OUTCOME,
        [
            "{name: rbf, gamma: 0.25}",
            "{name: linear}",
            "{name: polynomial, degree: 3}",
            "{name: polynomial, degree: 3, coef0: 1}",
        ],
    ),
    "algorithms": (
        OUTCOME,
        [
            "[{name: tighter_budget_perceptron, budget: 6, beta: 0.25}]",
            "[{name: tighter_budget_perceptron, budget: 5, beta: 0.5}]",
            "[{name: tighter_budget_perceptron, budget: 5, beta: 0.25, C: 2.0}]",
            "[{name: tighter_budget_perceptron, budget: 5, beta: 0.25, update: mira}]",
            "[{name: tighter_budget_perceptron, budget: 5, beta: 0.25, removal: before_insertion}]",
            "[{name: budget_perceptron, budget: 5, beta: 0.25}]",
        ],
    ),
    "dataset.name": (DATA, []),
    "dataset.variant": (DATA, ["raw"]),
    "dataset.options": (DATA, []),
    "dataset.redraw": (DATA, []),
    "dataset.positive": (STREAM, ["1", "[0, 1]"]),
    "dataset.multiclass": (SHOWN, []),  # without it who learns two classes is refused: there is no other outcome
    "dataset.scale": (STREAM, ["[unit, minmax]", "none"]),
    "dataset.scale_on": (STREAM, ["all"]),
    "dataset.train_size": (STREAM, ["399"]),
    "dataset.test_size": (STREAM, ["99"]),
    "dataset.validation_size": (STREAM, ["0.2", "40"]),
    "dataset.limit": (STREAM, ["4999"]),
    "dataset.stream": (DATA, []),
    "dataset.classes": (DATA, []),
    "dataset.scale_by": (DATA, []),  # with `stream` alone, as the next
    "dataset.shuffle_buffer": (DATA, []),
    "label_noise": (STREAM, ["null"]),
    "label_noise.rate": (STREAM, ["0.2"]),
    "label_noise.mode": (STREAM, ["bernoulli"]),
    "label_noise.on": (STREAM, ["all"]),
}


def test_it_is_known_of_every_key_of_the_configuration_what_depends_on_it() -> None:
    sections = {"dataset": DatasetSection, "label_noise": LabelNoise}
    names = {field.name for field in fields(Experiment)} - {"dataset", "kernel_grid", "source"}
    names |= {f"{section}.{field.name}" for section, kind in sections.items() for field in fields(kind)}
    assert set(KEYS) == names


def test_what_changes_a_key_and_what_changes_the_stream(keys: Keys, experiment: Any) -> None:
    stream = experiment(text=CONFIG).stream("data")
    found = {"": keys()}
    for name, (part, values) in KEYS.items():
        for value in values:
            knob = f"{name}={value}"
            assert (experiment(knob, text=CONFIG).stream("data") != stream) == (part == STREAM), knob
            if part in (STREAM, OUTCOME):
                found[knob] = keys(knob)
            else:
                assert keys(knob)[:2] == found[""], knob
    every = [key for both in found.values() for key in both]
    assert len(set(every)) == len(every) == 2 * len(found)
    assert not set(keys(identity="usps/raw")) & set(every)


def test_scaling_as_before_there_was_a_choice_keeps_its_keys(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of data split anew scaled on all rows, of other data on the training rows; the keys are of the first revision."""
    monkeypatch.setattr(module, "REVISION", 1)
    assert keys("dataset.scale_on=all")[0] == "87b9f6a0f0734c17"
    published = "dataset={name: usps, positive: 0, scale: standard, scale_on: %s}"
    assert keys(published % "train")[0] == "8154dc4cfa5fe544"
    assert keys(published % "all") != keys(published % "train")


def test_a_million_runs_are_counted_and_not_made(experiment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def key(self: Experiment, data: str, algorithm: Algorithm, params: Any, run: int) -> str:
        made.append(run)
        return f"{algorithm.name} {run}"

    monkeypatch.setattr(Experiment, "key", key)
    million = experiment("permutations=1000000", "algorithms.0.budget=[3, 5]", text=CONFIG)
    assert million.n_trials == 2_000_000
    finished = {f"tighter_budget_perceptron {run}": {"run": run} for run in (0, 7, 1_000_000, "8", None, [9])}
    assert to_do(million, lambda run: "", finished) == {"tighter_budget_perceptron": 2_000_000 - 4}
    assert sorted(made) == [0, 0, 7, 7]  # of a run's two trials both are looked for
    with pytest.raises(RequestError) as caught:
        plan(million, lambda run: "")
    assert str(caught.value) == (
        "keys: found 2000000 trials, 2 parameter sets in 1000000 runs; accepted: at most 100000 trials. "
        "Ask for at most 50000 permutations, or fewer parameter sets."
    )
    assert len(made) == 4


def test_a_revision_changes_the_key(keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    before = keys()
    monkeypatch.setattr(learners["tighter_budget_perceptron"], "revision", 99)
    middle = keys()
    monkeypatch.setattr(module, "REVISION", 99)
    assert not {*before} & {*middle}
    assert not {*middle} & {*keys()}


def test_a_parameter_that_came_later_is_in_a_key_once_it_is_asked_for(keys: Keys) -> None:
    assert keys() == ["087a8d30b2f6fbad", "51955d17220e44e0"]  # as before there were ties to break in other ways
    assert keys("algorithms.0.ties=oldest") == keys()
    assert not {*keys("algorithms.0.ties=newest")} & {*keys()}


def test_the_data_of_its_own_run_counts(experiment: Any) -> None:
    wanted = experiment(text=CONFIG)
    shared = plan(wanted, lambda run: "a")
    drawn = plan(wanted, lambda run: "ab"[run])
    assert shared[0].key == drawn[0].key
    assert shared[1].key != drawn[1].key


def test_a_key_of_no_noise_is_that_of_a_rate_of_zero(experiment: Any) -> None:
    wanted = experiment(text=CONFIG)
    zero = [replace(wanted, label_noise=LabelNoise(rate=0.0, mode=mode)) for mode in ("exact", "bernoulli")]
    assert len({plan(one, lambda run: "")[0].key for one in zero}) == 1


def grouped(experiment: Any, has_gram: bool) -> list[tuple[int, list[str], list[int]]]:
    names = ("perceptron", "svm", "stoptron")
    trials = [Trial(name, {}, run, f"{name}{run}") for run in (0, 1) for name in names]
    return [
        (unit.run, [trial.algorithm for trial in unit.trials], [trial.run for trial in unit.repeated])
        for unit in units(trials, has_gram, experiment, 100, {})
    ]


def test_units_share_what_can_be_shared(experiment: Any) -> None:
    noisy = experiment(text=CONFIG)
    for has_gram in (True, False):
        assert grouped(noisy, has_gram) == [  # what takes longest comes first
            (0, ["perceptron", "stoptron"], []),
            (1, ["perceptron", "stoptron"], []),
            (0, ["svm"], []),
            (1, ["svm"], []),
        ]


def test_a_cohort_holds_no_more_than_memory_allows(experiment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "COHORT_LIMIT", 4 * 100**2)
    budgets = [None, 60, 80, 10, 100, 300, None, 5]
    trials = [Trial("budget_perceptron", {"budget": budget}, 0, f"{budget}") for budget in budgets]
    found = [
        [trial.params["budget"] for trial in one.trials]
        for one in units(trials, False, experiment(text=CONFIG), 100, {})
    ]
    assert sorted(found, key=repr) == [[100], [10], [300], [None, 5], [None, 60, 80]]


def test_runs_without_a_full_round_of_workers_are_divided(experiment: Any) -> None:
    budgets = (10, 20, 30, 40)
    trials = [Trial("forgetron", {"budget": budget}, run, f"{budget} {run}") for run in range(5) for budget in budgets]
    found = [
        (unit.run, [trial.params["budget"] for trial in unit.trials])
        for unit in units(trials, False, experiment(text=CONFIG), 10**6, parts_of(trials, 2))
    ]
    assert found == [*((run, list(budgets)) for run in range(4)), (4, [10, 40]), (4, [20, 30])]


def test_with_a_gram_matrix_cohorts_end_before_long(experiment: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = [Trial(name, {"budget": 10}, 0, name) for name in ("forgetron", "stoptron")]
    trials.append(Trial("mira", {"budget": 10}, 0, "mira"))  # takes the stream block by block
    for long, cohorts in ((10**9, [2, 1]), (cost_of(trials[0], 100), [1, 1, 1])):
        monkeypatch.setattr(execute, "LONG", long)
        found = units(trials, True, experiment(text=CONFIG), 100, {})
        assert [len(unit.trials) for unit in found] == cohorts
        assert len(units(trials, False, experiment(text=CONFIG), 100, {})) == 1


def test_what_is_the_same_in_every_run_is_done_once(experiment: Any) -> None:
    split = ("dataset={name: usps, positive: 0}", "label_noise=null")
    assert grouped(experiment(*split, text=CONFIG), has_gram=False) == [
        (0, ["perceptron", "stoptron"], []),
        (1, ["perceptron", "stoptron"], []),
        (0, ["svm"], [1]),
    ]
    for differing in ("label_noise={rate: 0.1}", "dataset={name: gaussian, redraw: true}"):
        assert (0, ["svm"], []) in grouped(experiment(*split, differing, text=CONFIG), has_gram=False)


@pytest.mark.parametrize(("n", "checkpoints", "seen"), [(10, 5, [2, 4, 6, 8, 10]), (3, 200, [1, 2, 3]), (1, 1, [1])])
def test_checkpoints_end_with_the_last_round(n: int, checkpoints: int, seen: list[int]) -> None:
    assert checkpoints_of(n, checkpoints).tolist() == seen
