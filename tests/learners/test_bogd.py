"""BOGD against a transcription of its rule; its removals keep f in expectation."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from budgetbench.errors import ParameterError
from budgetbench.learners import BOGD


@pytest.fixture
def twin(course: Any) -> Callable[..., Any]:
    """Zhao, Wang, Wu, Jin, Hoi 2012; one random number for each example that arrives."""

    def bogd(
        K: Any,
        y: Any,
        order: Any,
        budget: int,
        random_state: int,
        eta: float = 0.5,
        lam: float = 0.001,
        bound: float = 1.0,
        sampling: str = "uniform",
        epochs: int = 1,
    ) -> Any:
        done, alpha, random = course(), {}, np.random.default_rng(random_state)
        for epoch in range(epochs):
            for t in order:
                chance = random.random()
                stored = list(alpha)
                margin = float(y[t] * (K[t, stored] @ (y[stored] * list(alpha.values()))))
                if margin < 1:
                    for i in alpha:
                        alpha[i] *= 1 - eta * lam
                    if len(alpha) == budget and t not in alpha:
                        p = np.full(budget, 1 / budget)
                        if sampling == "weighted" and budget > 1:
                            w = np.array([alpha[i] * np.sqrt(K[i, i]) for i in alpha])
                            p = (1 - w / w.sum()) / (budget - 1)
                        gone = stored[int(np.searchsorted(np.cumsum(p), chance, side="right"))]
                        for i, share in zip(stored, p, strict=True):
                            if i != gone:
                                alpha[i] /= 1 - share
                        del alpha[gone]
                        done.removed.append(gone)
                    alpha[t] = alpha.get(t, 0.0) + eta
                    for i in alpha:
                        alpha[i] = min(alpha[i], eta * bound)
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(alpha))
        done.alpha = alpha
        return done

    return bogd


@pytest.mark.parametrize("sampling", ["uniform", "weighted"])
@pytest.mark.parametrize(
    "parameters",
    [{"budget": 1}, {"budget": 2, "bound": 3.0}, {"budget": 9, "bound": 2.0}, {"budget": 12, "lam": 0.5, "epochs": 2}],
    ids=str,
)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, continuous_stream: str, way: str, sampling: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        how = parameters | {"random_state": seed, "sampling": sampling}
        done = agree(BOGD, twin, problem(continuous_stream, seed), way, how, exact=False)
        assert done.removed
        assert max(done.sizes) == parameters["budget"]


class Drawn:
    """In place of a generator: the number that it draws is known."""

    def __init__(self, chance: float) -> None:
        self.chance = chance

    def random(self, n: int) -> Any:
        return np.full(n, self.chance)


@pytest.mark.parametrize("sampling", ["uniform", "weighted"])
@pytest.mark.parametrize("budget", [2, 3, 9])
def test_removals_keep_f_in_expectation(sampling: Any, budget: int) -> None:
    """E f' = (1 - ηλ) f + η y K(x, ·), the step of gradient descent, over all that may be drawn."""
    random = np.random.default_rng(budget)
    X, y = random.normal(size=(61, 2)), random.choice([-1, 1], 61)
    model: Any = BOGD(budget=budget, sampling=sampling, bound=1e9, lam=0.1, gamma=1.0, random_state=1)
    model.fit(X[:60], y[:60])
    before = dict(zip(model.support_.tolist(), model.coefficients_, strict=True))
    weights = np.abs(list(before.values()))  # K(x, x) = 1
    p = np.full(budget, 1 / budget) if sampling == "uniform" else (1 - weights / weights.sum()) / (budget - 1)
    label = -np.sign(model.decision_function(X[60:]))
    expected = dict.fromkeys([*before, 60], 0.0)
    for slot in range(budget):
        drawn = deepcopy(model)
        drawn._random = Drawn(p[:slot].sum() + p[slot] / 2)
        drawn.partial_fit(X[60:], label)
        assert set(before) - set(drawn.support_.tolist()) == {list(before)[slot]}
        for i, coefficient in zip(drawn.support_.tolist(), drawn.coefficients_, strict=True):
            expected[i] += p[slot] * coefficient
    assert expected == pytest.approx({i: (1 - 0.05) * a for i, a in before.items()} | {60: 0.5 * label[0]})


def test_small_coefficients_are_likelier_to_leave_when_weighted() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(2000, 2)), random.choice([-1, 1], 2000)
    sizes = {}
    for sampling in ("uniform", "weighted"):
        model = BOGD(budget=4, sampling=sampling, bound=1e3, gamma=1.0, random_state=0)
        sizes[sampling] = [
            model.partial_fit(X[row : row + 1], y[row : row + 1], classes=[-1, 1]).support_.tolist()[0] - row
            for row in range(300)
        ]
    assert np.mean(sizes["weighted"]) < np.mean(sizes["uniform"])  # old ones have grown, and stay longer


def test_no_coefficient_is_larger_than_its_bound() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 2)), random.choice([-1, 1], 300)
    model = BOGD(budget=5, bound=1.5, eta=0.2, gamma=1.0, random_state=0).fit(X, y)
    assert np.abs(model.coefficients_).max() == pytest.approx(0.3)


def test_the_parameters_that_do_not_go_together() -> None:
    with pytest.raises(ParameterError, match=r"lam: found 4\.0; accepted: a number below 1 / eta, 2"):
        BOGD.checked({"eta": 0.5, "lam": 4.0})
    with pytest.raises(ParameterError, match="bound"):
        BOGD.checked({"bound": 0.5})
