"""The update rules of Weston, Bordes, Bottou 2005, Figure 2, number by number."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from budgetbench.errors import ParameterError
from budgetbench.learners import BudgetPerceptron, TighterBudgetPerceptron

BOTH = pytest.mark.parametrize("learner", [BudgetPerceptron, TighterBudgetPerceptron])


def learnt(learner: type, X: list[list[float]], y: list[int], **parameters: object) -> list[float]:
    model = learner(kernel="linear", **parameters).fit(np.array(X), y)
    return [float(value) for value in model.coefficients_]


@BOTH
def test_perceptron_always_adds_one(learner: type) -> None:
    assert learnt(learner, [[2.0], [3.0], [-1.0]], [1, -1, -1], budget=5) == [1.0, -1.0, -1.0]


@BOTH
def test_mira_reaches_its_margin_and_no_further(learner: type) -> None:
    # α = β / K(x, x) for the first example; the second is right with a margin of 1 > β; the third needs α = 1.5 / 1,
    # which the bound cuts to 1.
    found = learnt(learner, [[2.0], [4.0], [1.0]], [1, 1, -1], budget=5, update="mira", beta=1.0)
    assert found == [0.25, -1.0]


@BOTH
def test_no_bias_svm_reaches_margin_one_within_its_bound(learner: type) -> None:
    found = learnt(learner, [[2.0], [1.0], [1.0]], [1, 1, -1], budget=5, update="no_bias_svm", C=0.75)
    assert found == [0.25, 0.5, -0.75]


@BOTH
def test_no_bias_svm_comes_to_the_svm_without_bias(learner: type) -> None:
    """Repeated passes are coordinate ascent in the dual (Kecman, Vogt, Huang 2003)."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2)).astype(np.float32)
    y = np.where(X[:, 0] + 0.5 * random.normal(size=60) > 0, 1, -1)
    model = learner(gamma=0.5, budget=60, update="no_bias_svm", C=2.0, epochs=1000).fit(X, y)
    f = model.decision_function(X) * y
    alpha = np.zeros(60)
    alpha[model.support_] = model.coefficients_ * y[model.support_]
    assert (f[alpha < 1e-9] > 1 - 1e-4).all()
    assert (f[alpha > 2 - 1e-9] < 1 + 1e-4).all()
    np.testing.assert_allclose(f[(alpha > 1e-6) & (alpha < 2 - 1e-6)], 1, atol=1e-4)
    assert abs(model.n_support_ - SVC(C=2.0, gamma=0.5).fit(X, y).n_support_.sum()) <= 6


@BOTH
@pytest.mark.parametrize("update", ["perceptron", "mira", "no_bias_svm"])
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "rbf"])
def test_examples_of_norm_zero_do_no_harm(learner: type, update: str, kernel: str) -> None:
    X = np.array([[0, 0], [1, 0], [0, 0], [0, 1], [1, 1], [0, 0]], dtype=np.float32)
    for beta in (None, 0.5):
        model = learner(budget=2, update=update, kernel=kernel, beta=beta, epochs=3).fit(X, [1, -1, -1, 1, -1, 1])
        assert np.isfinite(model.coefficients_).all()
        assert np.isfinite(model.decision_function(X)).all()
        assert model.sizes_.max() <= 2


@BOTH
def test_the_margin_that_calls_for_an_update_depends_on_the_rule(learner: type) -> None:
    assert learner.checked({"budget": 3})["beta"] == 0.0
    assert learner.checked({"budget": 3, "update": "no_bias_svm"})["beta"] == 1.0
    assert learner.checked({"budget": 3, "update": "no_bias_svm", "beta": 0.5})["beta"] == 0.5


@BOTH
@pytest.mark.parametrize("values", [{"C": 0.0}, {"beta": -0.1}, {"update": "adam"}], ids=str)
def test_values_out_of_range_are_refused(learner: type, values: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(values))):
        learner.checked({"budget": 3} | values)
