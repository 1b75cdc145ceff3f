"""From a dataset to the stream of a run: which examples come, in which order, with which labels, before whom.

All learners of an experiment see the same stream in the same run: it depends on the seed and the run's number alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from budgetbench.datasets import Cache, Data, Examples, datasets
from budgetbench.engine.base import KernelClassifier
from budgetbench.engine.kernel_access import Rows
from budgetbench.errors import ConfigError, DataError
from budgetbench.experiment import Algorithm, Experiment, Parameters, without_kernel
from budgetbench.learners import learners
from budgetbench.sections import FITTED, DatasetSection, LabelNoise
from budgetbench.seeds import Role, generator
from budgetbench.sparse import Inputs, SparseRows, contiguous, joined

#: Rounding beyond this share of an input's standard deviation is told.
MERGED = 1e-3


@dataclass(frozen=True)
class LearningProblem:
    """A dataset made ready for learners; where `DatasetSection.inputs_differ`, for one run.

    Attributes
    ----------
    X : inputs, float32 of shape (n, d), dense or sparse: the training rows, then the test rows.
    labels : class of each row as a position in `classes`, int64 of shape (n,).
    classes : what learners call the classes: ±1 where one class stands against the rest, else the published labels.
    n_train : how many rows are training rows; all of them where a run splits the rows anew.
    identity : names the content of the dataset.
    """

    X: Inputs
    labels: NDArray[np.int64]
    classes: NDArray[Any]
    n_train: int
    identity: str

    @property
    def without_inputs(self) -> LearningProblem:
        """The same with as many rows of no inputs."""
        return replace(self, X=np.empty((len(self.X), 0), dtype=np.float32))


@dataclass(frozen=True)
class Stream:
    """What one run sees.

    Attributes
    ----------
    order : training rows in the order in which they arrive.
    test : test rows.
    validation : training rows that are held out, in the order of the file.
    labels : labels of all rows with the run's noise, int64 of shape (n,).
    """

    order: Rows
    test: Rows
    validation: Rows
    labels: NDArray[np.int64]


def load_problem(
    experiment: Experiment, cache: Cache, run: int = 0, data: Data | None = None
) -> tuple[LearningProblem, Data]:
    """Load an experiment's dataset and prepare it for a run, which matters only where inputs differ between runs.

    Parameters
    ----------
    data : the dataset as loaded for another run, to spare reading it again; one that each run draws is drawn anew.

    Raises
    ------
    ConfigError
        With file and line, for what `prepare` refuses, and for a dataset that passes by.
    """
    section = experiment.dataset
    if section.stream:
        hint = "It passes by and is not held; only `run` goes through it."
        raise experiment.placed(ConfigError(("dataset", "stream"), True, "false, as all examples are needed", hint))
    if data is None or section.redraw:
        draw = run if section.redraw else 0
        dataset = datasets[section.name]
        data = dataset.load(cache, section.variant, experiment.seed, draw, section.limit, **section.options)
    try:
        return prepare(data, section, experiment.seed, run), data
    except ConfigError as error:
        raise experiment.placed(error) from None


def prepare(data: Data, section: DatasetSection, seed: int = 0, run: int = 0) -> LearningProblem:
    """Limit, encode, scale and relabel a dataset as its configuration says, for a run of its own where inputs differ.

    Raises
    ------
    ConfigError
        For a positive class or a size that the data does not have.
    """
    train = _limited(data.train, section.limit)
    test = data.test if data.test is not None else Examples(train.X[:0], train.y[:0])
    X = joined(train.X, test.X)
    y = np.concatenate([train.y, test.y])
    resplit = section.train_size is not None
    n_train = len(X) if resplit else len(train)
    if resplit and section.train_size + section.test_size > len(X):  # type: ignore[operator]
        wanted = f"at most {len(X)} together with test_size"
        raise ConfigError(("dataset", "train_size"), section.train_size, wanted)
    _check_validation(section, n_train)
    labels, classes = relabelled(y, data.classes, section)
    if len(np.unique(labels[:n_train])) < 2:
        message = f"{section.name}: the training set holds one class only: {classes[labels[0]]!r}"
        raise DataError(f"{message}. A limit on data sorted by class does that: raise or drop dataset.limit.")
    trained = split(section, len(X), n_train, seed, run)[0]
    numbers: slice | Rows = slice(None)
    if data.encoding is not None:
        X, numbers = data.encoding.inputs(X, trained)
    Z: Any
    if isinstance(X, SparseRows):
        Z = _scaled_sparse(X, section)
    else:
        Z = _scaled(X, np.arange(len(X)) if section.scale_on == "all" else trained, section.scale, numbers)
    held = contiguous(Z)
    if X.dtype == np.float64:  # numbers with more digits than float32 has
        _warn_of_merged(Z, held, section)
    return LearningProblem(held, labels, classes, n_train, data.identity)


def _check_validation(section: DatasetSection, n_train: int) -> None:
    n = section.train_size or n_train
    if section.held_out(n) >= n:
        raise ConfigError(("dataset", "validation_size"), section.validation_size, f"fewer than the {n} that train")


def check_classes(experiment: Experiment, problem: LearningProblem, algorithms: Sequence[Algorithm]) -> None:
    """ConfigError, with file and line, where a dataset turns out to have more classes than one of the learners takes.

    Parameters
    ----------
    algorithms : those of the experiment that are to run.
    """
    for number, algorithm in enumerate(experiment.algorithms):
        misfit = misfit_of(algorithm, len(problem.classes), experiment.dataset) if algorithm in algorithms else None
        if misfit:
            raise experiment.placed(ConfigError(("algorithms", number, "name"), algorithm.name, *misfit))


def misfit_of(algorithm: Algorithm, n_classes: int, section: DatasetSection) -> tuple[str, str] | None:
    """What is accepted in place of a learner that takes fewer classes than there are, and a hint; None if it fits."""
    learner = learners[algorithm.name]
    if n_classes <= 2 or learner.multiclass or (section.multiclass and learner.against_the_rest):
        return None
    several = ", ".join(name for name in learners if learners[name].multiclass)
    hint = (
        f"{section.name} has {n_classes} classes: name one or some of them as dataset.positive, or let a learner learn "
        "each of them with dataset.multiclass: one_vs_rest."
    )
    return f"for more than two classes: {several}", hint


def _limited(examples: Examples, limit: int | None) -> Examples:
    return Examples(examples.X[:limit], examples.y[:limit], examples.X.dtype.type)


def relabelled(
    y: NDArray[np.int64], classes: tuple[int | str, ...], section: DatasetSection
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    if section.positive is None:
        return y, np.array(classes)
    missing = [label for label in section.positive if label not in classes]
    if missing:
        listed = ", ".join(map(str, classes))
        raise ConfigError(("dataset", "positive"), missing[0], f"a class of {section.name}: {listed}")
    positive = np.array([label in section.positive for label in classes])
    return positive[y].astype(np.int64), np.array([-1, 1])


def _warn_of_merged(Z: Any, held: Inputs, section: DatasetSection) -> None:
    """Say so where float32, in which kernels are computed, is too coarse for how an input varies."""
    columns = np.arange(Z.shape[1])
    if isinstance(Z, SparseRows) and isinstance(held, SparseRows):  # a single 0 lets an input vary more than that
        columns = Z.without_zeros
        Z, held = Z.columns(columns), held.columns(columns)
    spread = np.std(Z, axis=0)
    lost = np.abs(Z - held).max(axis=0)
    merged = np.flatnonzero((lost > MERGED * spread) & (np.ptp(Z, axis=0) > 0))
    if merged.size:
        j = merged[0]
        others = f" and {merged.size - 1} more" if merged.size > 1 else ""
        warnings.warn(
            f"{section.name}: input {columns[j] + 1}{others} varies by {spread[j]:.2g} about {Z[:, j].mean():.4g}, of "
            "which float32 loses much: different values become one. Set dataset.scale: standard.",
            stacklevel=3,
        )


def _scaled(
    X: NDArray[np.floating[Any]], rows: Rows, steps: tuple[str, ...], numbers: slice | Rows
) -> NDArray[np.float64]:
    """Apply the steps in order; what they need to know is taken from `rows`.

    Inputs that are not among the `numbers` stand for words. They are 0 or 1, and no step but `unit` changes them.
    """
    Z = X.astype(np.float64)
    for step in steps:
        fitted = step in FITTED and Z[:, numbers].size
        Z = _step(Z, step, _place(Z[rows][:, numbers], step) if fitted else None, numbers)
    return Z


def _step(
    Z: NDArray[np.float64],
    step: str,
    place: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
    numbers: slice | Rows,
) -> NDArray[np.float64]:
    """One step of scaling; `place` tells what becomes 0 and the length that becomes 1, where the step asks for it."""
    if step == "unit":
        return Z / _nonzero(np.sqrt((Z**2).sum(axis=1, keepdims=True)))
    if place is not None:
        origin, scale = place
        Z[:, numbers] = (Z[:, numbers] - origin) / _nonzero(scale)
    return Z


class Moments:
    """What a step of scaling has to know of rows that pass by (Chan, Golub, LeVeque 1983)."""

    def __init__(self) -> None:
        self._n, self._mean, self._squares = 0, np.zeros(()), np.zeros(())
        self._low, self._high = np.full((), np.inf), np.full((), -np.inf)

    def add(self, Z: NDArray[np.float64]) -> None:
        """Further rows have come."""
        n, mean = len(Z), Z.mean(axis=0)
        total, lead = self._n + n, mean - self._mean
        self._squares = self._squares + ((Z - mean) ** 2).sum(axis=0) + lead**2 * (self._n * n / total)
        self._mean = self._mean + lead * (n / total)
        self._n = total
        self._low, self._high = np.minimum(self._low, Z.min(axis=0)), np.maximum(self._high, Z.max(axis=0))

    def place(self, step: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What becomes 0, and the length that becomes 1; as `_place` has it."""
        if step == "standard":
            return self._mean, np.sqrt(self._squares / self._n)
        low, high = self._low, self._high
        return (low, high - low) if step == "minmax" else (low.min(), high.max() - low.min())


