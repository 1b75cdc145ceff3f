"""From a file to an experiment. Pure: the file is read, nothing else is opened, drawn or loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from budgetbench.config.algorithms import algorithms_of
from budgetbench.config.dataset import dataset_of, has_test_set, number_of_classes
from budgetbench.config.kernels import ACCEPTED, kernels_of
from budgetbench.config.streaming import check_stream
from budgetbench.document import Document, Key, read
from budgetbench.errors import ParameterError, RequestError, clipped, nearest, refuse
from budgetbench.experiment import Algorithm, Experiment, KernelGrid
from budgetbench.kernels import Kernel
from budgetbench.learners import learners
from budgetbench.parameters import Accepted, Parameter, Text, declared, plain
from budgetbench.plots import figures
from budgetbench.reading import Reading
from budgetbench.results.layouts import LAYOUTS
from budgetbench.sections import VALIDATION_SIZE, DatasetSection, LabelNoise, Reproduces, Table
from budgetbench.shipped import meant
from budgetbench.streams import misfit_of

SectionType = TypeVar("SectionType")

#: The keys that need more than a type to be judged, and whose own functions do it.
JUDGED = {
    "reproduces": "a mapping with the keys paper, item",
    "dataset": "a mapping with the key name",
    "label_noise": "a mapping with the key rate",
    "kernel": ACCEPTED,
    "algorithms": "a list of mappings, each with a name",
    "plots": "a list of mappings, each with a kind",
    "table": "a mapping with the key layout",
}
_FIELDS = declared(Experiment, names={"Kernel": Kernel})
OUTLINE = {
    name: replace(field, annotation=Annotated[Any, Accepted(JUDGED[name])]) if name in JUDGED else field
    for name, field in _FIELDS.items()
    if name not in ("kernel_grid", "source")
} | {"title": replace(_FIELDS["title"], annotation=Text | None, default=None)}
_NAME = Parameter("name", str, ..., "which one")


def load(path: str | Path, overrides: Sequence[str] = (), permutations: int | None = None) -> Experiment:
    """The experiment that a configuration file describes.

    Parameters
    ----------
    path : a YAML file, or the name of one, see `shipped.meant`.
    overrides : ``KEY=VALUE``, such as ``dataset.limit=500`` or ``algorithms.0.budget=[10, 20]``; values in YAML.
    permutations : takes the place of the file's.

    Raises
    ------
    ConfigError
        For whatever the configuration gets wrong, all of it at once, with file, line and key of each problem.
    RequestError
        For a file that cannot be read.
    """
    return made_of(read(meant(path)), overrides, permutations)


def made_of(document: Document, overrides: Sequence[str] = (), permutations: int | None = None) -> Experiment:
    """The experiment of a document, with values from the command line in place of its own; see `load`."""
    for assignment in overrides:
        document.override(assignment)
    if permutations is not None:
        document.set(("permutations",), plain(permutations), f"--permutations {permutations}")
    return interpret(document)


def restricted(experiment: Experiment, names: Sequence[str]) -> Experiment:
    """The experiment with the algorithms of these names (or aliases) alone; with all where none is named.

    Raises
    ------
    RequestError
        For a name that the configuration does not have.
    """
    present = list(dict.fromkeys(algorithm.name for algorithm in experiment.algorithms))
    wanted = {learners.canonical(name): name for name in names}
    for canonical, name in wanted.items():
        if canonical not in present:
            message = f"--only {clipped(name)}: {experiment.name} has no such algorithm; accepted: {', '.join(present)}"
            raise RequestError(f"{message}. {nearest(name, present)}".rstrip())
    kept = tuple(entry for entry in experiment.algorithms if entry.name in wanted or not wanted)
    return replace(experiment, algorithms=kept)


def interpret(document: Document) -> Experiment:
    """The experiment of a document; raises `ConfigError` with all that is wrong with it."""
    reading, data = Reading(document), document.data
    outline = reading.checked((), data, OUTLINE)
    reproduces = section_of(reading, Reproduces, "reproduces")
    noise = section_of(reading, LabelNoise, "label_noise")
    plots = plots_of(reading, data.get("plots"))
    table = table_of(reading)
    grid = kernels_of(reading, data["kernel"]) if "kernel" in data else None
    dataset = dataset_of(reading, data["dataset"]) if "dataset" in data else None
    algorithms: list[Algorithm | None] = []
    if "algorithms" in data:
        epochs, kernels = outline["epochs"] if outline else 1, len(grid.kernels) if grid else 1
        algorithms = algorithms_of(reading, data["algorithms"], epochs, kernels)
    if grid:
        _check_selections(reading, grid, algorithms)
    if dataset:
        _check_together(reading, dataset, algorithms)
        _check_test_set(reading, dataset, grid, algorithms)
        if dataset.stream:
            check_stream(reading, dataset, list(_selections(grid, algorithms)), algorithms)
    if grid:
        _check_kernel(reading, grid.kernels[0].kind, algorithms)
    refuse(reading.problems)
    if not (outline and grid and dataset):
        raise AssertionError("a part of the configuration is missing and no problem was noted")
    if dataset.stream:
        outline["order"] = "given" if dataset.shuffle_buffer is None else "shuffled"
    judged = {
        "title": outline["title"] or outline["name"],
        "reproduces": reproduces,
        "dataset": _with_validation(dataset, grid, algorithms),
        "label_noise": noise or LabelNoise(rate=0.0),
        "kernel": grid.kernels[0],
        "algorithms": tuple(algorithm for algorithm in algorithms if algorithm),
        "plots": plots,
        "table": table,
    }
    return Experiment(**(outline | judged), source=document).with_kernels(grid)


def section_of(reading: Reading, section: type[SectionType], key: str) -> SectionType | None:
    """A section without which an experiment can be; None also where problems were noted."""
    raw = reading.document.data.get(key)
    values = None if raw is None else reading.checked((key,), raw, declared(section))
    return None if values is None else section(**values)


def table_of(reading: Reading) -> Table | None:
    """The table's layout; None where the results decide which suits them."""
    table = section_of(reading, Table, "table")
    known = table and reading.named(("table",), reading.document.data["table"], LAYOUTS, "layout")
    return table if known else None


