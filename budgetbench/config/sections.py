"""The parts of a configuration: their keys, types, defaults, and in words what each accepts.

Each field's description is what an error says is accepted. Types are strict: ``"5"`` and ``true`` are no integers.
"""

from __future__ import annotations

import re
import sys
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StrictBool,
    StrictStr,
    ValidationError,
)
from pydantic.fields import FieldInfo

from budgetbench.config.document import Document
from budgetbench.config.problems import NOTHING, Key, Problem
from budgetbench.errors import nearest

FOLDER_NAME = "a folder name: up to 100 letters, digits, '.', '_' and '-', starting with a letter or a digit"


class Section(BaseModel):
    """A mapping of the configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _class_label(value: Any) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("neither an integer nor a text")
    return value


def _listed(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value if value is None else (value,)


def _distinct(values: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    if values is not None and (not values or len(set(values)) < len(values)):
        raise ValueError("empty, or one value twice")
    return values


def _steps(values: tuple[str, ...]) -> tuple[str, ...]:
    if "none" in values and len(values) > 1:
        raise ValueError("none stands alone")
    return values


def is_folder_name(name: Any) -> bool:
    """Whether a folder or file can be called so on every system, and stays where it is put."""
    fits = isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name)
    return bool(fits) and not name.endswith(".")


def _folder_name(name: str) -> str:
    if not is_folder_name(name):
        raise ValueError("not a safe folder name")
    return name


Text = Annotated[StrictStr, Field(min_length=1)]
Count = Annotated[int, Field(strict=True, ge=1)]
Label = Annotated[int | str, PlainValidator(_class_label)]
Labels = Annotated[tuple[Label, ...] | None, BeforeValidator(_listed), AfterValidator(_distinct)]
Steps = Annotated[
    tuple[Literal["none", "standard", "minmax", "range", "unit"], ...],
    BeforeValidator(_listed),
    AfterValidator(_distinct),
    AfterValidator(_steps),
]


class Outline(Section):
    """The top level. What needs more than a type to be judged is taken as it is, and judged by its own module."""

    name: Annotated[StrictStr, AfterValidator(_folder_name)] = Field(description=FOLDER_NAME)
    title: Text | None = Field(default=None, description="a text")
    reproduces: Any = Field(default=None, description="a mapping with the keys paper, item")
    dataset: Any = Field(description="a mapping with the key name")
    label_noise: Any = Field(default=None, description="a mapping with the key rate")
    kernel: Any = Field(description="a mapping such as {name: rbf, gamma: 0.5}")
    order: Literal["shuffled", "given"] = Field(default="shuffled", description="shuffled, given")
    permutations: Count = Field(default=1, description="an integer of at least 1")
    epochs: Count = Field(default=1, description="an integer of at least 1")
    seed: Annotated[int, Field(strict=True, ge=0)] = Field(default=0, description="an integer of at least 0")
    checkpoints: Annotated[int, Field(strict=True, ge=0)] = Field(default=200, description="an integer of at least 0")
    algorithms: Any = Field(description="a list of mappings, each with a name")
    plots: Any = Field(default=None, description="a list of mappings, each with a kind")
    table: Any = Field(default=None, description="a mapping with the key layout")


class Reproduces(Section):
    """What of which paper an experiment reproduces."""

    paper: Text = Field(description="a text such as weston2005")
    item: Text = Field(description="a text such as Figure 10")


class DatasetSection(Section):
    """Which data, and how it is prepared for a run."""

    name: StrictStr = Field(description="the name of a dataset")
    positive: Labels = Field(default=None, description="a class (an integer or a text) or a list of different classes")
    scale: Steps = Field(
        default=("none",), description="none, standard, minmax, range, unit, or a list of different ones without none"
    )
    variant: Text | None = Field(default=None, description="a text")
    train_size: Count | None = Field(default=None, description="an integer of at least 1")
    test_size: Count | None = Field(default=None, description="an integer of at least 1")
    limit: Count | None = Field(default=None, description="an integer of at least 1")
    redraw: StrictBool = Field(default=False, description="true, false")
    #: What only this dataset takes, such as the path of a user's file.
    options: dict[str, Any] = Field(default_factory=dict, exclude=True)


class LabelNoise(Section):
    """Flipped labels; drawn anew in each run."""

    rate: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(description="a number from 0 to 1")
    mode: Literal["exact", "bernoulli"] = Field(default="exact", description="exact, bernoulli")
    on: Literal["train", "all"] = Field(default="train", description="train, all")


class Table(Section):
    """How the table of results is laid out."""

    layout: StrictStr = Field(description="the name of a layout")


def validated(model: type[Section], document: Document, key: Key, raw: Any, problems: list[Problem]) -> Any:
    """The section read from `raw`, or None with its problems noted."""
    known = [name for name in model.model_fields if name != "options"]
    if not isinstance(raw, dict):
        problems.append(document.problem(key, raw, f"a mapping with the keys {', '.join(known)}"))
        return None
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            first, *rest = detail["loc"]
            here = (*key, first, *rest) if isinstance(raw.get(str(first)), list) else (*key, first)
            if detail["type"] == "extra_forbidden":
                problems.append(unknown_key(document, here, known))
                continue
            found = NOTHING if detail["type"] == "missing" else _printable(detail["input"])
            field: FieldInfo = model.model_fields[str(first)]
            hint = nearest(found, (field.description or "").split(", ")) if detail["type"] == "literal_error" else ""
            problems.append(document.problem(here, found, field.description or "", hint))
    return None


def unknown_key(document: Document, key: Key, known: list[str]) -> Problem:
    """The problem of a key that does not exist."""
    return document.problem(key, key[-1], ", ".join(known), nearest(key[-1], known))


def _printable(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def check_type(hint: Any, value: Any) -> bool:
    """Whether a value is of the type int, float, bool or str, as strictly as the sections are; no NaN or infinity."""
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    return isinstance(value, hint) and not (isinstance(value, bool) and hint is not bool)
