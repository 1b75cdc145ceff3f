"""Inputs that are held sparse: whatever is asked of them, the answers are those of the same inputs as an array."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from support.results import read_records

from budgetbench import sparse
from budgetbench.cli.inspecting import start
from budgetbench.config import load
from budgetbench.datasets import Cache, Data, datasets, limits
from budgetbench.datasets.survey import survey
from budgetbench.engine.size import nbytes
from budgetbench.errors import ConfigError, DataError
from budgetbench.kernels import RBF, Linear, Polynomial
from budgetbench.kernels.widths import ByRule
from budgetbench.learners import Forgetron, Perceptron, learners
from budgetbench.runner import Crew, run_experiment
from budgetbench.sparse import SparseRows
from budgetbench.streams import load_problem
from budgetbench.tuning.search import training_part

KERNELS = [RBF(0.3), RBF(1e6), Linear(), Polynomial(degree=3, gamma=0.5, coef0=1.0)]
SECONDS = {"train_seconds", "kernel_seconds", "predict_seconds", "key"}


@pytest.fixture
def held_sparse(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Decides whether small inputs are held sparse too."""
    return lambda wanted: monkeypatch.setattr(sparse, "SMALL", 0 if wanted else 10**9)


def inputs(n: int, d: int, kind: str = "normal", seed: int = 0) -> Any:
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, (n, d)) if kind == "whole" else random.normal(size=(n, d))
    X = (X * (random.random((n, d)) < 0.15)).astype(np.float32)
    return X * np.float32(1e4) if kind == "far" else X


def written(path: Path, X: Any, y: Any) -> Path:
    rows = (" ".join(f"{j + 1}:{float(x[j])!r}" for j in np.flatnonzero(x)) for x in X)
    path.write_text("".join(f"{label} {row}\n" for label, row in zip(y, rows, strict=True)))
    return path


# -- kernels ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("kind", ["normal", "whole", "far"])
def test_kernel_values_are_the_same_bits(kernel: Any, kind: str) -> None:
    X, Z = inputs(300, 41, kind), inputs(270, 41, kind, 1)
    X[3] = 0
    S, T = SparseRows.of(csr_array(X)), SparseRows.of(csr_array(Z))
    kernel = kernel.fitted_to(X)
    assert kernel.fitted_to(S) == kernel
    expected = kernel.matrix(X, Z)
    for one, other in ((S, T), (S, Z), (X, T), (csr_array(X), Z)):
        assert np.array_equal(kernel.matrix(one, other), expected)
    assert np.array_equal(kernel.diagonal(S), kernel.diagonal(X))
    weights = np.random.default_rng(2).normal(size=(270, 2))
    assert np.array_equal(kernel.expansion(S, T, weights), kernel.expansion(X, Z, weights))


def test_a_bound_of_kernel_values_holds_for_sparse_rows() -> None:
    X = inputs(80, 41)
    S, kernel = SparseRows.of(csr_array(X)), RBF(0.3)
    assert 0 < kernel.least(S) <= kernel.matrix(X, X).min()
    assert kernel.least(S) == pytest.approx(kernel.least(X), rel=1e-5)
    assert kernel.least(S[:0]) == 1.0


@pytest.mark.parametrize("rule", ["median", "scale"])
@pytest.mark.parametrize("n", [40, 1200])
def test_the_rows_tell_the_same_width(rule: str, n: int) -> None:
    X = inputs(n, 41)
    X[::2] = X[0]  # equal rows have no distance, whatever rounding says
    waiting = ByRule(RBF(1.0), rule)
    assert waiting.told_by(SparseRows.of(csr_array(X))) == waiting.told_by(X)


def test_a_model_has_the_same_size() -> None:
    X = inputs(7, 41)
    assert nbytes([SparseRows.of(csr_array(X))]) == nbytes([X]) == 7 * 41 * 4


# -- files --------------------------------------------------------------------------------------------------------


def loaded(folder: Path, **options: Any) -> Data:
    return datasets["libsvm"].load(Cache(folder, quiet=True), **options)


