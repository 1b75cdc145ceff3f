"""The top level of a configuration, and how a section is read: what each key accepts is said where it is declared."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le
from pydantic import AfterValidator, Field, StrictInt, StrictStr, ValidationError
from pydantic.fields import FieldInfo

from budgetbench.config.document import Document
from budgetbench.config.problems import NOTHING, Key, Problem, hint_for
from budgetbench.experiment import Count, Section, Text
from budgetbench.parameters import LARGEST_REPEATS, describe

FOLDER_NAME = "a folder name: up to 100 letters, digits, '.', '_' and '-', starting with a letter or a digit"

Repeats = Annotated[StrictInt, Ge(1), Le(LARGEST_REPEATS)]
#: Whole numbers up to here are exact in every reader of JSON and in tables with gaps.
Seed = Annotated[StrictInt, Ge(0), Le(2**53)]
#: Points of a curve, which stands in every record.
Checkpoints = Annotated[StrictInt, Ge(0), Le(100_000)]


def is_folder_name(name: Any) -> bool:
    """Whether a folder or file can be called so on every system, and stays where it is put."""
    fits = isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name)
    return bool(fits) and not name.endswith(".")


def _folder_name(name: str) -> str:
    if not is_folder_name(name):
        raise ValueError("not a safe folder name")
    return name


class Outline(Section):
    """The top level. What needs more than a type to be judged is taken as it is, and judged by its own module."""

    name: Annotated[StrictStr, AfterValidator(_folder_name)] = Field(description=FOLDER_NAME)
    title: Text | None = Field(default=None, description="a text")
    reproduces: Any = Field(default=None, description="a mapping with the keys paper, item")
    dataset: Any = Field(description="a mapping with the key name")
    label_noise: Any = Field(default=None, description="a mapping with the key rate")
    kernel: Any = Field(description="a mapping such as {name: rbf, gamma: 0.5}")
    order: Literal["shuffled", "given"] = Field(default="shuffled", description="shuffled, given")
    permutations: Count = Field(default=1, description=describe(Count))
    epochs: Repeats = Field(default=1, description=describe(Repeats))
    seed: Seed = Field(default=0, description=describe(Seed))
    checkpoints: Checkpoints = Field(default=200, description=describe(Checkpoints))
    algorithms: Any = Field(description="a list of mappings, each with a name")
    plots: Any = Field(default=None, description="a list of mappings, each with a kind")
    table: Any = Field(default=None, description="a mapping with the key layout")


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
                note_unknown_key(document, here, known, problems)
                continue
            found = NOTHING if detail["type"] == "missing" else _printable(detail["input"])
            field: FieldInfo = model.model_fields[str(first)]
            names = (field.description or "").split(", ")
            hint = hint_for(found, names, problems) if detail["type"] == "literal_error" else ""
            problems.append(document.problem(here, found, field.description or "", hint))
    return None


def note_unknown_key(document: Document, key: Key, known: list[str], problems: list[Problem]) -> None:
    """Note a key that does not exist."""
    problems.append(document.problem(key, key[-1], ", ".join(known), hint_for(key[-1], known, problems)))


def _printable(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
