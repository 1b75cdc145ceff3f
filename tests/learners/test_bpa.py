"""BPA-S, BPA-NN and BPA-P against a transcription of their rule, and against the minimiser of their objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from budgetbench.learners import BPANN, BPAP, BPAS, PassiveAggressive

LEARNERS = [BPAS, BPANN, BPAP]


def takers(learner: type, K: Any, stored: list[int], r: int, t: int | None) -> list[int]:
    """V: who takes over when r leaves and t comes."""
    newcomer = [] if t is None else [t]
    others = [j for j in stored if j != r]
    if learner is BPAS:
        return newcomer
    if learner is BPANN:
        return [*newcomer, min(others, key=lambda j: K[r, r] + K[j, j] - 2 * K[r, j])] if others else newcomer
    return [*newcomer, *others]


def projected(K: Any, onto: list[int], t: int) -> tuple[Any, float]:
    """The coefficients of K(xₜ, ·) projected onto the span of others, and the square of what is left."""
    if not onto:
        return np.zeros(0), float(K[t, t])
    d = np.linalg.solve(K[np.ix_(onto, onto)], K[onto, t])
    return d, float(K[t, t] - d @ K[onto, t])


def make_room(learner: type, K: Any, a: dict[int, float], t: int | None) -> int:
    """The removal of Wang, Vucetic 2010 by trying each r; `a` holds signed coefficients, that of t with the step."""
    stored = [j for j in a if j != t]
    lost = {r: a[r] ** 2 * projected(K, takers(learner, K, stored, r, t), r)[1] for r in stored}
    r = min(lost, key=lambda j: lost[j])
    onto = takers(learner, K, stored, r, t)
    for j, d in zip(onto, projected(K, onto, r)[0], strict=True):
        a[j] += a[r] * d
    del a[r]
    return r


@pytest.fixture
def twin_of(course: Any) -> Callable[[type], Callable[..., Any]]:
    def twin_of(learner: type) -> Callable[..., Any]:
        def bpa(K: Any, y: Any, order: Any, budget: int, C: float = 1.0, epochs: int = 1) -> Any:
            done, a = course(), {}
            for epoch in range(epochs):
                for t in order:
                    stored = list(a)
                    margin = float(y[t] * (K[t, stored] @ list(a.values())))
                    if margin < 1 - 1e-12:
                        step = y[t] * min(C, (1 - margin) / K[t, t])
                        d, rest = projected(K, stored, t) if learner is BPAP and t not in a else (None, 1.0)
                        if rest <= 2.0**-10 * K[t, t]:
                            for j, share in zip(stored, d, strict=True):
                                a[j] += step * share
                        else:
                            a[t] = a.get(t, 0.0) + step
                            if len(a) > budget:
                                done.removed.append(make_room(learner, K, a, t))
                    if epoch == 0:
                        done.margins.append(margin)
                        done.sizes.append(len(a))
            done.alpha = {t: y[t] * coefficient for t, coefficient in a.items()}
            return done

        return bpa

    return twin_of


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    "parameters", [{"budget": 1}, {"budget": 2}, {"budget": 9}, {"budget": 15, "C": 0.3, "epochs": 2}], ids=str
)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin_of: Any, continuous_stream: str, way: str, learner: Any, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        done = agree(learner, twin_of(learner), problem(continuous_stream, seed), way, parameters, exact=False)
        spanned = learner is BPAP and continuous_stream == "linear"  # three examples span all there is
        assert max(done.sizes) == (min(parameters["budget"], 3) if spanned else parameters["budget"])
        assert done.removed or spanned


@pytest.mark.parametrize("learner", LEARNERS)
def test_with_room_for_all_it_is_pa_i(problem: Any, learner: Any) -> None:
    data = problem("rbf", 5)
    plain = PassiveAggressive(**data.kernel).fit(data.X, data.y)
    roomy = learner(budget=len(data.X), **data.kernel).fit(data.X, data.y)
    np.testing.assert_allclose(roomy.decision_function(data.X), plain.decision_function(data.X), atol=2e-3)
    assert roomy.mistakes_ == plain.mistakes_
    if learner is not BPAP:  # which stores nothing that lies in the span
        assert roomy.support_.tolist() == plain.support_.tolist()
        np.testing.assert_allclose(roomy.coefficients_, plain.coefficients_, rtol=1e-12)


def least(K: Any, a: Any, y: float, t: int, r: int, onto: list[int], C: float) -> float:
    """The minimum over β of ½ ‖f' - f‖² + C ξ, 1 - y f'(x) ≤ ξ, 0 ≤ ξ, as a numerical optimiser finds it.

    It goes by the coordinates of f' - f + aᵣ K(xᵣ, ·) in an orthonormal basis of the span.
    """
    L = np.linalg.cholesky(K[np.ix_(onto, onto)])
    towards, value = np.linalg.solve(L, -a[r] * K[onto, r]), np.linalg.solve(L, y * K[onto, t])
    begun = 1 - y * (K[t] @ a - a[r] * K[t, r])
    found = minimize(
        lambda z: z[:-1] @ z[:-1] / 2 + towards @ z[:-1] + a[r] ** 2 * K[r, r] / 2 + C * z[-1],
        np.append(np.zeros(len(onto)), 10.0),
        jac=lambda z: np.append(z[:-1] + towards, C),
        bounds=[(None, None)] * len(onto) + [(0, None)],
        constraints=[{"type": "ineq", "fun": lambda z: value @ z[:-1] - begun + z[-1]}],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    return float(found.fun)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("C", [0.2, 1.0, 50.0])
@pytest.mark.parametrize("gamma", [0.4, 0.9])
def test_a_removal_and_the_step_minimise_the_objective(learner: Any, C: float, gamma: float) -> None:
    for seed in range(4):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(40, 2)).astype(np.float32), random.choice([-1, 1], 40)
        model = learner(budget=6, C=C, gamma=gamma).fit(X[:30], y[:30])
        before = dict(zip(model.support_.tolist(), model.coefficients_, strict=True))
        t = next(row for row in range(30, 40) if y[row] * model.decision_function(X[row : row + 1])[0] < 0.9)
        model.partial_fit(X[t : t + 1], y[t : t + 1])

        stored, K = list(before), model._kernel.matrix(X, X).astype(np.float64)
        a = np.zeros(40)
        a[stored] = list(before.values())
        best = min(least(K, a, y[t], t, r, takers(learner, K, stored, r, t), C) for r in stored)
        after = np.zeros(40)
        after[np.where(model.support_ == 30, t, model.support_)] = model.coefficients_  # the row is the 31st that came
        change = after - a
        found = 0.5 * change @ K @ change + C * max(0.0, 1 - y[t] * (K[t] @ after))
        assert found == pytest.approx(best, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_smaller_budget_lets_those_go_that_change_f_least(learner: Any, problem: Any) -> None:
    data = problem("rbf", 2, noise=0.3)
    model = learner(budget=9, **data.kernel).partial_fit(data.X[:60], data.y[:60])
    K, a = data.K, dict(zip(model.support_.tolist(), model.coefficients_, strict=True))
    while len(a) > 4:
        make_room(learner, K, a, None)
    stored = list(a)
    row = next(row for row in range(60, 160) if abs(K[row, stored] @ list(a.values())) > 1)
    label = np.sign(K[row, stored] @ list(a.values()))
    model.set_params(budget=4).partial_fit(data.X[row : row + 1], [label])  # no loss: nothing is stored
    assert model.support_.tolist() == stored
    np.testing.assert_allclose(model.coefficients_, list(a.values()), rtol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_repeated_example_costs_nothing(learner: Any) -> None:
    """The one that it repeats leaves, or stays in its place: f is what PA-I on the stored ones makes of it."""
    X, y = np.array([[0.0], [1.0], [3.0], [1.0]]), np.array([1, -1, 1, 1])
    model = learner(budget=3, gamma=0.5, C=10.0).fit(X[:3], y[:3])
    plain = PassiveAggressive(gamma=0.5, C=10.0).fit(X, y)
    model.partial_fit(X[3:], y[3:])
    grid = np.linspace(-1, 4, 20)[:, None]
    np.testing.assert_allclose(model.decision_function(grid), plain.decision_function(grid), atol=1e-9)
    assert model.support_.tolist() == ([0, 1, 2] if learner is BPAP else [0, 2, 3])


@pytest.mark.parametrize("learner", LEARNERS)
def test_inputs_of_zeros_have_nothing_to_take_over(learner: Any) -> None:
    X, y = np.array([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0], [0.0, 0.0]]), [1, -1, 1, -1]
    model = learner(budget=2, kernel="linear").fit(X, y)
    assert np.isfinite(model.coefficients_).all()
    if learner is BPAP:
        assert model.support_.tolist() == [0, 1]


def test_the_inverse_stays_that_of_the_kernel_matrix(problem: Any) -> None:
    data = problem("rbf", 4, n=400, noise=0.3)
    model = BPAP(budget=20, **data.kernel).fit(data.X, data.y)
    assert model.removals_ > 5 * 20
    K = data.K[np.ix_(model.support_, model.support_)]
    np.testing.assert_allclose(model._inverse[:20, :20] @ K, np.eye(20), atol=1e-8)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_with_room_to_spare_bpa_p_stays_with_pa_where_all_lie_in_the_span_of_some(C: float) -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(1200, 2)), random.choice([-1, 1], 1200)
    one = BPAP(budget=1200, C=C, gamma=0.5).fit(X, y)
    other = PassiveAggressive(C=C, gamma=0.5).fit(X, y)
    assert one.n_support_ < 150 < other.n_support_
    assert abs(one.coefficients_).max() < 100  # no sum of large terms that cancel
    difference = one.decision_function(X) - other.decision_function(X)
    assert np.abs(difference).mean() < 0.05 * np.abs(other.decision_function(X)).mean()
