"""What holds for every registered learner, whatever it is; a new one is found and tested without a word here.

The checks themselves are `budgetbench.testing`, which third parties run on learners of theirs.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from budgetbench.errors import ParameterError
from budgetbench.learners import Perceptron, learners
from budgetbench.testing import Check, check_learner, learner_checks
from budgetbench.testing.cases import noisy, parameter_sets, state

CHECKS = [
    pytest.param(check, id=f"{name} {check}".replace("/", "")) for name in learners
    for check in learner_checks(learners[name])
]  # fmt: skip


@pytest.mark.parametrize("check", CHECKS)
def test_every_learner(check: Check) -> None:
    check()


def test_the_suite_has_found_the_learners() -> None:
    assert {"perceptron", "budget_perceptron", "tighter_budget_perceptron", "svm"} <= set(learners)
    assert {"size": "variable", "update": "mira"} not in parameter_sets(learners["perceptron"])
    tighter = parameter_sets(learners["tighter_budget_perceptron"])
    assert any(values.get("removal") == "before_insertion" for values in tighter)


def test_a_mapped_file_is_learnt_from(tmp_path: Path) -> None:
    X, y = noisy()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert state(Perceptron(gamma=0.8).fit(mapped, y)) == state(Perceptron(gamma=0.8).fit(X, y))


class Forgetful(Perceptron):
    """Forgets what it has learnt when it is asked."""

    def predict(self, X: object) -> object:
        self._learnt = False
        return super().predict(X)


class Loose(Perceptron):
    """Takes any parameter for granted."""

    @classmethod
    def checked(cls, values: dict[str, object]) -> dict[str, object]:
        return dict(values)


@pytest.mark.parametrize(
    ("learner", "check", "words"),
    [
        (Forgetful, "zero_rows_and_labels_of_any_kind_are_learnt", "not fitted yet"),
        (Loose, "wrong_parameters_are_refused_when_fitting", "nothing was raised"),
    ],
)
def test_what_is_amiss_is_named(learner: type[Perceptron], check: str, words: str) -> None:
    with pytest.raises(AssertionError, match=rf"{learner.__name__}: {check} .*{words}"):
        check_learner(learner, beta=0.0)


def test_a_learner_that_needs_more_is_given_it() -> None:
    class Demanding(Perceptron):
        @classmethod
        def checked(cls, values: dict[str, object]) -> dict[str, object]:
            raise ParameterError("secret", None, "the magic word")

    with pytest.raises(AssertionError, match="no parameters found that Demanding accepts"):
        check_learner(Demanding)
