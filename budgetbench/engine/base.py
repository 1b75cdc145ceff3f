"""What every learner is: a classifier with a kernel, its parameters, what came of it, and how it is registered."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self, dataclass_transform

from budgetbench.engine import metering
from budgetbench.engine.bounds import Bounds, Comparators
from budgetbench.engine.estimator import Estimator
from budgetbench.engine.kernel_access import KernelAccess, Rows, access_to
from budgetbench.engine.metering import Meter
from budgetbench.errors import ParameterError
from budgetbench.kernels import Floats, Kernel, Values, kernels, make_kernel
from budgetbench.kernels.given import PRECOMPUTED, Function, OfFunction, Precomputed
from budgetbench.lazy import lazy
from budgetbench.parameters import Parameter, check, declared, plain
from budgetbench.registry import Registry
from budgetbench.sparse import Inputs, by_strips, floats, held

targets, validation = lazy("sklearn.utils.multiclass"), lazy("sklearn.utils.validation")

learners: Registry[type[KernelClassifier]] = Registry("algorithm", "budgetbench.learners")

#: What may be said of a kernel that is given by its name.
KERNEL_PARAMETERS = ("gamma", "sigma", "variance", "degree", "coef0")

Class = TypeVar("Class", bound="type[KernelClassifier]")


@dataclass_transform(kw_only_default=True, eq_default=False)
def learner(
    name: str,
    *,
    title: str,
    color: str,
    marker: str,
    references: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
) -> Callable[[Class], Class]:
    """Make a class a learner: its fields become parameters, and configs and figures know it.

    Parameters
    ----------
    name, aliases : what configs call it.
    title, color, marker : its label and its fixed style in tables and figures.
    references : what to cite, by the keys of `sharing/references.bib`; of another package, that package if nothing.
    """

    def decorate(cls: Class) -> Class:
        dataclass(kw_only=True, eq=False, repr=False)(cls)  # completes the class itself
        cls.name, cls.title, cls.color, cls.marker = name, title, color, marker
        cls.references = references
        learners.add(name, cls, aliases)
        return cls

    return decorate


class Points(NamedTuple):
    """What a model stores: inputs, float32 of shape (n, d), dense or sparse, with their coefficients, and the numbers
    of the examples that they are, -1 for points that are none."""

    inputs: Inputs
    coefficients: Values
    examples: Rows


class Sums(NamedTuple):
    """Σₛ coefficients[s] K(support[s], ·), one sum or, for coefficients of shape (m, k), k of them.

    support : row numbers of stored examples, (m,); terms are added up in their order.
    """

    support: Rows
    coefficients: Values


class Rounds(NamedTuple):
    """Of each round: the margin before the update, and the size after it; of no round where none is known."""

    margins: NDArray[np.float64]
    sizes: NDArray[np.int64]


class Outcome(NamedTuple):
    """What came of learning, for records and figures; None where it does not apply.

    size : what counts against a budget.
    model_bytes, state_bytes : what prediction needs, and what learning goes on from; see `engine.size`.
    rounds : of the first pass. The other numbers are as in `OnlineLearner`.
    """

    size: int | None
    model_bytes: int | None
    state_bytes: int | None
    points: Points
    rounds: Rounds | None = None
    mistakes: int | None = None
    margin_errors: int | None = None
    insertions: int | None = None
    removals: int | None = None
    kernel_evaluations: int | None = None


@dataclass(kw_only=True, eq=False, repr=False)
class KernelClassifier(Estimator, ABC):
    """A classifier that learns with a kernel.

    Parameters
    ----------
    kernel : ``rbf``, ``polynomial`` or ``linear``, or a kernel itself, which leaves nothing else to be said of it; in
        Python also a function of rows X (n, d) and Z (m, d) that gives the values between them, of shape (n, m), or
        ``precomputed``: then `fit` takes these values among the training examples in place of X, and `predict` those
        of each row with all training examples. `support_vectors_` are then numbers of examples, with their K(x, x).
    gamma, sigma, variance : the width of an RBF, at most one of them; gamma also scales a polynomial's inner
        product. An RBF given none of them takes gamma = 1 / number of inputs.
    degree, coef0 : of the polynomial kernel.
    random_state : seed of the learner's own randomness, where it has any.

    Attributes
    ----------
    classes_ : the class labels; of two, the second is the positive one.
    train_seconds_ : time that learning took, with the kernel values that the learner would have needed alone, on a
        stream, whoever has computed them; see `engine.metering`.
    kernel_seconds_ : the part of it that is kernel values, but for those that a solver computes by itself.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    color: ClassVar[str]
    marker: ClassVar[str]
    references: ClassVar[tuple[str, ...]]
    #: Sees the training set as a whole; the order of the examples does not matter.
    batch: ClassVar[bool] = False
    #: A batch learner that draws nothing: of the same training set, in any order, it makes the same.
    order_free: ClassVar[bool] = False
    #: How long it takes for a kernel value that it needs, with all that it does beside, next to those that do little
    #: beside (4 ns); about, as measured over all configurations. Experiments are divided by it.
    effort: ClassVar[int] = 1
    #: Counted in every run's key: raise it when a change alters what the learner computes.
    revision: ClassVar[int] = 1
    #: Makes of a learner of two classes one of several, see `engine.one_vs_rest`; None where there is no way.
    against_the_rest: ClassVar[Callable[..., KernelClassifier] | None] = None

    kernel: str | Kernel | Function = "rbf"
    gamma: float | str | None = None
    sigma: float | None = None
    variance: float | None = None
    degree: int | None = None
    coef0: float | None = None
    random_state: int | None = None

    @classmethod
    @cache
    def own_parameters(cls) -> dict[str, Parameter]:
        """The learner's own parameters, without those of the kernel."""
        return declared(cls, KernelClassifier)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """The learner's own parameters by their defaults, as `checked` completes them; `...` where there is none."""
        own = {name: parameter.default for name, parameter in cls.own_parameters().items()}
        return own if ... in own.values() else cls.checked(own)

    @classmethod
    def checked(cls, values: dict[str, Any]) -> dict[str, Any]:
        """The learner's own parameters with their defaults.

        Raises
        ------
        ParameterError
            For unknown names, wrong types and values out of range, all of them, or values that do not go together.
        """
        complete = check(cls.own_parameters(), values)
        cls._check_together(complete)
        return complete

    @classmethod
    def _check_together(cls, values: dict[str, Any]) -> None:
        """Raise `ParameterError` for values that are each right and do not go together."""

    @classmethod
    def check_kernel(cls, kernel: Kernel, values: dict[str, Any]) -> None:
        """Raise `ParameterError` for a kernel that the learner has no rule for, with these parameters of its own."""

    @classmethod
    def made(cls, params: dict[str, Any], kernel: Kernel, random_state: int) -> Self:
        """The learner of a run: with a complete set of its own parameters, as `checked` gives them."""
        return cls(**params, kernel=kernel, random_state=random_state)

    # -- what a learner gives ------------------------------------------------------------------------------------

    @abstractmethod
    def learn(self, access: KernelAccess, labels: NDArray[np.int64], order: Rows) -> None:
        """Learn from the examples `order` of a data set behind `access`, once `start` was called.

        `labels` are indices into the classes, one for each row of the data set; `support_` and what else names
        examples afterwards are row numbers of that data set.
        """

    @abstractmethod
    def outcome(self) -> Outcome:
        """What came of it."""

    def bounds(self, g: Comparators) -> Bounds:
        """What theorems say of one pass over a stream of two classes, beside comparators; nothing where there is none.

        Whatever the order of its examples, so that a run that breaks a bound shows an error of the program.
        """
        return {}

    @abstractmethod
    def _decide(self, inputs: Floats) -> Values:
        """Decision values for inputs of shape (n, d)."""

    def sums(self) -> list[Sums]:
        """What decisions are made of, where that is sums over stored examples of the data set behind `learn`: those of
        the last hypothesis, then those of the mean of all where that is kept."""
        return []

    def errs_of(self, sums: Values, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """`errs` for rows of which the last hypothesis has these sums, (n,) or (n, k) as its coefficients are."""
        return wrong(sums, labels)

    def averaged_errs(self, X: ArrayLike, labels: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        """`errs` of the mean of all hypotheses, for a learner that keeps it."""
        return None

    # -- scikit-learn's conventions ------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike, **others: Any) -> Self:
        """Learn from the rows of X (n, d) with labels y (n,), in the order given.

        X may be a sparse matrix; it is held as an array, of 4 n d bytes, where that is small or few inputs are 0.

        Raises
        ------
        TypeError : for weights of examples, or anything else that no learner takes.
        """
        refuse_others(others)
        inputs, y = validation.validate_data(self, X, y, dtype=np.float32, order="C", accept_sparse="csr")
        inputs = held(inputs)
        targets.check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
        self._begin(classes, inputs)
        self._learner._fit(access_to(inputs, self._learner._kernel), labels.astype(np.int64))
        return self._adopt()

    def _begin(self, classes: NDArray[Any], inputs: Inputs) -> None:
        """Choose who learns: where there are more classes than this learner takes, several stand in for it."""
        self._learnt = False
        several = len(classes) > 2 and not self.multiclass
        self._stand_in = self.against_the_rest(self) if several and self.against_the_rest else None
        self._learner.start(classes, inputs.shape[1])
        self._learner._fit_kernel(inputs)

    @property
    def _learner(self) -> Any:
        """Who learns in `fit` and `partial_fit`."""
        return self._stand_in or self

    def _fit(self, access: KernelAccess, labels: NDArray[np.int64]) -> None:
        self.learn(access, labels, np.arange(len(labels)))

    def _adopt(self) -> Self:
        """Make known under the public names what a stand-in has learnt."""
        if self._stand_in is not None:
            learnt = vars(self._stand_in).items()
            vars(self).update((name, value) for name, value in learnt if name.endswith("_"))
            self._learnt = True
        return self

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        """Forget everything and make ready to learn."""
        self._learnt = False
        self._validate()
        if len(classes) < 2:
            raise ValueError(f"{type(self).__name__} needs two classes or more; found one class: {classes[0]!r}")
        if len(classes) > 2 and not self.multiclass:
            raise ValueError(
                f"Only binary classification is supported by {type(self).__name__}; found {len(classes)} classes: name "
                "the positive one, or let one learn for each class (multiclass: one_vs_rest)"
            )
        self.train_seconds_ = self.kernel_seconds_ = 0.0
        self.classes_ = np.asarray(classes)
        self.n_features_in_ = n_features
        self._kernel = self._make_kernel(n_features)
        self.check_kernel(self._kernel.kind, self._own_values())

    @contextmanager
    def _charged(self, meter: Meter) -> Iterator[None]:
        """Charge what is learnt in this context to the learner."""
        begun = metering.clock()
        yield
        self.train_seconds_ += metering.clock() - begun + meter.owed
        self.kernel_seconds_ += meter.seconds

    def _validate(self) -> None:
        for name in self.own_parameters():
            setattr(self, name, plain(getattr(self, name)))  # a NumPy integer may be too short to be added to
        self.checked(self._own_values())

    def _own_values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.own_parameters()}

    def _make_kernel(self, n_features: int) -> Kernel:
        given = {name: getattr(self, name) for name in KERNEL_PARAMETERS if getattr(self, name) is not None}
        if not isinstance(self.kernel, str) or self.kernel == PRECOMPUTED:
            if given:
                name = next(iter(given))
                raise ParameterError(name, given[name], "nothing where the kernel is given whole")
            if isinstance(self.kernel, Kernel):
                return self.kernel
            return Precomputed() if isinstance(self.kernel, str) else OfFunction(self.kernel)
        if self.kernel in kernels and not given:
            given = kernels[self.kernel].guessed(n_features)
        return make_kernel(self.kernel, **given)

    def _fit_kernel(self, inputs: Inputs) -> None:
        """Multiply the kernel by a power of two if its values need it, and say so."""
        plain = self._kernel.told_by(inputs)
        self._kernel = plain.fitted_to(inputs)
        if self._kernel is not plain:
            warnings.warn(f"{self.title}: {self._kernel}, as float32 cannot hold its values", stacklevel=4)

    def decision_function(self, X: ArrayLike) -> Values:
        """Decision values: of shape (n,) for two classes (above 0: the second), (n, n_classes) for more."""
        inputs = self._inputs(X)
        return by_strips(self._learner._decide, inputs)

    def _inputs(self, X: ArrayLike) -> Inputs:
        """The rows of X to decide on, once something is learnt."""
        validation.check_is_fitted(self)
        kinds = {"dtype": np.float32, "order": "C", "accept_sparse": "csr"}
        return floats(validation.validate_data(self, X, reset=False, **kinds))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of each row of X (n, d)."""
        values = self.decision_function(X)
        return self.classes_[choose(values)]

    def errs(self, X: ArrayLike, labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which rows of X (n, d) are predicted wrong, where `labels` (n,) are indices into the classes; see `wrong`."""
        return wrong(self.decision_function(X), labels)


def sums_of(model: Any, *names: str) -> list[Sums]:
    """The sums over a learner's support set with the coefficients of these names, where it has them; none where it
    stores points that are no examples."""
    if (model.support_ < 0).any():
        return []
    return [Sums(model.support_, getattr(model, name)) for name in names if hasattr(model, name)]


def refuse_others(others: Mapping[str, Any]) -> None:
    """Raise `TypeError` for arguments of `fit` and `partial_fit` that scikit-learn knows and learners here do not."""
    if others.get("sample_weight") is not None:
        reason = "the papers' rules weigh all examples alike, and have none of another weight"
        raise TypeError(f"sample_weight: found weights; accepted: None, as {reason}. Give an example several times.")
    unknown = [name for name in others if name != "sample_weight"]
    if unknown:
        raise TypeError(f"{unknown[0]}: found an argument that fit does not take; accepted: X, y")


def choose(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The class index that decision values stand for; where they decide nothing, the first, as one must be named."""
    return (values > 0).astype(np.int64) if values.ndim == 1 else values.argmax(axis=1)


def wrong(values: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which decision values are wrong: y f(x) ≤ 0; for more classes, where another one scores as high as the right one.

    The rule of every error in the program, online and on test sets: what is not decided is not right.
    """
    return margins_of(values, labels) <= 0


def margins_of(values: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """y f(x); for more classes the score of the right one less the best other."""
    if values.ndim == 1:
        return np.where(labels == 1, values, -values)
    rows = np.arange(len(values))
    others = values.copy()
    others[rows, labels] = -np.inf
    with np.errstate(invalid="ignore"):  # two scores of -∞ decide nothing
        return np.nan_to_num(values[rows, labels] - others.max(axis=1))
