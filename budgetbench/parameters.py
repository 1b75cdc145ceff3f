"""Parameters, declared once: what learners, kernels, datasets, figures and the sections of a configuration take.

A class declares them as the annotated fields of a dataclass: an annotation is a type with its range, and says with a
mark what else there is to know; what a parameter means is a line under ``Parameters`` in the docstring of the class, or
of one that it is made from. `declared` reads them, `check` judges values by them, whether they come from a file or from
Python, and `describe` says what is accepted, in errors, lists and documentation alike.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache, cached_property
from inspect import getdoc, signature
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from annotated_types import Ge, Le, MinLen
from pydantic import AfterValidator, BeforeValidator, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from budgetbench.errors import NOTHING, ParameterError, ParameterErrors

#: Nothing that is counted goes beyond this, so that compiled loops can add to it and files can hold it.
LARGEST_COUNT = 2**31 - 1
#: The most times that anything is gone through again: a slip of the finger is not to run for years.
LARGEST_REPEATS = 1_000_000
#: Real parameters above 0 lie between these, where float32 and products of several have room.
SMALLEST_REAL, LARGEST_REAL = 1e-30, 1e30


@dataclass(frozen=True)
class Accepted:
    """A mark: what is accepted, in words, where type and range do not say it."""

    words: str


@dataclass(frozen=True)
class Unit:
    """A mark: what a number counts or measures."""

    name: str


@dataclass(frozen=True)
class Size:
    """A mark: the parameter says how many examples a learner keeps, or looks at.

    Results that differ in how many a learner keeps make a line of a figure and a group of a table, and points of two
    learners are compared where what they have of the same sign is equal.

    Attributes
    ----------
    sign : what it is called in print, such as B; None for a size that is no number of examples.
    kept : whether it is the number of those that are stored.
    """

    sign: str | None
    kept: bool = True


@dataclass(frozen=True)
class Later:
    """A mark: the parameter came when there were results already.

    Where it has its default it is no part of a run's key, so that what was done without it counts.
    """


#: The annotations that declarations share.
#: What a learner that needs a budget has where none is given.
USUAL_BUDGET = 100
Budget = Annotated[int, Ge(1), Le(LARGEST_COUNT), Unit("examples"), Size("B")]
Examples = Annotated[int, Ge(1), Le(LARGEST_COUNT), Unit("examples")]
Count = Annotated[int, Ge(1), Le(LARGEST_COUNT)]
Repeats = Annotated[int, Ge(1), Le(LARGEST_REPEATS)]
NonNegative = Annotated[float, Ge(0), Le(LARGEST_REAL)]
Positive = Annotated[float, Ge(SMALLEST_REAL), Le(LARGEST_REAL)]
Fraction = Annotated[float, Ge(0), Le(1), Accepted("a number from 0 to 1")]

Text = Annotated[str, MinLen(1), Accepted("a text")]


_IS_SAFE = StringConstraints(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?$")
_SAFE = "name: up to 100 letters, digits, '.', '_' and '-', starting with a letter or a digit"
#: What a folder or a file can be called on every system, and stays where it is put.
FolderName = Annotated[str, _IS_SAFE, Accepted(f"a folder {_SAFE}")]
FileName = Annotated[str, _IS_SAFE, Accepted(f"a file {_SAFE}")]


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else (value,)


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values or len(set(values)) < len(values):
        raise ValueError("empty, or one value twice")
    return values


class _OneOrSeveral(BeforeValidator):
    def __get_pydantic_json_schema__(self, inner: Any, made: Callable[[Any], Any]) -> dict[str, Any]:
        several = made(inner)
        return {"anyOf": [several["items"], several]}


class _Different(AfterValidator):
    def __get_pydantic_json_schema__(self, inner: Any, made: Callable[[Any], Any]) -> dict[str, Any]:
        return {**made(inner), "minItems": 1, "uniqueItems": True}


#: Marks of a tuple: one value alone stands for itself, and none comes twice.
ONE_OR_SEVERAL, DIFFERENT = _OneOrSeveral(_listed), _Different(_distinct)


@dataclass(frozen=True)
class Parameter:
    """One parameter, as it was declared.

    Attributes
    ----------
    default : its value where none is given; `...` where one must be.
    meaning : one line, as the docstring has it.
    """

    name: str
    annotation: Any
    default: Any
    meaning: str = ""

    @property
    def accepted(self) -> str:
        return describe(self.annotation)

    @property
    def usual(self) -> str:
        """Its default as a configuration writes it; nothing where there is none, or none that is a plain value."""
        return as_written(self.default)

    @property
    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of its values, with meaning and default."""
        words = f"{self.meaning.rstrip('.')} ({self.accepted})." if self.meaning else f"{self.accepted}."
        usual = {} if self.default in (None, ...) else {"default": plain(self.default)}
        made = _adapter(self.annotation).json_schema()
        if made.get("additionalProperties") is True:  # which some versions of pydantic say, and all mean
            del made["additionalProperties"]
        return made | {"description": words} | usual

    @cached_property
    def size(self) -> Size | None:
        """What size it is, if it is one."""
        return next((mark for mark in _marks(self.annotation) if isinstance(mark, Size)), None)

    @property
    def unit(self) -> str:
        return next((mark.name for mark in _marks(self.annotation) if isinstance(mark, Unit)), "")

    @property
    def later(self) -> bool:
        """Whether it came when there were results already."""
        return any(isinstance(mark, Later) for mark in _marks(self.annotation))

    def checked(self, value: Any) -> Any:
        """The value as a plain one of its type; `ParameterErrors` says all that is wrong with it."""
        value = plain(value)
        try:
            return _unsigned_zero(_adapter(self.annotation).validate_python(value))
        except ValidationError as error:
            raise ParameterErrors(*self._faults(value, error)) from None

    def _faults(self, value: Any, error: ValidationError) -> list[ParameterError]:
        """One for each wrong entry of a list, or one for the whole value."""
        places = [next((part for part in each["loc"] if isinstance(part, int)), None) for each in error.errors()]
        held = dict.fromkeys(place for place in places if place is not None) if isinstance(value, list) else ()
        names = choices(self.annotation)
        return [
            ParameterError(self.name, found, self.accepted, names=names, within=within)
            for within, found in ([((place,), value[place]) for place in held] if held else [((), value)])
        ]


