"""Datasets that pass by: too large to be held, they come in parts of equal size, in the order of the file.

All that a stream must know from its beginning is known from its first part, or said by the configuration: which columns
are inputs, how many there are, and which classes. A value that comes later and does not fit is an error with file and
line. What names the content is had from a first pass over the bytes of the file, at the speed of the disk: they are
hashed (so that a key means the content, as everywhere), and rows are counted, by which the curve has its checkpoints
where it would have them in memory.
"""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Full, Queue
from threading import Event, Thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets.base import Examples, Generated, Indices, Label, Request
from budgetbench.errors import DataError
from budgetbench.lazy import pd
from budgetbench.seeds import Role, generator
from budgetbench.sparse import joined

#: Rows of a part. What is drawn or estimated part by part depends on it: another number is another result.
PART = 8192
#: Parts that are read while one is learnt from.
AHEAD = 2

T = TypeVar("T")
#: Some rows: inputs (n, d), float64 where these are the user's numbers, and class indices (n,).
Rows = tuple[Any, Indices]


@dataclass(frozen=True)
class Flow(ABC):
    """Examples that pass by. It can be pickled, and opened by several processes at once.

    Attributes
    ----------
    classes : the class labels, to which class indices refer by position.
    n, n_features : how many examples and inputs there are.
    identity : names the content and how it is read.
    checksum : SHA-256 of the content; of a generated set, of what it is drawn from.
    files : that are read.
    """

    classes: tuple[Label, ...]
    n: int
    n_features: int
    identity: str
    checksum: str
    files: tuple[Path, ...]

    def parts(self, start: int = 0) -> Generator[Examples, None, None]:
        """The rows from number `start` on, a multiple of `PART`, in parts of that size; the last may be shorter.

        Raises
        ------
        DataError : with file and line, for a row that does not fit, or where there are more or fewer than were counted.
        """
        left = self.n - start
        if not left:
            return
        for X, y in recut(self._rows(start), PART):
            X, y = X[:left], y[:left]
            left -= len(y)
            yield Examples(X, y, X.dtype.type)
            if not left:
                return
        raise DataError(f"{self.identity.partition('/')[0]}: {left} rows fewer than were counted; the file has changed")

    @abstractmethod
    def _rows(self, start: int) -> Iterator[Rows]:
        """The rows from number `start` on, some at a time."""

    def test(self) -> Examples | None:
        """The test examples, where there are any."""
        return None


