"""From a file to an experiment. Pure: the file is read, nothing else is opened, drawn or loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from budgetbench.config.algorithms import algorithms_of
from budgetbench.config.dataset import dataset_of, has_test_set, number_of_classes
from budgetbench.config.display import plots_of, table_of
from budgetbench.config.document import Document, read
from budgetbench.config.kernel import kernel_of
from budgetbench.config.problems import Key, Problem, refuse
from budgetbench.config.sections import Outline, validated
from budgetbench.errors import RequestError, clipped, nearest
from budgetbench.experiment import Algorithm, DatasetSection, Experiment, LabelNoise, Reproduces, Section
from budgetbench.learners import learners
from budgetbench.parameters import plain

SectionType = TypeVar("SectionType", bound=Section)


def load(path: str | Path, overrides: Sequence[str] = (), permutations: int | None = None) -> Experiment:
    """The experiment that a configuration file describes.

    Parameters
    ----------
    path : a YAML file.
    overrides : ``KEY=VALUE``, such as ``dataset.limit=500`` or ``algorithms.0.budget=[10, 20]``; values in YAML.
    permutations : takes the place of the file's.

    Raises
    ------
    ConfigError
        For whatever the configuration gets wrong, all of it at once, with file, line and key of each problem.
    RequestError
        For a file that cannot be read.
    """
    document = read(path)
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
    problems: list[Problem] = []
    data = document.data
    outline: Outline | None = validated(Outline, document, (), data, problems)
    reproduces = _section(Reproduces, document, ("reproduces",), data, None, problems)
    noise = _section(LabelNoise, document, ("label_noise",), data, LabelNoise(rate=0.0), problems)
    plots = plots_of(document, data.get("plots"), problems)
    table = table_of(document, data.get("table"), problems)
    kernel = kernel_of(document, data["kernel"], problems) if "kernel" in data else None
    dataset = dataset_of(document, data["dataset"], problems) if "dataset" in data else None
    algorithms: list[Algorithm | None] = []
    if "algorithms" in data:
        epochs = outline.epochs if outline else 1
        algorithms = algorithms_of(document, data["algorithms"], epochs, problems)
    if dataset:
        _check_together(document, dataset, algorithms, problems)
    refuse(problems)
    if not (outline and noise and kernel and dataset):
        raise AssertionError("a part of the configuration is missing and no problem was noted")
    return Experiment(
        source=document,
        name=outline.name,
        title=outline.title or outline.name,
        reproduces=reproduces,
        dataset=dataset,
        label_noise=noise,
        kernel=kernel,
        order=outline.order,
        permutations=outline.permutations,
        epochs=outline.epochs,
        seed=outline.seed,
        checkpoints=outline.checkpoints,
        algorithms=tuple(algorithm for algorithm in algorithms if algorithm),
        plots=plots,
        table=table,
    )


def _section(
    model: type[SectionType],
    document: Document,
    key: Key,
    data: dict[str, Any],
    default: SectionType | None,
    problems: list[Problem],
) -> SectionType | None:
    raw = data.get(str(key[-1]))
    return default if raw is None else validated(model, document, key, raw, problems)


def _check_together(
    document: Document, dataset: DatasetSection, algorithms: list[Algorithm | None], problems: list[Problem]
) -> None:
    """Note algorithms that cannot do what the dataset asks of them."""
    classes = number_of_classes(dataset)
    for number, algorithm in enumerate(algorithms):
        if algorithm is None:
            continue
        if classes is not None and classes > 2 and not learners[algorithm.name].multiclass:
            several = ", ".join(name for name in learners if learners[name].multiclass)
            hint = f"{dataset.name} has {classes} classes: name one or some of them as dataset.positive."
            key: Key = ("algorithms", number, "name")
            problems.append(document.problem(key, algorithm.name, f"for more than two classes: {several}", hint))
        if algorithm.select and not has_test_set(dataset):
            hint = f"{dataset.name} has no test set of its own: give dataset.train_size and dataset.test_size."
            key = ("algorithms", number, "select")
            problems.append(document.problem(key, algorithm.select, "no selection without a test set", hint))
