"""Parameters of learners: declared once as annotated fields, checked alike for a config and for Python."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model

from budgetbench.errors import ParameterError

#: Nothing that is counted goes beyond this, so that compiled loops can add to it and files can hold it.
LARGEST_COUNT = 2**31 - 1
#: The most times that anything is gone through again: a slip of the finger is not to run for years.
LARGEST_REPEATS = 1_000_000
#: Real parameters above 0 lie between these, where float32 and products of several have room.
SMALLEST_REAL, LARGEST_REAL = 1e-30, 1e30

#: The annotations that learners' files use.
Budget = Annotated[int, Ge(1), Le(LARGEST_COUNT)]
Count = Annotated[int, Ge(1), Le(LARGEST_COUNT)]
Repeats = Annotated[int, Ge(1), Le(LARGEST_REPEATS)]
NonNegative = Annotated[float, Ge(0), Le(LARGEST_REAL)]
Positive = Annotated[float, Ge(SMALLEST_REAL), Le(LARGEST_REAL)]

_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

_WORDS = {int: "an integer", float: "a number", bool: "true or false", str: "a text", type(None): "null"}


def describe(annotation: Any) -> str:
    """What an annotation accepts, in words: ``an integer of at least 1``."""
    if get_origin(annotation) is Annotated:
        base, *limits = get_args(annotation)
        bounds = []
        for limit in limits:
            if isinstance(limit, Ge):
                bounds.append(f"at least {_number(limit.ge)}")
            elif isinstance(limit, Gt):
                bounds.append(f"above {_number(limit.gt)}")
            elif isinstance(limit, Le):
                bounds.append(f"at most {_number(limit.le)}")
        text = describe(base)
        return f"{text} {'of ' if bounds and bounds[0].startswith('at') else ''}{' and '.join(bounds)}".strip()
    if get_origin(annotation) is Literal:
        return ", ".join(str(value) for value in get_args(annotation))
    if annotation in _WORDS:
        return _WORDS[annotation]
    return " or ".join(describe(part) for part in get_args(annotation))


def _number(limit: Any) -> str:
    return f"{limit:g}" if isinstance(limit, float) else str(limit)


def parameter_model(owner: str, fields: dict[str, tuple[Any, Any]]) -> type[BaseModel]:
    """A strict pydantic model of parameters given as name → (annotation, default)."""
    definitions: dict[str, Any] = dict(fields)
    return create_model(owner, __config__=_STRICT, **definitions)


def check(model: type[BaseModel], fields: dict[str, tuple[Any, Any]], values: dict[str, Any]) -> dict[str, Any]:
    """`values` as plain Python numbers and texts, with the defaults filled in.

    Equal numbers come out equal to the last character (1 and NumPy's 1 as 1.0 for a real parameter, -0.0 as 0.0).

    Raises
    ------
    ParameterError
        For the first unknown name, wrong type or value out of range.
    """
    try:
        complete = model(**{name: plain(value) for name, value in values.items()}).model_dump()
        return {name: _unsigned_zero(value) for name, value in complete.items()}
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        found = values.get(name)
        if name not in fields:
            known = ", ".join(fields) or "no parameter"
            raise ParameterError(name, found, f"one of the parameters {known}") from None
        raise ParameterError(name, found, describe(fields[name][0])) from None


def checked(name: str, annotation: Any, value: Any) -> Any:
    """One value as a plain one of its type, as `check` has it; `ParameterError` names it `name`."""
    try:
        return _unsigned_zero(_adapter(annotation).validate_python(plain(value)))
    except ValidationError:
        raise ParameterError(name, value, describe(annotation)) from None


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation, config=ConfigDict(strict=True, allow_inf_nan=False))


def plain(value: Any) -> Any:
    """A NumPy scalar as Python's own, anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _unsigned_zero(value: Any) -> Any:
    return value + 0.0 if isinstance(value, float) else value
