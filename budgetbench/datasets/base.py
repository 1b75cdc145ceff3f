"""What every dataset is to the rest of the program: a name, a description and a way to load it."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from budgetbench.errors import ParameterError
from budgetbench.packages import packages_of
from budgetbench.parameters import Parameter, Unit, check, declared
from budgetbench.registry import Registry
from budgetbench.seeds import Role, generator
from budgetbench.sparse import SparseRows, contiguous

if TYPE_CHECKING:
    from budgetbench.datasets.cache import Cache
    from budgetbench.datasets.columns import Encoding

Label = int | str
Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.int64]

datasets: Registry[Dataset] = Registry("dataset", "budgetbench.datasets")

MOST_DRAWN = 10_000_000  # 1.7 GB of the widest
#: How many examples a generated set has.
Drawn = Annotated[int, Ge(2), Le(MOST_DRAWN), Unit("examples")]


@dataclass(frozen=True, eq=False)
class Examples:
    """Inputs X of shape (n, d), dense or sparse, and classes y, int64 of shape (n,): positions in `Data.classes`.

    X is float32, unless `dtype` asks for float64: for numbers as the user has them, of which scaling may need all
    digits.
    """

    X: Any
    y: Indices
    dtype: InitVar[type[np.floating[Any]]] = np.float32

    def __post_init__(self, dtype: type[np.floating[Any]]) -> None:
        object.__setattr__(self, "X", contiguous(self.X, dtype))
        object.__setattr__(self, "y", np.ascontiguousarray(self.y, dtype=np.int64))
        if len(self.X.shape) != 2 or self.y.shape != (len(self.X),):
            raise ValueError(f"inputs of shape {self.X.shape} do not go with labels of shape {self.y.shape}")

    def __len__(self) -> int:
        return len(self.X)

    @property
    def checksum(self) -> str:
        """SHA-256 of both arrays."""
        return array_checksum(self.X, self.y)


@dataclass(frozen=True, eq=False)
class Data:
    """A loaded dataset.

    Attributes
    ----------
    train : the training set; for a pooled dataset everything there is.
    test : the published or generated test set, None for a pooled dataset.
    classes : the published class labels, to which `Examples.y` refers by position.
    identity : names the content; equal for every source of the same content, so that results can be reused.
    files : where the files that were read lie.
    encoding : where the examples hold columns of a table as they were found, with words and gaps: how inputs are made
        of them, which takes the training rows of a run.
    known_checksum : of a dataset that passes by, of which no example is held.
    """

    train: Examples
    test: Examples | None
    classes: tuple[Label, ...]
    identity: str
    files: tuple[Path, ...] = ()
    encoding: Encoding | None = None
    known_checksum: str | None = None

    @property
    def checksum(self) -> str:
        """SHA-256 of the arrays as they are, row order included: what exactly a run has seen, for its provenance."""
        if self.known_checksum is not None:
            return self.known_checksum
        parts = [self.train] if self.test is None else [self.train, self.test]
        return array_checksum(*(array for part in parts for array in (part.X, part.y)))


def array_checksum(*arrays: NDArray[Any] | SparseRows) -> str:
    """SHA-256 of arrays, their kinds and shapes; of sparse rows another than of the same rows as an array."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        if isinstance(array, SparseRows):
            places = array.inputs.astype(np.int64), array.starts.astype(np.int64)
            digest.update(array_checksum(array.values, *places).encode())
        else:
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


@dataclass(frozen=True)
class Options:
    """What a dataset takes of its own; a subclass declares it, such as the size of a generated set."""


