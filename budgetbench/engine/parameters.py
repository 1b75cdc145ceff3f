"""Parameters of learners: declared once as annotated fields, checked alike for a config and for Python."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from budgetbench.errors import ParameterError

#: The annotations that learners' files use.
Budget = Annotated[int, Ge(1)]
Count = Annotated[int, Ge(1)]
NonNegative = Annotated[float, Ge(0)]
Positive = Annotated[float, Gt(0)]

_WORDS = {int: "an integer", float: "a number", bool: "true or false", str: "a text", type(None): "null"}


def describe(annotation: Any) -> str:
    """What an annotation accepts, in words: ``an integer of at least 1``."""
    if get_origin(annotation) is Annotated:
        base, *limits = get_args(annotation)
        bounds = []
        for limit in limits:
            if isinstance(limit, Ge):
                bounds.append(f"at least {limit.ge}")
            elif isinstance(limit, Gt):
                bounds.append(f"above {limit.gt}")
            elif isinstance(limit, Le):
                bounds.append(f"at most {limit.le}")
        text = describe(base)
        return f"{text} {'of ' if bounds and bounds[0].startswith('at') else ''}{' and '.join(bounds)}".strip()
    if get_origin(annotation) is Literal:
        return ", ".join(str(value) for value in get_args(annotation))
    if annotation in _WORDS:
        return _WORDS[annotation]
    return " or ".join(describe(part) for part in get_args(annotation))


def parameter_model(owner: str, fields: dict[str, tuple[Any, Any]]) -> type[BaseModel]:
    """A strict pydantic model of parameters given as name → (annotation, default)."""
    definitions: dict[str, Any] = dict(fields)
    config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    return create_model(owner, __config__=config, **definitions)


def check(model: type[BaseModel], fields: dict[str, tuple[Any, Any]], values: dict[str, Any]) -> dict[str, Any]:
    """`values` with the defaults filled in.

    Raises
    ------
    ParameterError
        For the first unknown name, wrong type or value out of range.
    """
    try:
        return model(**values).model_dump()
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        found = values.get(name)
        if name not in fields:
            known = ", ".join(fields) or "no parameter"
            raise ParameterError(name, found, f"one of the parameters {known}") from None
        raise ParameterError(name, found, describe(fields[name][0])) from None
