"""BSGD against a transcription of its pseudo-code, and the objectives of making room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from budgetbench.errors import ParameterError
from budgetbench.kernels import RBF
from budgetbench.kernels.products import column_norms
from budgetbench.kernels.rbf import exponential, exponents
from budgetbench.learners import BSGD
from budgetbench.learners.bsgd.merging import best_h, interpolated, table_of_h
from budgetbench.learners.bsgd.projection import RIDGE

MODES = ("removal", "projection", "merging")


def gain(h: float, m: float, kappa: float) -> float:
    """What is to be maximised: m κ^((1-h)²) + (1 - m) κ^(h²)"""
    return m * kappa ** ((1 - h) ** 2) + (1 - m) * kappa ** (h**2)


def searched_h(m: float, kappa: float) -> float:
    """The best h of a fine grid, then a search around it."""
    grid = np.linspace(0, 1, 401)
    start = grid[np.argmax(gain(grid, m, kappa))]  # type: ignore[arg-type]
    bounds = max(0.0, start - 1 / 400), min(1.0, start + 1 / 400)
    return float(minimize_scalar(lambda h: -gain(h, m, kappa), bounds=bounds, method="bounded", options={"xatol": 1e-12}).x)


class Twin:
    """Wang, Crammer, Vucetic 2012, Algorithm 1: points of any kind in a list, f by its definition."""

    def __init__(self, X: Any, gamma: float, budget: int, maintenance: str, lam: float) -> None:
        self.X, self.gamma, self.budget, self.maintenance, self.lam = X.astype(float), gamma, budget, maintenance, lam
        self.points: list[Any] = []
        self.a: list[float] = []
        self.numbers: list[int] = []
        self.margins: list[float] = []
        self.sizes: list[int] = []

    def k(self, x: Any, z: Any) -> float:
        return float(np.exp(-self.gamma * ((x - z) ** 2).sum()))

    def run(self, y: Any, order: Any, epochs: int = 1) -> Twin:
        t = 0
        for epoch in range(epochs):
            for i in order:
                t += 1
                margin = y[i] * sum(a * self.k(z, self.X[i]) for a, z in zip(self.a, self.points, strict=True))
                self.a = [a * (1 - 1 / t) for a in self.a]
                if margin < 1 - 1e-12:
                    if i in self.numbers:
                        self.a[self.numbers.index(i)] += y[i] / (self.lam * t)
                    else:
                        self.points.append(self.X[i])
                        self.a.append(y[i] / (self.lam * t))
                        self.numbers.append(i)
                    if len(self.a) > self.budget:
                        self.make_room()
                if epoch == 0:
                    self.margins.append(margin)
                    self.sizes.append(len(self.a))
        return self

    def make_room(self) -> None:
        sizes = np.abs(self.a)
        r = int(np.flatnonzero(sizes <= sizes.min() * (1 + 1e-9))[0])  # the oldest of equals
        if self.maintenance == "projection":
            K = np.array([[self.k(x, z) for z in self.points] for x in self.points])
            others = [j for j in range(len(K)) if j != r]
            among = K[np.ix_(others, others)] + RIDGE * np.eye(len(others))
            for j, beta in zip(others, np.linalg.solve(among, K[others, r]), strict=True):
                self.a[j] += self.a[r] * beta
        elif self.maintenance == "merging":
            self.merge(r)
        for each in (self.points, self.a, self.numbers):
            del each[r]

    def merge(self, r: int) -> None:
        best, least = -1, np.inf
        for n in range(len(self.a)):
            if n != r and self.a[n] * self.a[r] > 0:
                kappa = self.k(self.points[r], self.points[n])
                m = self.a[r] / (self.a[r] + self.a[n])
                h = interpolated(table_of_h(), min(m, 0.5), kappa)
                a_z = (self.a[r] + self.a[n]) * gain(h, m, kappa)
                lost = self.a[r] ** 2 + self.a[n] ** 2 + 2 * self.a[r] * self.a[n] * kappa - a_z**2
                if lost < least - 1e-9 * a_z**2:
                    best, least, best_a = n, lost, a_z
                    z = h * self.points[r] + (1 - h) * self.points[n]
        if best >= 0:
            self.points[best], self.a[best], self.numbers[best] = z.astype(np.float32).astype(float), best_a, -1


@pytest.fixture
def stream() -> Callable[[int], tuple[Any, Any]]:
    def stream(seed: int, n: int = 160) -> tuple[Any, Any]:
        random = np.random.default_rng(seed)
        X = random.normal(size=(n, 3)).astype(np.float32)
        y = np.where(X[:, 0] * X[:, 1] + X[:, 0] > 0.1, 1, -1)
        y[random.random(n) < 0.15] *= -1
        return X, y

    return stream


@pytest.mark.parametrize("maintenance", MODES)
@pytest.mark.parametrize("how", [{"budget": 1}, {"budget": 9}, {"budget": 20, "lam": 0.1}, {"budget": 9, "epochs": 2}], ids=str)
def test_agrees_with_the_pseudo_code(maintenance: str, how: dict[str, Any], stream: Any) -> None:
    values = {"lam": 0.01} | how
    for seed in range(2):
        X, y = stream(seed)
        model: Any = BSGD(maintenance=maintenance, gamma=0.7, **values).fit(X, y)
        epochs = values.get("epochs", 1)
        twin = Twin(X, 0.7, values["budget"], maintenance, values["lam"]).run(y, range(len(y)), epochs)
        margins = np.array(twin.margins)
        assert np.array_equal(np.flatnonzero(model.margins_ <= 0), np.flatnonzero(margins <= 0))
        assert model.sizes_.tolist() == twin.sizes
        assert model.support_.tolist() == twin.numbers
        rtol = 1e-4 if maintenance == "projection" else 1e-5  # float32 kernel values, which the inverse answers to
        np.testing.assert_allclose(model.coefficients_, twin.a, rtol=rtol, atol=rtol * np.abs(twin.a).max())
        np.testing.assert_allclose(model.support_vectors_, twin.points, atol=1e-5)
        np.testing.assert_allclose(model.margins_, margins, rtol=rtol, atol=rtol * np.abs(margins).max())
        assert model.removals_ > 10