Parameters = Mapping[str, Parameter]


def keywords(function: Callable[..., Any]) -> dict[str, Parameter]:
    """The keyword-only parameters of a function, as its signature declares them."""
    hints, named = get_type_hints(function, include_extras=True), signature(function).parameters.values()
    return {
        one.name: Parameter(one.name, hints[one.name], ... if one.default is one.empty else one.default)
        for one in named
        if one.kind is one.KEYWORD_ONLY
    }


def declared(owner: type, shared: type = object, names: dict[str, Any] | None = None) -> dict[str, Parameter]:
    """The parameters that a dataclass declares, in order, without those of the class `shared` that it is made from.

    `names` are what its annotations name and its module does not import.
    """
    hints, meanings = get_type_hints(owner, localns=names, include_extras=True), _meanings(owner)
    left_out = getattr(shared, "__dataclass_fields__", {})
    found = {}
    for field in fields(owner):
        if field.init and field.name not in left_out:
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            default = ... if default is MISSING else default
            found[field.name] = Parameter(field.name, hints[field.name], default, meanings.get(field.name, ""))
    return found


def unknown(values: Mapping[str, Any], names: Parameters | list[str]) -> list[ParameterError]:
    """A fault for each of the values whose name is not among `names`."""
    accepted = ", ".join(names) or "no parameter"
    return [ParameterError(name, name, accepted, names=names) for name in values if name not in names]


def missing(values: Mapping[str, Any], parameters: Parameters) -> list[ParameterError]:
    """A fault for each parameter that must be given and is not, unless one that is unknown was probably meant to be."""
    strange = [name for name in values if name not in parameters]
    return [
        ParameterError(name, NOTHING, parameter.accepted)
        for name, parameter in parameters.items()
        if parameter.default is ... and name not in values and not difflib.get_close_matches(name, strange, n=1)
    ]


