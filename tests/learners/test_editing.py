"""Condense and multi-edit against plain transcriptions, and what they are meant to achieve."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.errors import ParameterError
from budgetbench.learners import Condense, MultiEdit

Matrix = NDArray[np.float64]


def vote(K: Matrix, y: Any, t: int, among: list[int], k: int) -> int:
    """The class of t by its k nearest, the nearest one deciding between equal numbers of votes."""
    apart = [K[i, i] - 2 * K[i, t] for i in among]
    nearest = [among[n] for n in sorted(range(len(among)), key=apart.__getitem__)[:k]]
    votes = Counter(int(y[i]) for i in nearest)
    most = max(votes.values())
    best = [label for label in votes if votes[label] == most]
    return int(y[nearest[0]]) if int(y[nearest[0]]) in best else best[0]


def condense(K: Matrix, y: Any, order: Any, k: int) -> list[int]:
    """Hart 1968."""
    stored = [int(order[0])]
    while True:
        before = len(stored)
        for t in map(int, order):
            if t not in stored and vote(K, y, t, stored, k) != y[t]:
                stored.append(t)
        if len(stored) == before:
            return stored


def multi_edit(K: Matrix, y: Any, order: Any, k: int, random: Any, parts: int, patience: int) -> list[int]:
    """Devijver and Kittler 1982: diffusion, classification, editing, confusion, termination."""
    left, quiet = sorted(map(int, order)), 0
    while quiet < patience:
        S = np.array_split(random.permutation(left), parts)
        kept = [int(t) for n, part in enumerate(S) for t in part if vote(K, y, t, list(S[(n + 1) % parts]), k) == y[t]]
        quiet = quiet + 1 if len(kept) == len(left) else 0
        left = sorted(kept)
    return left


def learnt(model: Any, problem: Any, given: bool) -> Any:
    model.start(np.array([-1, 1]), problem.X.shape[1])
    access = Gram(problem.matrix, problem.X) if given else Streamed(model._kernel, problem.X)
    model.learn(access, (problem.y + 1) // 2, problem.order)
    return model


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_condense_agrees_with_the_rule(problem: Any, stream: str, k: int) -> None:
    for seed in range(2):
        data = problem(stream, seed, n=90)
        model = learnt(Condense(neighbors=k, **data.kernel), data, "ties" in stream)
        assert model.support_.tolist() == condense(data.K, data.y, data.order, k)
        expected = [vote(data.K, data.y, t, model.support_.tolist(), k) for t in range(len(data.y))]
        assert model.predict(data.X).tolist() == expected


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(("parts", "patience"), [(3, 5), (5, 2)])
def test_multi_edit_agrees_with_the_rule(problem: Any, stream: str, k: int, parts: int, patience: int) -> None:
    for seed in range(2):
        data = problem(stream, seed, n=120, noise=0.05)
        expected = multi_edit(data.K, data.y, data.order, k, np.random.default_rng(seed), parts, patience)
        model = MultiEdit(neighbors=k, partitions=parts, patience=patience, random_state=seed, **data.kernel)
        assert learnt(model, data, "ties" in stream).support_.tolist() == expected
        model = MultiEdit(
            neighbors=k, partitions=parts, patience=patience, random_state=seed, condense=True, **data.kernel
        )
        order = [t for t in data.order if t in expected]
        assert learnt(model, data, "ties" in stream).support_.tolist() == condense(data.K, data.y, order, k)


@pytest.fixture(scope="module")
def overlapping() -> tuple[Any, Any]:
    """Two clouds; the best rule is the sign of the first input."""
    random = np.random.default_rng(5)
    y = random.choice([-1, 1], size=1200)
    X = random.normal(size=(1200, 2)).astype(np.float32)
    X[:, 0] += 1.2 * y
    return X, y


def test_a_condensed_set_classifies_all_others_right(overlapping: Any) -> None:
    X, y = overlapping
    model: Any = Condense(gamma=0.5).fit(X, y)
    assert model.n_support_ < 0.5 * len(X)
    rest = np.setdiff1d(np.arange(len(X)), model.support_)
    assert (model.predict(X[rest]) == y[rest]).all()


def test_multi_edit_leaves_the_right_side_of_the_best_rule(overlapping: Any) -> None:
    X, y = overlapping
    edited: Any = MultiEdit(gamma=0.5, random_state=0).fit(X, y)
    inside = np.sign(X[edited.support_, 0]) == y[edited.support_]
    assert inside.mean() > 0.98
    assert edited.n_support_ > 0.75 * len(X)
    both: Any = MultiEdit(gamma=0.5, random_state=0, condense=True).fit(X, y)
    assert both.n_support_ < 0.04 * len(X)
    agreement = both.predict(X) == np.where(X[:, 0] > 0, 1, -1)
    assert agreement.mean() > 0.92


@pytest.mark.parametrize("k", [1, 3, 4])
def test_an_rbf_ranks_as_the_inputs_do(overlapping: Any, k: int) -> None:
    X, y = overlapping
    model: Any = Condense(neighbors=k, gamma=0.3).fit(X, y)
    usual = KNeighborsClassifier(k).fit(X[model.support_], y[model.support_])
    if k != 4:  # scikit-learn has no casting vote
        assert (model.predict(X) == usual.predict(X)).mean() > 0.999
    values = model.decision_function(X)
    assert np.abs(values).max() <= 1
    assert ((values > 0) == (model.predict(X) == 1)).all()


def test_more_than_two_classes() -> None:
    random = np.random.default_rng(1)
    y = random.choice(["a", "b", "c"], size=300)
    X = (random.normal(size=(300, 2)) + 4 * np.stack([y == "a", y == "b"], axis=1)).astype(np.float32)
    for model in (Condense(gamma=0.5), MultiEdit(gamma=0.5, random_state=0), Condense(gamma=0.5, neighbors=3)):
        fitted: Any = model.fit(X, y)
        assert fitted.coefficients_.shape == (fitted.n_support_, 3)
        assert fitted.decision_function(X).shape == (300, 3)
        assert fitted.score(X, y) > 0.93


def test_parameters_are_checked() -> None:
    with pytest.raises(ParameterError, match="at least 3"):
        MultiEdit.checked({"partitions": 2})
    with pytest.raises(ParameterError, match="at least 1"):
        Condense.checked({"neighbors": 0})


@settings(max_examples=40, deadline=None)
@drawn(
    width=st.floats(-6, 3),
    offset=st.sampled_from([0, 3, 1e3]),
    repeats=st.booleans(),
    whole=st.booleans(),
    neighbors=st.sampled_from([1, 3]),
    seed=st.integers(0, 10**6),
)
@pytest.mark.parametrize("cls", [Condense, MultiEdit])
def test_gram_and_stream_store_the_same(
    cls: Any, width: float, offset: float, repeats: bool, whole: bool, neighbors: int, seed: int
) -> None:
    """Ties and duplicates among them: K(x, x) is one number, however it is had."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 3))
    X = (np.round(2 * X) if whole else X).astype(np.float32) + np.float32(offset)
    if repeats:
        X[30:] = X[:30]
    labels, order = random.integers(0, 2, 60), random.permutation(60)
    found = []
    for gram in (True, False):
        model = cls(neighbors=neighbors, gamma=10**width, random_state=0)
        model.start(np.array([-1, 1]), 3)
        kernel = model._kernel
        model.learn(Gram(kernel.matrix(X, X), X) if gram else Streamed(kernel, X), labels, order)
        found.append(model.support_.tolist())
    assert found[0] == found[1]
