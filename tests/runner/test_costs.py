"""What runs are taken to cost, and where a Gram matrix pays."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from budgetbench.learners import learners
from budgetbench.runner.costs import cost_of, evenly, gram_pays, value_of
from budgetbench.runner.plan import Trial, plan
from budgetbench.sparse import SparseRows
from budgetbench.streams import LearningProblem

N = 20_000


@pytest.fixture
def pays(experiment: Any) -> Any:
    """Whether a Gram matrix pays for some algorithms in some runs."""

    def pays(algorithms: str, runs: int = 1, only: int | None = None, **how: Any) -> bool:
        wanted = experiment(f"algorithms={algorithms}", f"permutations={runs}")
        X = np.ones((N, 2), dtype=np.float32)
        problem = LearningProblem(X, np.zeros(N, dtype=np.int64), np.array([-1, 1]), N, "")
        return gram_pays(plan(wanted, lambda run: "")[:only], wanted, replace(problem, **how), N)

    return pays


def test_a_small_budget_needs_none_and_many_learners_without_one_do(pays: Any) -> None:
    assert not pays("[{name: forgetron, budget: [100, 500]}]")
    assert not pays("[{name: forgetron, budget: [100, 500]}]", runs=50)
    assert not pays("[{name: perceptron}]")
    assert pays("[{name: perceptron}]", runs=50)
    assert not pays("[{name: perceptron}]", runs=50, only=2)  # the others are there


def test_it_pays_for_learners_that_see_the_training_set_as_a_whole(pays: Any) -> None:
    assert pays("[{name: svm, C: [1, 10, 100]}]")
    assert not pays("[{name: svm, C: 1}]")


def test_what_a_learner_looks_at_counts_as_kept(pays: Any) -> None:
    tighter = "[{name: tighter_budget_perceptron, budget: 50, evaluate: %s}]"
    assert not pays(tighter % "support", runs=6)
    assert pays(tighter % "all", runs=6)


def test_a_matrix_of_more_rows_than_are_learnt_from_costs_more(pays: Any) -> None:
    assert pays("[{name: perceptron}]", runs=20)
    assert not pays("[{name: perceptron}]", runs=20, n_train=3 * N)


def test_inputs_make_a_value_cost_more_and_zeros_do_not() -> None:
    X = np.zeros((50, 640), dtype=np.float32)
    assert value_of(X) == 1.0
    X[:, :64] = 1
    assert value_of(X) == value_of(SparseRows.of(X)) == 2.0


def test_learners_say_what_they_keep() -> None:
    assert learners["forgetron"].keeps({"budget": 7, "epochs": 1}) == 7
    assert learners["perceptron"].keeps({"epochs": 1}) is None
    tighter = learners["tighter_budget_perceptron"]
    assert tighter.keeps({"budget": 7, "evaluate": "random", "evaluation_size": 30}) == 37
    assert tighter.keeps({"budget": 7, "evaluate": "all"}) == math.inf


def test_parts_cost_about_the_same_and_keep_their_order() -> None:
    trials = [Trial("forgetron", {"budget": budget}, 0, str(budget)) for budget in (600, 100, 200, 300, 800)]
    parts = evenly(trials, 2, N)
    assert [[trial.params["budget"] for trial in part] for part, _ in parts] == [[200, 800], [600, 100, 300]]
    assert sum(cost for _, cost in parts) == sum(cost_of(trial, N) for trial in trials)
    assert max(cost for _, cost in parts) < 1.3 * min(cost for _, cost in parts)
    assert sorted(len(part) for part, _ in evenly(trials[:2], 5, N)) == [1, 1]
