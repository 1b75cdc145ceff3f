"""A learner that is an estimator of another package: the stream passes before it, and its predictions are counted."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from budgetbench.engine.base import KernelClassifier, Outcome, Points, Rounds, learners, margins_of
from budgetbench.engine.kernel_access import KernelAccess, Rows
from budgetbench.engine.metering import Meter
from budgetbench.errors import ParameterError, ParameterErrors
from budgetbench.foreign.classes import SEEDS, arguments, constructed, driver_of, imported
from budgetbench.foreign.drivers import Driver
from budgetbench.foreign.features import PARAMETERS, map_of
from budgetbench.kernels import Floats, Kernel, Values
from budgetbench.parameters import Accepted, Count, Parameter, Repeats, check, missing, unknown
from budgetbench.sparse import Inputs, bare, by_strips, dense

#: Examples whose features are computed at a time.
BLOCK = 512

CHUNK = Parameter("chunk", Count, 1, "how many examples are predicted, and then learnt, at a time.")
EPOCHS = Parameter("epochs", Repeats, 1, "passes over the training set.")


@dataclass(kw_only=True, eq=False, repr=False)
class ForeignLearner(KernelClassifier):
    """An estimator that is asked for predictions before it learns from their examples, a chunk at a time.

    Nothing is decided before the first chunk is learnt, and what is not decided is not right: its examples are
    mistakes. With a map of features the landmarks of `nystroem` are the inputs of the first examples of the stream, as
    many as it has components; their labels are not looked at.

    Parameters
    ----------
    params : those of the estimator, `chunk` and `epochs` for one that goes on learning (unless its constructor takes a
        parameter of that name, which is meant then), and of a map of features, such as `nystroem__n_components`.
    """

    multiclass = True

    #: The class, and how it is driven.
    estimator: ClassVar[type[Any]]
    driver: ClassVar[type[Driver]]

    params: dict[str, Any] = field(default_factory=dict)

    # -- what it takes -------------------------------------------------------------------------------------------

    @classmethod
    def made(cls, params: dict[str, Any], kernel: Kernel, random_state: int) -> Self:
        return cls(params=params, kernel=kernel, random_state=random_state)

    @classmethod
    @cache
    def own_parameters(cls) -> dict[str, Parameter]:
        return {parameter.name: parameter for parameter in cls._ours()} | PARAMETERS | (arguments(cls.estimator) or {})

    @classmethod
    def parameters_for(cls, names: Iterable[str]) -> dict[str, Parameter]:
        """Its parameters, with those of these names where its constructor takes any."""
        own = cls.own_parameters()
        anything = Parameter("", Annotated[Any, Accepted("anything")], None)
        tells = arguments(cls.estimator) is not None
        return own if tells else dict.fromkeys(names, anything) | own

    @classmethod
    def _ours(cls) -> list[Parameter]:
        """How it is driven, as far as that is left to choose."""
        own = arguments(cls.estimator) or {}
        return [parameter for parameter in (CHUNK, EPOCHS) if cls.driver.online and parameter.name not in own]

    @classmethod
    def checked(cls, values: dict[str, Any]) -> dict[str, Any]:
        """The parameters as given, with those of how it is driven.

        Its own defaults are not written out: they may be anything, and belong to the version of its package.
        """
        ours = PARAMETERS | {parameter.name: parameter for parameter in cls._ours()}
        theirs = {name: value for name, value in values.items() if name not in ours}
        takes = arguments(cls.estimator)
        faults = [] if takes is None else [*unknown(theirs, takes), *missing(theirs, takes)]
        if faults:
            raise ParameterErrors(*faults)
        driven = check(ours, {name: value for name, value in values.items() if name in ours})
        wanted = {name: value for name, value in driven.items() if name not in PARAMETERS or name in values}
        map_of(wanted)
        constructed(cls.estimator, theirs)
        return wanted | theirs

    @classmethod
    def check_kernel(cls, kernel: Kernel, values: dict[str, Any]) -> None:
        asked = map_of(values)
        accepted = asked and asked[1].refuse(kernel)
        if asked and accepted:
            raise ParameterError("kernel", kernel.name, accepted, f"There are no features for others: {asked[0]}.")

    def _own_values(self) -> dict[str, Any]:
        return self.params

    def _validate(self) -> None:
        self.params = self.checked(self.params)

    # -- learning ------------------------------------------------------------------------------------------------

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        asked = map_of(self.params)
        self._map = asked and asked[1]
        self._transformer: Any = None
        ours = [*PARAMETERS, *(parameter.name for parameter in self._ours())]
        own = {name: value for name, value in self.params.items() if name not in ours}
        seed = next((name for name in SEEDS if name in (arguments(self.estimator) or ())), None)
        if seed and seed not in own:
            own[seed] = self.random_state
        self._driver = self.driver(constructed(self.estimator, own), self.classes_)
        self._rounds: Rounds | None = None

    def learn(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        with self._charged(Meter()):
            self._learn(access.X, labels, order)
        self._learnt = True

    def _learn(self, X: Inputs, labels: NDArray[np.int64], order: Rows) -> None:
        if self._map:
            first = dense(X[order[: self._map.n_components]]).astype(np.float64)
            self._transformer = self._map.fitted(self._kernel, first, self.random_state)
        if self.batch:
            inputs = X[order]
            self._driver.learn(by_strips(self._features, inputs) if self._map else bare(inputs), labels[order])
            return
        margins = [self._see(Z, own) for Z, own in self._chunks(X, labels, order)]
        self._rounds = Rounds(np.concatenate(margins), np.empty(0, dtype=np.int64))
        for _ in range(self._passes - 1):
            for Z, own in self._chunks(X, labels, order):
                self._driver.learn(Z, own)

    def _see(self, X: Floats, labels: NDArray[np.int64]) -> Values:
        """Predict a chunk and learn from it: the margins before that."""
        margins = margins_of(self._decided(X), labels)
        self._driver.learn(X, labels)
        return margins

    @property
    def _passes(self) -> int:
        return int(self.params["epochs"]) if EPOCHS in self._ours() else 1

    def _chunks(self, X: Inputs, labels: NDArray[np.int64], order: Rows) -> Iterator[tuple[Floats, NDArray[np.int64]]]:
        """The stream chunk by chunk: features and labels."""
        size = int(self.params["chunk"]) if CHUNK in self._ours() else 1
        block = size * -(-BLOCK // size)
        for start in range(0, len(order), block):
            rows = order[start : start + block]
            Z, own = self._features(dense(X[rows])), labels[rows]
            for at in range(0, len(rows), size):
                yield Z[at : at + size], own[at : at + size]

    def _features(self, inputs: Floats) -> NDArray[Any]:
        """What the estimator sees; float64 where there is a map, as near landmarks leave float32 no digits."""
        return inputs if self._transformer is None else self._transformer.transform(inputs.astype(np.float64))

    # -- what came of it -----------------------------------------------------------------------------------------

    def _decide(self, inputs: Floats) -> Values:
        return self._decided(self._features(inputs))

    def _decided(self, features: Floats) -> Values:
        scores = self._driver.scores(features)
        if len(self.classes_) > 2:
            return scores
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(scores[:, 1] - scores[:, 0])  # what is no number decides nothing

    def outcome(self) -> Outcome:
        nothing = Points(np.empty((0, self.n_features_in_), np.float32), np.empty(0), np.empty(0, np.int64))
        rounds, pickled = self._rounds, self._pickled_bytes()
        return Outcome(
            size=None,  # nobody knows which examples it stores
            model_bytes=pickled,
            state_bytes=pickled,
            points=nothing,
            rounds=rounds,
            mistakes=None if rounds is None else int(np.count_nonzero(rounds.margins <= 0)),
        )

    def _pickled_bytes(self) -> int | None:
        """The size of its pickle, with the features: all that is known of the memory that it takes."""
        try:
            return len(pickle.dumps((self._transformer, self._driver.estimator), protocol=pickle.HIGHEST_PROTOCOL))
        except Exception:  # it holds what cannot be written, and says so in many ways
            return None


@cache
def foreign(name: str) -> type[ForeignLearner]:
    """The learner that a class of another package is.

    Parameters
    ----------
    name : the class as ``module:Class``.

    Raises
    ------
    ParameterError : there is no such class, or none that can be driven.
    """
    return adapted(imported(name), name)


def adapted(kind: type[Any], name: str) -> type[ForeignLearner]:
    """The learner that a class is, under a name; `ParameterError` where it cannot be driven."""
    driver = driver_of(kind, name)
    own = {
        "name": name,
        "title": kind.__name__,
        "estimator": kind,
        "driver": driver,
        "batch": not driver.online,
        "multiclass": driver.takes_several_classes(kind),
        "__module__": kind.__module__,
        "__doc__": kind.__doc__,
    }
    return type(kind.__name__, (ForeignLearner,), own)


@learners.elsewhere
def _found(name: str) -> type[ForeignLearner] | None:
    try:
        return foreign(name) if ":" in name else None
    except ParameterError:
        return None
