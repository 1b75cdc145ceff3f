"""Parameters declared as annotated fields: what is accepted, and how that is said."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from annotated_types import Ge, Gt, Le

from budgetbench.config.dataset import SECTION
from budgetbench.config.loading import OUTLINE
from budgetbench.errors import ParameterError
from budgetbench.kernels import kernels
from budgetbench.learners import learners
from budgetbench.parameters import (
    Accepted,
    Budget,
    Examples,
    NonNegative,
    Parameter,
    Positive,
    Size,
    check,
    declared,
    describe,
)
from budgetbench.sections import LabelNoise


@dataclass
class MadeUp:
    """Made up.

    Parameters
    ----------
    budget, size : how many examples
        are stored.
    beta : the margin.

    Attributes
    ----------
    mode : none of its parameters' lines.
    """

    budget: Budget
    beta: Annotated[float, Ge(0)] = 0.5
    mode: Literal["slow", "fast"] = "slow"
    size: Annotated[Examples, Size("q", kept=False)] | None = None


PARAMETERS, BETA = declared(MadeUp), Parameter("beta", NonNegative, ...)


def test_what_is_declared() -> None:
    assert list(PARAMETERS) == ["budget", "beta", "mode", "size"]
    assert [parameter.default for parameter in PARAMETERS.values()] == [..., 0.5, "slow", None]
    meanings = ["how many examples are stored.", "the margin.", "", "how many examples are stored."]
    assert [parameter.meaning for parameter in PARAMETERS.values()] == meanings
    assert [parameter.size for parameter in PARAMETERS.values()] == [Size("B"), None, None, Size("q", kept=False)]
    assert [parameter.unit for parameter in PARAMETERS.values()] == ["examples", "", "", "examples"]


def test_what_a_class_is_made_from_may_say_it_and_may_be_left_out() -> None:
    @dataclass
    class More(MadeUp):
        """More.

        Parameters
        ----------
        beta : another margin.
        """

        mode: Literal["slow", "fast"] = "fast"
        limits: list[float] = field(default_factory=list)

    assert declared(More)["beta"].meaning == "another margin."
    assert declared(More)["budget"].meaning == "how many examples are stored."
    assert declared(More)["limits"].default == []
    assert list(declared(More, MadeUp)) == ["limits"]


def test_what_type_and_range_do_not_say_must_be_said() -> None:
    assert describe(Annotated[list[int], Accepted("two numbers")] | None) == "two numbers"
    for annotation in (list, list[str], Annotated[tuple[int, ...], Ge(1)]):
        with pytest.raises(TypeError, match="say with `Accepted`"):
            describe(annotation)


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int, "an integer"),
        (Budget, "an integer of at least 1 and at most 2147483647"),
        (Annotated[float, Gt(0)], "a number above 0"),
        (Annotated[float, Gt(0), Le(1)], "a number above 0 and at most 1"),
        (Positive, "a number of at least 1e-30 and at most 1e+30"),
        (Literal["slow", "fast"], "slow, fast"),
        (Annotated[int, Ge(1)] | None, "an integer of at least 1"),
        (bool, "true or false"),
        (str, "a text"),
    ],
)
def test_what_is_accepted_in_words(annotation: Any, words: str) -> None:
    assert describe(annotation) == words


def test_defaults_are_filled_in() -> None:
    assert check(PARAMETERS, {"budget": 3}) == {"budget": 3, "beta": 0.5, "mode": "slow", "size": None}
    assert check(PARAMETERS, {"budget": 3, "beta": 1})["beta"] == 1.0


@pytest.mark.parametrize("number", [np.int64(3), np.int8(3), np.uint16(3)])
def test_integers_of_numpy_are_integers(number: Any) -> None:
    found = check(PARAMETERS, {"budget": number, "beta": number, "mode": np.str_("fast")})
    assert found == {"budget": 3, "beta": 3.0, "mode": "fast", "size": None}
    assert [type(value) for value in found.values()] == [int, float, str, type(None)]


@pytest.mark.parametrize("number", [1, 1.0, np.float32(1), np.float64(1), np.int64(1)])
def test_equal_numbers_come_out_alike(number: Any) -> None:
    assert repr(check(PARAMETERS, {"budget": 1, "beta": number})["beta"]) == "1.0"
    assert repr(BETA.checked(number)) == "1.0"


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, np.float32(-0.0)])
def test_zero_has_no_sign(zero: Any) -> None:
    assert repr(check(PARAMETERS, {"budget": 1, "beta": zero})["beta"]) == "0.0"
    assert repr(BETA.checked(zero)) == "0.0"


def test_truth_is_no_number() -> None:
    for value in (True, np.bool_(True)):
        with pytest.raises(ParameterError, match="accepted: a number of at least 0 and at most 1e\\+30"):
            BETA.checked(value)
        with pytest.raises(ParameterError, match="budget: found"):
            check(PARAMETERS, {"budget": value})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"budget": 2**31}, "budget: found 2147483648; accepted: an integer of at least 1 and at most 2147483647"),
        ({"budget": np.float64(3)}, "budget: found"),
        ({"budget": np.array([3])}, "budget: found"),
        ({}, "budget: found nothing; accepted: an integer of at least 1"),
        ({"budget": 0}, "budget: found 0; accepted: an integer of at least 1"),
        ({"budget": True}, "budget: found True"),
        ({"budget": "3"}, "budget: found '3'"),
        ({"budget": 2.0}, "budget: found 2.0"),
        ({"budget": 1, "beta": -1.0}, "beta: found -1.0; accepted: a number of at least 0"),
        ({"budget": 1, "beta": float("nan")}, "beta: found nan"),
        ({"budget": 1, "beta": float("inf")}, "beta: found inf"),
        ({"budget": 1, "mode": "quick"}, "mode: found 'quick'; accepted: slow, fast"),
        (
            {"budget": 1, "bugdet": 2},
            "bugdet: found 'bugdet'; accepted: budget, beta, mode, size. Did you mean 'budget'?",
        ),
    ],
    ids=str,
)
def test_all_else_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        check(PARAMETERS, values)
    assert message in str(caught.value)


def test_all_faults_are_told() -> None:
    with pytest.raises(ParameterError) as caught:
        check(PARAMETERS, {"beta": -1, "mode": "fats", "x": 1})
    assert str(caught.value).splitlines() == [
        "x: found 'x'; accepted: budget, beta, mode, size",
        "budget: found nothing; accepted: an integer of at least 1 and at most 2147483647",
        "beta: found -1; accepted: a number of at least 0",
        "mode: found 'fats'; accepted: slow, fast. Did you mean 'fast'?",
    ]
    assert [fault.parameter for fault in caught.value.faults] == ["x", "budget", "beta", "mode"]
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_misspelt_name_is_not_missing_as_well() -> None:
    with pytest.raises(ParameterError) as caught:
        check(PARAMETERS, {"bugdet": 3})
    assert len(caught.value.faults) == 1


def test_each_says_what_it_means() -> None:
    owners = {**{name: learners[name].own_parameters() for name in learners}, "experiment": OUTLINE, "dataset": SECTION}
    owners |= {name: kernels[name].parameters() for name in kernels} | {"noise": declared(LabelNoise)}
    said = [parameter for own in owners.values() for parameter in own.values()]
    assert not [parameter.name for parameter in said if not (parameter.meaning and parameter.accepted)]
    assert len(said) > 70
