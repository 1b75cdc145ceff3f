"""Parameters declared as annotated fields: what is accepted, and how that is said."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
import pytest
from annotated_types import Ge, Gt, Le

from budgetbench.engine.base import require_one_of
from budgetbench.errors import ParameterError
from budgetbench.parameters import Budget, NonNegative, Positive, check, checked, describe, parameter_model

FIELDS: dict[str, tuple[Any, Any]] = {
    "budget": (Budget, ...),
    "beta": (Annotated[float, Ge(0)], 0.5),
    "mode": (Literal["slow", "fast"], "slow"),
    "size": (Budget | None, None),
}
MODEL = parameter_model("made_up", FIELDS)


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int, "an integer"),
        (Budget, "an integer of at least 1 and at most 2147483647"),
        (Annotated[float, Gt(0)], "a number above 0"),
        (Annotated[float, Gt(0), Le(1)], "a number above 0 and at most 1"),
        (Positive, "a number of at least 1e-30 and at most 1e+30"),
        (Literal["slow", "fast"], "slow, fast"),
        (Annotated[int, Ge(1)] | None, "an integer of at least 1 or null"),
        (bool, "true or false"),
        (str, "a text"),
    ],
)
def test_what_is_accepted_in_words(annotation: Any, words: str) -> None:
    assert describe(annotation) == words


def test_defaults_are_filled_in() -> None:
    assert check(MODEL, FIELDS, {"budget": 3}) == {"budget": 3, "beta": 0.5, "mode": "slow", "size": None}
    assert check(MODEL, FIELDS, {"budget": 3, "beta": 1})["beta"] == 1.0


@pytest.mark.parametrize("number", [np.int64(3), np.int8(3), np.uint16(3)])
def test_integers_of_numpy_are_integers(number: Any) -> None:
    found = check(MODEL, FIELDS, {"budget": number, "beta": number, "mode": np.str_("fast")})
    assert found == {"budget": 3, "beta": 3.0, "mode": "fast", "size": None}
    assert [type(value) for value in found.values()] == [int, float, str, type(None)]


@pytest.mark.parametrize("number", [1, 1.0, np.float32(1), np.float64(1), np.int64(1)])
def test_equal_numbers_come_out_alike(number: Any) -> None:
    assert repr(check(MODEL, FIELDS, {"budget": 1, "beta": number})["beta"]) == "1.0"
    assert repr(checked("beta", NonNegative, number)) == "1.0"


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, np.float32(-0.0)])
def test_zero_has_no_sign(zero: Any) -> None:
    assert repr(check(MODEL, FIELDS, {"budget": 1, "beta": zero})["beta"]) == "0.0"
    assert repr(checked("beta", NonNegative, zero)) == "0.0"


def test_truth_is_no_number() -> None:
    for value in (True, np.bool_(True)):
        with pytest.raises(ParameterError, match="accepted: a number of at least 0 and at most 1e\\+30"):
            checked("beta", NonNegative, value)
        with pytest.raises(ParameterError, match="budget: found"):
            check(MODEL, FIELDS, {"budget": value})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"budget": 2**31}, "budget: found 2147483648; accepted: an integer of at least 1 and at most 2147483647"),
        ({"budget": np.float64(3)}, "budget: found"),
        ({"budget": np.array([3])}, "budget: found"),
        ({}, "budget: found None; accepted: an integer of at least 1"),
        ({"budget": 0}, "budget: found 0; accepted: an integer of at least 1"),
        ({"budget": True}, "budget: found True"),
        ({"budget": "3"}, "budget: found '3'"),
        ({"budget": 2.0}, "budget: found 2.0"),
        ({"budget": 1, "beta": -1.0}, "beta: found -1.0; accepted: a number of at least 0"),
        ({"budget": 1, "beta": float("nan")}, "beta: found nan"),
        ({"budget": 1, "beta": float("inf")}, "beta: found inf"),
        ({"budget": 1, "mode": "quick"}, "mode: found 'quick'; accepted: slow, fast"),
        ({"budget": 1, "bugdet": 2}, "bugdet: found 2; accepted: one of the parameters budget, beta, mode, size"),
    ],
    ids=str,
)
def test_all_else_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        check(MODEL, FIELDS, values)
    assert message in str(caught.value)


def test_one_of_several() -> None:
    require_one_of({"a": 1, "b": None}, ("a", "b"))
    with pytest.raises(ParameterError, match=r"a: found None; accepted: exactly one of a, b"):
        require_one_of({"a": None, "b": None}, ("a", "b"))
    with pytest.raises(ParameterError, match=r"b: found 2; accepted: exactly one of a, b"):
        require_one_of({"a": 1, "b": 2}, ("a", "b"))
