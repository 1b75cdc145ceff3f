"""An experiment: what to run, on what, how often, and what to show of it, with every default filled in.

It is a value, which the reader of configurations makes, and which everything that runs or shows an experiment asks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from budgetbench.errors import ConfigError
from budgetbench.parameters import Count, FolderName, Repeats
from budgetbench.sections import NO_NOISE, Checkpoints, DatasetSection, LabelNoise, Reproduces, Seed, Table

if TYPE_CHECKING:
    from budgetbench.kernels import Kernel
    from budgetbench.sparse import Inputs

#: Counted in every key: raise it when a change alters streams, noise or kernel values.
REVISION = 2

#: The measures by which one of several parameter sets can be chosen.
SELECTIONS = ("test_error", "validation_error")
#: Begins the names of a kernel's parameters among those of a learner, where an experiment has several kernels.
KERNEL = "kernel."

Parameters = dict[str, Any]


def without_kernel(params: Mapping[str, Any]) -> Parameters:
    """The learner's parameters in a parameter set, without those of the kernel."""
    return {name: value for name, value in params.items() if not name.startswith(KERNEL)}


@dataclass(frozen=True)
class KernelGrid:
    """Several kernels, which differ in their numbers; each parameter set of each learner is run with all of them.

    Attributes
    ----------
    select : the measure by which one is chosen for each learner, or None to show all.
    """

    kernels: tuple[Kernel, ...]
    select: str | None = None

    @property
    def axes(self) -> dict[str, tuple[Any, ...]]:
        """The parameters in which they differ, with their values."""
        return {
            name: values
            for name in self.kernels[0].plain
            if len(values := tuple(dict.fromkeys(kernel.plain[name] for kernel in self.kernels))) > 1
        }

    @property
    def plain(self) -> dict[str, Any]:
        """As a configuration has it."""
        lists = {name: list(values) for name, values in self.axes.items()}
        return self.kernels[0].plain | lists | ({"select": self.select} if self.select else {})


@dataclass(frozen=True)
class Algorithm:
    """One entry of the list of algorithms.

    Attributes
    ----------
    name : the learner's own name, never an alias.
    revision : the learner's, which is raised when it computes something else than before.
    select : the measure by which tables and figures choose one parameter set (the lowest) for each size, or None to
        show all.
    grid : parameter → its values; every parameter of the learner is there, and those in which kernels differ.
    trials : the parameter sets of the grid, complete, the learner's first parameter varying slowest.
    select_kernel : as `select`, for the kernels; where both are given they are the same.
    sizes : parameters that set how much the learner keeps: each of their values has a best of its own.
    packages : where the learner is not ours: its package with the version, and others that it needs.
    later : parameters with their defaults that came when there were results already; at these they are not in keys.
    title : what it is called in tables and figures, where that is not the learner's own title.
    entry : how it is written, where that is not a mapping of its name and parameters.
    """

    name: str
    revision: int
    select: str | None
    grid: dict[str, tuple[Any, ...]]
    trials: tuple[Parameters, ...]
    select_kernel: str | None = None
    sizes: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    later: Mapping[str, Any] = field(default_factory=dict)
    title: str | None = None
    entry: dict[str, Any] | None = None

    @property
    def chosen_by(self) -> str | None:
        """The measure by which parameter sets are chosen, if any are."""
        return self.select or self.select_kernel

    def is_searched(self, name: str) -> bool:
        """Whether the best value of a parameter is looked for."""
        return bool(self.select_kernel if name.startswith(KERNEL) else self.select and name not in self.sizes)

    @property
    def searched(self) -> dict[str, tuple[Any, ...]]:
        """Where one parameter set is chosen: the parameters with the values among which it is."""
        return {name: values for name, values in self.grid.items() if self.is_searched(name) and len(values) > 1}

    def told_by_key(self, params: Parameters) -> Parameters:
        """Those of the parameters that tell a run from others: all but those at a default that nobody could change."""
        return {name: value for name, value in params.items() if name not in self.later or value != self.later[name]}

    def crossed(self, grid: KernelGrid) -> Algorithm:
        """Each of its parameter sets with each of the kernels."""
        axes = grid.axes
        widths = [{KERNEL + name: kernel.plain[name] for name in axes} for kernel in grid.kernels]
        return replace(
            self,
            grid=without_kernel(self.grid) | {KERNEL + name: values for name, values in axes.items()},
            trials=tuple(params | width for params in _different(map(without_kernel, self.trials)) for width in widths),
            select_kernel=grid.select,
        )

    def resolved(self) -> dict[str, Any]:
        """The entry as plain data that is read back as the same entry."""
        if self.entry is not None:
            return self.entry
        values = {
            name: list(values) if len(values) > 1 else values[0] for name, values in without_kernel(self.grid).items()
        }
        return {"name": self.name, **({"select": self.select} if self.select else {}), **values}


def _different(sets: Iterable[Parameters]) -> list[Parameters]:
    return list({json.dumps(params, sort_keys=True): params for params in sets}.values())


