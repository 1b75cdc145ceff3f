"""Online learners that store no examples: whoever runs, draws and pickles learners asks no more than the contract."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from budgetbench.archive import plot_experiment
from budgetbench.config import load
from budgetbench.datasets import Cache
from budgetbench.engine.arrivals import Arrivals
from budgetbench.engine.base import Points, Rounds, learner, learners
from budgetbench.engine.kernel_access import Streamed
from budgetbench.engine.online import OnlineLearner, drive
from budgetbench.kernels import RBF
from budgetbench.learners import BudgetPerceptron, Perceptron
from budgetbench.parameters import Budget
from budgetbench.runner import Crew, run_experiment

CONFIG = """\
name: kinds
dataset: {name: gaussian, n: 160, train_size: 100, test_size: 60}
kernel: {name: rbf, gamma: 1}
permutations: 2
algorithms:
  - name: weight_vector
  - {name: merging, budget: [4, 8]}
  - {name: budget_perceptron, budget: 8}
plots:
  - kind: support_vs_seen
  - {kind: decision_2d}
"""


class WeightVector(OnlineLearner):
    """f(x) = w·x"""

    def start(self, classes: Any, n_features: int) -> None:
        super().start(classes, n_features)
        self._w = np.zeros(n_features)

    def _see(self, arrivals: Arrivals) -> Rounds:
        margins = np.empty(len(arrivals.rows))
        for t, (x, label) in enumerate(zip(arrivals.inputs, arrivals.labels, strict=True)):
            y = 2.0 * label - 1.0
            margins[t] = y * (self._w @ x)
            if margins[t] <= 0:
                self._w += y * x
        return Rounds(margins, np.zeros(len(margins), dtype=np.int64))

    def _state(self) -> Any:
        return self._w

    def _size(self) -> int:
        return 0

    def _decide(self, inputs: Any) -> Any:
        return np.array([self._w @ x for x in inputs.astype(np.float64)])  # a row at a time: the same in any batch

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # planes through the origin do not tell three classes apart
        return tags


class Merging(OnlineLearner):
    """A Perceptron that puts the mean of its two oldest points in their place, with the sum of their weights."""

    changeable = frozenset({"budget"})
    budget: Budget

    def start(self, classes: Any, n_features: int) -> None:
        super().start(classes, n_features)
        self._centres, self._weights = np.zeros((0, n_features), np.float32), np.zeros(0)
        self.insertions_ = self.removals_ = 0

    def _see(self, arrivals: Arrivals) -> Rounds:
        rounds = Rounds(np.empty(len(arrivals.rows)), np.empty(len(arrivals.rows), dtype=np.int64))
        for t, label in enumerate(arrivals.labels):
            x, y = arrivals.inputs[t : t + 1], 2.0 * label - 1.0
            rounds.margins[t] = y * self._decide(x)[0]
            if rounds.margins[t] <= 0:
                self._centres, self._weights = np.vstack([self._centres, x]), np.append(self._weights, y)
                self.insertions_ = (self.insertions_ or 0) + 1
            while len(self._weights) > self.budget:
                mean = self._centres[:2].mean(axis=0, keepdims=True)
                self._centres = np.vstack([mean, self._centres[2:]])
                self._weights = np.append(self._weights[:2].sum(), self._weights[2:])
                self.removals_ = (self.removals_ or 0) + 1
            rounds.sizes[t] = len(self._weights)
        return rounds

    def _state(self) -> Any:
        return np.append(self._centres.ravel(), self._weights)

    def _size(self) -> int:
        return len(self._weights)

    def _decide(self, inputs: Any) -> Any:
        return self._kernel.expansion(inputs, self._centres, self._weights)

    def _points(self) -> Points:
        return Points(self._centres, self._weights, np.full(len(self._weights), -1))


@pytest.fixture(autouse=True)
def kinds(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Registers a learner with an explicit weight vector, and one that merges the points that it stores."""
    monkeypatch.setattr(learners, "_items", dict(learners._items))
    learner("weight_vector", title="Weights", color="k", marker="x")(WeightVector)
    learner("merging", title="Merging", color="r", marker="+")(Merging)
    return {"weight_vector": WeightVector(), "merging": Merging(budget=5, gamma=1.0)}


@pytest.fixture
def stream() -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 2)).astype(np.float32)
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1, -1)


def run(folder: Path, **how: Any) -> tuple[Any, Path]:
    (folder / "c.yaml").write_text(CONFIG, encoding="utf-8")
    experiment = load(folder / "c.yaml")
    cache = Cache(folder / "data", quiet=True)
    crew = Crew(1, "threading", **how)
    return run_experiment(experiment, cache, folder / "results", crew, quiet=True), folder / "results" / "kinds"


