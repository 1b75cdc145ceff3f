"""What learners keep account of: how far their scores may be wrong, means of hypotheses, time, memory."""

from __future__ import annotations

import gc
import pickle
import sys
import weakref
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from budgetbench.engine.expanding import exact_weight
from budgetbench.engine.kernel_access import Gram
from budgetbench.learners import MIRA, MulticlassSVM, Perceptron, Projectron, learners

FOLLOWING: list[tuple[str, dict[str, Any]]] = [
    ("budget_perceptron", {"budget": 6}),
    ("budget_perceptron", {"budget": 6, "update": "no_bias_svm", "C": 1.0}),
    ("tighter_budget_perceptron", {"budget": 6, "evaluate": "support"}),
    ("mira", {"size": "fixed", "budget": 6, "beta": 1.0}),
]


def check_doubt(model: Any) -> None:
    """No score of a stored example may be wrong by more than its doubt."""
    f, kept = model._pool.f, model._pool.members
    K = model._kernel.matrix(model.support_vectors_, model.support_vectors_)
    coefficients = f.coefficients[: len(kept)].reshape(len(kept), -1)
    for scores, a in zip(np.atleast_2d(f.scores)[:, kept], coefficients.T, strict=True):
        for j, score in enumerate(scores):
            exact = sum((Fraction(a[s]) * Fraction(float(K[s, j])) for s in range(len(kept))), start=Fraction(0))
            assert abs(Fraction(score) - exact) <= Fraction(f.doubt.error * np.sqrt(float(K[j, j])))


@pytest.mark.parametrize(("name", "values"), FOLLOWING, ids=str)
@pytest.mark.parametrize("degree", [1, 2])
def test_no_score_is_wrong_by_more_than_its_doubt(name: str, values: dict[str, Any], degree: int) -> None:
    random = np.random.default_rng(degree)
    X = (random.normal(size=(60, 2)) * 10 ** random.uniform(-1.5, 1.5, size=(60, 1))).astype(np.float32)
    y = random.choice([-1, 1], 60)
    model: Any = learners[name](**values, kernel="polynomial", degree=degree, gamma=0.7, coef0=0.1)
    for rows in np.split(np.arange(60), range(2, 60, 2)):
        model.partial_fit(X[rows], y[rows], classes=[-1, 1])
        check_doubt(model)


def test_rounding_stays_when_a_huge_example_has_gone() -> None:
    """Its margin is another's, and it is the older one; what it has left in the score of 0.001 is never summed anew."""
    model: Any = learners["budget_perceptron"](budget=2, kernel="linear")
    model.partial_fit([[1e7 / 3], [0.001], [50.0]], [1, -1, -1])
    for _ in range(3):
        check_doubt(model.partial_fit([[0.15]], [-1]))
        assert model.support_.tolist() == [1, 2]
        assert model.mistakes_ == 3


@pytest.mark.parametrize("rounds", [1, 2, 7, 8])
@pytest.mark.parametrize("learner", [Perceptron, Projectron])
def test_the_mean_is_over_all_rounds_be_their_number_odd_or_even(learner: Any, rounds: int) -> None:
    random = np.random.default_rng(rounds)
    X, y = random.normal(size=(rounds, 2)), random.choice([-1, 1], rounds)
    given = {"eta": 0.3} if learner is Projectron else {}
    model, values = learner(gamma=0.8, average=True, **given), []
    for t in range(rounds):
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        values.append(model.decision_function(X))
        np.testing.assert_allclose(model.averaged_decision_function(X), np.mean(values, axis=0), atol=1e-12)


