"""An experiment: what to run, on what, how often, and what to show of it, with every default filled in.

It is a value, which the reader of configurations makes, and which everything that runs or shows an experiment asks.
What a section takes is declared by its fields (`budgetbench.parameters`).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from annotated_types import Ge, Le
from pydantic import AfterValidator

from budgetbench.errors import ConfigError
from budgetbench.parameters import (
    DIFFERENT,
    ONE_OR_SEVERAL,
    Accepted,
    Count,
    Examples,
    FolderName,
    Fraction,
    Repeats,
    Text,
)

if TYPE_CHECKING:
    from budgetbench.kernels import Kernel

#: Counted in every key: raise it when a change alters streams, noise or kernel values.
REVISION = 2


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
    limit : take the first so many alone.
    redraw : draw a generated set anew in each run.
    """

    name: Annotated[str, Accepted("the name of a dataset")]
    positive: Labels | None = None
    multiclass: Literal["one_vs_rest"] | None = None
    scale: Steps = ("none",)
    scale_on: Literal["train", "all"] = "train"
    variant: Text | None = None
    train_size: Examples | None = None
    test_size: Examples | None = None
    limit: Examples | None = None
    redraw: bool = False
    #: What only this dataset takes, such as the path of a user's file.
    options: dict[str, Any] = field(default_factory=dict)

    def resolved(self) -> dict[str, Any]:
        """The section as plain data, its options among its own keys."""
        plain = {name: value for name, value in vars(self).items() if name != "options"}
        for name in ("positive", "scale"):
            values = plain[name]
            plain[name] = None if values is None else values[0] if len(values) == 1 else list(values)
        return plain | self.options

    @property
    def fits_scale(self) -> bool:
        """Whether scaling needs to know other rows than the one that is scaled."""
        return bool({"standard", "minmax", "range"} & set(self.scale))

    @property
    def fits_columns(self) -> bool:
        """Whether inputs are made of a table's columns as the training rows teach: what fills gaps, which words."""
        return "categorical" in self.options and (
            self.options["categorical"] is not None or self.options["missing"] in ("mean", "most_frequent")
        )

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


@dataclass(frozen=True)
class Table:
    """How the table of results is laid out.

    Parameters
    ----------
    layout : which columns it has.
    """

    layout: Annotated[str, Accepted("the name of a layout")]


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

    @property
    def searched(self) -> dict[str, tuple[Any, ...]]:
        """Where one parameter set is chosen: the parameters with the values among which it is."""
        return {name: values for name, values in self.grid.items() if self.select and len(values) > 1}

    def resolved(self) -> dict[str, Any]:
        """The entry as plain data that is read back as the same entry."""
        values = {name: list(values) if len(values) > 1 else values[0] for name, values in self.grid.items()}
        return {"name": self.name, **({"select": self.select} if self.select else {}), **values}


class Places(Protocol):
    """The file that an experiment was read from, as far as errors need it."""

    def problem(self, key: tuple[str | int, ...], found: Any, accepted: str, hint: str = "") -> ConfigError:
        """An error with file and line."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What to run, on what, how often, and what to show. The fields are the configuration's keys.

    Parameters
    ----------
    name : of the folder of results.
    title : in tables and figures.
    reproduces : what of which paper.
    dataset : which data, and how it is prepared.
    label_noise : labels that are flipped on purpose.
    kernel : of all algorithms.
    order : how the examples arrive.
    permutations : how many runs there are, each with an order of its own.
    epochs : of learners which were given none of their own: their parameter sets hold it.
    seed : of all that is drawn.
    checkpoints : points of the curve that an online learner's run leaves.
    algorithms : learners, each with a grid of its parameters.
    plots : the figures; None where the results decide which suit them.
    table : the table; None where the results decide which suits them.
    """

    name: FolderName
    title: str
    reproduces: Reproduces | None = None
    dataset: DatasetSection
    label_noise: LabelNoise = LabelNoise(rate=0.0)
    kernel: Kernel
    order: Literal["shuffled", "given"] = "shuffled"
    permutations: Count = 1
    epochs: Repeats = 1
    seed: Seed = 0
    checkpoints: Checkpoints = 200
    algorithms: tuple[Algorithm, ...]
    plots: tuple[dict[str, Any], ...] | None = None
    table: Table | None = None

    #: Where it was read, for errors that only the data brings to light.
    source: Places | None = field(default=None, compare=False, repr=False)

    def placed(self, error: ConfigError) -> ConfigError:
        """An error that was found later, with file and line."""
        if self.source is None:
            return error
        return self.source.problem(error.key, error.found, error.accepted, error.hint)

    @property
    def parameter_sets(self) -> list[tuple[Algorithm, Parameters]]:
        """What is done in each run, in this order: every parameter set of every entry."""
        return [(algorithm, params) for algorithm in self.algorithms for params in algorithm.trials]

    @property
    def n_trials(self) -> int:
        """How many trials there are; none is made to count them."""
        return self.permutations * sum(len(algorithm.trials) for algorithm in self.algorithms)

    def permutation(self, data: str | None = None) -> dict[str, Any]:
        """All that determines which examples are seen, and with the number of the run, in which order.

        Runs of two experiments that agree in it are compared pair by pair, as they saw the same permutation: of other
        labels, perhaps, or on another scale.

        Parameters
        ----------
        data : names the content of the dataset; where it is not known, what the configuration says of it does.
        """
        section = self.dataset
        return {
            "data": data or [section.name, section.variant, section.options, section.redraw],
            "split": [section.train_size, section.test_size],
            "limit": section.limit,
            "order": self.order,
            "seed": self.seed,
        }

    def stream(self, data: str | None = None) -> dict[str, Any]:
        """All that determines what the learners see: with the number of the run, each run's stream."""
        section = self.dataset
        what = self.permutation(data) | {
            "positive": None if section.positive is None else sorted(map(str, section.positive)),
            "scale": [step for step in section.scale if step != "none"],
            "noise": asdict(self.label_noise) if self.label_noise.rate else None,
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
        plain = asdict(replace(self, source=None))
        del plain["source"]
        return plain | {
            "dataset": self.dataset.resolved(),
            "kernel": {"name": self.kernel.name, **plain["kernel"]},
            "algorithms": [algorithm.resolved() for algorithm in self.algorithms],
            "plots": None if self.plots is None else [dict(plot) for plot in self.plots],
        }
