"""Hard kernels: values over hundreds of powers of two, exact repeats, zero rows; budgets of 1, 2, 3 and all.

Two properties. Learners whose coefficients are sums of ±1 decide as whole numbers made of the float32 kernel values
would. And no learner can be told by what it does whether it saw a Gram matrix, blocks or calls of some length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budgetbench.engine import arrivals
from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.engine.online import OnlineLearner
from budgetbench.kernels import make_kernel
from budgetbench.learners import learners

Kernel = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """Examples in the order in which they arrive, and a kernel."""

    X: Any
    y: Any
    kernel: Kernel

    @property
    def K(self) -> Any:  # noqa: N802  the field's own symbol
        parameters = {key: value for key, value in self.kernel.items() if key != "kernel"}
        return make_kernel(self.kernel["kernel"], **parameters).matrix(self.X, self.X)


kernels = st.one_of(
    st.builds(lambda power: {"kernel": "rbf", "gamma": 10.0**power}, st.floats(-6, 3)),
    st.builds(
        lambda degree, coef0: {"kernel": "polynomial", "degree": degree, "coef0": coef0},
        st.integers(1, 9),
        st.sampled_from([0.0, 1.0]),
    ),
    st.just({"kernel": "linear"}),
)


@st.composite
def problems(draw: st.DrawFn, largest: int = 60) -> Problem:
    """Rows of normal or whole numbers, some of them repeated or 0, with labels that are partly chance."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(8, largest)), draw(st.integers(1, 3))
    X = random.integers(-3, 4, size=(n, d)) if draw(st.booleans()) else random.normal(size=(n, d))
    X = X.astype(np.float32)
    for share in (draw(st.sampled_from([0.0, 0.3])), draw(st.sampled_from([0.0, 0.1]))):
        repeated = random.random(n) < share
        X[repeated] = X[random.integers(0, n, size=int(repeated.sum()))]
    X[random.random(n) < draw(st.sampled_from([0.0, 0.1]))] = 0
    y = np.where(X[:, 0] * X[:, -1] + random.normal(size=n) > 0.2, 1, -1)
    y[:2] = 1, -1
    return Problem(X, y, draw(kernels))