def plots_of(reading: Reading, raw: Any) -> tuple[dict[str, Any], ...] | None:
    """The figures with all their options; None where the results decide which figures suit them."""
    if raw is None:
        return None
    if not isinstance(raw, list):
        reading.note(("plots",), raw, OUTLINE["plots"].accepted)
        return None
    plots = [_plot(reading, ("plots", number), entry) for number, entry in enumerate(raw)]
    return tuple(plot for plot in plots if plot)


def _plot(reading: Reading, key: Key, raw: Any) -> dict[str, Any] | None:
    if not isinstance(raw, dict):
        reading.note(key, raw, "a mapping with a kind")
        return None
    kind = reading.named(key, raw, figures, "kind")
    return reading.checked(key, raw, {"kind": _NAME} | figures[kind].parameters()) if kind else None


def _check_kernel(reading: Reading, kernel: Kernel, algorithms: list[Algorithm | None]) -> None:
    """Note a kernel that some algorithm has no rule for; once, as it is the same for all."""
    for algorithm in filter(None, algorithms):
        try:
            for values in algorithm.trials:
                learners[algorithm.name].check_kernel(kernel, values)
        except ParameterError as error:
            reading.note(("kernel", "name"), error.found, error.accepted, error.hint)
            return


def _check_together(reading: Reading, dataset: DatasetSection, algorithms: list[Algorithm | None]) -> None:
    """Note algorithms that cannot do what the dataset asks of them."""
    classes = number_of_classes(dataset)
    for number, algorithm in enumerate(algorithms):
        if algorithm is None:
            continue
        misfit = misfit_of(algorithm, classes or 0, dataset)
        if misfit:
            reading.note(("algorithms", number, "name"), algorithm.name, *misfit)


def _selections(grid: KernelGrid | None, algorithms: list[Algorithm | None]) -> Iterator[tuple[Key, str]]:
    """Where something is chosen, and by which measure."""
    if grid and grid.select:
        yield ("kernel", "select"), grid.select
    for number, algorithm in enumerate(algorithms):
        if algorithm and algorithm.select:
            yield ("algorithms", number, "select"), algorithm.select


def _check_selections(reading: Reading, grid: KernelGrid, algorithms: list[Algorithm | None]) -> None:
    """Note where an entry and the kernel are to be chosen by different measures: they are chosen together."""
    for key, select in _selections(grid, algorithms):
        if grid.select and select != grid.select:
            reading.note(key, select, f"{grid.select}, as in kernel.select: kernel and parameters are chosen together")


def _check_test_set(
    reading: Reading, dataset: DatasetSection, grid: KernelGrid | None, algorithms: list[Algorithm | None]
) -> None:
    """Note where something is to be chosen on test examples that there are not."""
    for key, select in _selections(grid, algorithms):
        if select == "test_error" and not has_test_set(dataset):
            hint = (
                f"{dataset.name} has no test set of its own: give dataset.train_size and dataset.test_size, or "
                "select: validation_error."
            )
            reading.note(key, select, "no selection without a test set", hint)


def _with_validation(
    dataset: DatasetSection, grid: KernelGrid | None, algorithms: list[Algorithm | None]
) -> DatasetSection:
    """The section with the default size of what is held out, where something is chosen by it."""
    needed = any(select == "validation_error" for _, select in _selections(grid, algorithms))
    if dataset.validation_size is None and needed:
        return replace(dataset, validation_size=VALIDATION_SIZE)
    return dataset
