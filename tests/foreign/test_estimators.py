"""Estimators of other packages as learners: scikit-learn's, River's, and classes of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Perceptron, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from budgetbench.engine.kernel_access import Streamed
from budgetbench.errors import ParameterError
from budgetbench.foreign import foreign
from budgetbench.foreign.learner import adapted
from budgetbench.kernels import RBF, Linear, Polynomial
from budgetbench.testing import Check, check_learner, learner_checks
from budgetbench.testing.cases import noisy, three_classes

pytest.importorskip("river", reason="River is for Python 3.11 and later")
from river.linear_model import ALMAClassifier, LogisticRegression
from river.tree import HoeffdingTreeClassifier

KERNEL = RBF(gamma=0.8)


class Votes:
    """Says what most of the examples so far were; has no scores, and keeps to no convention but the methods' names."""

    def __init__(self, start: int = 0, **rest: Any) -> None:
        self.counts: dict[Any, int] = {}

    def partial_fit(self, X: Any, y: Any) -> None:
        for label in y:
            self.counts[label] = self.counts.get(label, 0) + 1

    def predict(self, X: Any) -> list[Any]:
        return [max(sorted(self.counts), key=lambda label: self.counts[label])] * len(X)


CLASSES: list[tuple[type[Any], dict[str, Any]]] = [
    (SGDClassifier, {}),
    (SGDClassifier, {"loss": "log_loss", "nystroem__n_components": 20}),
    (Perceptron, {"rbf_sampler__n_components": 20, "chunk": 10}),
    (GaussianNB, {"epochs": 2}),
    (SVC, {"C": 2.0}),
    (LogisticRegression, {}),
    (ALMAClassifier, {"alpha": 0.5}),
    (HoeffdingTreeClassifier, {"grace_period": 20}),
    (Votes, {}),
]
CHECKS = [
    pytest.param(check, id=f"{kind.__name__} {check}") for kind, values in CLASSES
    for check in learner_checks(kind, **values)
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # GaussianNB, of the first example
@pytest.mark.parametrize("check", CHECKS)
def test_they_pass_the_suite(check: Check) -> None:
    check()


def learnt(kind: type[Any], X: Any, y: Any, kernel: Any = KERNEL, **values: Any) -> Any:
    learner = adapted(kind, "some:Class")
    return learner.made(learner.checked(values), kernel, 3).fit(X, y)


@pytest.mark.parametrize("chunk", [1, 16, 300])
@pytest.mark.parametrize("components", [None, 12])
def test_online_errors_are_those_of_a_plain_loop(chunk: int, components: int | None) -> None:
    """Predict a chunk, then learn it; the landmarks are the first inputs."""
    X, y = noisy(n=700)
    map_values = {"nystroem__n_components": components} if components else {}
    model = learnt(SGDClassifier, X, y, chunk=chunk, **map_values)

    twin, wrong, Z = SGDClassifier(random_state=3), [], X
    if components:
        landmarks = Nystroem(kernel="rbf", gamma=0.8, n_components=components, random_state=3)
        Z = landmarks.fit(X[:components].astype(float)).transform(X.astype(float))
    for start in range(0, len(X), chunk):
        rows = slice(start, start + chunk)
        wrong += [True] * len(y[rows]) if not start else list(twin.predict(Z[rows]) != y[rows])
        twin.partial_fit(Z[rows], y[rows], classes=[-1, 1])
    margins = model.outcome().rounds.margins
    assert np.array_equal(margins <= 0, wrong)
    np.testing.assert_allclose(model.decision_function(X), 2 * twin.decision_function(Z), rtol=1e-5)


def test_riverss_are_asked_one_by_one() -> None:
    X, y = noisy()
    twin, wrong = LogisticRegression(), 0
    for number, (x, label) in enumerate(zip(X.tolist(), y == 1, strict=True)):
        wrong += not number or twin.predict_one(dict(enumerate(x))) != label
        twin.learn_one(dict(enumerate(x)), label)
    assert learnt(LogisticRegression, X, y).outcome().mistakes == wrong


def test_epochs_are_passes_whose_first_is_counted() -> None:
    X, y = noisy()
    once, twice = (learnt(GaussianNB, X, y, chunk=20, epochs=epochs) for epochs in (1, 2))
    assert once.outcome().mistakes == twice.outcome().mistakes
    assert twice._driver.estimator.class_count_.sum() == 2 * len(X)


@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), Polynomial(degree=2, coef0=1.0), Linear()], ids=lambda k: k.name)
def test_landmarks_have_the_experiments_kernel(kernel: Any) -> None:
    X, y = noisy(40)
    Z = learnt(SGDClassifier, X, y, kernel, nystroem__n_components=40)._transformer.transform(X)
    np.testing.assert_allclose(Z @ Z.T, kernel.matrix(X, X), atol=1e-3 * np.abs(kernel.matrix(X, X)).max())


