"""An experiment: what to run, on what, how often, and what to show of it, with every default filled in.

It is a value, which the reader of configurations makes, and which everything that runs or shows an experiment asks.
Each field of a section has a description: what an error says is accepted. Types are strict: ``"5"`` and ``true`` are no
integers.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

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
)

from budgetbench.errors import ConfigError
from budgetbench.parameters import LARGEST_COUNT, describe

if TYPE_CHECKING:
    from budgetbench.kernels import Kernel

#: Counted in every key: raise it when a change alters streams, noise or kernel values.
REVISION = 2


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


Text = Annotated[StrictStr, Field(min_length=1)]
Count = Annotated[StrictInt, Ge(1), Le(LARGEST_COUNT)]
Label = Annotated[int | str, PlainValidator(_class_label)]
Labels = Annotated[tuple[Label, ...] | None, BeforeValidator(_listed), AfterValidator(_distinct)]
Steps = Annotated[
    tuple[Literal["none", "standard", "minmax", "range", "unit"], ...],
    BeforeValidator(_listed),
    AfterValidator(_distinct),
    AfterValidator(_steps),
]


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

    def resolved(self) -> dict[str, Any]:
        """The section as plain data, its options among its own keys."""
        plain = self.model_dump()
        for name in ("positive", "scale"):
            values = plain[name]
            plain[name] = None if values is None else values[0] if len(values) == 1 else list(values)
        return plain | self.options

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


Parameters = dict[str, Any]


@dataclass(frozen=True)
class Algorithm:
    """One entry of the list of algorithms.

    Attributes
    ----------
    name : the learner's own name, never an alias.
    revision : the learner's, which is raised when it computes something else than before.
    select : the measure by which tables and figures choose one parameter set (the lowest), or None to show all.
    grid : parameter → its values; every parameter of the learner is there.
    trials : the parameter sets of the grid, complete, the learner's first parameter varying slowest.
    """

    name: str
    revision: int
    select: str | None
    grid: dict[str, tuple[Any, ...]]
    trials: tuple[Parameters, ...]

    def resolved(self) -> dict[str, Any]:
        """The entry as plain data that is read back as the same entry."""
        values = {name: list(values) if len(values) > 1 else values[0] for name, values in self.grid.items()}
        return {"name": self.name, **({"select": self.select} if self.select else {}), **values}


class Places(Protocol):
    """The file that an experiment was read from, as far as errors need it."""

    def problem(self, key: tuple[str | int, ...], found: Any, accepted: str, hint: str = "") -> ConfigError:
        """An error with file and line."""


@dataclass(frozen=True)
class Experiment:
    """What to run, on what, how often, and what to show. The fields are the configuration's keys.

    Where `plots` or `table` is None the results decide which figures and which table suit them. `epochs` is that of
    learners which were given none of their own: their parameter sets hold it.
    """

    name: str
    title: str
    reproduces: Reproduces | None
    dataset: DatasetSection
    label_noise: LabelNoise
    kernel: Kernel
    order: str
    permutations: int
    epochs: int
    seed: int
    checkpoints: int
    algorithms: tuple[Algorithm, ...]
    plots: tuple[dict[str, Any], ...] | None
    table: Table | None

    #: Where it was read, for errors that only the data brings to light.
    source: Places | None = field(default=None, compare=False, repr=False)

    def placed(self, error: ConfigError) -> ConfigError:
        """An error that was found later, with file and line."""
        if self.source is None:
            return error
        return self.source.problem(error.key, error.found, error.accepted, error.hint)

    def stream(self, data: Any) -> dict[str, Any]:
        """All that determines what the learners see: with the number of the run, each run's stream.

        Parameters
        ----------
        data : names the content of the dataset.
        """
        section = self.dataset
        what = {
            "data": data,
            "positive": None if section.positive is None else sorted(map(str, section.positive)),
            "scale": [step for step in section.scale if step != "none"],
            "split": [section.train_size, section.test_size],
            "limit": section.limit,
            "noise": self.label_noise.model_dump() if self.label_noise.rate else None,
            "order": self.order,
            "seed": self.seed,
        }
        if section.fits_scale and section.scale_on != ("train" if section.train_size is None else "all"):
            what["scale_on"] = section.scale_on  # where it differs from what was done before there was a choice
        return what

    def key(self, data: str, algorithm: Algorithm, params: Parameters, run: int) -> str:
        """16 hexadecimal digits that depend on what determines a trial's outcome, and on nothing else.

        Not on the experiment's name, its other algorithms or their number of runs, nor on the order of the keys.
        """
        what = self.stream(data) | {
            "revision": REVISION,
            "kernel": {"name": self.kernel.name, **asdict(self.kernel)},
            "algorithm": [algorithm.name, algorithm.revision],
            "params": params,
            "run": run,
        }
        text = json.dumps(what, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def examples_differ(self) -> bool:
        """Whether runs differ in more than the order in which the same examples arrive."""
        return bool(self.dataset.redraw or self.dataset.train_size is not None or self.label_noise.rate)

    def resolved(self) -> dict[str, Any]:
        """Plain data with names canonical and defaults written out; read again it is the same experiment."""
        return {
            "name": self.name,
            "title": self.title,
            "reproduces": self.reproduces.model_dump() if self.reproduces else None,
            "dataset": self.dataset.resolved(),
            "label_noise": self.label_noise.model_dump(),
            "kernel": {"name": self.kernel.name, **asdict(self.kernel)},
            "order": self.order,
            "permutations": self.permutations,
            "epochs": self.epochs,
            "seed": self.seed,
            "checkpoints": self.checkpoints,
            "algorithms": [algorithm.resolved() for algorithm in self.algorithms],
            "plots": None if self.plots is None else [dict(plot) for plot in self.plots],
            "table": self.table.model_dump() if self.table else None,
        }
