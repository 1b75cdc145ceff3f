"""The parts of a configuration: their keys, types, defaults, and in words what each accepts.

Each field's description is what an error says is accepted. Types are strict: ``"5"`` and ``true`` are no integers.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
)
from pydantic.fields import FieldInfo

from budgetbench.config.document import Document
from budgetbench.config.problems import NOTHING, Key, Problem, hint_for
from budgetbench.parameters import LARGEST_COUNT, LARGEST_REPEATS, describe

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
Count = Annotated[StrictInt, Ge(1), Le(LARGEST_COUNT)]
Repeats = Annotated[StrictInt, Ge(1), Le(LARGEST_REPEATS)]
#: Whole numbers up to here are exact in every reader of JSON and in tables with gaps.
Seed = Annotated[StrictInt, Ge(0), Le(2**53)]
#: Points of a curve, which stands in every record.
Checkpoints = Annotated[StrictInt, Ge(0), Le(100_000)]
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
    permutations: Count = Field(default=1, description=describe(Count))
    epochs: Repeats = Field(default=1, description=describe(Repeats))
    seed: Seed = Field(default=0, description=describe(Seed))
    checkpoints: Checkpoints = Field(default=200, description=describe(Checkpoints))
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
    scale_on: Literal["train", "all"] = Field(default="train", description="train, all")
    variant: Text | None = Field(default=None, description="a text")
    train_size: Count | None = Field(default=None, description=describe(Count))
    test_size: Count | None = Field(default=None, description=describe(Count))
    limit: Count | None = Field(default=None, description=describe(Count))
    redraw: StrictBool = Field(default=False, description="true, false")
    #: What only this dataset takes, such as the path of a user's file.
    options: dict[str, Any] = Field(default_factory=dict, exclude=True)

    @property
    def fits_scale(self) -> bool:
        """Whether scaling needs to know other rows than the one that is scaled."""
        return bool({"standard", "minmax", "range"} & set(self.scale))

    @property
    def inputs_differ(self) -> bool:
        """Whether each run has inputs of its own: drawn anew, or scaled by what it trains on."""
        return self.redraw or (self.train_size is not None and self.fits_scale and self.scale_on == "train")


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
