"""Random Fourier features: their waves, their mean, and that nothing but the row decides on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from budgetbench.engine.fourier import FourierFeatures, waves
from budgetbench.kernels import RBF, products


def drawn(gamma: float, n_components: int, seed: int = 0) -> FourierFeatures:
    return FourierFeatures.drawn(RBF(gamma=gamma), n_components, 5, np.random.default_rng(seed))


def rows(n: int, scale: float = 1.0) -> Any:
    return (scale * np.random.default_rng(7).normal(size=(n, 5))).astype(np.float32)


def test_waves_are_cosine_and_sine_to_the_last_place_of_float32() -> None:
    near = np.concatenate([np.linspace(-2, 2, 4001), np.arange(-8, 9) / 8, np.random.default_rng(0).normal(size=3000)])
    u = np.concatenate([near, near + 2.0**20, -near - 2.0**30]).reshape(3, -1)
    cosines, sines = np.empty(u.shape, np.float32), np.empty(u.shape, np.float32)
    waves(u, cosines, sines, 1.0)
    rest = u - np.rint(u)  # exact, where 2πu would be rounded
    np.testing.assert_allclose(cosines, np.cos(2 * np.pi * rest), atol=2.0**-24)
    np.testing.assert_allclose(sines, np.sin(2 * np.pi * rest), atol=2.0**-24)
    assert np.abs(cosines).max() <= 1


def test_waves_of_anything_stay_on_the_circle() -> None:
    u = np.array([[0.0, 2.0**52, -1e300, 0.25, 0.5, 2.0**51 + 0.5]])
    cosines, sines = np.empty(u.shape, np.float32), np.empty(u.shape, np.float32)
    waves(u, cosines, sines, 1.0)
    np.testing.assert_allclose(cosines**2 + sines**2, 1, atol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_features_are_those_of_their_frequencies(scale: float) -> None:
    features, X = drawn(0.3, 300), rows(40, scale)
    angles = 2 * np.pi * (X.astype(np.float64) @ features.turns.T.astype(np.float64))
    expected = np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(300)
    np.testing.assert_allclose(features.of(X), expected, atol=1e-8)


def test_their_inner_products_are_kernel_values_on_average() -> None:
    """The mean over D frequencies misses by a standard error of at most 1/√(2D)."""
    X = rows(30, 0.7)
    kernel = RBF(gamma=0.4)
    for n_components in (100, 10_000):
        Z = drawn(0.4, n_components).of(X).astype(np.float64)
        missed = Z @ Z.T - kernel.matrix(X, X)
        assert np.sqrt(np.mean(missed**2)) < 1 / np.sqrt(2 * n_components)
        np.testing.assert_allclose(np.diagonal(Z @ Z.T), 1, atol=1e-6)


@pytest.mark.parametrize("whole", [False, True], ids=["real inputs", "zeros and ones"])
def test_they_do_not_depend_on_the_block(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    features = drawn(0.5, 301)
    X = rows(50) if not whole else (rows(50) > 0.8).astype(np.float32)
    together = features.of(X)
    assert np.array_equal(np.vstack([features.of(X[i : i + 1]) for i in range(len(X))]), together)
    for block, columns, tile in ((4, 1, 4), (8, 100, 4), (12, 7, 12)):
        for name, size in (("BLOCK", block), ("COLUMNS", columns), ("TILE", tile)):
            monkeypatch.setattr(products, name, size)
        assert np.array_equal(features.of(X), together)


def test_no_rows_have_no_features() -> None:
    assert drawn(0.5, 3).of(np.empty((0, 5), np.float32)).shape == (0, 6)
