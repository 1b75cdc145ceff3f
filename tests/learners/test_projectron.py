"""The Projectron against a transcription of its pseudo-code that solves for the projection afresh each time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetbench.engine import arrivals
from budgetbench.engine.kernel_access import Gram
from budgetbench.errors import ParameterError
from budgetbench.kernels import make_kernel
from budgetbench.learners import Perceptron, Projectron, ProjectronPlusPlus
from budgetbench.learners.projecting.common import matched_bound


@pytest.fixture
def twin(course: Any, projected: Any) -> Callable[..., Any]:
    """Orabona, Keshet, Caputo 2008, Algorithm 2, Eqs. 8 to 10 and 13."""

    def projectron(
        K: Any,
        y: Any,
        order: Any,
        bound_budget: int | None = None,
        U: float | None = None,
        eta: float | None = None,
        budget: float = np.inf,
        epochs: int = 1,
    ) -> Any:
        done, a = course(), {}  # example → aᵢ
        if bound_budget is not None:
            U = np.sqrt((bound_budget + 1) / np.log(bound_budget + 1)) / 4
        for epoch in range(epochs):
            for t in order:
                stored = list(a)
                f = float(K[stored, t] @ list(a.values()))
                margin = float(y[t] * f) if abs(f) > 1e-7 else 0.0
                if margin <= 0:
                    d, length2, delta2, within = projected(K, stored, t)
                    threshold = eta
                    if U is not None:
                        threshold = (2 * (1 - margin) - length2 - 0.5) / (2 * U)
                    if np.sqrt(delta2) <= (threshold or 0) or within or len(stored) >= budget:
                        a.update(zip(stored, np.array(list(a.values())) + y[t] * d, strict=True))
                    else:
                        a[t] = float(y[t])
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(a))
        done.alpha = {i: y[i] * value for i, value in a.items()}
        return done

    return projectron


PARAMETERS: list[dict[str, Any]] = [
    {"bound_budget": 30},
    {"U": 0.7},
    {"U": 20.0, "epochs": 2},
    {"eta": 0.0},
    {"eta": 0.4},
    {"eta": 0.1, "budget": 12},
    {"budget": 12},
    {"budget": 1, "epochs": 2},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        agree(Projectron, twin, problem(stream, seed), way, parameters, precise=True)


@pytest.mark.parametrize("parameters", [{"bound_budget": 200}, {"eta": 0.3}, {"budget": 90}], ids=str)
def test_agrees_over_several_batches_and_panels(
    agree: Any, problem: Any, twin: Any, parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("budgetbench.learners.projecting.span.BATCH", 50)
    monkeypatch.setattr("budgetbench.learners.projecting.span.PANEL", 16)
    for way in ("gram", "blocks of 64", "fit"):
        done = agree(Projectron, twin, problem("rbf", 3, n=700, noise=0.3), way, parameters, precise=True)
        assert done.sizes[-1] > 80


@pytest.mark.parametrize("spread", [1.0, 0.03])
@pytest.mark.parametrize(
    ("parameters", "distance"),
    [({"eta": 0.0}, 0.0), ({"budget": 30}, 0.0), *(({name: 0.2}, d) for name in ("eta", "U") for d in (0.0, 1e-3))],
    ids=str,
)
def test_repeated_rows_do_no_harm(
    agree: Any, problem: Any, twin: Any, parameters: dict[str, Any], spread: float, distance: float
) -> None:
    random = np.random.default_rng(11)
    base = spread * random.normal(size=(40, 3))
    X = (base[random.integers(0, 40, 500)] + spread * distance * random.normal(size=(500, 3))).astype(np.float32)
    labels = random.choice([-1, 1], 500)
    kernel = {"kernel": "rbf", "gamma": 0.7 / spread**2}
    data = replace(problem("rbf", 0, n=500), X=X, y=labels, kernel=kernel)
    for way in ("gram", "blocks of 64", "partial_fit"):
        agree(Projectron, twin, data, way, parameters, precise=True)
    model = Projectron(**parameters, **kernel).fit(X, labels)
    assert model.n_support_ <= 40
    assert np.isfinite(np.linalg.inv(model._span.factor)).all()


@pytest.mark.parametrize("parameters", [{"eta": 0.0}, {"U": 1e12}, {"budget": 10**6}], ids=str)
def test_where_little_may_be_lost_it_is_the_perceptron(problem: Any, stream: str, parameters: dict[str, Any]) -> None:
    """The hypothesis is the same; where the kernel has few dimensions fewer examples are stored."""
    data = problem(stream, 4)
    model = Projectron(**parameters, **data.kernel).fit(data.X, data.y)
    plain = Perceptron(**data.kernel).fit(data.X, data.y)
    assert (model.margins_ <= 0).tolist() == (plain.margins_ <= 0).tolist()
    expected = plain.decision_function(data.X)
    np.testing.assert_allclose(model.decision_function(data.X), expected, atol=1e-3 * np.abs(expected).max())
    assert model.n_support_ <= plain.n_support_
    if data.kernel["kernel"] == "linear":
        assert model.n_support_ <= data.X.shape[1]
    elif stream == "rbf":
        assert model.n_support_ == plain.n_support_


@pytest.mark.parametrize("seed", range(2))
def test_near_repetitions_are_told_apart(seed: int) -> None:
    """With η = 0 only what is lost in float64 is not stored, and it is the Perceptron to the last round."""
    random = np.random.default_rng(seed)
    X = (random.normal(size=(60, 3))[random.integers(0, 60, 2000)] + 1e-3 * random.normal(size=(2000, 3))).astype("f")
    y = random.choice([-1, 1], 2000)
    model, plain = Projectron(eta=0.0, gamma=0.7).fit(X, y), Perceptron(gamma=0.7).fit(X, y)
    assert (model.margins_ <= 0).tolist() == (plain.margins_ <= 0).tolist()
    np.testing.assert_allclose(model.margins_, plain.margins_, atol=1e-3)
    assert 4 * 60 < model.n_support_ < model.mistakes_  # each of 60 neighbourhoods has 1 + 3 directions, and more


CUTS: list[dict[str, Any]] = [
    {"kernel": "rbf", "gamma": 1e-6},
    {"kernel": "rbf", "gamma": 0.7},
    {"kernel": "rbf", "gamma": 1e3},
    {"kernel": "linear"},
    {"kernel": "polynomial", "degree": 5, "gamma": 0.5, "coef0": 1.0},
    {"kernel": "polynomial", "degree": 9},
]


@pytest.mark.parametrize(
    ("learner", "parameters"),
    [
        (Projectron, {"eta": 0.0}),
        (Projectron, {"budget": 20}),
        (ProjectronPlusPlus, {"eta": 0.0}),
        (ProjectronPlusPlus, {"U": 1.5, "average": True}),
    ],
    ids=str,
)
@pytest.mark.parametrize("kernel", CUTS, ids=str)
def test_how_the_stream_is_cut_changes_no_bit(
    learner: Any, parameters: dict[str, Any], kernel: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(420, 3)).astype(np.float32)
    X[::17], X[1::13] = 0, X[5]  # zero rows and repeated ones
    y = random.choice([-1, 1], 420)

    def outcome(model: Any, course: Any) -> list[Any]:
        margins, sizes = (np.concatenate(parts).tolist() for parts in zip(*course, strict=True))
        averaged = model.averaged_coefficients_.tolist() if "average" in parameters else None
        return [margins, sizes, model.support_.tolist(), model.coefficients_.tolist(), averaged]

    whole = learner(**parameters, **kernel).fit(X, y)
    expected = outcome(whole, [(whole.margins_, whole.sizes_)])
    gram = learner(**parameters, **kernel)
    gram.start(np.array([-1, 1]), 3)
    gram.learn(Gram(gram._kernel.matrix(X, X), X), (y + 1) // 2, np.arange(420))
    assert outcome(gram, [(gram.margins_, gram.sizes_)]) == expected
    for block in (5, 7, 64):
        monkeypatch.setattr(arrivals, "BLOCK", block)
        model = learner(**parameters, **kernel).fit(X, y)
        assert outcome(model, [(model.margins_, model.sizes_)]) == expected
    model, course = learner(**parameters, **kernel), []
    for rows in np.split(np.arange(420), [1, 2, 3, 100, 127, 128, 129, 255, 300]):
        model.partial_fit(X[rows], y[rows], classes=[-1, 1])
        course.append((model.margins_, model.sizes_))
    assert outcome(model, course) == expected


@given(seed=st.integers(0, 10**6), budget=st.integers(1, 40), shape=st.sampled_from([0.0, 0.2, None]))
@settings(max_examples=30, deadline=None)
def test_the_budget_is_never_exceeded(seed: int, budget: int, shape: float | None) -> None:
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(150, 3)), random.choice([-1, 1], 150)
    y[:2] = -1, 1
    model = Projectron(budget=budget, eta=shape, gamma=1.0).fit(X, y)
    assert model.sizes_.max() <= budget
    assert (np.diff(model.sizes_) >= 0).all()


def separable(seed: int, n: int = 400) -> tuple[Any, Any, Any, float]:
    """Examples with labels, kernel values, and the norm of a known g with y g(x) ≥ 1 for all of them: D₁ = 0."""
    random = np.random.default_rng(seed)
    centres, signs = random.normal(size=(6, 2)), np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    kernel = make_kernel("rbf", gamma=1.5)
    X = random.normal(size=(8 * n, 2)).astype(np.float32)
    g = kernel.matrix(X, centres.astype(np.float32)) @ signs
    sure = np.abs(g) > 0.25
    X, g = X[sure][:n], g[sure][:n]
    scale = 1 / np.abs(g).min()
    centre_values = kernel.matrix(centres.astype(np.float32), centres.astype(np.float32))
    return X, np.where(g > 0, 1, -1), kernel, scale * float(np.sqrt(signs @ centre_values @ signs))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("share", [0.0, 0.05, 0.2, 0.45, 0.8])
def test_the_mistake_bounds_hold(seed: int, share: float) -> None:
    """Theorems 2 and 3 with R = 1: the first for η < 1/(2‖g‖), the second for η < 1/‖g‖."""
    X, y, kernel, norm = separable(seed)
    eta = share / norm
    mistakes = Projectron(eta=eta, gamma=kernel.gamma).fit(X, y).mistakes_
    if share < 0.5:
        assert mistakes <= norm**2 / (2 - 1 - 2 * eta * norm)
    assert mistakes <= (norm / (1 - eta * norm)) ** 2


@pytest.mark.parametrize("seed", range(2))
def test_the_bound_with_u_holds(seed: int) -> None:
    """Corollary 1: at most 2‖g‖² + 4D₁ mistakes for any g with ‖g‖ ≤ U."""
    X, y, kernel, norm = separable(seed)
    assert Projectron(U=norm, gamma=kernel.gamma).fit(X, y).mistakes_ <= 2 * norm**2


def test_the_matched_bound() -> None:
    assert matched_bound(1500) == pytest.approx(0.25 * np.sqrt(1501 / np.log(1501)))
    random = np.random.default_rng(1)
    X, y = random.normal(size=(300, 2)), random.choice([-1, 1], 300)
    matched = Projectron(bound_budget=40, gamma=1.0).fit(X, y)
    given = Projectron(U=matched_bound(40), gamma=1.0).fit(X, y)
    assert matched.coefficients_.tolist() == given.coefficients_.tolist()


def test_a_longer_threshold_stores_less() -> None:
    random = np.random.default_rng(2)
    X, y = random.normal(size=(600, 2)), random.choice([-1, 1], 600)
    sizes = [Projectron(eta=eta, gamma=1.0).fit(X, y).n_support_ for eta in (0.0, 0.1, 0.3, 0.6, 1.1)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 0  # ‖δ‖ ≤ 1 from the start: everything is projected onto nothing


@pytest.mark.parametrize("values", [{"U": 1.0, "eta": 0.1}, {"bound_budget": 5, "U": 1.0}, {"eta": -0.1}], ids=str)
def test_one_threshold_or_a_budget(values: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        Projectron.checked(values)


def test_a_smaller_budget_than_what_is_stored_is_refused(problem: Any) -> None:
    data = problem("rbf", 1)
    model = Projectron(budget=20, gamma=0.7).fit(data.X, data.y)
    with pytest.raises(ParameterError, match="an integer of at least 20, the examples stored"):
        model.set_params(budget=19).partial_fit(data.X, data.y)
    model.set_params(budget=25).partial_fit(data.X, data.y)
    assert model.n_support_ == 25


def test_small_products_are_not_shared_out_among_threads() -> None:
    program = """
import numpy as np
from threadpoolctl import threadpool_info
from budgetbench.learners import Projectron
from budgetbench.learners.projecting.span import Span
threads, coordinates = set(), Span.coordinates
def watched(*given, **named):
    threads.update(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
    return coordinates(*given, **named)
Span.coordinates = watched
X = np.random.default_rng(0).normal(size=(300, 2))
Projectron(bound_budget=50).fit(X, np.where(X[:, 0] > 0, 1, -1))
assert threads == {1}, threads
"""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
