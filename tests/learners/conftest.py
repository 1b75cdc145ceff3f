"""Streams to learn from, the ways in which a learner can see them, and what to compare with a plain transcription.

A twin is the pseudo-code of the paper in plain NumPy: it works on the full matrix of kernel values (float64 of the
float32 values) and computes every f(x) from scratch. Its outcome is a `Course`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from budgetbench.engine import arrivals
from budgetbench.engine.base import KernelClassifier
from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.kernels import make_kernel


@dataclass
class Course:
    """What came of a stream: y f(x) before each round of the first pass, then the support set at the end."""

    margins: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    alpha: dict[int, float] = field(default_factory=dict)  # stored example → αᵢ ≥ 0, the oldest first
    removed: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Problem:
    """Examples with labels ±1, the order in which they arrive and a kernel."""

    X: NDArray[np.float32]
    y: NDArray[np.int64]
    order: NDArray[np.int64]
    kernel: dict[str, Any]

    @property
    def matrix(self) -> NDArray[np.float32]:
        return make_kernel(self.kernel["kernel"], **{k: v for k, v in self.kernel.items() if k != "kernel"}).matrix(
            self.X, self.X
        )

    @property
    def K(self) -> NDArray[np.float64]:  # noqa: N802  the field's own symbol
        return self.matrix.astype(np.float64)

    @property
    def precise(self) -> NDArray[np.float64]:
        """Kernel values in float64, from the definitions."""
        X, given = self.X.astype(np.float64), self.kernel
        if given["kernel"] == "rbf":
            return np.exp(-given["gamma"] * ((X[:, None] - X[None]) ** 2).sum(axis=2))
        return (given.get("gamma", 1.0) * (X @ X.T) + given.get("coef0", 0.0)) ** given.get("degree", 1)


#: Continuous inputs; then whole numbers in a small square, where rows repeat and margins and error counts are equal.
STREAMS: dict[str, dict[str, Any]] = {
    "rbf": {"kernel": "rbf", "gamma": 0.7},
    "linear": {"kernel": "linear"},
    "polynomial": {"kernel": "polynomial", "degree": 3, "gamma": 0.5, "coef0": 1.0},
    "rbf, ties": {"kernel": "rbf", "gamma": 0.25},
    "linear, ties": {"kernel": "linear"},
    "polynomial, ties": {"kernel": "polynomial", "degree": 2, "coef0": 1.0},
}


def make_problem(name: str, seed: int, n: int = 160, noise: float = 0.15) -> Problem:
    random = np.random.default_rng([seed, len(name)])
    if "ties" in name:
        X = random.integers(-2, 3, size=(n, 2)).astype(np.float32)
    else:
        X = random.normal(size=(n, 3)).astype(np.float32)
    y = np.where(X[:, 0] * X[:, 1] + X[:, 0] > 0.1, 1, -1)
    y[random.random(n) < noise] *= -1
    return Problem(X, y, random.permutation(n), STREAMS[name])


def through_gram(model: Any, problem: Problem, random: np.random.Generator) -> NDArray[np.int64]:
    model.start(np.array([-1, 1]), problem.X.shape[1])
    model.learn(Gram(problem.matrix, problem.X), (problem.y + 1) // 2, problem.order)
    return model.support_


def through_blocks(model: Any, problem: Problem, random: np.random.Generator) -> NDArray[np.int64]:
    model.start(np.array([-1, 1]), problem.X.shape[1])
    model.learn(Streamed(model._kernel, problem.X), (problem.y + 1) // 2, problem.order)
    return model.support_


def through_fit(model: Any, problem: Problem, random: np.random.Generator) -> NDArray[np.int64]:
    model.fit(problem.X[problem.order], problem.y[problem.order])
    return problem.order[model.support_]


def through_chunks(model: Any, problem: Problem, random: np.random.Generator) -> NDArray[np.int64]:
    X, y = problem.X[problem.order], problem.y[problem.order]
    cuts = np.sort(random.choice(np.arange(1, len(X)), size=12, replace=False))
    course = []
    for rows in np.split(np.arange(len(X)), cuts):
        model.partial_fit(X[rows], y[rows], classes=[-1, 1])
        course.append((model.margins_, model.sizes_))
    model.margins_, model.sizes_ = map(np.concatenate, zip(*course, strict=True))  # of all calls, for the comparison
    return problem.order[model.support_]


Way = Callable[[Any, Problem, np.random.Generator], NDArray[np.int64]]
WAYS: dict[str, tuple[Way, int]] = {  # with the number of examples in a block
    "gram": (through_gram, 1024),
    "blocks of 7": (through_blocks, 7),
    "blocks of 64": (through_blocks, 64),
    "partial_fit": (through_chunks, 16),
    "partial_fit, blocks of 5": (through_chunks, 5),
    "fit": (through_fit, 1024),
}


@pytest.fixture(params=list(STREAMS))
def stream(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[name for name in STREAMS if "ties" not in name])
def continuous_stream(request: pytest.FixtureRequest) -> str:
    """For rules with fractional coefficients: they put margins right on the limit, where rounding decides on a tie."""
    return str(request.param)


@pytest.fixture
def problem() -> Callable[..., Problem]:
    return make_problem


#: How a learner sees each stream when it is compared with its twin. That it makes no difference is for `test_exact.py`
#: to find, on streams that are harder.
WAY_OF = {
    "rbf": "blocks of 7",
    "linear": "gram",
    "polynomial": "partial_fit",
    "rbf, ties": "gram",
    "linear, ties": "partial_fit",
    "polynomial, ties": "blocks of 64",
}


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    names = {"stream", "continuous_stream"} & set(request.fixturenames)
    return WAY_OF[request.getfixturevalue(names.pop())]


Agree = Callable[..., Course]


@pytest.fixture
def agree(monkeypatch: pytest.MonkeyPatch) -> Agree:
    """Lets a learner and its twin see a stream and compares all that can be compared; gives the twin's course.

    With `precise` the twin has kernel values in float64.
    """

    def agree(
        learner: type[KernelClassifier],
        twin: Callable[..., Course],
        problem: Problem,
        way: str,
        parameters: dict[str, Any],
        exact: bool = True,
        precise: bool = False,
    ) -> Course:
        through, block = WAYS[way]
        monkeypatch.setattr(arrivals, "BLOCK", block)
        model: Any = learner(**parameters, **problem.kernel)
        if "partial_fit" in way:
            parameters = parameters | {"epochs": 1}
        support = through(model, problem, np.random.default_rng(0))
        expected = twin(problem.precise if precise else problem.K, problem.y, problem.order, **parameters)
        margins = np.array(expected.margins)
        wrong = np.flatnonzero(margins <= 0)
        assert np.array_equal(np.flatnonzero(model.margins_ <= 0), wrong), "other mistake rounds"
        assert model.mistakes_ == len(wrong)
        assert support.tolist() == list(expected.alpha), "another support set"
        assert model.sizes_.tolist() == expected.sizes
        assert model.removals_ == len(expected.removed)
        assert model.insertions_ - model.removals_ == len(support)
        signed = problem.y[support] * np.array(list(expected.alpha.values()))
        if exact and not precise:
            assert np.array_equal(model.coefficients_, signed), "other coefficients"
            assert np.array_equal(model.margins_, margins)
        elif precise:  # as far as float32 kernel values go, from which f(x) is computed
            np.testing.assert_allclose(model.coefficients_, signed, rtol=1e-3, atol=1e-3)
            np.testing.assert_allclose(model.margins_, margins, rtol=1e-4, atol=1e-4 * max(1.0, problem.K.max()))
        else:
            np.testing.assert_allclose(model.coefficients_, signed, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(model.margins_, margins, rtol=1e-7, atol=1e-7)
        return expected

    return agree


class Rule:
    """Weston, Bordes, Bottou 2005, Figure 2, and what stands for it when a stored example comes again."""

    def __init__(self, update: str = "perceptron", beta: float | None = None, C: float = 1.0) -> None:
        self.update, self.C = update, C
        self.beta = beta if beta is not None else 1.0 if update == "no_bias_svm" else 0.0

    def is_due(self, margin: float, stored: bool) -> bool:
        return margin <= self.beta or (stored and self.update == "no_bias_svm")

    def apply(self, alpha: dict[int, float], i: int, margin: float, K: NDArray[np.float64]) -> str:
        """Set αᵢ, from the margin as it is now; says whether i was "stored", "removed" or neither."""
        old = alpha.get(i, 0.0)
        if self.update == "perceptron":
            new = old + 1
        elif self.update == "mira":
            new = min(1.0, max(0.0, old + (self.beta - margin) / K[i, i]))
        else:
            new = min(self.C, max(0.0, old + (1 - margin) / K[i, i]))
        if new > 0:
            alpha[i] = new
            return "stored"
        if i in alpha:
            del alpha[i]
            return "removed"
        return ""


@pytest.fixture
def rule() -> type[Rule]:
    return Rule


@pytest.fixture
def course() -> type[Course]:
    return Course


@pytest.fixture
def projected() -> Callable[..., tuple[NDArray[np.float64], float, float, bool]]:
    """Projects afresh, Orabona, Keshet, Caputo 2008, Eqs. 8 and 9: d, ‖P k(xₜ, ·)‖², ‖δ‖², and whether xₜ lies in the
    span for all that float64 can tell."""

    def projected(K: Any, stored: list[int], t: int) -> tuple[NDArray[np.float64], float, float, bool]:
        k = K[stored, t]
        d = np.linalg.solve(K[np.ix_(stored, stored)], k)
        length2 = float(k @ d)
        delta2 = max(0.0, K[t, t] - length2)
        return d, length2, delta2, bool(delta2 <= 1e-8 * K[t, t])

    return projected