def _digest(what: Mapping[str, Any]) -> str:
    text = json.dumps(what, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Places(Protocol):
    """The file that an experiment was read from, as far as errors need it."""

    def problem(self, key: tuple[str | int, ...], found: Any, accepted: str, hint: str = "") -> ConfigError:
        """An error with file and line."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What to run, on what, how often, and what to show. The fields are the configuration's keys.

    Parameters
    ----------
    name : of the experiment, and of its folder of results.
    title : in tables and figures.
    reproduces : what of which paper.
    dataset : which data, and how it is prepared.
    label_noise : labels that are flipped on purpose.
    kernel : of all algorithms; where there are several kernels, the first.
    order : how the examples arrive.
    permutations : how many runs there are, each with an order of its own.
    epochs : of learners which were given none of their own: their parameter sets hold it.
    seed : of all that is drawn.
    checkpoints : points of the curve that an online learner's run leaves.
    algorithms : learners, each with a grid of its parameters.
    plots : the figures; where nothing is said (None), the results decide which suit them.
    table : the table; where nothing is said (None), the results decide which suits them.
    """

    name: FolderName
    title: str
    reproduces: Reproduces | None = None
    dataset: DatasetSection
    label_noise: LabelNoise = NO_NOISE
    kernel: Kernel
    order: Literal["shuffled", "given"] = "shuffled"
    permutations: Count = 1
    epochs: Repeats = 1
    seed: Seed = 0
    checkpoints: Checkpoints = 200
    algorithms: tuple[Algorithm, ...]
    plots: tuple[dict[str, Any], ...] | None = None
    table: Table | None = None

    #: All kernels, where there are several: `kernel` as the configuration has it.
    kernel_grid: KernelGrid | None = None
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

    def with_kernels(self, grid: KernelGrid) -> Experiment:
        """The same experiment with other kernels."""
        several = len(grid.kernels) > 1
        crossed = tuple(algorithm.crossed(grid) for algorithm in self.algorithms)
        return replace(self, kernel=grid.kernels[0], kernel_grid=grid if several else None, algorithms=crossed)

    def told_by(self, X: Inputs) -> Experiment:
        """The experiment whose kernels have numbers for what they leave to the training rows X (n, d)."""
        told = tuple(dict.fromkeys(kernel.told_by(X) for kernel in self.kernels))
        grid = self.kernel_grid or KernelGrid(told)
        return self if told == self.kernels else self.with_kernels(replace(grid, kernels=told))

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernel, or all there are."""
        return self.kernel_grid.kernels if self.kernel_grid else (self.kernel,)

    def kernel_of(self, params: Parameters) -> Kernel:
        """The kernel of a parameter set."""
        given = {name.removeprefix(KERNEL): value for name, value in params.items() if name.startswith(KERNEL)}
        return replace(self.kernel, **given) if given else self.kernel

    def permutation(self, data: str | None = None) -> dict[str, Any]:
        """All that determines which examples are seen, and with the number of the run, in which order.

        Runs of two experiments that agree in it are compared pair by pair, as they saw the same permutation: of other
        labels, perhaps, or on another scale.

        Parameters
        ----------
        data : names the content of the dataset; where it is not known, what the configuration says of it does.
        """
        section = self.dataset
        what = {
            "data": data or [section.name, section.variant, section.options, section.redraw],
            "split": [section.train_size, section.test_size],
            "limit": section.limit,
            "order": self.order,
            "seed": self.seed,
        }
        if section.shuffle_buffer is not None:
            what["buffer"] = section.shuffle_buffer
        return what if section.validation_size is None else what | {"validation": section.validation_size}

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
        if section.stream and section.fits_scale:
            what["scale_by"] = section.scale_by
        return what

    def key(self, data: str, algorithm: Algorithm, params: Parameters, run: int) -> str:
        """16 hexadecimal digits that depend on what determines a trial's outcome, and on nothing else.

        Not on the experiment's name, its other algorithms or kernels, or their number of runs, nor on the order of the
        keys.
        """
        what = self.stream(data) | {
            "revision": REVISION,
            "kernel": self.kernel_of(params).plain,
            "algorithm": [algorithm.name, algorithm.revision, *algorithm.packages],
            "params": algorithm.told_by_key(without_kernel(params)),
            "run": run,
        }
        return _digest(what)

    def examples_key(self, data: str, run: int) -> str:
        """16 hexadecimal digits that depend on which labelled examples a run sees and on the kernel, not on the order.

        Parameters
        ----------
        data : names the content of the dataset; of one that each run draws, that of the first run.
        """
        what = self.stream(data) | {"revision": REVISION, "kernel": self.kernel.plain}
        del what["order"]
        return _digest(what | {"run": run if self.examples_differ else 0})

    @property
    def examples_differ(self) -> bool:
        """Whether runs differ in more than the order in which the same examples arrive."""
        section = self.dataset
        anew = section.redraw or section.train_size is not None or section.validation_size is not None
        return bool(anew or self.label_noise.rate)

    def resolved(self) -> dict[str, Any]:
        """Plain data with names canonical and defaults written out; read again it is the same experiment."""
        plain = asdict(replace(self, source=None, kernel_grid=None))
        del plain["source"], plain["kernel_grid"]
        return plain | {
            "dataset": self.dataset.resolved(),
            "kernel": (self.kernel_grid or self.kernel).plain,
            "algorithms": [algorithm.resolved() for algorithm in self.algorithms],
            "plots": None if self.plots is None else [dict(plot) for plot in self.plots],
        }