def scaled(X: Any, section: DatasetSection, moments: Sequence[Moments]) -> Any:
    """Inputs after the steps of a section, dense or sparse; of each step the moments tell what it has to know."""
    if isinstance(X, SparseRows):
        return _scaled_sparse(X, section)
    Z = X.astype(np.float64)
    for step, known in zip(section.scale, moments, strict=False):
        Z = _step(Z, step, known.place(step) if step in FITTED else None, slice(None))
    return Z


def _scaled_sparse(X: SparseRows, section: DatasetSection) -> SparseRows:
    """Apply the steps that leave zeros as they are.

    Raises
    ------
    ConfigError
        For any other.
    """
    Z = contiguous(X, np.float64)
    for step in section.scale:
        if step == "unit":  # of dense rows: the sums of all zeros and values are rounded like theirs
            lengths = np.concatenate([np.sqrt((strip**2).sum(axis=1)) for strip in Z.strips()])
            Z = Z.with_values(Z.values / _nonzero(np.repeat(lengths, np.diff(Z.starts))))
        elif step != "none":
            hint = f"{section.name} is held sparse, and {step} would make other numbers of its zeros."
            raise ConfigError(("dataset", "scale"), step, "none or unit", hint)
    return Z


def _place(known: NDArray[np.float64], step: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What becomes 0, and the length that becomes 1."""
    if step == "standard":
        return known.mean(axis=0), known.std(axis=0)
    if step == "minmax":
        return known.min(axis=0), np.ptp(known, axis=0)
    # one scale for all inputs, as suits pixels: a background stays one value
    return known.min(keepdims=True), np.ptp(known, keepdims=True)


def _nonzero(scale: ArrayLike) -> NDArray[np.float64]:
    return np.where(np.equal(scale, 0), 1.0, scale)


def split(section: DatasetSection, n: int, n_train: int, seed: int, run: int) -> tuple[Rows, Rows]:
    """Training and test rows of a run, in the order of the file: the published ones, or drawn from all n rows."""
    if section.train_size is None:
        return np.arange(n_train), np.arange(n_train, n)
    assert section.test_size is not None
    pooled = generator(seed, Role.SPLIT, run).permutation(n)
    train, test = np.split(pooled[: section.train_size + section.test_size], [section.train_size])
    return np.sort(train), np.sort(test)


def stream_of(problem: LearningProblem, experiment: Experiment, run: int) -> Stream:
    """The stream of one run."""
    seed = experiment.seed
    train, test = split(experiment.dataset, len(problem.X), problem.n_train, seed, run)
    random = generator(seed, Role.NOISE, run)
    labels = with_noise(problem.labels, train, len(problem.classes), experiment.label_noise, random)
    if experiment.label_noise.on == "all":
        labels = with_noise(labels, test, len(problem.classes), experiment.label_noise, random)
    order = generator(seed, Role.ORDER, run).permutation(train) if experiment.order == "shuffled" else train
    held_out = experiment.dataset.held_out(len(train))
    validation = np.sort(generator(seed, Role.VALIDATION, run).permutation(train)[:held_out])
    # The others arrive as they would without it.
    return Stream(order[~np.isin(order, validation)], test, validation, labels)


def with_noise(
    labels: NDArray[np.int64], rows: Rows, n_classes: int, noise: LabelNoise, random: np.random.Generator
) -> NDArray[np.int64]:
    """Labels of which some among `rows` are flipped, each to another class with equal chances.

    ``exact`` flips round(rate · n) of n rows, ``bernoulli`` each one with the probability `rate`.
    """
    if noise.mode == "exact":
        flipped = random.choice(rows, size=round(noise.rate * len(rows)), replace=False)
    else:
        flipped = rows[random.random(len(rows)) < noise.rate]
    noisy = labels.copy()
    noisy[flipped] = (labels[flipped] + random.integers(1, n_classes, size=len(flipped))) % n_classes
    return noisy


def make_learner(
    experiment: Experiment, algorithm: str, params: Parameters, run: int, n_classes: int
) -> KernelClassifier:
    """The learner that sees the stream of a run, with its own randomness; several in its place where the data has more
    classes than it takes and the experiment says so."""
    seed = int(generator(experiment.seed, Role.LEARNER, run).integers(2**31))
    learner = learners[algorithm].made(without_kernel(params), experiment.kernel_of(params), seed)
    several = n_classes > 2 and not learner.multiclass and experiment.dataset.multiclass
    return learner.against_the_rest(learner) if several and learner.against_the_rest else learner
