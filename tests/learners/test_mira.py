"""MIRA against a transcription in plain NumPy, and against the binary learners."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from budgetbench.engine import arrivals
from budgetbench.engine.kernel_access import Gram
from budgetbench.errors import ParameterError
from budgetbench.kernels import make_kernel
from budgetbench.learners import MIRA, BudgetPerceptron, learners

SIZES: dict[str, dict[str, Any]] = {
    "unlimited": {},
    "fixed": {"size": "fixed", "budget": 12},
    "one": {"size": "fixed", "budget": 1},
    "variable": {"size": "variable"},
}
KERNELS: dict[str, dict[str, Any]] = {
    "rbf": {"kernel": "rbf", "gamma": 0.7},
    "polynomial": {"kernel": "polynomial", "degree": 3, "gamma": 0.5, "coef0": 1.0},
    "linear": {"kernel": "linear"},
}


@dataclass
class Course:
    """What came of a stream: the margin of each round of the first pass, and the coefficients in order of arrival."""

    margins: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    tau: dict[int, NDArray[np.float64]] = field(default_factory=dict)


def projected(v: NDArray[np.float64], total: float) -> NDArray[np.float64]:
    """The point of {ρ ≥ 0, Σ ρ = total} next to v."""
    u = np.sort(v)[::-1]
    excess = (np.cumsum(u) - total) / np.arange(1, len(v) + 1)
    last = np.flatnonzero(u > excess)[-1]
    return np.maximum(0, v - excess[last])


def twin(
    K: NDArray[np.float64],
    y: NDArray[np.int64],
    order: NDArray[np.int64],
    n_classes: int,
    beta: float,
    size: str = "unlimited",
    budget: int | None = None,
    epochs: int = 1,
) -> Course:
    """Figures 1 to 3 with the multi-class margin and the update of MIRA; every score is computed from scratch."""
    course = Course()
    cache = course.tau

    def f(i: int, without: int | None = None) -> NDArray[np.float64]:
        return np.sum([tau * K[j, i] for j, tau in cache.items() if j != without] + [np.zeros(n_classes)], axis=0)

    def margin(i: int, without: int | None = None) -> float:
        scores = f(i, without)
        return scores[y[i]] - np.delete(scores, y[i]).max()

    def best() -> int:
        return max(cache, key=lambda j: margin(j, without=j))

    for epoch in range(epochs):
        for t in order:
            before = margin(t)
            if before <= beta:
                if size == "fixed" and len(cache) == budget and t not in cache:
                    del cache[best()]
                right = np.eye(n_classes)[y[t]]
                D = (f(t, without=t) - beta * right) / K[t, t] + right
                tau = right - projected(D, 1.0)
                if tau[y[t]] > 1e-13:
                    cache[t] = tau
                while size == "variable" and cache and margin(best(), without=best()) >= beta:
                    del cache[best()]
            if epoch == 0:
                course.margins.append(before)
                course.sizes.append(len(cache))
    return course


@dataclass(frozen=True)
class Problem:
    X: NDArray[np.float32]
    y: NDArray[np.int64]
    order: NDArray[np.int64]
    classes: NDArray[np.int64]


def make_problem(n_classes: int, seed: int, n: int = 80) -> Problem:
    random = np.random.default_rng([n_classes, seed])
    y = random.integers(n_classes, size=n)
    centres = random.normal(size=(n_classes, 3))
    X = (centres[y] + 0.7 * random.normal(size=(n, 3))).astype(np.float32)
    return Problem(X, y, random.permutation(n), np.arange(n_classes))


def values(problem: Problem, kernel: dict[str, Any]) -> NDArray[np.float32]:
    rest = {key: value for key, value in kernel.items() if key != "kernel"}
    return make_kernel(kernel["kernel"], **rest).matrix(problem.X, problem.X)


def through_gram(model: Any, problem: Problem, kernel: dict[str, Any]) -> NDArray[np.int64]:
    model.start(problem.classes, problem.X.shape[1])
    model.learn(Gram(values(problem, kernel), problem.X), problem.y, problem.order)
    return model.support_


def by_fit(model: Any, problem: Problem, kernel: dict[str, Any]) -> NDArray[np.int64]:
    model.fit(problem.X[problem.order], problem.y[problem.order])
    return problem.order[model.support_]


def by_partial_fit(model: Any, problem: Problem, kernel: dict[str, Any]) -> NDArray[np.int64]:
    cuts = [0, 1, 2, 9, 30, 31, 60, len(problem.order)]
    course = []
    for start, stop in itertools.pairwise(cuts):
        rows = problem.order[start:stop]
        model.partial_fit(problem.X[rows], problem.y[rows], classes=problem.classes)
        course.append((model.margins_, model.sizes_))
    model.margins_, model.sizes_ = map(np.concatenate, zip(*course, strict=True))  # of all calls, for the comparison
    return problem.order[model.support_]


def agrees(model: Any, support: NDArray[np.int64], course: Course) -> None:
    margins = np.array(course.margins)
    assert model.margins_ == pytest.approx(margins, abs=1e-9)
    assert np.array_equal(model.margins_ <= 0, margins <= 0)
    assert np.array_equal(model.margins_ <= model.beta, margins <= model.beta)
    assert model.mistakes_ == np.count_nonzero(margins <= 0)
    assert list(model.sizes_) == course.sizes
    assert list(support) == list(course.tau)
    assert model.coefficients_ == pytest.approx(np.array(list(course.tau.values())), abs=1e-9)
    assert model.insertions_ - model.removals_ == len(course.tau)


@pytest.mark.parametrize(("through", "n_classes"), [(through_gram, 3), (by_partial_fit, 3), (by_fit, 6)])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_agrees_with_a_transcription(
    through: Callable[..., NDArray[np.int64]], size: str, kernel: str, n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "BLOCK", 16)
    for seed, beta in ((0, 0.01), (1, 0.3)):
        problem = make_problem(n_classes, seed)
        K = values(problem, KERNELS[kernel]).astype(np.float64)
        course = twin(K, problem.y, problem.order, n_classes, beta, **SIZES[size])
        model = MIRA(beta=beta, **SIZES[size], **KERNELS[kernel])
        agrees(model, through(model, problem, KERNELS[kernel]), course)


@pytest.mark.parametrize(("through", "block"), [(through_gram, 16), (by_fit, 16), (by_fit, 1024)])
@pytest.mark.parametrize("size", SIZES)
def test_later_epochs(
    through: Callable[..., NDArray[np.int64]], size: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrivals, "BLOCK", block)
    problem, kernel = make_problem(4, 2, n=60), KERNELS["rbf"]
    K = values(problem, kernel).astype(np.float64)
    course = twin(K, problem.y, problem.order, 4, 0.05, epochs=3, **SIZES[size])
    model = MIRA(beta=0.05, epochs=3, **SIZES[size], **kernel)
    agrees(model, through(model, problem, kernel), course)


@pytest.mark.parametrize("size", ["fixed", "variable"])
@pytest.mark.parametrize("seed", range(3))
def test_on_two_classes_it_is_the_binary_rule(size: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With β on the difference of two scores that are each other's negative, β/2 is asked of one of them."""
    monkeypatch.setattr(arrivals, "BLOCK", 32)
    problem, sized = make_problem(2, seed, n=300), SIZES[size]
    multi = MIRA(beta=0.1, kernel="rbf", gamma=0.7, **sized).fit(problem.X, problem.y)
    binary = BudgetPerceptron(update="mira", beta=0.05, kernel="rbf", gamma=0.7, **sized).fit(problem.X, problem.y)
    assert np.array_equal(multi.support_, binary.support_)
    assert multi.coefficients_ == pytest.approx(2 * binary.coefficients_, abs=1e-12)
    assert multi.margins_ == pytest.approx(2 * binary.margins_, abs=1e-12)
    assert multi.mistakes_ == binary.mistakes_
    assert np.array_equal(multi.predict(problem.X), binary.predict(problem.X))


