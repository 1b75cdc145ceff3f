"""What a configuration can say, as one description: for its schema, for lists, and for comments in a new one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from budgetbench.config.dataset import SECTION
from budgetbench.config.loading import OUTLINE
from budgetbench.datasets import Dataset, datasets
from budgetbench.kernels import kernels
from budgetbench.learners import learners
from budgetbench.parameters import Accepted, Parameter, Parameters, declared
from budgetbench.plots import figures
from budgetbench.registry import Registry
from budgetbench.results.layouts import LAYOUTS
from budgetbench.sections import LabelNoise, Reproduces, Table

Select = Literal["test_error", "validation_error"] | None
OF_ALGORITHM = Parameter(
    "select", Select, None, "the measure by which one parameter set is chosen for each size; left out: all are shown."
)
OF_KERNEL = Parameter("select", Select, None, "the measure by which one of several is chosen; left out: all are shown.")


@dataclass(frozen=True)
class Choice:
    """A mapping whose first key chooses an item, which says what else the mapping takes.

    Attributes
    ----------
    chosen : the key that chooses, with its meaning.
    items : the items by name.
    summary : an item in one line.
    own : the parameters that an item has of its own.
    shared : those that stand beside them, whatever the item is.
    grid : whether a parameter of an item may be a list, each of whose values is tried.
    several : whether the configuration has a list of such mappings.
    """

    chosen: Parameter
    items: Registry[Any]
    summary: Callable[[Any], str]
    own: Callable[[Any], Parameters]
    shared: Parameters
    grid: bool = False
    several: bool = False

    def parameters(self, name: str) -> dict[str, Parameter]:
        """All keys of a mapping that chooses the item of this name."""
        return {self.chosen.name: self.chosen, **self.shared, **self.own(self.items[name])}


def _of_dataset(dataset: Dataset) -> dict[str, Parameter]:
    """Its options, and its own variants."""
    variants: Any = Literal[dataset.variants] | None if dataset.variants else Literal[None]
    named = ", ".join(dataset.variants) or "nothing, as there is one"
    variant = replace(SECTION["variant"], annotation=Annotated[variants, Accepted(named)])
    return {"variant": variant, **dataset.parameters()}


#: The keys under which an item is chosen.
CHOICES = {
    "dataset": Choice(
        SECTION["name"],
        datasets,
        lambda dataset: dataset.summary,
        _of_dataset,
        {name: parameter for name, parameter in SECTION.items() if name != "name"},
    ),
    "kernel": Choice(
        Parameter("name", str, ..., "which kernel."),
        kernels,
        lambda kernel: kernel.summary,
        lambda kernel: kernel.parameters(),
        {"select": OF_KERNEL},
        grid=True,
    ),
    "algorithms": Choice(
        Parameter("name", str, ..., "which learner."),
        learners,
        lambda learner: learner.title,
        lambda learner: learner.own_parameters(),
        {"select": OF_ALGORITHM},
        grid=True,
        several=True,
    ),
    "plots": Choice(
        Parameter("kind", str, ..., "which kind of figure."),
        figures,
        lambda kind: kind.summary,
        lambda kind: kind.parameters(),
        {},
        several=True,
    ),
}
#: The keys under which always the same stands.
FIXED = {
    "reproduces": declared(Reproduces),
    "label_noise": declared(LabelNoise),
    "table": {"layout": replace(declared(Table)["layout"], annotation=Literal[tuple(LAYOUTS)])},
}
#: The keys of a configuration itself.
KEYS = OUTLINE
