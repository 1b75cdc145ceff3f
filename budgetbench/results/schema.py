"""What a record of a run has to look like, for writing and for reading it.

Names and values that are not known here pass, as results of other versions stay readable; what is known must be right,
so that nothing behind the reader has to ask again.
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from budgetbench.errors import dotted
from budgetbench.results.sizes import budgets

MEASURES = (
    "online_error",
    "margin_error",
    "test_error",
    "averaged_test_error",
    "support_size",
    "insertions",
    "removals",
    "kernel_evaluations",
    "train_seconds",
    "predict_seconds",
)
"""What means are taken of, and what a parameter set can be selected by."""
LARGEST = 2**63 - 1
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
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Fraction = Annotated[float, Field(ge=0, le=1)]
NonNegative = Annotated[float, Field(ge=0)]


class Checked(BaseModel):
    """A mapping of which what is known is checked; the rest is plain data."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False, frozen=True, defer_build=True)
    __pydantic_extra__: dict[str, Plain] = Field(init=False)


class Curve(Checked):
    """The course of a run: at each checkpoint what was seen, and what had come of it."""

    seen: Annotated[list[Count], Field(min_length=1)]
    online_error: list[Fraction]
    support_size: list[Count]

    @model_validator(mode="after")
    def _of_one_length(self) -> Curve:
        if not len(self.seen) == len(self.online_error) == len(self.support_size):
            raise ValueError("three lists of the same length")
        return self


class TrialRecord(Checked):
    """One run. What does not apply is null or left out."""

    key: Name
    status: Literal["ok", "failed"]
    algorithm: Name
    params: Annotated[dict[str, Plain], AfterValidator(with_budgets)]
    run: Count
    experiment: Text | None = None
    dataset: Text | None = None
    version: Text | None = None
    error: Text | None = None
    budget: Count | None = None
    seed: Count | None = None
    train_size: Count | None = None
    test_size: Count | None = None
    online_mistakes: Count | None = None
    margin_errors: Count | None = None
    insertions: Count | None = None
    removals: Count | None = None
    support_size: Count | None = None
    kernel_evaluations: Count | None = None
    online_error: Fraction | None = None
    test_error: Fraction | None = None
    averaged_test_error: Fraction | None = None
    train_seconds: NonNegative | None = None
    predict_seconds: NonNegative | None = None
    curve: Curve | None = None


class Unfit(ValueError):  # noqa: N818 - says what is the case
    """Not what the schema asks for; the text says where, what was found and what is accepted."""


def parsed(line: bytes) -> dict[str, Any]:
    """The record that a line of `trials.jsonl` holds.

    Raises
    ------
    Unfit : it holds none.
    """
    try:
        return TrialRecord.model_validate_json(line).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise Unfit(problem(error)) from None


def fitting(record: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """A record as it can be written, and its line.

    One that does not fit becomes that of a failed run, without the values that cannot be written; its `error` says why.
    """
    try:
        written = dict(record)
        TrialRecord.model_validate(written)
    except ValidationError as error:
        bad = {str(one["loc"][0]) for one in error.errors() if one["loc"]}
        why = f"its record cannot be written: {problem(error)}"
        written = {name: value for name, value in record.items() if name not in bad | {"error"}}
        written |= {"params": written.get("params", {}), "status": "failed", "error": _printable(why)}
        if "error" in bad:
            written["error"] = _printable(str(record["error"]))
        TrialRecord.model_validate(written)
    return written, json.dumps(written, ensure_ascii=False, allow_nan=False).encode() + b"\n"


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
        text = _printable(brief.repr(value))
    except ValueError:  # an integer of more digits than Python prints
        text = "an endless integer"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _printable(text: str) -> str:
    return text.encode(errors="replace").decode()
