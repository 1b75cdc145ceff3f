"""Kernel values do not depend on the block in which they are computed, small blocks among large ones."""

from __future__ import annotations

import numpy as np
import pytest

from budgetbench.kernels import make_kernel

SHAPES = [(1, 1), (1, 600), (600, 1), (2, 2), (3, 2), (5, 7), (2, 512), (17, 33), (100, 100), (30, 40), (513, 2)]


@pytest.mark.parametrize("d", [1, 17, 32, 100, 784])
@pytest.mark.parametrize("name", ["linear", "polynomial", "rbf"])
def test_a_corner_is_that_of_the_whole(d: int, name: str) -> None:
    random = np.random.default_rng(d)
    X, Z = (random.normal(size=(n, d)).astype(np.float32) / np.float32(np.sqrt(d)) for n in (1030, 1100))
    kernel = make_kernel(name, **({"gamma": 1.0} if name == "rbf" else {}))
    whole = kernel.matrix(X, Z)
    for n, m in SHAPES:
        assert np.array_equal(kernel.matrix(X[:n], Z[:m]), whole[:n, :m]), (n, m)
        assert np.array_equal(kernel.matrix(X[-n:], Z[-m:]), whole[-n:, -m:]), (n, m)
