"""What every record of a folder of results is made of: plain data, of which what is known is checked."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from budgetbench.errors import dotted
from budgetbench.results.measures import LARGEST
from budgetbench.results.sizes import budgets

DEEPEST = 8
MOST = 100_000
"""Values in a parameter, and parameter sets that an `experiment.yaml` may stand for, counted before any is made."""


def _plain(value: Any) -> Any:
    """A value that JSON, pandas and print can hold: text, true or false, finite numbers, and lists and mappings."""
    ahead, seen = [(value, 0)], 0
    while ahead:
        one, depth = ahead.pop()
        seen += 1
        if isinstance(one, Mapping | list | tuple):
            if depth == DEEPEST or seen > MOST:  # a mapping may hold itself, or a small file stand for endless ones
                raise ValueError(f"at most {MOST} values, nested at most {DEEPEST} deep")
            if isinstance(one, Mapping) and not all(isinstance(name, str) for name in one):
                raise ValueError("a mapping with texts as names")
            ahead += [(inner, depth + 1) for inner in (one.values() if isinstance(one, Mapping) else one)]
        elif isinstance(one, str):
            one.encode()  # half a surrogate pair is a UnicodeEncodeError, which is a ValueError
        elif isinstance(one, int):
            if not -LARGEST <= one <= LARGEST:
                raise ValueError("an integer below 2^63")
        elif isinstance(one, float):
            if not math.isfinite(one):
                raise ValueError("a finite number")
        elif one is not None:
            raise ValueError("a text, a number, true, false, null, or a list or mapping of them")
    return value


def with_budgets(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters, or lists of their values, whose budgets are whole numbers."""
    for name in budgets():
        for value in params[name] if isinstance(params.get(name), list) else [params.get(name)]:
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
                raise ValueError(f"{name} an integer of at least 0")
    return params


Plain = Annotated[Any, AfterValidator(_plain)]
Text = Annotated[str, AfterValidator(_plain)]
Name = Annotated[Text, Field(min_length=1)]


class Checked(BaseModel):
    """A mapping of which what is known is checked; the rest is plain data."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False, frozen=True, defer_build=True)
    __pydantic_extra__: dict[str, Plain] = Field(init=False)


class Unfit(ValueError):  # noqa: N818 - says what is the case
    """Not what the schema asks for; the text says where, what was found and what is accepted."""


def problem(error: ValidationError) -> str:
    """The first problem, in one short line."""
    first = error.errors(include_url=False, include_context=False)[0]
    accepted = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    place = dotted(first["loc"])
    if first["type"] == "json_invalid":
        return "no complete JSON object"
    found = "" if first["type"] == "missing" else f"found {_short(first['input'])}; accepted: "
    return f"{place}: {found}{accepted}" if place else f"{found}{accepted}"


def _short(value: Any) -> str:
    brief = reprlib.Repr()
    brief.maxstring = brief.maxlong = brief.maxother = 60
    try:
        text = printable(brief.repr(value))
    except ValueError:  # an integer of more digits than Python prints
        text = "an endless integer"
    return text if len(text) <= 80 else f"{text[:77]}..."


def printable(text: str) -> str:
    """A text without what no file can hold."""
    return text.encode(errors="replace").decode()
