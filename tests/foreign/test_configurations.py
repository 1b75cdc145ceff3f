"""How a configuration names estimators of other packages: its trials, its keys, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from budgetbench.archive import plot_experiment, read_results, write_summary
from budgetbench.config import load, recorded
from budgetbench.document import dump
from budgetbench.errors import ConfigError
from budgetbench.experiment import Experiment
from budgetbench.results.records import read_trials
from budgetbench.runner import run

BASE = """\
name: example
dataset: {name: gaussian, n: 160, train_size: 100, test_size: 60}
kernel: {name: rbf, gamma: 0.5}
permutations: 2
algorithms:
"""
SGD = "sklearn.linear_model:SGDClassifier"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes a configuration with these entries as ``c.yaml`` in the current folder."""
    monkeypatch.chdir(tmp_path)

    def write(*entries: str) -> Path:
        Path("c.yaml").write_text(BASE + "".join(f"  - {entry}\n" for entry in entries), encoding="utf-8")
        return Path("c.yaml")

    return write


def test_lists_are_grids(write: Callable[..., Path]) -> None:
    features = "features: {nystroem: {n_components: [5, 9]}}"
    (algorithm,) = load(write(f"{{estimator: {SGD}, params: {{alpha: [1, 2]}}, {features}, chunk: 8}}")).algorithms
    assert algorithm.name == SGD
    assert algorithm.title == "Nystroem + SGDClassifier"
    assert [package.split()[0] for package in algorithm.packages] == ["scikit-learn"]
    sets = [(one["nystroem__n_components"], one["alpha"]) for one in algorithm.trials]
    assert sets == [(5, 1), (5, 2), (9, 1), (9, 2)]
    assert all(one["chunk"] == 8 and one["epochs"] == 1 for one in algorithm.trials)


@pytest.mark.parametrize(
    "entry",
    [
        f"{{estimator: {SGD}, features: {{rbf_sampler: {{n_components: [5, 9]}}}}, select: test_error}}",
        "{estimator: sklearn.neural_network:MLPClassifier, params: {hidden_layer_sizes: [[5, 3]]}, title: Net}",
        "{estimator: sklearn.svm:SVC, params: {C: [1, 10]}}",
    ],
)
def test_it_is_read_back_as_the_same_experiment(write: Callable[..., Path], tmp_path: Path, entry: str) -> None:
    experiment = load(write(entry))
    file = tmp_path / "example" / "experiment.yaml"
    file.parent.mkdir()
    file.write_text(dump(experiment.resolved()), encoding="utf-8")
    assert recorded(file) == experiment
    assert load(file) == experiment


def test_a_package_is_part_of_the_key_and_a_title_is_not(write: Callable[..., Path]) -> None:
    experiment = load(write(f"{{estimator: {SGD}}}"))
    (one,) = experiment.algorithms

    def key(algorithm: object) -> str:
        return experiment.key("data", algorithm, one.trials[0], 0)  # type: ignore[arg-type]

    assert key(replace(one, packages=("scikit-learn 0.1",))) != key(one)
    assert key(replace(one, title="SGD")) == key(one)
    assert key(replace(one, packages=())) != key(one)


WRONG = {
    "{estimator: nowhere.to:Befound}": "c.yaml:6: algorithms[0].estimator: found 'nowhere.to:Befound'",
    "{estimator: 3}": "c.yaml:6: algorithms[0].estimator: found 3; accepted: a class as module:Class",
    f"{{estimator: {SGD}, parms: {{}}}}": "c.yaml:6: algorithms[0].parms: .* Did you mean 'params'",
    f"{{estimator: {SGD}, params: {{alhpa: 1}}}}": "c.yaml:6: algorithms[0].params.alhpa: .* Did you mean 'alpha'",
    f"{{estimator: {SGD}, params: {{loss: [hinge, hinje]}}}}": "c.yaml:6: algorithms[0].params.loss[1]: found 'hinje'",
    f"{{estimator: {SGD}, params: {{alpha: []}}}}": "algorithms[0].params.alpha: found []; accepted: a value",
    f"{{estimator: {SGD}, params: {{alpha: [1, 1]}}}}": "algorithms[0].params.alpha[1]: found 1; accepted: each value",
    f"{{estimator: {SGD}, params: 3}}": "algorithms[0].params: found 3; accepted: a mapping of parameters",
    f"{{estimator: {SGD}, chunk: 0}}": "algorithms[0].chunk: found 0; accepted: an integer of at least 1",
    f"{{estimator: {SGD}, features: {{nystrom: {{n_components: 3}}}}}}": "features.nystrom: .* Did you mean 'nystroem'",
    f"{{estimator: {SGD}, features: {{nystroem: {{components: 3}}}}}}": "features.nystroem.components: .*n_components",
    f"{{estimator: {SGD}, features: {{nystroem: 3}}}}": "features.nystroem: found 3; accepted: a mapping such as",
    "{estimator: sklearn.svm:SVC, chunk: 4}": "algorithms[0].chunk: .* a class that goes on learning",
    "{estimator: sklearn.ensemble:VotingClassifier}": "algorithms[0].params.estimators: found nothing",
    "{estimator: sklearn.svm:SVR}": "algorithms[0].estimator: found a regressor; accepted: a classifier",
}


