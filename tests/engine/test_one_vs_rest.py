"""One against the rest: what several learners store, counted once, whatever blocks the stream comes in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from budgetbench.engine import arrivals
from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.learners import BPAS, NOGD, Forgetron, Projectron

BUDGET = 6


def three_sectors(n: int = 150) -> tuple[Any, Any]:
    random = np.random.default_rng(4)
    X = random.normal(size=(n, 2)).astype(np.float32)
    angles = np.arctan2(X[:, 0], X[:, 1]) + 0.4 * random.normal(size=n)
    return X, np.digitize(angles, [-1, 1])


def union_of(model: Any) -> int:
    points = [machine._points() for machine in model._learner._machines]
    examples = np.concatenate([one.examples for one in points])
    return len(set(examples[examples >= 0])) + np.count_nonzero(examples < 0)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("learner", [NOGD, Forgetron, BPAS, Projectron])
def test_sizes_are_those_of_the_union_after_each_round(
    learner: Any, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = three_sectors()
    parts = learner(budget=BUDGET, gamma=0.5)
    unions = []
    for row in range(len(X)):
        parts.partial_fit(X[row : row + 1], y[row : row + 1], classes=[0, 1, 2])
        unions.append(union_of(parts))
    monkeypatch.setattr(arrivals, "BLOCK", 16)
    binary = learner(budget=BUDGET, gamma=0.5)
    whole = binary.against_the_rest(binary)
    whole.start(np.arange(3), 2)
    kernel = whole._kernel
    whole.learn(Streamed(kernel, X) if streamed else Gram(kernel.matrix(X, X), X, kernel), y, np.arange(len(X)))
    sizes = [machine._size() for machine in whole._machines]
    assert sizes == [BUDGET] * 3
    assert len(whole.support_) < sum(sizes), "several examples are stored by more than one"
    assert whole.sizes_.tolist() == unions
