"""The Randomized Budget Perceptron against a transcription of its rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from budgetbench.learners import Perceptron, RandomizedBudgetPerceptron, learners


@pytest.fixture
def twin(course: Any) -> Callable[..., Any]:
    """Cesa-Bianchi, Conconi, Gentile 2006; one random number for each example that arrives."""

    def rbp(K: Any, y: Any, order: Any, budget: int, random_state: int, epochs: int = 1) -> Any:
        done, random = course(), np.random.default_rng(random_state)
        for epoch in range(epochs):
            for t in order:
                chance = random.random()
                stored = list(done.alpha)
                margin = float(y[t] * (K[t, stored] @ (y[stored] * list(done.alpha.values()))))
                if margin <= 0:
                    if len(stored) == budget and t not in done.alpha:
                        gone = stored[int(chance * budget)]
                        del done.alpha[gone]
                        done.removed.append(gone)
                    done.alpha[t] = done.alpha.get(t, 0.0) + 1.0
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(done.alpha))
        return done

    return rbp


@pytest.mark.parametrize("parameters", [{"budget": 1}, {"budget": 9}, {"budget": 12, "epochs": 3}], ids=str)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        how = parameters | {"random_state": seed}
        done = agree(RandomizedBudgetPerceptron, twin, problem(stream, seed), way, how, exact="ties" in stream)
        assert done.removed
        assert max(done.sizes) == parameters["budget"]


def test_with_room_for_all_it_is_the_perceptron(problem: Any, stream: str) -> None:
    data = problem(stream, 5)
    plain = Perceptron(**data.kernel).fit(data.X, data.y)
    roomy = RandomizedBudgetPerceptron(budget=plain.mistakes_, **data.kernel).fit(data.X, data.y)
    assert roomy.support_.tolist() == plain.support_.tolist()
    assert roomy.coefficients_.tolist() == plain.coefficients_.tolist()
    assert roomy.margins_.tolist() == plain.margins_.tolist()


def test_every_stored_example_is_as_likely_to_leave() -> None:
    X, y = np.zeros((400, 1)), np.ones(400)
    y[::2] = -1  # all rows are zero: each prediction is 0, so each example is a mistake
    ages = []
    for seed in range(40):
        model = RandomizedBudgetPerceptron(budget=10, kernel="linear", random_state=seed).fit(X, y)
        assert model.removals_ == 390
        ages += (399 - model.support_).tolist()
    # An example survives each of the later ones with probability 9/10: its age is geometric, with a mean of 9.
    assert np.mean(ages) == pytest.approx(9, abs=1.5)


def test_the_seed_decides() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 2)), random.choice([-1, 1], 200)
    one, same, other = (
        RandomizedBudgetPerceptron(budget=10, gamma=1, random_state=seed).fit(X, y).support_.tolist()
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other


def test_it_goes_by_its_short_name() -> None:
    assert learners["rbp"] is RandomizedBudgetPerceptron
