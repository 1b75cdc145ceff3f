"""Whether a learner's sizes in bytes are right: they are compared with pickles of what it really reads."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from budgetbench.engine.kernel_access import Gram
from budgetbench.testing.cases import Case, noisy, three_classes

#: Bytes that a pickle may have beyond what is counted: for names and single numbers; for each kept example, as its
#: number, its place and its label are there several times; and room to spare, as a factor.
NAMES, NUMBERS, SPARE = 3000, 60, 1.1


def model_bytes_are_those_of_a_pickle_of_what_prediction_reads(case: Case) -> None:
    X, y = noisy(features=40)
    model = case.make(gamma=0.01).fit(X, y)
    size, read = model.outcome().model_bytes, pickled(model, lambda model: model.decision_function(X))
    assert 0 < size <= read <= size + NAMES, f"model_bytes are {size}; decision_function reads {read}"


def state_bytes_are_those_of_a_pickle_of_what_learning_goes_on_from(case: Case) -> None:
    X, y = noisy(50, features=40)
    model = case.make(gamma=0.01)
    for row in range(len(X)):  # one by one, so that there is no room for many more
        model.partial_fit(X[row : row + 1], y[row : row + 1], classes=[-1, 1])
    found, kept = model.outcome(), len(model.kept())
    size, read = found.state_bytes, pickled(model, lambda model: model.partial_fit(X[:1], y[:1]))
    assert found.model_bytes <= size, f"state_bytes are {size}, fewer than model_bytes, {found.model_bytes}"
    assert size <= read <= SPARE * size + NUMBERS * kept + NAMES, f"state_bytes are {size}; partial_fit reads {read}"


def sizes_do_not_depend_on_how_the_examples_came(case: Case) -> None:
    (X, y), case = noisy(), case.said
    parts, gram = case.make(), case.started(X.shape[1])
    for rows in np.split(np.arange(len(X)), [1, 2, 40, 47]):
        parts.partial_fit(X[rows], y[rows], classes=[-1, 1])
    gram.learn(Gram(gram._kernel.matrix(X, X), X), (y + 1) // 2, np.arange(len(X)))
    outcomes = [model.outcome() for model in (case.make().fit(X, y), parts, gram)]
    assert len({(found.model_bytes, found.state_bytes) for found in outcomes}) == 1


def a_budget_bounds_memory(case: Case) -> None:
    X, y = three_classes()
    for classes in (2, 3):
        model, found = case.make(budget=5), []
        for part in range(1, 26):
            rows = np.random.default_rng(part).choice(len(X), 20)
            model.partial_fit(X[rows] + 0.01 * part, np.maximum(y[rows], 0) % classes, classes=np.arange(classes))
            found.append(len(pickle.dumps(model)))
        assert max(found[-8:]) < 1.1 * max(found[:-8]), (
            f"with {classes} classes a pickle has {found} bytes, call by call"
        )


def pickled(model: Any, use: Callable[[Any], object]) -> int:
    """The size of the pickle of a model with those attributes alone that a call reads before it sets them."""
    read: set[str] = set()
    known: set[str] = set()  # read or set

    class Watched(type(model)):  # type: ignore[misc]
        def __getattribute__(self, name: str) -> Any:
            if name not in known and name in object.__getattribute__(self, "__dict__"):
                read.add(name)
                known.add(name)
            return super().__getattribute__(name)

        def __setattr__(self, name: str, value: Any) -> None:
            known.add(name)
            super().__setattr__(name, value)

    before = pickle.dumps(model)
    copy = pickle.loads(before)
    copy.__class__ = Watched
    use(copy)
    bare = pickle.loads(before)  # its parts may know it
    for name in set(vars(bare)) - read:
        object.__delattr__(bare, name)
    return len(pickle.dumps(bare))
