"""Runs beside the bounds of their learners: kept, broken by one mistake, and not to be told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.results import records

from budgetbench.archive import data_identity
from budgetbench.engine.bounds import Comparators
from budgetbench.results.comparators import write_comparators
from budgetbench.verdicts import published, statements, words
from budgetbench.verdicts.checking import verdict
from budgetbench.verdicts.evidence import MissingError
from budgetbench.verdicts.model import FAILS, HOLDS, NOT_RUN
from budgetbench.verdicts.selection import View
from budgetbench.verdicts.statistics import REFUTED, SHOWN
from budgetbench.verdicts.writing import markdown

Make = Callable[..., Any]

PERCEPTRON = {"algorithm": "perceptron"}


@pytest.fixture
def tight(write: Make) -> Make:
    """Perceptrons on 30 examples that share nothing: beside ‖g‖ = √30, D₁ = 0 they make 30 mistakes at most."""

    def made(*mistakes: int, comparators: bool = True, name: str = "adult9") -> View:
        view = write(records("perceptron", online_mistakes=list(mistakes), train_size=[30] * len(mistakes)), name=name)
        results = view.results()
        g = Comparators(np.array([0.0, np.sqrt(30.0)]), np.array([60.0, 0.0]), 1.0)
        if comparators:
            key = results.experiment.examples_key(data_identity(results.folder), 0)
            write_comparators(results.folder, {key: g})
        return view

    return made


def test_a_bound_is_met_and_one_mistake_more_breaks_it(tight: Make) -> None:
    kept = statements["within_bound"](tight(12, 30), of=PERCEPTRON)
    assert (kept.outcome, kept.found) == (SHOWN, "1.00 of the bound at most")
    assert kept.decisive.what == "Perceptron: 30 mistakes of 30 at most, beside ‖g‖ = 5.5, D₁ = 0"
    assert (kept.decisive.least, kept.decisive.rounds) == (pytest.approx(0.4), 30)
    broken = statements["within_bound"](tight(12, 31), of=PERCEPTRON)
    assert (broken.outcome, broken.corrected, broken.found) == (REFUTED, REFUTED, "1 of 1 break it")


@pytest.mark.parametrize(("mistakes", "outcome"), [((30,), HOLDS), ((31,), FAILS)])
def test_one_run_decides(mistakes: Any, outcome: Any, tight: Make) -> None:
    claim = next(one for one in published("orabona2008").claims if one.id.endswith("perceptron_keeps_its_bound"))
    found = verdict(claim, tight(*mistakes))
    assert (found.outcome, found.said.basis, found.reason) == (outcome, "theorem", None)
    page = markdown([found])
    assert "| Perceptron | adult9 | 1 | mistakes | " in page
    assert "1 proved" in words.apart([found])


def test_without_comparators_it_is_not_run(tight: Make) -> None:
    claim = next(one for one in published("orabona2008").claims if one.id.endswith("perceptron_keeps_its_bound"))
    found = verdict(claim, tight(3, 4, comparators=False))
    assert (found.outcome, found.unanswered) == (NOT_RUN, False)
    assert words.reason(found.reason).startswith("no comparators of 2 of the 2 streams of adult9; budgetbench bounds")


def test_comparators_of_other_examples_do_not_count(tight: Make, write: Make) -> None:
    tight(3, 4)
    view = write(records("perceptron", online_mistakes=[3, 4]), name="adult9", label_noise={"rate": 0.1})
    with pytest.raises(MissingError, match="no comparators"):
        statements["within_bound"](view, of=PERCEPTRON)


def test_a_learner_without_a_theorem_is_told(write: Make) -> None:
    view = write(records("stoptron", {"budget": 10}, online_mistakes=[3]))
    results = view.results()
    key = results.experiment.examples_key(data_identity(results.folder), 0)
    write_comparators(results.folder, {key: Comparators(np.zeros(1), np.ones(1), 1.0)})
    with pytest.raises(MissingError, match=r"no theorem bounds the mistakes of Stoptron, B = 10"):
        statements["within_bound"](view, of={"algorithm": "stoptron"})
