"""FOGD against a transcription of its rule, and what it has of the kernel."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetbench.config import load
from budgetbench.errors import ConfigError, ParameterError
from budgetbench.learners import FOGD, KernelGradientDescent


def cloud(n: int = 200) -> tuple[Any, Any]:
    random = np.random.default_rng(2)
    X = random.normal(size=(n, 3)).astype(np.float32)
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * random.normal(size=n) > 0, 1, -1)


def twin(X: Any, y: Any, omegas: Any, eta: float, epochs: int = 1) -> tuple[Any, Any]:
    """Lu, Hoi, Wang, Zhao, Liu 2016, Algorithm 1, with features of length 1: the margins of the first pass, and w."""
    w, margins = np.zeros(2 * len(omegas)), []
    for epoch in range(epochs):
        for x, label in zip(X.astype(np.float64), y, strict=True):
            angles = omegas @ x
            z = np.concatenate([np.cos(angles), np.sin(angles)]) / np.sqrt(len(omegas))
            margin = label * (w @ z)
            if max(0.0, 1 - margin) > 0:
                w += eta * label * z
            if epoch == 0:
                margins.append(margin)
    return np.array(margins), w


@pytest.mark.parametrize("parameters", [{}, {"eta": 0.05, "epochs": 2}, {"n_components": 3, "eta": 2.0}], ids=str)
def test_agrees_with_the_pseudo_code(parameters: dict[str, Any]) -> None:
    X, y = cloud()
    model = FOGD(gamma=0.7, random_state=4, **({"n_components": 50} | parameters)).fit(X, y)
    omegas = 2 * np.pi * model._features.turns.astype(np.float64)
    margins, w = twin(X, y, omegas, model.eta, model.epochs)
    assert np.array_equal(model.margins_ <= 0, margins <= 0), "other mistake rounds"
    assert np.array_equal(model.margins_ < 1, margins < 1), "other margin errors"
    np.testing.assert_allclose(model.margins_, margins, atol=1e-5)
    np.testing.assert_allclose(model._w, w, atol=1e-5)


def test_frequencies_are_those_of_the_kernel() -> None:
    """ω is normal with variance 2γ: means over 6000 numbers are right to some hundredths."""
    for gamma in (0.1, 3.0):
        model = FOGD(gamma=gamma, n_components=2000, random_state=0).fit(*cloud(40))
        omegas = 2 * np.pi * model._features.turns
        assert np.mean(omegas) == pytest.approx(0, abs=0.05 * np.sqrt(2 * gamma))
        assert np.mean(omegas**2) == pytest.approx(2 * gamma, rel=0.06)


def test_with_many_frequencies_it_is_kernel_gradient_descent() -> None:
    X, y = cloud()
    exact = KernelGradientDescent(gamma=0.5, eta=0.2).fit(X, y).decision_function(X)
    misses = []
    for n_components in (20, 200, 20_000):
        found = FOGD(gamma=0.5, eta=0.2, n_components=n_components, random_state=1).fit(X, y).decision_function(X)
        misses.append(float(np.sqrt(np.mean((found - exact) ** 2))))
    assert misses[0] > misses[1] > misses[2]
    assert misses[2] < 0.05 < np.abs(exact).mean()


def test_it_stores_no_examples_and_stays_as_large_as_it_is() -> None:
    X, y = cloud(400)
    model = FOGD(n_components=10, random_state=0).partial_fit(X[:10], y[:10], classes=[-1, 1])
    first, size = model.outcome(), len(pickle.dumps(model))
    model.partial_fit(X[10:], y[10:])
    later = model.outcome()
    assert (first.size, first.insertions, first.kernel_evaluations) == (0, None, 0)
    assert later.model_bytes == first.model_bytes == 10 * 3 * 4 + 20 * 8
    assert model.sizes_.tolist() == [0] * 390
    assert len(pickle.dumps(model.partial_fit(X[:10], y[:10]))) <= size + 100


def test_seeds_draw_other_frequencies() -> None:
    X, y = cloud()
    one, same, other = (FOGD(n_components=10, random_state=seed).fit(X, y).decision_function(X) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("kernel", [{"kernel": "linear"}, {"kernel": "polynomial", "degree": 2}])
def test_only_a_gaussian_kernel_has_frequencies(kernel: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"kernel: found '(linear|polynomial)'; accepted: rbf\. FOGD draws"):
        FOGD(**kernel).fit(*cloud())


def test_a_configuration_says_so_too(tmp_path: Path) -> None:
    text = "name: c\ndataset: {name: gaussian}\nkernel: {name: linear}\nalgorithms: [{name: fogd}]\n"
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"c\.yaml:3: kernel\.name: found 'linear'; accepted: rbf\. FOGD draws"):
        load(tmp_path / "c.yaml")


@pytest.mark.parametrize("wrong", [{"eta": 0.0}, {"n_components": 0}, {"n_components": 2.5}], ids=str)
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        FOGD.checked(wrong)