class Dataset(ABC):
    """A set of examples that experiments name in their configuration. A subclass describes and loads one.

    Attributes
    ----------
    name, title, summary : for the configuration, for figures, and in one line for lists.
    source, licence, citation : where it comes from, its terms, and what to cite.
    references : the same by the keys of `sharing/references.bib`; empty for the user's own files.
    preparation : what is done to the published values on loading.
    classes : the published class labels; None when only loading tells.
    n_train, n_test, n_features : sizes; None when only loading tells.
    files : the files' paths inside the data folder; empty for generated sets.
    fetched : what `fetch` says of a set without files.
    variants : names of the forms it comes in, the default first; empty when there is one.
    options : what else `load` accepts.
    generated : drawn afresh from (seed, run).
    pooled : no published split: everything is in the training set and the test set is None.
    streams : it can pass by in parts, without being held; see `datasets.flow`.
    """

    name: str
    title: str
    summary: str
    source: str = ""
    licence: str = ""
    citation: str = ""
    references: tuple[str, ...] = ()
    preparation: str = ""
    classes: tuple[Label, ...] | None = None
    n_train: int | None = None
    n_test: int | None = None
    n_features: int | None = None
    files: tuple[str, ...] = ()
    fetched: str = "nothing to fetch"
    variants: tuple[str, ...] = ()
    options: type[Options] = Options
    aliases: tuple[str, ...] = ()
    generated: bool = False
    pooled: bool = False
    streams: bool = False

    def load(
        self,
        cache: Cache,
        variant: str | None = None,
        seed: int = 0,
        run: int = 0,
        limit: int | None = None,
        **options: Any,
    ) -> Data:
        """Have the files, check and read them, or draw the examples.

        Parameters
        ----------
        cache : where files are kept and how they are had.
        variant : one of `variants`; None for the first.
        seed, run : which draw of a generated set; others ignore them.
        limit : training examples after which the reading of the user's own files stops; others ignore it.
        options : see `options`.

        Raises
        ------
        ParameterError
            For a variant or an option that is not accepted.
        DataError
            When the data cannot be had, or is not what it should be.
        """
        return self._load(self.request(cache, variant, seed, run, limit, options))

    def request(
        self, cache: Cache, variant: str | None, seed: int, run: int, limit: int | None, options: Mapping[str, Any]
    ) -> Request:
        """What a call of `load` asks for; `ParameterError` for a variant or an option that is not accepted."""
        made = self.options(**check(self.parameters(), dict(options)))
        return Request(cache, self.checked_variant(variant), seed, run, limit, made)

    def checked_variant(self, variant: str | None) -> str:
        """The variant that is meant; the empty string for a dataset without variants."""
        if variant is None:
            return self.variants[0] if self.variants else ""
        if variant not in self.variants:
            accepted = f"one of {', '.join(self.variants)}" if self.variants else f"no variant for {self.name}"
            raise ParameterError("variant", variant, accepted, names=self.variants)
        return variant

    def classes_of(self, variant: str | None) -> tuple[Label, ...] | None:
        """The class labels of a variant; None when only loading tells."""
        return self.classes

    def parameters(self) -> dict[str, Parameter]:
        """What `options` declares."""
        return declared(self.options)

    def at_hand(self, cache: Cache, options: Mapping[str, Any]) -> bool:
        """Whether loading tells more than the description does, and needs no download."""
        return False

    @abstractmethod
    def _load(self, request: Request) -> Data:
        """The data that a checked request asks for."""


@dataclass(frozen=True)
class Request:
    """What one call of `Dataset.load` asks for, checked."""

    cache: Cache
    variant: str
    seed: int
    run: int
    limit: int | None
    options: Any  # of the dataset's own kind


class Generated(Dataset):
    """A distribution. A subclass declares in `options` how many examples there are: `n`, and `n_test` for a test set.

    Attributes
    ----------
    draw : with a generator of random numbers, `n` and the other options, makes so many examples.
    """

    source = "generated"
    licence = "not applicable"
    preparation = "none"
    generated = True
    streams = True
    classes: tuple[Label, ...]
    draw: Callable[..., Examples]

    @property
    def revision(self) -> str:
        """Names the distribution, and the package that draws from it where that is not ours."""
        return "".join(f"{package}/" for package in packages_of(type(self).__module__)) + f"{self.name}/1"

    def _load(self, request: Request) -> Data:
        options = dict(vars(request.options))
        told = "/".join(f"{name}={value}" for name, value in options.items())
        identity = f"{self.revision}/{told}/seed={request.seed}/run={request.run}"
        random, n_test = generator(request.seed, Role.DATA, request.run), options.pop("n_test", None)
        train = self.draw(random, **options)
        test = self.draw(random, **options | {"n": n_test}) if n_test else None
        return Data(train, test, self.classes, identity)


Kind = TypeVar("Kind", bound=type[Dataset])


def register(kind: Kind) -> Kind:
    """Class decorator that makes a dataset known under its name and aliases."""
    datasets.add(kind.name, kind(), kind.aliases)
    return kind


def labelled(X: NDArray[Any], labels: NDArray[Any], classes: tuple[Label, ...]) -> Examples:
    """Examples from inputs and published labels; ValueError names a label that is not among the classes."""
    return Examples(X, encoded(labels, classes))


def encoded(labels: NDArray[Any], classes: tuple[Label, ...]) -> Indices:
    """Positions of the labels in `classes`; ValueError names a label that is not among them."""
    order = np.argsort(np.array(classes))
    ranked = np.array(classes)[order]
    place = np.minimum(np.searchsorted(ranked, labels), len(ranked) - 1)
    wrong = ranked[place] != labels
    if wrong.any():
        raise ValueError(f"label {labels[wrong][0]} in row {int(np.argmax(wrong)) + 1} is not one of the classes")
    return order[place].astype(np.int64)
