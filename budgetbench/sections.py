"""The sections of a configuration that say what data is used and what a table is like, as values.

What a section takes is declared by its fields (`budgetbench.parameters`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Le, Lt
from pydantic import AfterValidator

from budgetbench.parameters import DIFFERENT, ONE_OR_SEVERAL, Accepted, Examples, Fraction, Text


def _steps(values: tuple[str, ...]) -> tuple[str, ...]:
    if "none" in values and len(values) > 1:
        raise ValueError("none stands alone")
    return values


Labels = Annotated[
    tuple[int | str, ...],
    ONE_OR_SEVERAL,
    DIFFERENT,
    Accepted("a class (an integer or a text) or a list of different classes"),
]
Steps = Annotated[
    tuple[Literal["none", "standard", "minmax", "range", "unit"], ...],
    ONE_OR_SEVERAL,
    DIFFERENT,
    AfterValidator(_steps),
    Accepted("none, standard, minmax, range, unit, or a list of different ones without none"),
]
#: Whole numbers up to here are exact in every reader of JSON and in tables with gaps.
Seed = Annotated[int, Ge(0), Le(2**53)]


#: A part of the training set: how many of its examples, or which share of them.
Part = Annotated[
    Annotated[int, Ge(1)] | Annotated[float, Gt(0), Lt(1)],
    Accepted("an integer of at least 1, or a share above 0 and below 1"),
]
#: What is held out where something is chosen by the validation error and nothing else is said.
VALIDATION_SIZE = 0.2

#: Points of a curve, which stands in every record.
Checkpoints = Annotated[int, Ge(0), Le(100_000)]


@dataclass(frozen=True)
class Reproduces:
    """What of which paper an experiment reproduces.

    Parameters
    ----------
    paper : its key.
    item : the table or figure.
    """

    paper: Annotated[Text, Accepted("a text such as weston2005")]
    item: Annotated[Text, Accepted("a text such as Figure 10")]


#: Steps of scaling that need to know other rows than the one that is scaled.
FITTED = frozenset({"standard", "minmax", "range"})
#: Keys of a dataset that mean something where it is a stream, and nothing elsewhere.
OF_STREAMS = ("classes", "scale_by", "shuffle_buffer")


@dataclass(frozen=True)
class DatasetSection:
    """Which data, and how it is prepared for a run.

    Parameters
    ----------
    name : which dataset.
    positive : the classes that are set against the rest; left out: the classes as they are.
    multiclass : how learners of two classes learn more of them: one learner for each class, set against the rest.
    scale : how inputs are scaled, step by step.
    scale_on : the examples that tell the scale.
    variant : the form of a dataset that has several.
    train_size, test_size : split all examples anew in each run, into so many.
    validation_size : how many of the training examples, or which share of them, each run holds out: they are drawn
        anew, not learnt from, and tell the validation error.
    limit : take the first so many alone.
    redraw : draw a generated set anew in each run.
    stream : read it in parts, one pass in the order of the file, and never hold it; for data larger than memory.
    classes : of a stream the classes that will come; left out: those of its first rows.
    scale_by : of a stream what tells the scale: a first pass over it, or all rows so far.
    shuffle_buffer : of a stream how many rows wait for a random time, so that it comes in another order than that of
        the file, which it has without.
    """

    name: Annotated[str, Accepted("the name of a dataset")]
    positive: Labels | None = None
    multiclass: Literal["one_vs_rest"] | None = None
    scale: Steps = ("none",)
    scale_on: Literal["train", "all"] = "train"
    variant: Text | None = None
    train_size: Examples | None = None
    test_size: Examples | None = None
    validation_size: Part | None = None
    limit: Examples | None = None
    redraw: bool = False
    stream: bool = False
    classes: Labels | None = None
    scale_by: Literal["first_pass", "running"] = "first_pass"
    shuffle_buffer: Examples | None = None
    #: What only this dataset takes, such as the path of a user's file.
    options: dict[str, Any] = field(default_factory=dict)

    def resolved(self) -> dict[str, Any]:
        """The section as plain data, its options among its own keys."""
        left_out = {"options"} if self.stream else {"options", "stream", *OF_STREAMS}
        plain = {name: value for name, value in vars(self).items() if name not in left_out}
        for name in {"positive", "scale", "classes"} & set(plain):
            values = plain[name]
            plain[name] = None if values is None else values[0] if len(values) == 1 else list(values)
        return plain | self.options

    @property
    def fits_scale(self) -> bool:
        """Whether scaling needs to know other rows than the one that is scaled."""
        return bool(FITTED & set(self.scale))

    def held_out(self, n: int) -> int:
        """How many of n training examples are for validation."""
        size = self.validation_size or 0
        return size if isinstance(size, int) else max(1, round(size * n))

    @property
    def fits_columns(self) -> bool:
        """Whether inputs are made of a table's columns as the training rows teach: what fills gaps, which words."""
        return "categorical" in self.options and (
            self.options["categorical"] is not None or self.options["missing"] in ("mean", "most_frequent")
        )

    @property
    def tests_differ(self) -> bool:
        """Whether each run is tested on examples of its own."""
        return self.redraw or self.train_size is not None

    @property
    def inputs_differ(self) -> bool:
        """Whether each run has inputs of its own: drawn anew, or made or scaled by what it trains on."""
        fitted = self.fits_columns or (self.fits_scale and self.scale_on == "train")
        return self.redraw or (self.train_size is not None and fitted)


@dataclass(frozen=True)
class LabelNoise:
    """Flipped labels; drawn anew in each run.

    Parameters
    ----------
    rate : the share of labels that are flipped.
    mode : exactly that share, or each label with that probability.
    on : the examples whose labels may be flipped.
    """

    rate: Fraction
    mode: Literal["exact", "bernoulli"] = "exact"
    on: Literal["train", "all"] = "train"


NO_NOISE = LabelNoise(rate=0.0)


@dataclass(frozen=True)
class Table:
    """How the table of results is laid out.

    Parameters
    ----------
    layout : which columns it has.
    """

    layout: Annotated[str, Accepted("the name of a layout")]