@pytest.mark.usefixtures("gram_wanted")
@pytest.mark.parametrize("gram_limit", [0, None], ids=["streamed", "with a Gram matrix"])
def test_they_run_and_are_resumed(tmp_path: Path, gram_limit: Any) -> None:
    _, folder = run(tmp_path, gram_limit=gram_limit)
    lines = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    assert len(lines) == 8
    assert {line["status"] for line in lines} == {"ok"}
    weights = [line for line in lines if line["algorithm"] == "weight_vector"]
    assert {line["support_size"] for line in weights} == {0}
    assert {line["insertions"] for line in weights} == {None}
    assert all(line["online_mistakes"] > 0 and line["curve"]["support_size"][-1] == 0 for line in weights)
    merged = [line for line in lines if line["algorithm"] == "merging"]
    assert {line["support_size"] for line in merged} == {4, 8}
    assert all(line["insertions"] - line["removals"] == line["support_size"] for line in merged)
    (folder / "trials.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines[:5]))
    again, _ = run(tmp_path, gram_limit=gram_limit)
    assert again.done == 5
    resumed = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    seconds = dict.fromkeys(("train_seconds", "kernel_seconds", "predict_seconds"))
    assert {line["key"]: line | seconds for line in resumed} == {line["key"]: line | seconds for line in lines}


def test_they_have_a_table_and_figures(tmp_path: Path) -> None:
    _, folder = run(tmp_path)
    table = (folder / "table.md").read_text()
    assert "Weights" in table
    assert "Merging" in table
    written = [path.name for path in plot_experiment(folder)]
    assert "support_vs_seen.png" in written
    assert "decision_2d.png" in written
    numbers = (folder / "figures" / "decision_2d.csv").read_text()
    assert "merging" in numbers


@pytest.mark.parametrize("name", ["weight_vector", "merging"])
def test_they_learn_in_parts_and_are_pickled(name: str, kinds: dict[str, Any], stream: Any) -> None:
    X, y = stream
    whole = clone(kinds[name]).fit(X, y)
    part = clone(kinds[name]).partial_fit(X[:70], y[:70], classes=[-1, 1])
    part = pickle.loads(pickle.dumps(part)).partial_fit(X[70:], y[70:])
    assert part.mistakes_ == whole.mistakes_
    assert part.kernel_evaluations_ == whole.kernel_evaluations_
    assert part.outcome().size == whole.outcome().size == whole.sizes_[-1]
    assert np.array_equal(part.decision_function(X), whole.decision_function(X))
    held = {"weight_vector": 2 * 8, "merging": 5 * (2 * 4 + 8)}[name]
    for found in (whole.outcome(), part.outcome()):
        assert found.model_bytes == found.state_bytes == held


def test_they_share_a_stream_with_others(kinds: dict[str, Any], stream: Any) -> None:
    """Whoever asks for no kernel values neither pays for them nor changes what others get."""
    X, y = stream
    alone = BudgetPerceptron(budget=5, gamma=1.0).fit(X, y)
    cohort: list[Any] = [kinds["weight_vector"], BudgetPerceptron(budget=5, gamma=1.0), kinds["merging"]]
    for model in cohort:
        model.start(np.array([-1, 1]), 2)
    drive(cohort, Streamed(RBF(gamma=1.0), X), (y + 1) // 2, np.arange(len(X)))
    assert cohort[1].support_.tolist() == alone.support_.tolist()
    assert cohort[2].margins_.tolist() == kinds["merging"].fit(X, y).margins_.tolist()


def test_passes_end_when_nothing_changes(kinds: dict[str, Any], stream: Any) -> None:
    X, y = stream
    apart = X[np.abs(X[:, 0] + 0.5 * X[:, 1]) > 0.3], y[np.abs(X[:, 0] + 0.5 * X[:, 1]) > 0.3]
    model = kinds["weight_vector"].set_params(epochs=1000).fit(*apart)
    assert 1 < model.epochs_ < 1000
    assert model.score(*apart) == 1.0


def test_scikit_learns_own_checks(kinds: dict[str, Any]) -> None:
    kinds["merging"].set_params(budget=12)
    for model in kinds.values():
        check_estimator(model, on_skip=None, on_fail="raise")


def test_searches_and_pipelines_take_learners(stream: Any) -> None:
    X, y = stream
    pipeline = make_pipeline(StandardScaler(), Perceptron(gamma=1.0))
    search = GridSearchCV(pipeline, {"perceptron__gamma": [1e-6, 1.0], "perceptron__beta": [0.0, 0.5]}, cv=3)
    assert search.fit(X, y).best_params_["perceptron__gamma"] == 1.0
    assert search.score(X, y) > 0.85
    with pytest.raises(ValueError, match="Invalid parameter 'gama' for Perceptron"):
        Perceptron().set_params(gama=1)
    assert repr(Perceptron(gamma=0.5, beta=0.0)) == "Perceptron(gamma=0.5)"


def test_a_kernel_is_given_by_name_or_whole(stream: Any) -> None:
    X, y = stream
    named, whole = Perceptron(kernel="rbf", sigma=2.0).fit(X, y), Perceptron(kernel=RBF(gamma=0.125)).fit(X, y)
    assert clone(whole).kernel == RBF(gamma=0.125)
    assert np.array_equal(named.decision_function(X), whole.decision_function(X))
    with pytest.raises(ValueError, match="nothing where the kernel is given whole"):
        Perceptron(kernel=RBF(gamma=0.125), gamma=1.0).fit(X, y)
