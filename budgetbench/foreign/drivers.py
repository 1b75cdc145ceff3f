"""The ways in which an estimator learns and predicts: scikit-learn's two, and River's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from budgetbench.kernels import Floats, Values

Labels = NDArray[np.int64]


class Driver(ABC):
    """An estimator while it learns. It is told classes by their labels, and asked for a score of each.

    Parameters
    ----------
    estimator : that has learnt nothing yet.
    classes : the labels, as the learner has them.
    """

    #: What a class has to have, in words.
    methods: ClassVar[str]
    #: Goes on learning; else it sees the training set as a whole.
    online: ClassVar[bool] = True

    def __init__(self, estimator: Any, classes: NDArray[Any]) -> None:
        self.estimator, self.classes = estimator, classes
        self.has_learnt = False

    @classmethod
    @abstractmethod
    def suits(cls, kind: type[Any]) -> bool:
        """Whether a class has the methods."""

    @classmethod
    def takes_several_classes(cls, kind: type[Any]) -> bool:
        """Whether a class is for more than two classes, as far as can be known before it learns."""
        return True

    def learn(self, X: Floats, labels: Labels) -> None:
        """Learn from the rows of X (n, d), whose classes have these indices."""
        self._learn(X, labels)
        self.has_learnt = True

    def scores(self, X: Floats) -> Values:
        """A score of each class for each row of X: (n, n_classes); all alike before anything is learnt."""
        return self._scores(X) if self.has_learnt else np.zeros((len(X), len(self.classes)))

    @abstractmethod
    def _learn(self, X: Floats, labels: Labels) -> None: ...

    @abstractmethod
    def _scores(self, X: Floats) -> Values: ...

    def _votes(self, predicted: Any) -> Values:
        """Scores where labels alone are predicted: 1 for that class, 0 for each where the label is none of them."""
        labels = np.asarray(predicted).reshape(-1, 1)
        return np.asarray(labels == self.classes, dtype=np.float64)


class _ScikitLearns(Driver):
    """What both of scikit-learn's ways have in common."""

    def _scores(self, X: Floats) -> Values:
        for method in ("decision_function", "predict_proba"):
            if hasattr(self.estimator, method):
                scores = self._by_class(np.asarray(getattr(self.estimator, method)(X), dtype=np.float64))
                if scores is not None:
                    return scores
        return self._votes(self.estimator.predict(X))

    def _by_class(self, values: Values) -> Values | None:
        """Scores with a column for each class, a class that never came at the bottom; None for values of another kind,
        such as one for each pair of classes."""
        known = np.asarray(getattr(self.estimator, "classes_", np.sort(self.classes)))
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim == 1 and len(known) == 2:
            values = np.stack([-values, values], axis=1)
        places = [np.flatnonzero(known == label) for label in self.classes]
        if values.ndim != 2 or values.shape[1] != len(known) or sum(map(len, places)) != len(known):
            return None
        scores = np.full((len(values), len(self.classes)), -np.inf)
        for place, found in enumerate(places):
            if len(found):
                scores[:, place] = values[:, found[0]]
        return scores


class PartialFit(_ScikitLearns):
    """`partial_fit`, which is told all classes where it asks for them: with the first examples, or each time."""

    methods = "partial_fit and predict or decision_function"

    def __init__(self, estimator: Any, classes: NDArray[Any]) -> None:
        super().__init__(estimator, classes)
        asked = signature(estimator.partial_fit).parameters.get("classes")
        self._asks, self._insists = asked is not None, asked is not None and asked.default is asked.empty

    @classmethod
    def suits(cls, kind: type[Any]) -> bool:
        return hasattr(kind, "partial_fit") and (hasattr(kind, "predict") or hasattr(kind, "decision_function"))

    def _learn(self, X: Floats, labels: Labels) -> None:
        told = {"classes": np.sort(self.classes)} if self._insists or (self._asks and not self.has_learnt) else {}
        self.estimator.partial_fit(X, self.classes[labels], **told)


class LearnOne(Driver):
    """`learn_one`, whose examples are mappings; of two classes the labels are False and True, as River has them."""

    methods = "learn_one and predict_one"

    def __init__(self, estimator: Any, classes: NDArray[Any]) -> None:
        super().__init__(estimator, classes)
        self._labels: list[Any] = [False, True] if len(classes) == 2 else classes.tolist()
        self._has_scores = hasattr(estimator, "predict_proba_one")

    @classmethod
    def suits(cls, kind: type[Any]) -> bool:
        return hasattr(kind, "learn_one") and hasattr(kind, "predict_one")

    @classmethod
    def takes_several_classes(cls, kind: type[Any]) -> bool:
        try:
            return bool(getattr(kind(), "_multiclass", True))  # River's word for it, of an instance
        except Exception:  # it wants parameters, and will be asked when it has them
            return True

    def _learn(self, X: Floats, labels: Labels) -> None:
        for x, label in zip(_mappings(X), labels.tolist(), strict=True):
            self.estimator.learn_one(x, self._labels[label])

    def _scores(self, X: Floats) -> Values:
        return np.array([self._scores_of(x) for x in _mappings(X)]).reshape(len(X), len(self.classes))

    def _scores_of(self, x: dict[int, float]) -> list[float]:
        if self._has_scores:
            try:
                told = self.estimator.predict_proba_one(x)
            except NotImplementedError:  # River's classifiers without probabilities
                self._has_scores = False
            else:
                return [float(told.get(label, 0.0)) for label in self._labels]
        predicted = self.estimator.predict_one(x)
        return [float(predicted == label) for label in self._labels]


class Fit(_ScikitLearns):
    """`fit` alone: a batch learner."""

    methods = "fit and predict or decision_function"
    online = False

    @classmethod
    def suits(cls, kind: type[Any]) -> bool:
        return hasattr(kind, "fit") and (hasattr(kind, "predict") or hasattr(kind, "decision_function"))

    def _learn(self, X: Floats, labels: Labels) -> None:
        self.estimator.fit(X, self.classes[labels])


#: A class is driven in the first of these ways that suits it.
DRIVERS: tuple[type[Driver], ...] = (PartialFit, LearnOne, Fit)


def _mappings(X: Floats) -> Iterator[dict[int, float]]:
    """The rows of X as River has examples: number of the input → value."""
    return (dict(enumerate(row)) for row in X.tolist())
