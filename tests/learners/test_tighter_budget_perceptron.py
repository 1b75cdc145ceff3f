"""The Tighter Budget Perceptron, counting errors on all examples seen, against a transcription of its pseudo-code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetbench.kernels import make_kernel
from budgetbench.learners import Perceptron, TighterBudgetPerceptron

#: `partial_fit` has to be asked for it.
OnAll = partial(TighterBudgetPerceptron, evaluate="all")


def fewest_errors_without(alpha: dict[int, float], y: Any, K: Any, seen: list[int]) -> int:
    """The double loop of Figure 3, step 1a: for each stored example, count the errors without it."""
    counts = []
    stored = list(alpha)
    signed = y[stored] * np.array(list(alpha.values()))
    for j in range(len(stored)):
        without = np.where(np.arange(len(stored)) == j, 0.0, signed) @ K[np.ix_(stored, seen)]
        counts.append(sum(y[k] * value <= 0 for k, value in zip(seen, without, strict=True)))
    return stored[counts.index(min(counts))]  # of equal ones the first, which is the oldest


@pytest.fixture
def twin(course: Any, rule: Any) -> Callable[..., Any]:
    """Weston, Bordes, Bottou 2005, Figures 2 and 3; `after_insertion` swaps the removal and the insertion."""

    def tighter_budget_perceptron(
        K: Any, y: Any, order: Any, budget: int, removal: str = "after_insertion", epochs: int = 1, **how: Any
    ) -> Any:
        done, update = course(), rule(**how)
        alpha, seen = done.alpha, []

        def margin(t: int) -> float:
            stored = list(alpha)
            return float(y[t] * (K[t, stored] @ (y[stored] * list(alpha.values()))))

        def remove() -> None:
            worst = fewest_errors_without(alpha, y, K, seen)
            del alpha[worst]
            done.removed.append(worst)

        for epoch in range(epochs):
            for t in order:
                if t not in seen:
                    seen.append(t)
                before = margin(t)
                if update.is_due(before, t in alpha):
                    if removal == "before_insertion" and len(alpha) == budget and t not in alpha:
                        remove()
                    if update.apply(alpha, t, margin(t), K) == "removed":
                        done.removed.append(t)
                    if len(alpha) > budget:
                        remove()
                if epoch == 0:
                    done.margins.append(before)
                    done.sizes.append(len(alpha))
        return done

    return tighter_budget_perceptron


@pytest.mark.parametrize("removal", ["after_insertion", "before_insertion"])
@pytest.mark.parametrize(
    "parameters",
    [{"budget": 1}, {"budget": 2}, {"budget": 9}, {"budget": 9, "beta": 0.4}, {"budget": 6, "epochs": 2}],
    ids=str,
)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, stream: str, way: str, parameters: dict[str, Any], removal: str
) -> None:
    how = parameters | {"removal": removal}
    done = agree(OnAll, twin, problem(stream, 1, n=100), way, how, exact="ties" in stream)
    assert done.removed


@pytest.mark.parametrize("removal", ["after_insertion", "before_insertion"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"update": "mira", "beta": 0.3, "budget": 7, "epochs": 2},
        {"update": "no_bias_svm", "budget": 7},
        {"update": "no_bias_svm", "budget": 7, "C": 0.5, "beta": 0.6, "epochs": 2},
    ],
    ids=str,
)
def test_other_update_rules_agree_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, continuous_stream: str, way: str, parameters: dict[str, Any], removal: str
) -> None:
    how = parameters | {"removal": removal}
    agree(OnAll, twin, problem(continuous_stream, 2, n=90), way, how, exact=False)


def test_a_long_stream_with_a_large_budget_agrees(agree: Any, problem: Any, twin: Any) -> None:
    for stream in ("rbf", "linear, ties"):
        agree(
            OnAll,
            twin,
            problem(stream, 3, n=250, noise=0.3),
            "blocks of 64",
            {"budget": 30},
            exact="ties" in stream,
        )


@pytest.mark.parametrize("removal", ["after_insertion", "before_insertion"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_it_removes_what_the_double_loop_removes(removal: str, data: st.DataObject) -> None:
    """Small whole numbers: many candidates leave equally many errors, and many margins are exactly 0."""
    n = data.draw(st.integers(6, 30))
    values = st.lists(st.integers(-1, 2), min_size=2 * n, max_size=2 * n)
    X = np.array(data.draw(values), dtype=np.float32).reshape(n, 2)
    y = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    kernel = data.draw(
        st.sampled_from(
            [{"kernel": "linear"}, {"kernel": "polynomial", "degree": 2, "coef0": 1.0}, {"kernel": "rbf", "gamma": 0.3}]
        )
    )
    budget = data.draw(st.integers(1, 6))
    K = make_kernel(**{"name" if key == "kernel" else key: value for key, value in kernel.items()}).matrix(X, X)
    model: Any = OnAll(budget=budget, removal=removal, **kernel)
    alpha: dict[int, float] = {}
    for t in range(n):
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        seen = list(range(t + 1))
        if y[t] * sum(alpha[i] * y[i] * float(K[i, t]) for i in alpha) <= 0:
            if removal == "before_insertion" and len(alpha) == budget:
                del alpha[fewest_errors_without(alpha, y, K.astype(np.float64), seen)]
            alpha[t] = 1.0
            if len(alpha) > budget:
                del alpha[fewest_errors_without(alpha, y, K.astype(np.float64), seen)]
        assert model.support_.tolist() == list(alpha), f"after round {t}"


def test_with_room_for_all_it_is_the_perceptron(problem: Any, stream: str) -> None:
    data = problem(stream, 5)
    roomy = TighterBudgetPerceptron(budget=len(data.X), **data.kernel).fit(data.X, data.y)
    plain = Perceptron(**data.kernel).fit(data.X, data.y)
    assert roomy.support_.tolist() == plain.support_.tolist()
    assert roomy.margins_.tolist() == plain.margins_.tolist()
