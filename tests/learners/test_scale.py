"""The size of the kernel values is a matter of units: s² K with targets to match decides as K does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from budgetbench.engine.kernel_access import Gram
from budgetbench.kernels import make_kernel
from budgetbench.learners import MIRA, MulticlassSVM

MIRA_SIZES: list[dict[str, Any]] = [{}, {"size": "fixed", "budget": 12}, {"size": "variable"}, {"epochs": 3}]


def clouds(seed: int, n: int = 90, n_classes: int = 4) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n) % n_classes)
    return (random.normal(size=(n_classes, 3))[y] + 0.8 * random.normal(size=(n, 3))).astype(np.float32), y


def learnt(model: Any, K: Any, X: Any, y: Any) -> Any:
    model.start(np.unique(y), X.shape[1])
    model.learn(Gram(K, X), y, np.arange(len(X)))
    return model


def scaled(K: Any, factor: float) -> Any:
    return (K.astype(np.float64) * factor).astype(np.float32)


@pytest.mark.parametrize("parameters", MIRA_SIZES, ids=str)
@given(seed=st.integers(0, 10**6), power=st.integers(-39, 39))
@settings(max_examples=15, deadline=None)
def test_mira_with_a_power_of_two(parameters: dict[str, Any], seed: int, power: int) -> None:
    X, y = clouds(seed)
    K = make_kernel("rbf", gamma=0.5).matrix(X, X)
    plain = learnt(MIRA(beta=0.01, **parameters), K, X, y)
    other = learnt(MIRA(beta=0.01 * 4.0**power, **parameters), scaled(K, 4.0**power), X, y)
    assert other.support_.tolist() == plain.support_.tolist()
    assert np.array_equal(other.coefficients_, plain.coefficients_)
    assert np.array_equal(other.margins_, plain.margins_ * 4.0**power)


@pytest.mark.parametrize("parameters", MIRA_SIZES, ids=str)
@given(seed=st.integers(0, 10**6), power=st.integers(0, 39))
@settings(max_examples=15, deadline=None)
def test_mira_far_from_its_bound(parameters: dict[str, Any], seed: int, power: int) -> None:
    """The target stays and no coefficient comes near 1: the coefficients take up the factor."""
    X, y = clouds(seed)
    K = make_kernel("rbf", gamma=0.5).matrix(X, X)
    plain = learnt(MIRA(beta=0.01, **parameters), K, X, y)
    other = learnt(MIRA(beta=0.01, **parameters), scaled(K, 4.0**power), X, y)
    assert other.support_.tolist() == plain.support_.tolist()
    assert np.array_equal(other.coefficients_ * 4.0**power, plain.coefficients_)
    assert np.array_equal(other.margins_, plain.margins_)


@pytest.mark.parametrize("parameters", MIRA_SIZES, ids=str)
@pytest.mark.parametrize("s", [1e-12, 3e-7, 0.1, 7.0, 1e5, 1e12])
def test_mira_with_any_factor(parameters: dict[str, Any], s: float) -> None:
    X, y = clouds(5)
    K = make_kernel("rbf", gamma=0.5).matrix(X, X)
    plain = learnt(MIRA(beta=0.01, **parameters), K, X, y)
    other = learnt(MIRA(beta=0.01 * s**2, **parameters), scaled(K, s**2), X, y)
    assert other.support_.tolist() == plain.support_.tolist()
    assert np.array_equal(other.margins_ <= 0, plain.margins_ <= 0)
    assert other.sizes_.tolist() == plain.sizes_.tolist()


@given(seed=st.integers(0, 10**6), power=st.integers(-39, 39))
@settings(max_examples=15, deadline=None)
def test_the_multi_class_svm_with_a_power_of_two(seed: int, power: int) -> None:
    """Its margin is 1, so that its coefficients take up the factor."""
    X, y = clouds(seed)
    K = make_kernel("rbf", gamma=0.5).matrix(X, X)
    plain = learnt(MulticlassSVM(C=2.0), K, X, y)
    other = learnt(MulticlassSVM(C=2.0 / 4.0**power), scaled(K, 4.0**power), X, y)
    assert other.sweeps_ == plain.sweeps_
    assert other.violation_ == plain.violation_
    assert other.support_.tolist() == plain.support_.tolist()
    assert np.array_equal(other.coefficients_ * 4.0**power, plain.coefficients_)


@pytest.mark.parametrize("s", [1e-12, 3e-7, 0.1, 7.0, 1e5, 1e12])
def test_the_multi_class_svm_with_any_factor(s: float) -> None:
    X, y = clouds(5)
    K = make_kernel("rbf", gamma=0.5).matrix(X, X)
    plain = learnt(MulticlassSVM(C=2.0), K, X, y)
    other = learnt(MulticlassSVM(C=2.0 / s**2), scaled(K, s**2), X, y)
    assert other.violation_ <= 0.01
    assert other.support_.tolist() == plain.support_.tolist()
    assert other.coefficients_ * s**2 == pytest.approx(plain.coefficients_, abs=1e-3)


def test_raw_pixels_and_a_polynomial_of_degree_5() -> None:
    """Kernel values of 1e18 beside a β of 0.01: nothing was learnt."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:1200].astype(np.float32), y[:1200]
    K = make_kernel("polynomial", degree=5).matrix(X, X)
    assert K.max() > 1e18
    rescaled = learnt(MIRA(beta=0.01 * 2.0**-63), scaled(K, 2.0**-63), X, y)
    raw = learnt(MIRA(beta=0.01), K, X, y)
    assert raw.support_.tolist() == rescaled.support_.tolist()
    assert raw.mistakes_ < 80
    svm = learnt(MulticlassSVM(), K, X, y)
    assert svm.violation_ <= 0.01
    assert np.mean(np.argmax(K[:, svm.support_].astype(np.float64) @ svm.coefficients_, axis=1) == y) == 1