def check(parameters: Parameters, values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` as plain Python numbers and texts, with the defaults filled in.

    Equal numbers come out equal to the last character (1 and NumPy's 1 as 1.0 for a real parameter, -0.0 as 0.0).

    Raises
    ------
    ParameterErrors
        For every unknown name, wrong type, value out of range, and all that is missing.
    """
    faults, complete = [*unknown(values, parameters), *missing(values, parameters)], {}
    for name, parameter in parameters.items():
        complete[name] = parameter.default
        if name in values:
            try:
                complete[name] = parameter.checked(values[name])
            except ParameterErrors as error:
                faults += error.faults
    if faults:
        raise ParameterErrors(*faults)
    return complete


def describe(annotation: Any) -> str:
    """What an annotation accepts, in words: ``an integer of at least 1``. Null, for left out, is not mentioned."""
    marks = list(_marks(annotation))
    said = [mark.words for mark in marks if isinstance(mark, Accepted)]
    if said:
        return said[-1]
    bounds = [f"{words} {_number(getattr(mark, limit))}" for mark in marks for limit, words in _LIMITS.items()
              if hasattr(mark, limit)]  # fmt: skip
    text = _kind(annotation)
    return f"{text} {'of ' if bounds and bounds[0].startswith('at') else ''}{' and '.join(bounds)}".strip()


_LIMITS = {"ge": "at least", "gt": "above", "le": "at most"}
_WORDS = {int: "an integer", float: "a number", bool: "true or false", str: "a text"}


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is Annotated:
        return _kind(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return ", ".join(map(str, get_args(annotation)))
    if annotation in _WORDS:
        return _WORDS[annotation]
    if get_origin(annotation) not in (Union, UnionType):
        raise TypeError(f"{annotation}: say with `Accepted` what is accepted")
    return " or ".join(_kind(part) for part in get_args(annotation) if part is not type(None))


def choices(annotation: Any) -> tuple[str, ...]:
    """The words among which an annotation lets choose, wherever in it they stand."""
    if get_origin(annotation) is Literal:
        return tuple(map(str, get_args(annotation)))
    return tuple(choice for part in get_args(annotation) for choice in choices(part))


def _marks(annotation: Any) -> Iterator[Any]:
    """What is said of an annotation beside its type, the outermost last; of a choice, what is said of its parts."""
    if get_origin(annotation) is Annotated:
        base, *marks = get_args(annotation)
        yield from _marks(base)
        yield from marks
    elif get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from _marks(part)


def _number(limit: Any) -> str:
    return f"{limit:g}" if isinstance(limit, float) else str(limit)


def _meanings(owner: type) -> dict[str, str]:
    """Name → what its line under ``Parameters`` says, in the docstrings of a class and of those it is made from."""
    found: dict[str, str] = {}
    for cls in reversed(owner.__mro__):
        text = (getdoc(cls) or "") if cls.__doc__ else ""
        _, _, section = text.partition("\nParameters\n----------\n")
        section = re.split(r"\n\w+\n-{3,}\n", section)[0]
        for names, meaning in re.findall(r"^(\w[\w, ]*) : (.*(?:\n +.*)*)", section, re.MULTILINE):
            found |= dict.fromkeys(names.split(", "), " ".join(meaning.replace("`", "").split()))
    return found


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation, config=ConfigDict(strict=True, allow_inf_nan=False))


def plain(value: Any) -> Any:
    """A value as a file holds it: NumPy's numbers as Python's own, paths as texts, sequences as lists."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def as_written(value: Any) -> str:
    """A value as a configuration writes it; nothing for what is left out, and for what is no plain value."""
    value = plain(value)
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    known = isinstance(value, bool | int | float | str | list)
    return json.dumps(value, ensure_ascii=False).strip('"') if known else ""


def _unsigned_zero(value: Any) -> Any:
    return value + 0.0 if isinstance(value, float) else value
