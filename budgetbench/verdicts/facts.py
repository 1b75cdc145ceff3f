"""Facts of an experiment that papers print beside their results: sizes of data, number of runs, kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

from budgetbench.datasets import Dataset, datasets
from budgetbench.results import Results
from budgetbench.results.records import completed
from budgetbench.verdicts.model import MissingError


@dataclass(frozen=True)
class Fact:
    """A number that an experiment has once, not for each run.

    Attributes
    ----------
    relative : share of the published number by which ours may differ.
    least : ours may be more, and with less the published number counts as not run.
    """

    words: str
    value: Callable[[Results], float]
    relative: float = 0.0
    least: bool = False


def _recorded(column: str) -> Callable[[Results], float]:
    def value(results: Results) -> float:
        sizes = completed(results.trials)[column].dropna().unique()
        if len(sizes) != 1:
            raise MissingError(f"no run of {results.folder.name} says its {column}")
        return float(sizes[0])

    return value


def _dataset(results: Results) -> Dataset:
    name = results.experiment.dataset.name
    if name not in datasets:
        raise MissingError(f"{results.folder.name} is on a dataset {name}, which is not known")
    return datasets[name]


def _inputs(results: Results) -> float:
    return float(_dataset(results).n_features or 0)


def _classes(results: Results) -> float:
    return float(len(_dataset(results).classes or ()))


def _runs(results: Results) -> float:
    return float(results.summary["runs"].max())


def _kernel(results: Results, key: str) -> float:
    value = getattr(results.experiment.kernel, key, None)
    if value is None:
        raise MissingError(f"{results.folder.name} has a kernel without {key}")
    return float(value)


def _sigma(results: Results) -> float:
    return sqrt(_variance(results))


def _variance(results: Results) -> float:
    return 1 / (2 * _kernel(results, "gamma"))


def _degree(results: Results) -> float:
    return _kernel(results, "degree")


FACTS: dict[str, Fact] = {
    "train_size": Fact("training examples", _recorded("train_size")),
    "test_size": Fact("test examples", _recorded("test_size")),
    "inputs": Fact("inputs", _inputs),
    "classes": Fact("classes", _classes),
    "runs": Fact("runs", _runs, least=True),
    "sigma": Fact("kernel σ", _sigma, relative=0.03),
    "variance": Fact("kernel σ²", _variance, relative=0.03),
    "degree": Fact("kernel degree", _degree),
}
