"""The pool of a whole data set is laid out once, and knows what a stream would have asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from budgetbench.engine import arrivals
from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.engine.pool import Pool
from budgetbench.learners import Forgetron, Perceptron, TighterBudgetPerceptron


def noisy(n: int = 90) -> tuple[Any, Any]:
    random = np.random.default_rng(2)
    X = random.normal(size=(n, 2)).astype(np.float32)
    return X, (X[:, 0] * X[:, 1] + 0.2 * random.normal(size=n) > 0).astype(np.int64)


def learnt(learner: Any, access: Any, y: Any, **parameters: Any) -> Any:
    model = learner(kernel=access.kernel, random_state=0, **parameters)
    model.start(np.array([-1, 1]), 2)
    model.learn(access, y, np.arange(len(y)))
    return model


@pytest.mark.parametrize("learner", [Perceptron, Forgetron])
def test_labels_are_looked_up_once_for_a_gram_matrix_and_for_each_block_of_a_stream(
    learner: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = noisy()
    kernel = Perceptron(gamma=0.5).fit(X, y)._kernel
    sizes: list[int] = []
    look_up = Pool.look_up

    def counted(self: Pool, access: Any, classes: Any) -> None:
        look_up(self, access, classes)
        sizes.append(len(self.y))

    monkeypatch.setattr(Pool, "look_up", counted)
    monkeypatch.setattr(arrivals, "BLOCK", 16)
    gram = learnt(learner, Gram(kernel.matrix(X, X), X, kernel), y, epochs=2)
    assert sizes == [len(X)]
    sizes.clear()
    streamed = learnt(learner, Streamed(kernel, X), y, epochs=2)
    assert len(sizes) == 2 * len(list(arrivals.blocks(np.arange(len(X)))))
    assert np.array_equal(gram.coefficients_, streamed.coefficients_)


def test_it_asks_for_the_block_and_all_that_is_kept_each_once() -> None:
    X, y = noisy()
    kernel = Perceptron(gamma=0.5).fit(X, y)._kernel
    access = Gram(kernel.matrix(X, X), X, kernel)
    model = learnt(TighterBudgetPerceptron, access, y, budget=8, evaluate="random", evaluation_size=20)
    kept = model.kept()
    assert len(kept) > 8
    for rows in (np.arange(20), kept[:5], np.setdiff1d(np.arange(len(X)), kept)):
        assert model._pool.asks(rows) == len(rows) * len(np.union1d(rows, kept))
