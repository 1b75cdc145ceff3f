"""Errors left without a stored example, counted by bytes and then by kernel values, against the double loop."""

from __future__ import annotations

import numpy as np
import pytest

from budgetbench.engine.expansion import Block
from budgetbench.engine.kernel_access import read_only
from budgetbench.kernels import make_kernel
from budgetbench.learners import TighterBudgetPerceptron
from budgetbench.learners.tighter.contributions import (
    bring_up_to_date,
    certain_errors,
    contributions,
    errors_without,
)


@pytest.mark.parametrize("update", ["perceptron", "no_bias_svm"])
def test_bytes_count_no_error_too_many_and_kernel_values_all(update: str) -> None:
    random = np.random.default_rng(0)
    X = random.standard_normal((120, 2)).astype(np.float32)
    y = np.where(X[:, 0] + random.standard_normal(120) > 0, 1, -1)
    model = TighterBudgetPerceptron(kernel="rbf", gamma=1.0, budget=20, evaluate="all", update=update).fit(X, y)
    K = make_kernel("rbf", gamma=1.0).matrix(X, X)
    pool = model._learner._pool
    members, a = model.support_, model.coefficients_
    f = pool._expansion(np.asarray(a @ K[members]), 21)._replace(stored=np.isin(np.arange(120), members))
    f.members[:20], f.coefficients[:20] = members, a
    f.counts.members, f.doubt.error = 20, 0.0
    block = Block(np.arange(120), y.astype(float), read_only(K), np.ones(120, np.float32), np.empty(0))
    c = contributions(21, 120, 120)
    bring_up_to_date(c, f, block, random.permutation(120))
    left = [int((y * (f.scores - a[slot] * K[members[slot]]) <= 0).sum()) for slot in range(20)]
    least = [certain_errors(c, c.rows[members[slot]], 120) for slot in range(20)]
    assert [errors_without(c, f, block, slot, 120) for slot in range(20)] == left
    assert all(low <= count for low, count in zip(least, left, strict=True))
    assert sum(left) - sum(least) < 20 * 4  # and few too little
