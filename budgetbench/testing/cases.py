"""What checks are made with: a learner with parameters that it accepts, examples to learn from, what it has learnt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.base import KernelClassifier
from budgetbench.engine.online import OnlineLearner
from budgetbench.engine.support import ExpansionClassifier
from budgetbench.errors import ParameterError
from budgetbench.foreign import ForeignLearner
from budgetbench.kernels import RBF, Kernel
from budgetbench.parameters import choices

Labels = NDArray[np.int64]

#: What may have to be said for a learner to be complete: tried one by one, then two by two.
EXTRAS: dict[str, Any] = {
    "budget": 7,
    "bound_budget": 7,
    "evaluation_size": 9,
    "size": "variable",
    "U": 1.0,
    "eta": 0.3,
    "neighbors": 3,
    "beta": 0.2,
}


@dataclass(frozen=True)
class Case:
    """A learner with a set of its parameters."""

    learner: type[KernelClassifier]
    values: dict[str, Any] = field(default_factory=dict)

    def make(self, **more: Any) -> Any:
        if issubclass(self.learner, ForeignLearner):
            return self.learner.made(self.learner.checked(self.values | more), RBF(gamma=0.8), 3)
        usual: dict[str, Any] = {"kernel": "rbf", "gamma": 0.8, "random_state": 3}
        return self.learner(**(usual | self.values | more))

    def started(self, n_features: int, **more: Any) -> Any:
        """One that is ready for examples of classes -1 and 1."""
        model = self.make(**more)
        model.start(np.array([-1, 1]), n_features)
        return model

    def takes(self, kernel: Kernel) -> bool:
        """Whether the learner has a rule for a kernel."""
        try:
            self.learner.check_kernel(kernel, self.learner.checked(self.values))
        except ParameterError:
            return False
        return True

    @property
    def said(self) -> Case:
        """The same with every parameter said: some that are left out mean another thing where a stream has no end."""
        return Case(self.learner, self.learner.checked(self.values))

    @property
    def online(self) -> bool:
        return issubclass(self.learner, OnlineLearner)

    @property
    def expands(self) -> bool:
        """Whether it decides by an expansion over examples that it stores."""
        own = getattr(self.learner, "_decide", None)
        return issubclass(self.learner, ExpansionClassifier) and own is ExpansionClassifier._decide

    @property
    def stores(self) -> bool:
        """Whether it has a support set."""
        return issubclass(self.learner, ExpansionClassifier)

    @property
    def budget(self) -> int | None:
        budget: int | None = self.learner.checked(self.values).get("budget")
        return budget


@cache
def parameter_sets(learner: type[KernelClassifier]) -> tuple[dict[str, Any], ...]:
    """One set with a budget where there is one, then one for each choice that the learner offers.

    Raises
    ------
    AssertionError : no set is accepted.
    """
    own = learner.own_parameters()
    wishes: list[dict[str, Any]] = [{"budget": EXTRAS["budget"]}] if "budget" in own else [{}]
    for parameter, declared in own.items():
        for choice in (True, False) if declared.annotation is bool else choices(declared.annotation):
            wishes += [{parameter: choice, "budget": EXTRAS["budget"]}] if "budget" in own else []
            wishes += [{parameter: choice}]
    found: list[dict[str, Any]] = []
    for wish in [*wishes, {}]:
        values = _accepted(learner, wish)
        complete = [learner.checked(one) for one in found]
        if values is not None and learner.checked(values) not in complete:
            found.append(values)
    if not found:
        raise AssertionError(f"no parameters found that {learner.__name__} accepts: give some to the check")
    return tuple(found)


def _accepted(learner: type[KernelClassifier], wish: dict[str, Any]) -> dict[str, Any] | None:
    """`wish`, with whatever else it takes for the learner to accept it; None when nothing helps."""
    own = learner.own_parameters()
    extras = [name for name in EXTRAS if name in own and name not in wish]
    for size in range(3):
        for names in combinations(extras, size):
            values = wish | {name: EXTRAS[name] for name in names}
            try:
                learner.checked(values)
            except ParameterError:
                continue
            return values
    return None


def noisy(n: int = 110, seed: int = 0, features: int = 3) -> tuple[Any, Any]:
    """Inputs of shape (n, features) with labels ±1, some of them wrong, and one row twice, with either label."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, features)).astype(np.float32)
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.7, 1, -1)
    y[random.random(n) < 0.15] *= -1
    X[5], y[5] = X[2], -y[2]
    return X, y


def three_classes() -> tuple[Any, Any]:
    X, y = noisy()
    return X, np.where(X[:, 2] > 0.8, 2, y)


def state(model: Any) -> list[Any]:
    """All that the decision function is made of."""
    if isinstance(model, ExpansionClassifier):
        parts = (model.support_, model.coefficients_, model.intercept_)
        return [np.asarray(part).tolist() for part in parts]
    return [np.asarray(model._state()).tolist()]


@contextmanager
def refused(kind: type[Exception], words: str) -> Iterator[None]:
    """What is done in this context has to raise such an error, whose message holds one of the words (`a|b`)."""
    try:
        yield
    except kind as error:
        if not any(word.casefold() in str(error).casefold() for word in words.split("|")):
            raise AssertionError(f"the message is {str(error)!r}; it should say {words!r}") from error
    else:
        raise AssertionError(f"nothing was raised; it should be a {kind.__name__} that says {words!r}")
