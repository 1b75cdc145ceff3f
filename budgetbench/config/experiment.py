"""An experiment: a configuration that was found to be right, with every default filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from budgetbench.config.algorithms import Algorithm, Parameters
from budgetbench.config.dataset import resolved_dataset
from budgetbench.config.document import Document, dump
from budgetbench.config.kernel import resolved_kernel
from budgetbench.config.sections import DatasetSection, LabelNoise, Reproduces, Table
from budgetbench.errors import ConfigError, RequestError, clipped, nearest
from budgetbench.kernels import Kernel
from budgetbench.learners import learners


@dataclass(frozen=True)
class Experiment:
    """What to run, on what, how often, and what to show. The fields are the configuration's keys.

    Where `plots` or `table` is None the results decide which figures and which table suit them.
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

    #: The file that it was read from, for errors that only the data brings to light.
    document: Document | None = field(default=None, compare=False, repr=False)

    def placed(self, error: ConfigError) -> ConfigError:
        """An error that was found later, with file and line."""
        if self.document is None:
            return error
        return self.document.problem(error.key, error.found, error.accepted, error.hint)

    def trial_parameters(self) -> list[tuple[str, list[Parameters]]]:
        """For each entry of `algorithms` its learner's name and its complete parameter sets."""
        return [(algorithm.name, [dict(trial) for trial in algorithm.trials]) for algorithm in self.algorithms]

    def only(self, names: Sequence[str]) -> Experiment:
        """The experiment with the algorithms of these names (or aliases) alone.

        Raises
        ------
        RequestError
            For a name that the configuration does not have.
        """
        present = list(dict.fromkeys(algorithm.name for algorithm in self.algorithms))
        wanted = {learners.canonical(name): name for name in names}
        for canonical, name in wanted.items():
            if canonical not in present:
                message = f"--only {clipped(name)}: {self.name} has no such algorithm; accepted: {', '.join(present)}"
                raise RequestError(f"{message}. {nearest(name, present)}".rstrip())
        return replace(self, algorithms=tuple(entry for entry in self.algorithms if entry.name in wanted))

    def resolved(self) -> dict[str, Any]:
        """Plain data with names canonical and defaults written out; read again it is the same experiment."""
        return {
            "name": self.name,
            "title": self.title,
            "reproduces": self.reproduces.model_dump() if self.reproduces else None,
            "dataset": resolved_dataset(self.dataset),
            "label_noise": self.label_noise.model_dump(),
            "kernel": resolved_kernel(self.kernel),
            "order": self.order,
            "permutations": self.permutations,
            "epochs": self.epochs,
            "seed": self.seed,
            "checkpoints": self.checkpoints,
            "algorithms": [algorithm.resolved() for algorithm in self.algorithms],
            "plots": None if self.plots is None else [dict(plot) for plot in self.plots],
            "table": self.table.model_dump() if self.table else None,
        }

    def to_yaml(self) -> str:
        """`resolved` as a configuration file's text."""
        return dump(self.resolved())