@pytest.mark.parametrize(("entry", "words"), WRONG.items(), ids=list(WRONG))
def test_what_is_wrong_is_told_with_its_place(write: Callable[..., Path], entry: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words.replace("[", r"\[")) as caught:
        load(write(entry))
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_features_need_a_kernel_that_they_come_near_to(write: Callable[..., Path]) -> None:
    path = write(f"{{estimator: {SGD}, features: {{rbf_sampler: {{n_components: 9}}}}}}")
    with pytest.raises(ConfigError, match=r"kernel.name: found 'linear'; accepted: rbf\. .* rbf_sampler"):
        load(path, ["kernel={name: linear}"])


def test_the_same_class_twice_is_told_apart_by_title(write: Callable[..., Path], tmp_path: Path) -> None:
    sampled = "features: {rbf_sampler: {n_components: [10, 20]}}"
    path = write(
        "{name: budget_perceptron, budget: [5, 9]}",
        f"{{estimator: {SGD}, {sampled}, title: Fourier + SGD}}",
        f"{{estimator: {SGD}, params: {{loss: [hinge, log_loss]}}, title: Plain SGD, chunk: 4}}",
        "{estimator: sklearn.svm:SVC, params: {C: [1, 10]}, select: test_error}",
    )
    trials = run(path, jobs=1, results=tmp_path / "results", backend="threading")
    folder = tmp_path / "results" / "example"
    own = trials[trials["algorithm"] == SGD]
    assert own["support_size"].isna().all()
    assert (own["model_bytes"] > 500).all()
    assert own["online_error"].between(0, 0.5).all()
    assert all(curve["support_size"] is None and len(curve["seen"]) == 100 for curve in own["curve"])
    table = (folder / "table.md").read_text()
    assert "Fourier + SGD | n components = 10" in table
    assert "Plain SGD | loss: log loss" in table
    assert "SVC | C = 10 (best of C = 1, 10)" in table or "SVC | C = 1 (best of C = 1, 10)" in table
    assert len(run(path, jobs=1, results=tmp_path / "results", backend="threading")) == len(trials)
    plain = yaml.safe_load((folder / "experiment.yaml").read_text())
    plain["plots"] = [{"kind": "online_error_vs_seen"}, {"kind": "support_vs_seen"}]
    (folder / "experiment.yaml").write_text(yaml.safe_dump(plain))
    written = {file.name: file for file in plot_experiment(folder)}
    seen = written["online_error_vs_seen.csv"].read_text()
    assert "Plain SGD (loss: hinge)" in seen
    assert "SVC" not in seen
    stored = written["support_vs_seen.csv"].read_text()
    assert "Budget Perceptron" in stored
    assert "SGD" not in stored


def test_results_outlive_the_package(
    write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the class is gone, what was recorded is shown under the same title."""
    (tmp_path / "passing.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n\nclass Passing(GaussianNB):\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    path = write("{estimator: passing:Passing, chunk: [1, 5], title: Gone tomorrow}")
    run(path, jobs=1, results=tmp_path / "results", backend="threading")
    folder = tmp_path / "results" / "example"
    before = (folder / "table.md").read_text()
    plain = (folder / "experiment.yaml").read_text()
    (folder / "experiment.yaml").write_text(plain.replace("passing:", "passed:"))
    lines = (folder / "trials.jsonl").read_text()
    (folder / "trials.jsonl").write_text(lines.replace("passing:", "passed:"))
    assert len(read_trials(folder)) == 4
    write_summary(folder)
    assert (folder / "table.md").read_text() == before
    assert isinstance(read_results(folder).experiment, Experiment)