def test_a_file_of_little_but_zeros_is_held_sparse(tmp_path: Path, held_sparse: Any) -> None:
    X, y = inputs(60, 41), np.arange(60) % 2
    X[:, -1] = 0  # an input that the file does not mention
    path, test_path = written(tmp_path / "a", X, y), written(tmp_path / "b", X[:9, :20], y[:9])
    dense = loaded(tmp_path, path=str(path), test_path=str(test_path), n_features=41)
    held_sparse(True)
    found = loaded(tmp_path, path=str(path), test_path=str(test_path), n_features=41)
    assert isinstance(dense.train.X, np.ndarray)
    assert isinstance(found.train.X, SparseRows)
    assert dense.test is not None
    assert found.test is not None
    for one, other in ((found.train, dense.train), (found.test, dense.test)):
        assert one.X.shape == other.X.shape
        assert np.array_equal(sparse.dense(one.X), other.X)
        assert np.array_equal(one.y, other.y)
    assert found.identity != dense.identity
    assert found.checksum != dense.checksum


def test_inputs_that_are_mostly_there_are_held_dense(tmp_path: Path, held_sparse: Any) -> None:
    held_sparse(True)
    X = inputs(20, 8)
    X[:, ::2] = 1.5
    assert isinstance(loaded(tmp_path, path=str(written(tmp_path / "a", X, np.arange(20) % 2))).train.X, np.ndarray)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1 2:1 3:1e39", "example 2, input 3: found 1e+39; expected a finite number"),
        (f"1 {limits.WIDEST + 1}:1", f"at most {limits.WIDEST} inputs are read. Number the inputs that occur"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(line: str, words: str, tmp_path: Path, held_sparse: Any) -> None:
    held_sparse(True)
    (tmp_path / "a").write_text(f"0 1:1 41:2\n{line}\n0 1:1\n")
    with pytest.raises(DataError) as caught:
        loaded(tmp_path, path=str(tmp_path / "a"))
    assert words in str(caught.value)


def test_a_configuration_to_start_from_scales_rows(tmp_path: Path, held_sparse: Any) -> None:
    path = written(tmp_path / "a.libsvm", inputs(60, 41), np.arange(60) % 2)
    held_sparse(True)
    proposed = start(survey(path))
    assert proposed["dataset"]["scale"] == "unit"
    assert proposed["kernel"]["gamma"] == 0.5


# -- experiments --------------------------------------------------------------------------------------------------

CONFIG = """\
name: sparse
dataset: {{name: libsvm, path: {path}, scale: {scale}, train_size: 90, test_size: 40, multiclass: one_vs_rest}}
kernel: {{name: rbf, gamma: 0.5}}
permutations: 1
checkpoints: 4
algorithms:
{algorithms}
"""
FOREIGN = """\
  - {estimator: "sklearn.linear_model:SGDClassifier", chunk: 20}
  - {estimator: "sklearn.linear_model:SGDClassifier", chunk: 20, features: {nystroem: {n_components: 10}}}
  - {estimator: "sklearn.naive_bayes:BernoulliNB", params: {binarize: 0.1}}
  - {estimator: "sklearn.svm:SVC", features: {nystroem: {n_components: 10}}}
"""


@pytest.fixture
def problem(tmp_path: Path) -> Callable[..., Any]:
    """Loads an experiment on a sparse file of so many classes, and what it learns from."""

    def problem(classes: int = 2, scale: str = "unit", algorithms: str = "  - name: perceptron", **columns: Any) -> Any:
        X = inputs(130, 41).astype(np.float64)
        y = np.digitize(X[:, :12].sum(axis=1), np.linspace(-1, 1, classes + 1)[1:-1])
        for name, values in columns.items():
            X[:, int(name.removeprefix("input"))] = values
        path = written(tmp_path / "data.libsvm", X, y)
        config = tmp_path / "c.yaml"
        config.write_text(CONFIG.format(path=path, scale=scale, algorithms=algorithms))
        experiment = load(config)
        return experiment, load_problem(experiment, Cache(tmp_path, quiet=True))[0]

    return problem


def records(experiment: Any, folder: Path, crew: Crew) -> list[dict[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of small data, by scikit-learn
        outcome = run_experiment(experiment, Cache(folder, quiet=True), folder, crew, quiet=True)
    assert not outcome.errors
    found = [{name: one[name] for name in one if name not in SECONDS} for one in read_records(folder / "sparse")]
    return sorted(found, key=lambda one: (one["algorithm"], str(one["params"]), one["run"]))


@pytest.mark.usefixtures("gram_wanted")
@pytest.mark.parametrize("gram_limit", [0.0, 1e9], ids=["stream", "gram"])
@pytest.mark.parametrize("classes", [2, 3])
def test_all_learners_do_as_on_dense_inputs(
    classes: int, gram_limit: float, tmp_path: Path, problem: Any, held_sparse: Any
) -> None:
    names = [name for name in learners if ":" not in name]
    experiment, dense = problem(classes, algorithms="\n".join(f"  - name: {name}" for name in names) + "\n" + FOREIGN)
    crew = Crew(jobs=1, backend="threading", gram_limit=gram_limit)
    expected = records(experiment, tmp_path / "dense", crew)
    held_sparse(True)
    _, found = problem(classes)
    assert isinstance(dense.X, np.ndarray)
    assert isinstance(found.X, SparseRows)
    assert records(experiment, tmp_path / "sparse", crew) == expected
    assert len(expected) == len(names) + 4


def test_workers_map_sparse_inputs(tmp_path: Path, problem: Any, held_sparse: Any) -> None:
    held_sparse(True)
    experiment, _ = problem()
    here = records(experiment, tmp_path / "here", Crew(jobs=1, backend="threading"))
    assert records(experiment, tmp_path / "there", Crew(jobs=1, gram_limit=0.0)) == here


def test_rows_are_scaled_to_the_same_bits(problem: Any, held_sparse: Any) -> None:
    _, dense = problem(scale="unit", input3=1e-3)
    held_sparse(True)
    experiment, found = problem(scale="unit", input3=1e-3)
    assert np.array_equal(sparse.dense(found.X), dense.X)
    assert len(training_part(found, experiment).X) == 90
    assert found.without_inputs.X.shape == (130, 0)


def test_a_scale_that_fills_zeros_is_refused(problem: Any, held_sparse: Any) -> None:
    held_sparse(True)
    with pytest.raises(ConfigError, match=r"c\.yaml:2.*dataset\.scale.*'standard'; accepted: none or unit.*its zeros"):
        problem(scale="standard")


def test_it_is_said_where_float32_is_too_coarse(problem: Any, held_sparse: Any) -> None:
    for wanted in (False, True):
        held_sparse(wanted)
        with pytest.warns(UserWarning, match="input 8 varies by"):
            problem(scale="none", input7=20_000_000 + np.arange(130) % 9)


# -- scikit-learn's conventions -----------------------------------------------------------------------------------


def test_learners_take_sparse_matrices(held_sparse: Any) -> None:
    X = inputs(120, 41)
    y = (X[:, :9].sum(axis=1) > 0).astype(int)
    S, model = csr_array(X), Forgetron(budget=20)
    expected = model.fit(X, y).decision_function(X)
    held_sparse(True)
    assert np.array_equal(model.fit(S, y).decision_function(S), expected)
    assert isinstance(model.support_vectors_, SparseRows)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).decision_function(S), expected)


def test_learning_goes_on_with_sparse_matrices(held_sparse: Any) -> None:
    X = inputs(120, 41)
    y = (X[:, :9].sum(axis=1) > 0).astype(int)
    expected = Perceptron().fit(X, y).decision_function(X)
    held_sparse(True)
    half = Perceptron().fit(csr_array(X[:50]), y[:50])
    half.partial_fit(csr_array(X[50:90]), y[50:90]).partial_fit(X[90:], y[90:])
    np.testing.assert_allclose(half.decision_function(X), expected, rtol=1e-12)