@dataclass(frozen=True)
class GeneratedFlow(Flow):
    """Parts that are drawn, each from a generator of its own: none depends on those before, nor on how many follow.

    Parameters
    ----------
    dataset : whose `draw` makes them, with these `options`.
    n_test : test examples, drawn in the same way.
    """

    dataset: Generated
    options: dict[str, Any]
    n_test: int
    seed: int
    run: int

    def _rows(self, start: int) -> Iterator[Rows]:
        for number in range(start // PART, -(-self.n // PART)):
            part = self._drawn(PART, 1 + number)
            yield part.X, part.y

    def test(self) -> Examples | None:
        return self._drawn(self.n_test, 0) if self.n_test else None

    def _drawn(self, n: int, number: int) -> Examples:
        return self.dataset.draw(generator(self.seed, Role.DATA, self.run, number), n=n, **self.options)


def flow_of(dataset: Any, request: Request, classes: tuple[Label, ...] | None = None) -> Flow:
    """The stream of a dataset that `streams`.

    Parameters
    ----------
    classes : those that will come, for the user's own files; left out: those of the first part.

    Raises
    ------
    DataError : the file cannot be read, or its first part does not fit.
    """
    return generated_flow(dataset, request) if isinstance(dataset, Generated) else dataset.flow(request, classes)


def generated_flow(dataset: Generated, request: Request) -> GeneratedFlow:
    """The stream of a generated set: another draw than the one that is held, as each part has seeds of its own."""
    options = dict(vars(request.options))
    n, n_test = options.pop("n"), options.pop("n_test", 0)
    n = n if request.limit is None else min(n, request.limit)
    sizes = {"parts": PART, "n": n, "n_test": n_test, "seed": request.seed, "run": request.run}
    told = "/".join(f"{name}={value}" for name, value in (options | sizes).items())
    identity = f"{dataset.revision}/stream/{told}"
    inputs = dataset.draw(generator(0, Role.DATA), n=2, **options).X.shape[1]
    drawn = dataset, options, n_test, request.seed, request.run
    return GeneratedFlow(dataset.classes, n, inputs, identity, _digest(identity), (), *drawn)


def identity_of(name: str, checksum: str, *read: Any) -> str:
    """Names the content of files, and how it is read."""
    return f"{name}/stream/{_digest(json.dumps([checksum, *read], ensure_ascii=False))}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def two_or_more(path: Path, classes: Iterable[Label]) -> tuple[Label, ...]:
    """The classes in their order; DataError where there is one alone."""
    found = tuple(sorted(set(classes)))  # type: ignore[type-var]
    if len(found) < 2:
        message = f"{path}: every one of the first {PART} examples has the label {found[0]!r}"
        raise DataError(f"{message}; two classes are needed. Name all classes in dataset.classes")
    return found


@dataclass(frozen=True)
class Stamp:
    """By which a file is seen to be the one that was counted."""

    size: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        found = os.stat(path)
        return cls(found.st_size, found.st_mtime_ns)


def recut(rows: Iterable[Rows], size: int) -> Iterator[Rows]:
    """The same rows, so many at a time; the last ones may be fewer."""
    waiting: list[Rows] = []
    held = 0
    for X, y in rows:
        if held + len(y) < size:
            waiting.append((X, y))
            held += len(y)
            continue
        X, y = joined(*(one for one, _ in waiting), X), np.concatenate([*(one for _, one in waiting), y])
        whole = len(y) - len(y) % size
        for start in range(0, whole, size):
            yield X[start : start + size], y[start : start + size]
        waiting, held = [(X[whole:], y[whole:])], len(y) - whole
    if held:
        yield joined(*(one for one, _ in waiting)), np.concatenate([one for _, one in waiting])


class Spellings:
    """Class indices of labels, as a file writes them.

    Parameters
    ----------
    read : the label that a spelling means; DataError for what is none.
    known : where the classes were learnt, for messages.
    """

    def __init__(self, classes: tuple[Label, ...], read: Callable[[Any], Label], known: str) -> None:
        self._classes, self._read, self._known = classes, read, known
        self._found: dict[Any, int] = {}

    def indices(self, labels: NDArray[Any], place: Callable[[int], str]) -> Indices:
        """Class indices of labels (n,).

        Parameters
        ----------
        place : file and line of a row of them, for messages.
        """
        codes, spellings = pd.factorize(labels, use_na_sentinel=False)
        table = np.empty(len(spellings), dtype=np.int64)
        for code, spelling in enumerate(spellings):
            if spelling not in self._found:
                self._found[spelling] = self._index(spelling, place(int(np.argmax(codes == code))))
            table[code] = self._found[spelling]
        return table[codes]

    def _index(self, spelling: Any, where: str) -> int:
        try:
            label = self._read(spelling)
        except DataError as error:
            raise DataError(f"{where}: {error}") from None
        if label not in self._classes:
            listed = ", ".join(map(str, self._classes[:12])) + (", …" if len(self._classes) > 12 else "")
            step = "Name all classes in dataset.classes"
            raise DataError(f"{where}: found label {label!r}; accepted: {self._known} ({listed}). {step}")
        return self._classes.index(label)


def ahead(items: Iterator[T]) -> Generator[T, None, None]:
    """The same, `AHEAD` of them made in a thread while one is in use; what they raise is raised here."""
    queue: Queue[tuple[T | None, BaseException | None]] = Queue(AHEAD)
    ended = Event()

    def put(what: tuple[T | None, BaseException | None]) -> None:
        while not ended.is_set():
            try:
                return queue.put(what, timeout=0.1)
            except Full:
                continue

    def work() -> None:
        try:
            for item in items:
                put((item, None))
                if ended.is_set():
                    return
            put((None, StopIteration()))
        except BaseException as error:
            put((None, error))

    Thread(target=work, daemon=True).start()
    try:
        while True:
            item, error = queue.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item  # type: ignore[misc]
    finally:
        ended.set()
