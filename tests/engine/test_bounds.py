"""Mistake bounds: worked out by hand, met to the last mistake, and kept by every learner that has one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from budgetbench.engine.bounds import Comparators, additive_bound, divided, matched_bound, refined, shifting_bound
from budgetbench.learners import BudgetPerceptron, Forgetron, Perceptron, Projectron, ProjectronPlusPlus, Stoptron

TWO = Comparators(np.array([0.0, 2.0]), np.array([10.0, 3.0]), 1.0)
"""No hypothesis over ten examples, and one with ‖g‖ = 2 and D₁ = 3."""


def comparators(X: Any, y: Any, gamma: float) -> Comparators:
    """Hypotheses by definition: random expansions and the mean of the examples, each scaled to several norms."""
    K = np.exp(-gamma * np.square(X[:, None] - X).sum(axis=2))
    random = np.random.default_rng(3)
    found = []
    for a in [y / len(y), *(y * random.exponential(size=len(y)) for _ in range(5))]:
        margins, norm = y * (K @ a), np.sqrt(a @ K @ a)
        found += [(size, np.maximum(0, 1 - size * margins / norm).sum()) for size in 2.0 ** np.arange(-2, 4, 0.5)]
    norms, losses = np.array(sorted(found)).T
    return Comparators(norms, losses, 1.0)


@pytest.fixture(scope="module")
def stream() -> tuple[Any, Any]:
    random = np.random.default_rng(8)
    X = random.normal(size=(500, 2)).astype(np.float32)
    return X, np.where(X[:, 0] + 0.3 * random.normal(size=500) > 0, 1, -1)


def test_the_forms_worked_out_by_hand() -> None:
    assert additive_bound(TWO, 1.0) == pytest.approx([10.0, 9.0])  # ((2 + √(4 + 12)) / 2)²
    assert additive_bound(TWO, 4.0)[1] == pytest.approx(((4 + np.sqrt(28)) / 2) ** 2)
    assert shifting_bound(TWO, 2.0).tolist() == [40.0, 20.0]  # 2 · 4 + 4 · 3
    assert shifting_bound(TWO, 1.99).tolist() == [40.0, np.inf]
    assert shifting_bound(TWO._replace(square=1.5), 2.0).tolist() == [np.inf, np.inf]
    assert divided(np.array([1.0, 1.0]), np.array([0.5, 0.0])).tolist() == [2.0, np.inf]


def test_each_learner_states_its_theorem() -> None:
    assert Perceptron().bounds(TWO)["online_mistakes"] == pytest.approx([10.0, 9.0])
    assert Perceptron(beta=0.5).bounds(TWO)["online_mistakes"][1] == additive_bound(TWO, 2.0)[1]
    assert Projectron(U=2.0).bounds(TWO)["online_mistakes"].tolist() == [40.0, 20.0]
    second, third = (4 + 6) / (2 - 1 - 0.4), 9 / 0.8**2  # Theorems 2 and 3 for η = 0.1
    assert third < second
    assert Projectron(eta=0.1).bounds(TWO)["online_mistakes"][1] == pytest.approx(third)
    assert ProjectronPlusPlus(eta=0.1).bounds(TWO)["online_mistakes"][1] == pytest.approx(second)
    assert Projectron(eta=0.6).bounds(TWO)["online_mistakes"] == pytest.approx([10.0, np.inf])
    assert Forgetron(budget=1000).bounds(TWO)["online_mistakes"].tolist() == [40.0, 20.0]
    assert matched_bound(100) < 2
    assert Forgetron(budget=100).bounds(TWO)["online_mistakes"].tolist() == [40.0, np.inf]
    cache = BudgetPerceptron(size="variable", beta=0.5)
    assert cache.bounds(TWO)["support_size"][1] == additive_bound(TWO, 2.0)[1]


@pytest.mark.parametrize(
    "learner",
    [
        Stoptron(budget=10),
        Forgetron(budget=82),
        Projectron(U=2.0, budget=10),
        Projectron(budget=10),
        BudgetPerceptron(budget=10),
        BudgetPerceptron(size="variable", update="mira"),
        BudgetPerceptron(size="variable", epochs=2),
    ],
)
def test_where_no_theorem_applies_there_is_none(learner: Any) -> None:
    assert learner.bounds(TWO) == {}


def test_a_mean_of_two_comparators_is_one() -> None:
    more = refined(TWO)
    assert set(TWO.norms) < set(more.norms)
    assert dict(zip(more.norms, more.losses, strict=True))[1.0] == 6.5
    assert (np.diff(more.norms) > 0).all()


def test_the_perceptron_meets_its_bound() -> None:
    """Of n examples that share nothing each is a mistake: g = Σ yₜ k(xₜ, ·) has ‖g‖² = n and no loss."""
    n = 30
    model = Perceptron(kernel="linear").fit(np.eye(n), [1, -1] * (n // 2))
    (bound,) = model.bounds(Comparators(np.array([np.sqrt(n)]), np.zeros(1), 1.0))["online_mistakes"]
    assert model.mistakes_ == n == pytest.approx(bound)


@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(gamma=1.0),
        Perceptron(gamma=1.0, beta=0.2),
        Projectron(gamma=1.0, U=2.0),
        Projectron(gamma=1.0, bound_budget=1000),
        Projectron(gamma=1.0, eta=0.1),
        ProjectronPlusPlus(gamma=1.0, U=2.0, progress="printed"),
        ProjectronPlusPlus(gamma=1.0, U=2.0, progress="fixed_cost"),
        ProjectronPlusPlus(gamma=1.0, eta=0.1),
        Forgetron(gamma=1.0, budget=83),
        BudgetPerceptron(gamma=1.0, size="variable", beta=0.3),
    ],
)
def test_each_learner_keeps_its_bound_beside_every_comparator(learner: Any, stream: tuple[Any, Any]) -> None:
    X, y = stream
    g = comparators(X.astype(float), y, 1.0)
    learner.fit(X, y)
    counted = {"online_mistakes": learner.mistakes_, "support_size": learner.n_support_}
    ((measure, bounds),) = learner.bounds(g).items()
    assert counted[measure] <= bounds.min() < 4 * len(y)  # what g = 0 says, or less
    assert g.losses[bounds.argmin()] > 0


@pytest.mark.parametrize("progress", ["printed", "fixed_cost"])
def test_the_projectron_plus_plus_keeps_equation_15_with_all_its_progress(
    progress: str, stream: tuple[Any, Any]
) -> None:
    """M ≤ 2(‖g‖² + 2 D₁ - Σ βₜ) for ‖g‖ ≤ U, the progress βₜ of each margin step after Eq. 16."""
    X, y = stream
    U, total = 2.0, 0.0
    model = ProjectronPlusPlus(gamma=1.0, U=U, progress=progress)
    for t in range(len(X)):
        before = model.decision_function(X[t : t + 1])[0] if t else 0.0
        stored = model.support_vectors_.astype(float) if t else np.empty((0, 2))
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        margin = y[t] * before
        if 0 < margin < 1:
            K = np.exp(-np.square(stored[:, None] - stored).sum(axis=2))
            k = np.exp(-np.square(stored - X[t]).sum(axis=1))
            length = k @ np.linalg.solve(K, k)
            after = y[t] * model.decision_function(X[t : t + 1])[0]
            tau = (after - margin) / length  # f ← f + yₜ τ P k(xₜ, ·)
            total += tau * (2 * (1 - margin) - tau * length - 2 * U * np.sqrt(max(0.0, 1 - length)))
    g = comparators(X.astype(float), y, 1.0)
    within = g.norms <= U
    assert total > 5
    assert model.mistakes_ <= (2 * (g.norms**2 + 2 * g.losses - total))[within].min()