def test_a_cache_larger_than_the_stream_changes_nothing() -> None:
    problem = make_problem(5, 3)
    plain = MIRA(kernel="rbf", gamma=0.7).fit(problem.X, problem.y)
    large = MIRA(kernel="rbf", gamma=0.7, size="fixed", budget=1000).fit(problem.X, problem.y)
    assert np.array_equal(plain.support_, large.support_)
    assert np.array_equal(plain.coefficients_, large.coefficients_)


def test_after_distilling_no_example_could_be_spared() -> None:
    problem = make_problem(5, 4, n=400)
    model = MIRA(kernel="rbf", gamma=0.7, size="variable").fit(problem.X, problem.y)
    own = model.coefficients_  # K(x, x) = 1
    scores = model.decision_function(model.support_vectors_) - own
    y = problem.y[model.support_]
    right = scores[np.arange(len(y)), y].copy()
    scores[np.arange(len(y)), y] = -np.inf
    assert (right - scores.max(axis=1) < model.beta + 1e-9).all()


def test_coefficients_are_those_of_one_update_each() -> None:
    problem = make_problem(5, 5)
    model = MIRA(kernel="rbf", gamma=0.7).fit(problem.X, problem.y)
    right = np.eye(5)[problem.y[model.support_]]
    assert (model.coefficients_ <= right).all()
    assert model.coefficients_.sum(axis=1) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"size": "fixed"}, "budget"),
        ({"budget": 10}, "budget"),
        ({"size": "variable", "budget": 10}, "budget"),
        ({"size": "adaptive"}, "size"),
        ({"beta": -0.1}, "beta"),
        ({"beta": 0.0}, "beta"),
        ({"size": "fixed", "budget": 0}, "budget"),
    ],
)
def test_parameters_that_do_not_go_together(parameters: dict[str, Any], name: str) -> None:
    with pytest.raises(ParameterError) as caught:
        learners["mira"].checked(parameters)
    assert caught.value.parameter == name
