"""BSGD against a transcription of its pseudo-code, and the objectives of making room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.svm import SVC

from budgetbench.errors import ParameterError
from budgetbench.kernels import RBF
from budgetbench.kernels.products import column_norms
from budgetbench.kernels.rbf import exponential, exponents
from budgetbench.learners import BSGD
from budgetbench.learners.bsgd.merging import best_h, interpolated, table_of_h
from budgetbench.learners.bsgd.projection import RIDGE

#: What interpolation may cost, as a share of (a + a′)².
LOST = 2e-6

MODES = ("removal", "projection", "merging")


def gain(h: float, m: float, kappa: float) -> float:
    """What is to be maximised: m κ^((1-h)²) + (1 - m) κ^(h²)"""
    return m * kappa ** ((1 - h) ** 2) + (1 - m) * kappa ** (h**2)


def searched_h(m: float, kappa: float) -> float:
    """The best h of a fine grid, then a search around it."""
    grid = np.linspace(0, 1, 401)
    start = grid[np.argmax(gain(grid, m, kappa))]  # type: ignore[arg-type]
    bounds = max(0.0, start - 1 / 400), min(1.0, start + 1 / 400)
    return float(
        minimize_scalar(lambda h: -gain(h, m, kappa), bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    )


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
@pytest.mark.parametrize(
    "how", [{"budget": 1}, {"budget": 9}, {"budget": 20, "lam": 0.1}, {"budget": 9, "epochs": 2}], ids=str
)
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


# -- projection ---------------------------------------------------------------------------------------------------


def rbf(X: Any, Z: Any, gamma: float) -> Any:
    return np.exp(-gamma * ((X[:, None].astype(float) - Z[None].astype(float)) ** 2).sum(axis=2))


@pytest.mark.parametrize("kernel", [{"gamma": 0.7}, {"kernel": "polynomial", "degree": 3, "coef0": 1.0}], ids=str)
def test_projection_loses_the_least(kernel: dict[str, Any], stream: Any) -> None:
    """Of all coefficients of the other points, as `lstsq` finds them in coordinates of the feature space."""
    X, y = stream(0, 12)  # with this λ all are stored
    roomy: Any = BSGD(budget=12, maintenance="projection", lam=1e6, **kernel).fit(X, y)
    tight: Any = BSGD(budget=11, maintenance="projection", lam=1e6, **kernel).fit(X, y)
    assert (roomy.n_support_, tight.n_support_) == (12, 11)
    (gone,) = set(range(12)) - set(tight.support_.tolist())
    K = roomy._kernel.matrix(X, X).astype(float)
    coordinates = np.linalg.cholesky(K + 1e-12 * np.diag(np.diag(K)))
    beta = np.linalg.lstsq(coordinates[tight.support_].T, coordinates[gone], rcond=None)[0]
    expected = roomy.coefficients_[tight.support_] + roomy.coefficients_[gone] * beta

    def lost(coefficients: Any) -> float:
        change = roomy.coefficients_.copy()
        change[tight.support_] -= coefficients
        return float(change @ K @ change)

    assert lost(tight.coefficients_) <= (1 + 1e-3) * lost(expected)
    np.testing.assert_allclose(tight.coefficients_, expected, atol=1e-2 * np.abs(expected).max())


def test_projection_stands_repeats_and_zeros() -> None:
    X = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [2.0, 4.0], [1.0, 0.0], [1.0, 0.0]], dtype=np.float32)
    X, y = np.tile(X, (4, 1)), np.tile([1, -1, 1, 1, -1, -1], 4)
    for kernel in ({"kernel": "linear"}, {"gamma": 1.0}):
        model: Any = BSGD(budget=3, maintenance="projection", lam=0.1, **kernel).fit(X, y)
        assert np.abs(model.coefficients_).max() < 1e3
        assert model.removals_ > 3


def test_the_inverse_stays_one(stream: Any) -> None:
    X, y = stream(1, 3000)
    model: Any = BSGD(budget=40, maintenance="projection", gamma=0.2).fit(X, y)
    assert model.removals_ > 500
    taken = np.flatnonzero(model._stored.taken)
    Z = np.ascontiguousarray(model._stored.inputs.T[taken])
    K = model._kernel.matrix(Z, Z).astype(float) + RIDGE * np.eye(len(taken))
    P, exact = model._stored.inverse[np.ix_(taken, taken)], np.linalg.inv(K)
    change = P / np.diag(P) - exact / np.diag(exact)  # of the projection of each point onto the others
    assert np.einsum("ij,ik,kj->j", change, K, change).max() < 1e-3**2


# -- merging ------------------------------------------------------------------------------------------------------


@given(m=st.floats(1e-6, 0.5), kappa=st.floats(1e-6, 1))
def test_h_is_the_best(m: float, kappa: float) -> None:
    found = best_h(m, kappa)
    assert 0 <= found <= 0.5
    assert gain(found, m, kappa) >= gain(searched_h(m, kappa), m, kappa) - 1e-12


@given(m=st.floats(0, 0.5), kappa=st.floats(0, 1))
def test_what_the_table_loses_is_nothing(m: float, kappa: float) -> None:
    """By the degradation a² + a′² + 2 a a′ κ - a_z², with a + a′ = 1, against that of a search."""
    h = interpolated(table_of_h(), m, kappa)
    assert 0 <= h <= 0.5
    searched = searched_h(m, kappa) if kappa > 0 else 0.0
    assert gain(searched, m, kappa) ** 2 - gain(h, m, kappa) ** 2 <= LOST


def test_the_table_at_its_edges() -> None:
    table = table_of_h()
    np.testing.assert_allclose(table[:, -1], np.linspace(0, 0.5, len(table)), atol=1e-9)  # κ = 1: the mean
    assert (table[0] == 0).all()
    assert (table[:, 0] == 0).all()
    np.testing.assert_allclose(table[-1, table.shape[1] // 4 :], 0.5, atol=1e-9)  # equals: half-way while κ > e⁻²


def test_a_merge_is_into_the_nearest_single_point(stream: Any) -> None:
    """Against every partner of its sign and a grid of h, by the norm of what is lost."""
    X, y = stream(3, 9)
    roomy: Any = BSGD(budget=9, gamma=0.3, lam=10.0).fit(X, y)
    tight: Any = BSGD(budget=8, gamma=0.3, lam=10.0).fit(X, y)
    assert (roomy.n_support_, tight.n_support_) == (9, 8)
    assert np.count_nonzero(tight.support_ < 0) == 1

    def lost(Z: Any, a: Any) -> float:
        points, change = np.concatenate([X, Z]), np.concatenate([roomy.coefficients_, -np.asarray(a)])
        return float(change @ rbf(points, points, 0.3) @ change)

    best = np.inf
    for n in range(1, 9):  # all are of one size, so that 0, the oldest, is merged
        two = roomy.coefficients_[[0, n]]
        for h in np.linspace(0, 1, 201) if two[0] * two[1] > 0 else ():
            z = h * X[:1] + (1 - h) * X[n : n + 1]
            others = [i for i in range(1, 9) if i != n]
            a_z = two @ rbf(X[[0, n]], z, 0.3)
            best = min(best, lost(np.vstack([X[others], z]), np.append(roomy.coefficients_[others], a_z)))
    assert 0 < lost(tight.support_vectors_, tight.coefficients_) <= best * (1 + 1e-4)


def test_equals_become_one_and_nothing_is_lost() -> None:
    X = np.array([[1.0, 2.0], [3.0, 0.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], dtype=np.float32)
    y = [1, -1, 1, 1, 1]
    model: Any = BSGD(budget=2, gamma=0.5, lam=1e-3).fit(X, y)
    plain: Any = BSGD(budget=9, gamma=0.5, lam=1e-3).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=1e-6)


def test_without_a_partner_of_its_sign_the_smallest_goes() -> None:
    model: Any = BSGD(budget=1, gamma=1.0).fit([[0.0], [1.0]], [1, -1])
    assert model.support_.tolist() == [1]
    assert (model.insertions_, model.removals_) == (2, 1)


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_kernel_values_of_a_merged_point_are_those_of_the_kernel(offset: float) -> None:
    """To the last bit, far from the origin too, where they are made from differences."""
    X = (np.random.default_rng(0).normal(size=(40, 7)) + offset).astype(np.float32)
    panel, K = np.ascontiguousarray(X.T), RBF(gamma=0.4).matrix(X, X)
    norms = column_norms(panel)
    for i in range(40):
        values = [exponential(-u) for u in exponents(X[i], norms[i], panel, norms, 0.4)]
        assert np.array_equal(np.array(values, dtype=np.float32), K[i])


# -- the rest -----------------------------------------------------------------------------------------------------


def test_all_coefficients_are_one_over_lambda_t_until_something_merges(stream: Any) -> None:
    X, y = stream(5)
    roomy: Any = BSGD(budget=1000, lam=0.02, gamma=0.7).fit(X, y)
    np.testing.assert_allclose(roomy.coefficients_, y[roomy.support_] / (0.02 * len(y)))
    tight: Any = BSGD(budget=5, maintenance="removal", lam=0.02, gamma=0.7).fit(X, y)
    assert tight.support_.tolist() == np.flatnonzero(tight.margins_ < 1)[-5:].tolist()  # the oldest leave


def test_many_passes_come_near_the_optimum_of_the_svm(stream: Any) -> None:
    X, y = stream(6, 80)
    lam, K = 0.05, rbf(X, X, 0.7)
    model: Any = BSGD(budget=80, maintenance="removal", lam=lam, gamma=0.7, epochs=200).fit(X, y)
    a = np.zeros(80)
    a[model.support_] = model.coefficients_
    found = lam / 2 * a @ K @ a + np.maximum(0, 1 - y * (K @ a)).mean()
    svm = SVC(C=1 / (lam * 80), gamma=0.7).fit(X, y)
    best = np.zeros(80)
    best[svm.support_] = svm.dual_coef_[0]
    bound = lam / 2 * best @ K @ best + np.maximum(0, 1 - y * svm.decision_function(X)).mean()  # it has an offset, too
    assert bound - 1e-3 <= found <= 1.05 * bound


@pytest.mark.parametrize("kernel", [{"kernel": "linear"}, {"kernel": "polynomial", "degree": 2}], ids=str)
def test_only_points_of_an_rbf_kernel_merge(kernel: dict[str, Any], stream: Any) -> None:
    X, y = stream(0)
    with pytest.raises(ParameterError, match=r"accepted: rbf\. Points of an RBF kernel alone merge"):
        BSGD(**kernel).fit(X, y)
    for maintenance in ("removal", "projection"):
        assert BSGD(maintenance=maintenance, budget=5, **kernel).fit(X, y).n_support_ == 5
