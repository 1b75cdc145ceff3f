"""NOGD against a transcription of its rule; its embedding against the best approximation of the Gram matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from budgetbench.engine.kernel_access import Gram, Streamed
from budgetbench.engine.online import drive
from budgetbench.errors import NumericalError, ParameterError
from budgetbench.learners import NOGD, KernelGradientDescent, Perceptron


def cloud(n: int = 300) -> tuple[Any, Any]:
    random = np.random.default_rng(6)
    X = random.normal(size=(n, 3)).astype(np.float32)
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * random.normal(size=n) > 0, 1, -1)


@pytest.fixture
def twin(course: Any) -> Callable[..., Any]:
    """Lu, Hoi, Wang, Zhao, Liu 2016, section 3.3, with all eigenvalues; αᵢ = yᵢaᵢ may end below 0."""

    def nogd(K: Any, y: Any, order: Any, budget: int = 100, rank: int = 20, eta: float = 0.2, epochs: int = 1) -> Any:
        done = course()
        w = embedding = None
        for epoch in range(epochs):
            for t in order:
                stored = list(done.alpha)
                if w is None:
                    margin = float(y[t] * (K[t, stored] @ (y[stored] * list(done.alpha.values()))))
                else:
                    z = embedding @ K[stored, t]
                    margin = float(y[t] * (w @ z))
                if max(0.0, 1 - margin) > 0:
                    if w is None:
                        done.alpha[t] = done.alpha.get(t, 0.0) + eta
                    else:
                        w = w + eta * y[t] * z
                if w is None and len(done.alpha) == budget:
                    stored = list(done.alpha)
                    among = K[np.ix_(stored, stored)]
                    values, vectors = np.linalg.eigh(among)
                    k = min(rank, int(np.sum(values > 2.0**-24 * budget * values.max())))
                    embedding = np.diag(values[-k:] ** -0.5) @ vectors[:, -k:].T
                    w = embedding @ among @ (y[stored] * list(done.alpha.values()))
                if epoch == 0:
                    done.margins.append(margin)
                    done.sizes.append(len(done.alpha))
        if w is not None:
            done.alpha = dict(zip(stored, y[stored] * (w @ embedding), strict=True))
        return done

    return nogd


@pytest.mark.parametrize(
    "parameters",
    [{"budget": 12, "rank": 5}, {"budget": 30, "rank": 3, "eta": 1.0, "epochs": 2}, {"budget": 1}, {"budget": 1000}],
    ids=str,
)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, continuous_stream: str, way: str, parameters: dict[str, Any]
) -> None:
    for seed in range(2):
        agree(NOGD, twin, problem(continuous_stream, seed), way, parameters, exact=False)


def embedded(model: Any, X: Any) -> Any:
    return model._kernel.matrix(X, model.support_vectors_).astype(np.float64) @ model._map


@pytest.mark.parametrize("rank", [1, 6, 25])
def test_the_embedding_is_the_best_approximation_of_its_rank(rank: int) -> None:
    X, y = cloud()
    model = NOGD(budget=25, rank=rank, gamma=0.4).fit(X, y)
    stored = model.support_vectors_
    gram = model._kernel.matrix(stored, stored).astype(np.float64)
    Z = embedded(model, stored)
    left, values, right = np.linalg.svd(gram)  # Eckart, Young: nothing of this rank comes nearer
    np.testing.assert_allclose(Z @ Z.T, (left[:, :rank] * values[:rank]) @ right[:rank], atol=1e-6)
    assert np.linalg.norm(gram - Z @ Z.T) == pytest.approx(np.sqrt(np.sum(values[rank:] ** 2)), abs=1e-6)


def test_it_goes_over_by_projecting_f() -> None:
    """Of all functions of the embedding, w is the one nearest to f in the space of the kernel."""
    X, y = cloud()
    before = KernelGradientDescent(gamma=0.4).fit(X, y)
    first = int(before.support_[14]) + 1  # so many examples until 15 are stored
    before = KernelGradientDescent(gamma=0.4).fit(X[:first], y[:first])
    model = NOGD(budget=15, rank=6, gamma=0.4).fit(X[:first], y[:first])
    gram = model._kernel.matrix(X[model.support_], X[model.support_]).astype(np.float64)
    a = before.coefficients_
    # ‖f - Σ cᵢ K(xᵢ, ·)‖² with c = M v, minimised over v
    M = model._map
    nearest = np.linalg.solve(M.T @ gram @ M, M.T @ gram @ a)
    np.testing.assert_allclose(model._w, nearest, atol=1e-6)
    np.testing.assert_allclose(model.coefficients_, M @ nearest, atol=1e-6)
    whole = NOGD(budget=15, rank=15, gamma=0.4).fit(X[:first], y[:first])
    np.testing.assert_allclose(whole.decision_function(X), before.decision_function(X), atol=1e-4)


def test_a_step_goes_against_the_gradient_of_the_loss() -> None:
    X, y = cloud()
    model = NOGD(budget=20, rank=8, gamma=0.4).fit(X, y)
    for t in range(20):
        w, z = model._w.copy(), embedded(model, X[t : t + 1])[0]
        loss = [[max(0.0, 1 - y[t] * (w + s * h) @ z) for h in np.eye(8)] for s in (1e-6, -1e-6)]
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        gradient = (np.array(loss[0]) - np.array(loss[1])) / 2e-6
        np.testing.assert_allclose(model._w - w, -0.2 * gradient, atol=1e-7)


def test_with_few_stored_examples_it_is_kernel_gradient_descent() -> None:
    X, y = cloud(60)
    model, other = NOGD(budget=1000, gamma=0.4).fit(X, y), KernelGradientDescent(gamma=0.4).fit(X, y)
    assert model.support_.tolist() == other.support_.tolist()
    assert model.coefficients_.tolist() == other.coefficients_.tolist()


def test_examples_of_a_plane_span_no_more() -> None:
    """A linear kernel of two inputs has rank 2, whatever the rank that is asked for."""
    X, y = cloud()
    model = NOGD(budget=10, rank=8, kernel="linear").fit(X[:, :2], y)
    assert model._map.shape == (10, 2)
    assert np.isfinite(model.coefficients_).all()


def test_the_moment_of_going_over_depends_on_no_block(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = cloud()
    expected = NOGD(budget=25, rank=6, gamma=0.4).fit(X, y)
    for block in (1, 7, 64):
        monkeypatch.setattr("budgetbench.engine.arrivals.BLOCK", block)
        found = NOGD(budget=25, rank=6, gamma=0.4).fit(X, y)
        assert found.margins_.tolist() == expected.margins_.tolist()
        assert found.coefficients_.tolist() == expected.coefficients_.tolist()


@pytest.mark.parametrize("gram", [False, True])
def test_it_learns_among_others(gram: bool) -> None:
    X, y = cloud()
    models: list[Any] = [Perceptron(gamma=0.4), NOGD(budget=25, rank=6, gamma=0.4, epochs=2)]
    for model in models:
        model.start(np.array([-1, 1]), 3)
    kernel = models[0]._kernel
    access = Gram(kernel.matrix(X, X), X) if gram else Streamed(kernel, X)
    drive(models, access, (y + 1) // 2, np.arange(len(X)))
    alone = NOGD(budget=25, rank=6, gamma=0.4, epochs=2).fit(X, y)
    assert models[1].coefficients_.tolist() == alone.coefficients_.tolist()
    assert models[1].support_.tolist() == alone.support_.tolist()


def test_sums_that_no_number_holds_are_an_error() -> None:
    X = np.array([[1.0], [-1.0], [1e9], [1e9], [1e9]])
    model = NOGD(kernel="polynomial", degree=2, budget=2, eta=1e30).partial_fit(X[:2], [1, -1])
    model._w[:] = 1e300
    with pytest.raises(NumericalError, match="NOGD: sums of"):
        model.partial_fit(X[2:], [-1, 1, -1])


@pytest.mark.parametrize("wrong", [{"budget": 0}, {"rank": 0}, {"eta": -1.0}], ids=str)
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        NOGD.checked(wrong)
