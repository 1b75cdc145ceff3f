"""The stream of a run over a dataset that passes by: what `streams` does with one that is held, done on the way.

Labels are set against each other and flipped, inputs scaled and the order shuffled part by part. All that this
remembers from one part to the next is in one value, which is saved with the learners: a stream that was interrupted
goes on from there as if it had not been.

- Label noise: ``bernoulli`` flips the same labels as in memory. ``exact`` flips as many in each part as hypergeometric
  chance gives it of those that are left to flip: exactly the share asked for, but not the same rows as in memory.
- Scaling: ``unit`` needs one row alone. ``standard``, ``minmax`` and ``range`` are told by a first pass over the file
  for each of them (`first_pass`; sums are added up part by part, so their last digits may differ from those in memory),
  or by all rows so far, those of the present part among them (`running`): then the scale changes under way, stored
  examples keep the one with which they came, and test rows have the last.
- Order: that of the file, or what comes out of a buffer of so many rows: each row that comes takes the place of a
  random one in it, which goes on. When no more come the rest goes on in random order.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.datasets import Cache, Data, Examples, datasets
from budgetbench.datasets.flow import Flow, ahead, flow_of
from budgetbench.errors import ConfigError
from budgetbench.experiment import Experiment
from budgetbench.sections import FITTED, NO_NOISE, DatasetSection, LabelNoise
from budgetbench.seeds import Role, generator
from budgetbench.sparse import Inputs, contiguous, joined
from budgetbench.streams import LearningProblem, Moments, relabelled, scaled, with_noise

Labels = NDArray[np.int64]
#: The largest number of rows of which NumPy draws how many are flipped.
MOST_EXACT = 10**9 - 1


def flow(experiment: Experiment, cache: Cache, run: int = 0) -> Flow:
    """The rows of an experiment's dataset, for a run.

    Raises
    ------
    ConfigError : with file and line, for what the configuration asks and the data does not have.
    DataError : the data cannot be had, or its first rows do not fit.
    """
    section = experiment.dataset
    dataset = datasets[section.name]
    draw = run if section.redraw else 0
    request = dataset.request(cache, section.variant, experiment.seed, draw, section.limit, section.options)
    found = flow_of(dataset, request, section.classes)
    try:
        relabelled(np.empty(0, dtype=np.int64), found.classes, section)
        if experiment.label_noise.rate and experiment.label_noise.mode == "exact" and found.n > MOST_EXACT:
            accepted = f"bernoulli, as there are more than {MOST_EXACT} rows"
            raise ConfigError(("label_noise", "mode"), "exact", accepted)
    except ConfigError as error:
        raise experiment.placed(error) from None
    return found


def beginning(found: Flow, section: DatasetSection) -> tuple[LearningProblem, Data]:
    """The first rows of a stream, in the form of a dataset that is held: they tell what has to be known of it.

    What the scale takes from other rows it takes from these.
    """
    passage = Passage(found, replace(section, scale_by="running", shuffle_buffer=None), NO_NOISE, 0, 0)
    with closing(passage.parts()) as parts:
        X, labels = next(parts)
    none = Examples(np.empty((0, found.n_features), dtype=np.float32), np.empty(0, dtype=np.int64))
    data = Data(none, None, found.classes, found.identity, found.files, known_checksum=found.checksum)
    return LearningProblem(X, labels, passage.classes, len(labels), found.identity), data


@dataclass
class Passage:
    """The stream of one run, which can be pickled between two parts.

    Attributes
    ----------
    taken : how many rows have been read.
    """

    found: Flow
    section: DatasetSection
    noise: LabelNoise
    seed: int
    run: int

    def __post_init__(self) -> None:
        self.taken = 0
        self.classes = relabelled(np.empty(0, dtype=np.int64), self.found.classes, self.section)[1]
        self._flips = Flips(self.noise, len(self.classes), self.found.n, self.seed, self.run)
        self._running = self.section.scale_by == "running"
        self._moments = [Moments() for _ in self.section.scale]
        size = self.section.shuffle_buffer
        self._buffer = None if size is None else Buffer(size, generator(self.seed, Role.BUFFER, self.run))

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"found": None}  # whoever goes on with it has the data

    def fit(self) -> None:
        """Learn the scale from a first pass for each step that needs to know other rows, where that is asked for."""
        if self._running:
            return
        for number, step in enumerate(self.section.scale):
            if step in FITTED:
                with closing(ahead(self.found.parts())) as parts:
                    for part in parts:
                        self._moments[number].add(self._scaled(part.X, number))

    def parts(self) -> Generator[tuple[Inputs, Labels], None, None]:
        """Inputs and labels of what is left of the stream, as learners see them; `Flow.parts` says what is raised."""
        with closing(ahead(self.found.parts(self.taken))) as parts:
            for part in parts:
                self.taken += len(part)
                X, labels = self._inputs(part), self._flips.of(self._labels(part))
                if self._buffer is not None:
                    X, labels = self._buffer.exchanged(X, labels)
                if len(labels):
                    yield X, labels
        if self._buffer is not None and self._buffer.holds_any:
            yield self._buffer.emptied()

    def test(self) -> tuple[Inputs, Labels] | None:
        """Inputs and labels of the test examples, once the stream has ended; None where there are none."""
        examples = self.found.test()
        if examples is None:
            return None
        labels = self._labels(examples)
        if self.noise.on == "all":
            rows = np.arange(len(labels))
            labels = with_noise(labels, rows, len(self.classes), self.noise, self._flips.others)
        return contiguous(self._scaled(examples.X)), labels

    def _labels(self, examples: Examples) -> Labels:
        return relabelled(examples.y, self.found.classes, self.section)[0]

    def _inputs(self, part: Examples) -> Inputs:
        if self._running:
            for number, step in enumerate(self.section.scale):
                if step in FITTED:
                    self._moments[number].add(self._scaled(part.X, number))
        return contiguous(self._scaled(part.X))

    def _scaled(self, X: Any, steps: int | None = None) -> Any:
        """Inputs after the first steps, or all."""
        return scaled(X, replace(self.section, scale=self.section.scale[:steps]), self._moments)


class Flips:
    """Labels that are flipped on their way.

    Attributes
    ----------
    others : draws which class takes a flipped one's place.
    """

    def __init__(self, noise: LabelNoise, n_classes: int, n: int, seed: int, run: int) -> None:
        self._noise, self._n_classes = noise, n_classes
        self._left, self._rows = round(noise.rate * n), n
        self._chance, self.others = (generator(seed, Role.NOISE, run) for _ in range(2))
        if noise.mode == "bernoulli":  # in memory all chances are drawn before all classes
            self.others.bit_generator.advance(n)  # type: ignore[attr-defined]

    def of(self, labels: Labels) -> Labels:
        """The labels of the next rows."""
        n, random = len(labels), self._chance
        if self._noise.mode == "exact":
            flips = int(random.hypergeometric(self._left, self._rows - self._left, n)) if self._left else 0
            flipped = random.choice(n, size=flips, replace=False)
            self._left -= flips
        else:
            flipped = np.flatnonzero(random.random(n) < self._noise.rate)
        self._rows -= n
        noisy = labels.copy()
        noisy[flipped] = (labels[flipped] + self.others.integers(1, self._n_classes, len(flipped))) % self._n_classes
        return noisy


class Buffer:
    """Rows that wait for a random time, so that what is sorted in the file does not come sorted.

    Parameters
    ----------
    size : how many rows wait.
    """

    def __init__(self, size: int, random: np.random.Generator) -> None:
        self._size, self._random = size, random
        self._waiting: tuple[Any, Labels] | None = None

    @property
    def holds_any(self) -> bool:
        return self._waiting is not None

    def exchanged(self, X: Inputs, labels: Labels) -> tuple[Inputs, Labels]:
        """The rows that go on when these come, none while the buffer is being filled."""
        if self._waiting is not None:
            X, labels = joined(self._waiting[0], X), np.concatenate([self._waiting[1], labels])
        size = min(self._size, len(labels))
        drawn = self._random.integers(size, size=len(labels) - size)
        staying, leaving = exchanges(np.arange(size), drawn)
        self._waiting = X[staying], labels[staying]
        return X[leaving], labels[leaving]

    def emptied(self) -> tuple[Inputs, Labels]:
        """All that are left, in random order."""
        assert self._waiting is not None
        (X, labels), self._waiting = self._waiting, None
        order = self._random.permutation(len(labels))
        return X[order], labels[order]


@compiled
def exchanges(places: NDArray[np.int64], drawn: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Who is in the places, and who has left them in turn, when row len(places) + k takes place drawn[k]."""
    leaving = np.empty(len(drawn), dtype=np.int64)
    for k in range(len(drawn)):
        leaving[k] = places[drawn[k]]
        places[drawn[k]] = len(places) + k
    return places, leaving