def test_who_goes_on_from_a_pickle_without_more_room_and_then_with_it_has_the_same_kernel_values() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 3)), random.choice([-1, 1], 200)
    whole = MIRA(size="variable", beta=0.5, gamma=1.0).fit(X, y)
    part = MIRA(size="variable", beta=0.5, gamma=1.0).partial_fit(X[:100], y[:100])
    for row in range(100, 200):
        part = pickle.loads(pickle.dumps(part)) if row == 111 else part
        part.partial_fit(X[row : row + 1], y[row : row + 1])
    assert part.support_.tolist() == whole.support_.tolist()
    assert part.coefficients_.tolist() == whole.coefficients_.tolist()


def test_what_cancels_out_in_the_span_is_nothing() -> None:
    """Multiples of one example, whose sum is 0 but for the rounding of √5: then no label is right."""
    sizes, y = np.array([2, 5, 2, 1]), np.array([1, -1, 1, 1])
    assert sizes @ y == 0
    X = np.append(sizes, 3)[:, None] * np.array([[1.0, 2.0]])
    for label in (-1, 1):
        model: Any = Projectron(budget=1, kernel="linear").fit(X, np.append(y, label))
        assert model.margins_.tolist()[-1] == 0.0
        assert model.mistakes_ == 5


def test_the_multiclass_svm_says_what_it_has_no_memory_for(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 2)).astype(np.float32), np.arange(30) % 3
    model: Any = MulticlassSVM(gamma=0.5).fit(X, y)
    for room, fits in ((model.n_support_ + 1, True), (model.n_support_ - 1, False)):
        monkeypatch.setattr(sys.modules[MulticlassSVM.__module__], "MEMORY_LIMIT", 4 * room**2)
        held = MulticlassSVM(gamma=0.5)
        held.start(np.arange(3), 2)
        held.learn(Gram(held._kernel.matrix(X, X), X), y, np.arange(30))  # whose memory is another's
        if fits:
            model.fit(X, y)
        else:
            with pytest.raises(MemoryError, match=rf"its support set, which has more than {room} examples here"):
                model.fit(X, y)


def test_a_margin_of_beta_is_a_margin_error() -> None:
    model = Perceptron(beta=1.0, kernel="linear").fit([[1.0], [1.0], [1.0], [-3.0]], [1, 1, -1, -1])
    assert model.margins_.tolist() == [0.0, 1.0, -2.0, 3.0]
    assert model.outcome().margin_errors == 3


@pytest.mark.parametrize(
    ("name", "values"),
    [*FOLLOWING, ("perceptron", {}), ("tighter_budget_perceptron", {"budget": 6, "update": "mira"})],
    ids=str,
)
def test_who_calls_its_coefficients_whole_has_whole_ones(name: str, values: dict[str, Any]) -> None:
    random = np.random.default_rng(3)
    model: Any = learners[name](**values).fit(random.normal(size=(40, 2)), random.choice([-1, 1], 40))
    assert model.whole == bool((model.coefficients_ == np.round(model.coefficients_)).all())


def test_sums_are_exact_up_to_the_weight_that_says_so() -> None:
    small = float(np.nextafter(np.float32(2.0**-20), np.float32(1)))
    weight = exact_weight(2.0**-20, 1.0)
    assert Fraction(weight + small) == Fraction(weight) + Fraction(small)
    assert Fraction(4 * weight + small) != Fraction(4 * weight) + Fraction(small)


def test_only_who_sees_the_whole_training_set_may_be_free_of_its_order() -> None:
    assert all(learners[name].batch for name in learners if learners[name].order_free)
    assert not all(learners[name].order_free for name in learners)


@pytest.mark.parametrize("name", learners)
def test_what_nobody_needs_is_gone_at_once(name: str) -> None:
    """The kernel values that a learner holds may take gigabytes, which the next one needs."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3)).astype(np.float32)
    gc.disable()
    try:
        for y in (X[:, 0] > 0, np.digitize(X[:, 0], [-0.5, 0.5])):
            learners[name]().fit(X, y)  # what comes in with the first use may refer to it
            model: Any = learners[name]().fit(X, y)
            gone = weakref.ref(model._learner)
            del model
            assert gone() is None
    finally:
        gc.enable()