def test_neither_test_rows_nor_labels_make_features() -> None:
    X, y = noisy()
    order, labels = np.arange(60), (y + 1) // 2
    changed = np.where(np.arange(len(X))[:, None] < 60, X, 1e3).astype(np.float32)
    found = []
    for inputs, seen in ((X, labels), (changed, labels), (X, 1 - labels)):
        model = adapted(SGDClassifier, "some:Class").made({"nystroem__n_components": 30, "chunk": 1}, KERNEL, 3)
        model.start(np.array([-1, 1]), 3)
        model.learn(Streamed(KERNEL, inputs), seen, order)
        found.append(model._transformer.components_)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_several_classes_have_a_score_each() -> None:
    X, y = three_classes()
    for kind, names in ((GaussianNB, y), (HoeffdingTreeClassifier, y), (SVC, np.array(list("wxyz"))[y])):
        model = learnt(kind, X, names)
        assert model.decision_function(X).shape == (len(X), 3)
        assert np.mean(model.predict(X) == names) > 0.6
    with pytest.raises(ValueError, match="Only binary classification is supported by LogisticRegression"):
        learnt(LogisticRegression, X, y)


def test_classes_in_any_order_and_one_that_never_comes() -> None:
    X, y = three_classes()
    model = adapted(SVC, "some:Class").made({}, KERNEL, 0)
    model.start(np.array([2, 7, -1, 1]), 3)
    labels = np.array([{2: 0, -1: 2, 1: 3}[label] for label in y])
    model.learn(Streamed(KERNEL, X), labels, np.arange(len(X)))
    assert (model.decision_function(X)[:, 1] == -np.inf).all()
    assert np.array_equal(model.predict(X), SVC(random_state=0).fit(X, y).predict(X))
    assert model.errs(X, labels).mean() == np.mean(model.predict(X) != y)


class Diverged(BaseEstimator):
    classes_ = (-1, 1)

    def fit(self, X: Any, y: Any) -> None: ...

    def decision_function(self, X: Any) -> Any:
        return np.full(len(X), np.nan)


def test_what_is_not_decided_is_not_right() -> None:
    X, y = noisy()
    assert learnt(Diverged, X, y).errs(X, (y + 1) // 2).all()
    assert learnt(Votes, X, y).errs(X, np.where(y == y[0], 0, 1)).any()


class Epochs(GaussianNB):
    def __init__(self, epochs: int = 5, n_components: int = 3, seed: int | None = None) -> None:
        super().__init__()
        self.epochs, self.n_components, self.seed = epochs, n_components, seed


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_parameter_of_the_class_comes_before_ours() -> None:
    learner = adapted(Epochs, "some:Class")
    assert learner.checked({}) == {"chunk": 1}
    model = learnt(Epochs, *noisy(), epochs=9)
    assert model._driver.estimator.epochs == 9
    assert model._driver.estimator.seed == 3
    assert model._driver.estimator.class_count_.sum() == 110
    assert learner.own_parameters()["n_components"].size is not None


WRONG: list[tuple[type[Any], dict[str, Any], str]] = [
    (SGDClassifier, {"alhpa": 0.1}, "alhpa: found 'alhpa'; .* Did you mean 'alpha'"),
    (SGDClassifier, {"loss": "hinje"}, "loss: found 'hinje'; accepted: what SGDClassifier takes"),
    (SGDClassifier, {"chunk": 0}, "chunk: found 0; accepted: an integer of at least 1"),
    (SGDClassifier, {"nystroem__n_components": 2, "rbf_sampler__n_components": 2}, "one map, and there is nystroem"),
    (SVC, {"chunk": 4}, "chunk"),
    (ALMAClassifier, {"gamma": 1}, "gamma: found 'gamma'; accepted: p, alpha, B, C"),
]


@pytest.mark.parametrize(("kind", "values", "words"), WRONG, ids=[words for _, _, words in WRONG])
def test_wrong_parameters_are_refused(kind: type[Any], values: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        adapted(kind, "some:Class").checked(values)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sklearn.linear_model", "accepted: a class as module:Class"),
        ("sklearm.svm:SVC", "ModuleNotFoundError: No module named 'sklearm'"),
        ("sklearn.svm:SVCC", "a class of the module sklearn.svm. Did you mean 'SVC'"),
        (
            "sklearn.preprocessing:StandardScaler",
            "a class with partial_fit and .*, or learn_one and predict_one",
        ),
        ("budgetbench.learners:Forgetron", "Call it by its name: forgetron"),
    ],
)
def test_what_is_no_estimator_is_refused(name: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        foreign(name)


def test_a_regressor_is_refused() -> None:
    with pytest.raises(ParameterError, match="found a regressor; accepted: a classifier"):
        foreign("sklearn.linear_model:SGDRegressor").checked({})


class Random(GaussianNB):
    def decision_function(self, X: Any) -> Any:
        return np.random.default_rng().normal(size=len(X))


class Memory(Votes):
    counts: dict[Any, int] = {}  # noqa: RUF012 - of all instances, which is the mistake

    def __init__(self) -> None:
        pass


@pytest.mark.parametrize(("kind", "words"), [(Random, "the_same_seed"), (Memory, "before anything is learnt|the_same")])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_suite_finds_what_is_amiss(kind: Callable[..., Any], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        check_learner(kind)  # type: ignore[arg-type]