def by_gram(model: Any, problem: Problem) -> Iterator[slice]:
    model.start(np.array([-1, 1]), problem.X.shape[1])
    model.learn(Gram(problem.K, problem.X), (problem.y + 1) // 2, np.arange(len(problem.X)))
    yield slice(None)


def by_blocks(model: Any, problem: Problem) -> Iterator[slice]:
    model.start(np.array([-1, 1]), problem.X.shape[1])
    model.learn(Streamed(model._kernel, problem.X), (problem.y + 1) // 2, np.arange(len(problem.X)))
    yield slice(None)


def by_calls(model: Any, problem: Problem) -> Iterator[slice]:
    for rows in np.split(np.arange(len(problem.X)), [1, 4, 5, 6]):
        model.partial_fit(problem.X[rows], problem.y[rows], classes=[-1, 1])
        yield rows


WAYS: dict[str, tuple[Callable[[Any, Problem], Iterator[Any]], int]] = {
    "gram": (by_gram, 1024),
    "blocks of 1": (by_blocks, 1),
    "blocks of 7": (by_blocks, 7),
    "calls": (by_calls, 1024),
    "calls, blocks of 3": (by_calls, 3),
}


@dataclass
class Course:
    """What a learner decided."""

    wrong: list[int] = field(default_factory=list)
    margin_errors: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    support: list[int] = field(default_factory=list)
    coefficients: list[Any] = field(default_factory=list)


def course_of(name: str, values: dict[str, Any], problem: Problem, way: str) -> Course:
    """What comes of a stream that is seen in one of the ways."""
    drive, block = WAYS[way]
    usual, arrivals.BLOCK = arrivals.BLOCK, block
    try:
        model: Any = learners[name](**values, **problem.kernel, random_state=5)
        found, seen = Course(), 0
        for _ in drive(model, problem):
            found.wrong += (seen + np.flatnonzero(model.margins_ <= 0)).tolist()
            found.margin_errors += (seen + np.flatnonzero(model.margins_ <= model.margin_threshold)).tolist()
            found.sizes += model.sizes_.tolist()
            seen += len(model.margins_)
    finally:
        arrivals.BLOCK = usual
    found.support = model.support_.tolist() if hasattr(model, "support_") else []
    found.coefficients = model._state().tolist()
    return found


# -- exact arithmetic ---------------------------------------------------------------------------------------------


def whole(K: Any) -> Any:
    """Kernel values as whole numbers: times 2¹⁴⁹, the last bit of float32."""
    return np.array([[int(Fraction(float(value)) * 2**149) for value in row] for row in K], dtype=object)


def oracle(name: str, values: dict[str, Any], problem: Problem) -> Course:
    """The papers' rules in whole numbers."""
    K, y, done = whole(problem.K), problem.y, Course()
    budget, chances = values.get("budget"), np.random.default_rng(5).random(len(y))
    members: list[int] = []

    def margin(t: int, without: int | None = None) -> Any:
        return int(y[t]) * sum((int(y[s]) * K[s, t] for s in members if s != without), start=0)

    def errors_without(member: int, seen: int) -> int:
        return sum(margin(k, member) <= 0 for k in range(seen))

    def victim(t: int, seen: int) -> int:
        if name == "randomized_budget_perceptron":
            return members[int(len(members) * chances[t])]
        if name == "budget_perceptron":
            return max(members, key=lambda member: margin(member, member))  # of equal ones the first, the oldest
        return min(members, key=lambda member: errors_without(member, seen))

    for t in range(len(y)):
        wrong = margin(t) <= 0
        if wrong:
            done.wrong.append(t)
            late = name == "tighter_budget_perceptron" and values.get("removal") != "before_insertion"
            full = len(members) == budget
            if not (full and name == "stoptron"):
                if full and not late:
                    members.remove(victim(t, t + 1))
                members.append(t)
                if full and late:
                    members.remove(victim(t, t + 1))
        done.sizes.append(len(members))
    done.margin_errors, done.support, done.coefficients = done.wrong, members, [float(y[s]) for s in members]
    return done


BUDGETED = ("stoptron", "randomized_budget_perceptron", "budget_perceptron", "tighter_budget_perceptron")
#: What calls of `partial_fit` do only where they are asked to.
ASKED: dict[str, dict[str, Any]] = {"tighter_budget_perceptron": {"evaluate": "all"}}


@pytest.mark.parametrize("name", ["perceptron", *BUDGETED, "tighter_budget_perceptron, before_insertion"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(problem=problems(), budget=st.sampled_from([1, 2, 3, 12, 10_000]), way=st.sampled_from(list(WAYS)))
def test_sums_of_signs_decide_as_whole_numbers_do(name: str, problem: Problem, budget: int, way: str) -> None:
    name, _, removal = name.partition(", ")
    values = {} if name == "perceptron" else {"budget": budget} | ({"removal": removal} if removal else {})
    values |= ASKED.get(name, {})
    assert course_of(name, values, problem, way) == oracle(name, values, problem)


@pytest.mark.parametrize("name", BUDGETED)
@pytest.mark.parametrize("gamma", [10.0, 300.0])
def test_kernel_values_over_hundreds_of_powers_of_two(name: str, gamma: float) -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2)).astype(np.float32)
    problem = Problem(X, np.where(X[:, 0] * X[:, 1] > 0, 1, -1), {"kernel": "rbf", "gamma": gamma})
    values = {"budget": 5} | ASKED.get(name, {})
    expected = oracle(name, values, problem)
    for way in ("gram", "blocks of 7", "calls"):
        assert course_of(name, values, problem, way) == expected


# -- however the stream is cut ------------------------------------------------------------------------------------

#: Parameters that reach each rule whose coefficients are fractions, and those with sets of their own.
CASES: list[tuple[str, dict[str, Any]]] = [
    ("passive_aggressive", {}),
    ("passive_aggressive", {"C": 0.05}),
    ("kernel_gradient_descent", {}),
    ("kernel_gradient_descent", {"eta": 0.3}),
    ("forgetron", {"budget": 3}),
    ("perceptron", {"beta": 0.3}),
    ("budget_perceptron", {"budget": 3, "update": "mira"}),
    ("budget_perceptron", {"budget": 3, "update": "no_bias_svm", "C": 2.0}),
    ("budget_perceptron", {"size": "variable", "update": "mira", "beta": 0.2}),
    ("tighter_budget_perceptron", {"budget": 3, "evaluate": "all", "update": "mira"}),
    ("tighter_budget_perceptron", {"budget": 3, "evaluate": "support"}),
    ("tighter_budget_perceptron", {"budget": 3, "evaluate": "random", "evaluation_size": 5, "update": "no_bias_svm"}),
    ("tighter_budget_perceptron", {"budget": 3, "evaluate": "flips", "evaluation_size": 4}),
    ("tighter_budget_perceptron", {"budget": 4, "evaluate": "all", "candidates": 2, "remove_at_once": 2}),
    ("fogd", {"n_components": 9}),
    ("nogd", {"budget": 6, "rank": 3}),
    ("nogd", {"budget": 3}),
    ("projectron", {"eta": 0.0}),
    ("projectron", {"bound_budget": 20}),
    ("projectron", {"budget": 4}),
    ("projectron_plus_plus", {"bound_budget": 20}),
    ("projectron_plus_plus", {"eta": 0.1}),
    ("bpa_s", {"budget": 3}),
    ("bpa_nn", {"budget": 3}),
    ("bpa_p", {"budget": 3}),
    ("bogd", {"budget": 3, "bound": 5.0}),
    ("bogd", {"budget": 3, "bound": 5.0, "sampling": "weighted"}),
    ("norma", {"budget": 3, "lam": 0.5}),
    ("norma", {"budget": 3, "nu": 0.3}),
    ("silk", {"budget": 3, "lam": 0.5}),
    ("bsgd", {"budget": 3, "maintenance": "removal", "lam": 0.01}),
    ("bsgd", {"budget": 4, "maintenance": "projection", "lam": 0.01}),
    ("bsgd", {"budget": 4, "maintenance": "merging", "lam": 0.01}),
    ("romma", {}),
    ("romma", {"aggressive": True, "budget": 3}),
    ("alma", {"alpha": 1.0}),
    ("alma", {"alpha": 0.6}),
    ("tightest_perceptron", {"budget": 3}),
    ("tightest_perceptron", {"budget": 3, "loss": "zero_one"}),
    ("mira", {}),
    ("mira", {"size": "fixed", "budget": 3}),
    ("mira", {"size": "variable", "beta": 0.3}),
]


def unit_rows(problem: Problem) -> Problem:
    """For learners that need K(x, x) ≤ 1."""
    if problem.kernel["kernel"] == "rbf":
        return problem
    largest = np.linalg.norm(problem.X.astype(np.float64), axis=1).max()
    return Problem(
        (problem.X / (1.01 * max(largest, 1.0))).astype(np.float32),
        problem.y,
        problem.kernel | {"coef0": 0.0} if problem.kernel["kernel"] == "polynomial" else problem.kernel,
    )


def test_every_online_learner_is_here() -> None:
    ours = {name for name in learners if issubclass(learners[name], OnlineLearner)}
    assert ours == {name for name, _ in CASES} | set(BUDGETED)


@pytest.mark.parametrize(("name", "values"), CASES, ids=str)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(problem=problems(80))
def test_nobody_can_tell_how_the_stream_was_cut(name: str, values: dict[str, Any], problem: Problem) -> None:
    if name == "forgetron":
        problem = unit_rows(problem)
    if name == "fogd" or values.get("maintenance") == "merging":  # they have no rule for others
        problem = Problem(problem.X, problem.y, {"kernel": "rbf", "gamma": problem.kernel.get("gamma", 0.5)})
    expected = course_of(name, values, problem, "gram")
    for way in ("blocks of 1", "blocks of 7", "calls", "calls, blocks of 3"):
        assert course_of(name, values, problem, way) == expected, way
