"""Both ways to get at kernel values give the same values, and so the same decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetbench.config import load
from budgetbench.datasets import Cache
from budgetbench.engine import arrivals
from budgetbench.engine.arrivals import SharedBlock
from budgetbench.engine.kernel_access import Gram, Streamed, mirrored, read_only
from budgetbench.engine.online import OnlineLearner, drive
from budgetbench.kernels import RBF, Kernel, Linear, Polynomial
from budgetbench.learners import BudgetPerceptron, Perceptron
from budgetbench.runner.plan import Trial
from budgetbench.runner.workspace import write_gram
from budgetbench.streams import load_problem, make_learner, stream_of

PROJECT = Path(__file__).resolve().parents[2]
KERNELS: list[Kernel] = [RBF(gamma=0.02), Linear(), Polynomial(degree=3, gamma=0.1, coef0=1.0)]


def inputs(n: int = 120, d: int = 20) -> Any:
    return np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_both_give_the_same_values(kernel: Kernel) -> None:
    X = inputs()
    gram, streamed = Gram(kernel.matrix(X, X), X), Streamed(kernel, X)
    random = np.random.default_rng(1)
    for n, m in ((120, 120), (1, 1), (1, 40), (40, 1), (7, 64), (64, 3)):
        rows, columns = random.permutation(120)[:n], random.permutation(120)[:m]
        one, other = gram.between(rows, columns), streamed.between(rows, columns)
        assert one.shape == other.shape == (n, m)
        assert one.dtype == other.dtype == np.float32
        assert np.array_equal(one, other)
        assert np.array_equal(streamed.between(columns, rows).T, other)
    assert np.array_equal(gram.diagonal, streamed.diagonal)
    assert streamed.gram is None


@pytest.mark.parametrize(("kernel", "jobs"), [*zip(KERNELS, (1, 2, 5), strict=True)], ids=str)
def test_a_gram_matrix_in_a_file_is_the_same_whoever_writes_it(kernel: Kernel, jobs: int, tmp_path: Path) -> None:
    X = inputs(3100)
    write_gram(tmp_path / "gram.npy", kernel, X, jobs)
    written = np.load(tmp_path / "gram.npy", mmap_mode="r")
    assert np.array_equal(written, kernel.matrix(X, X))
    write_gram(tmp_path / "again.npy", kernel, X, 1)
    assert (tmp_path / "again.npy").read_bytes() == (tmp_path / "gram.npy").read_bytes()


def test_shared_matrices_cannot_be_written_to(tmp_path: Path) -> None:
    X = inputs()
    np.save(tmp_path / "gram.npy", KERNELS[0].matrix(X, X))
    for matrix in (KERNELS[0].matrix(X, X), np.load(tmp_path / "gram.npy", mmap_mode="r")):
        access = Gram(matrix, X)
        assert access.gram is not None
        assert type(access.gram) is np.ndarray
        with pytest.raises(ValueError, match="read-only"):
            access.gram[0, 0] = 1
    view = read_only(X)
    assert np.shares_memory(view, X)
    assert X.flags.writeable


def test_one_block_serves_a_whole_cohort() -> None:
    X, kernel = inputs(), RBF(gamma=0.02)
    models: list[Any] = [Perceptron(gamma=0.02), BudgetPerceptron(budget=5, gamma=0.02)]
    for model in models:
        model.start(np.array([-1, 1]), 20)
    labels = np.random.default_rng(2).integers(0, 2, 120)
    drive(models, Streamed(kernel, X), labels, np.arange(60))
    rows = np.arange(55, 90)
    block = SharedBlock(Streamed(kernel, X), rows, [model.kept() for model in models])
    for model in models:
        kept = model.kept()
        ids = np.concatenate([rows, kept[~np.isin(kept, rows)]])
        assert np.array_equal(block.between(rows, ids), kernel.matrix(X[rows], X[ids]))


def test_no_more_kernel_values_than_a_block_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of whole blocks with the support set: never a row at a time, never the whole matrix."""
    monkeypatch.setattr(arrivals, "BLOCK", 50)
    asked: list[tuple[int, int]] = []

    class Counting(Streamed):
        def between(self, rows: Any, columns: Any) -> Any:
            asked.append((len(rows), len(columns)))
            return super().between(rows, columns)

    X = inputs(500)
    model: Any = BudgetPerceptron(budget=10, gamma=0.02)
    model.start(np.array([-1, 1]), 20)
    drive([model], Counting(RBF(gamma=0.02), X), np.random.default_rng(2).integers(0, 2, 500), np.arange(500))
    assert [columns for _, columns in asked] == [50] * 10
    assert max(rows for rows, _ in asked) <= 60


#: Configurations of real data, made smaller where they are large, with the budgets to try.
REAL: dict[str, tuple[list[str], tuple[int, ...]]] = {
    "usps_noise10": (["dataset.limit=2000"], (25, 100)),
    "banana": ([], (50,)),
    "waveform": ([], (100,)),
}


@pytest.mark.parametrize("name", list(REAL))
def test_on_real_data_every_decision_agrees(name: str, tmp_path: Path, mirror: str) -> None:
    smaller, budgets = REAL[name]
    experiment = load(PROJECT / "configs" / f"{name}.yaml", smaller)
    problem, _ = load_problem(experiment, Cache(tmp_path, mirror, quiet=True))
    stream = stream_of(problem, experiment, 0)
    wanted = [
        Trial(algorithm.name, dict(params), 0, "")
        for algorithm in experiment.algorithms
        for params in algorithm.trials
        if "C" not in params or "budget" in params
        if params.get("budget") in (None, *budgets)
    ]
    write_gram(tmp_path / "gram.npy", experiment.kernel, problem.X[: problem.n_train], 1)
    gram = Gram(np.load(tmp_path / "gram.npy", mmap_mode="r"), problem.X)
    cohorts: list[list[Any]] = []
    for access in (gram, Streamed(experiment.kernel, problem.X)):
        models: list[Any] = [make_learner(experiment, trial.algorithm, trial.params, trial.run, 2) for trial in wanted]
        models = [model for model in models if isinstance(model, OnlineLearner)]
        for model in models:
            model.start(problem.classes, problem.X.shape[1])
        drive(models, access, stream.labels, stream.order)
        cohorts.append(models)
    assert len(cohorts[0]) >= 3
    for one, other in zip(*cohorts, strict=True):
        assert np.array_equal(one.margins_ <= 0, other.margins_ <= 0), one
        assert one.support_.tolist() == other.support_.tolist(), one
        np.testing.assert_allclose(one.coefficients_, other.coefficients_, rtol=1e-5)
        assert one.sizes_.tolist() == other.sizes_.tolist()


def test_rows_of_a_symmetric_matrix_are_read_from_its_columns() -> None:
    values = np.random.default_rng(0).normal(size=(24, 30)).astype(np.float32)
    out = np.zeros((5, 24), dtype=np.float32)
    mirrored(values, 20, 24, out)
    assert (out == values[:24, 20:25].T).all()
