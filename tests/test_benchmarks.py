"""What measures: counts of what was computed, floors, and the page of the commits measured."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import counting
import course
import floors
import measuring
import numpy as np
import pytest
import scipy.linalg.blas

from budgetbench.engine.kernel_access import Streamed
from budgetbench.kernels import make_kernel
from budgetbench.learners import Perceptron

KERNEL = make_kernel("rbf", gamma=0.5)

SOURCE = """
def compiled(function):
    return function

def ours(a, b):
    return a @ b + (a @ b) @ b

@compiled
def loop(a, b):
    return a @ b
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package whose products are counted."""
    (tmp_path / "multiplying").mkdir()
    (tmp_path / "multiplying" / "__init__.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    counting.count_products("multiplying")
    yield "multiplying"
    sys.modules.pop("multiplying", None)


def test_every_kernel_value_is_counted_once() -> None:
    random = np.random.default_rng(0)
    X, Z = random.normal(size=(301, 3)).astype(np.float32), random.normal(size=(517, 3)).astype(np.float32)
    with counting.counting() as counts:
        KERNEL.matrix(X, Z)
        KERNEL.expansion(X[:11], Z, np.ones(len(Z)))
        KERNEL.row(X[0], Z[:7])
    KERNEL.matrix(X, Z)  # the count is closed
    assert counts.kernel_values == 301 * 517 + 11 * 517 + 7
    assert counts.products == 0


def test_a_stream_asks_for_each_block_with_what_is_stored() -> None:
    random = np.random.default_rng(1)
    X, y = random.normal(size=(40, 2)).astype(np.float32), random.choice([-1, 1], 40)
    model = Perceptron(gamma=0.5)
    model.start(np.array([-1, 1]), 2)
    with counting.counting() as counts:
        model.learn(Streamed(KERNEL, X), (y + 1) // 2, np.arange(40))
    assert counts.kernel_values == 40 * 40  # one block: its examples with each other
    assert model.kernel_evaluations_ <= counts.kernel_values


def test_products_of_a_package_are_counted_but_in_compiled_loops(package: str) -> None:
    module = importlib.import_module(package)
    a, b = np.arange(12.0).reshape(3, 4), np.ones((4, 4))
    with counting.counting() as counts:
        assert np.array_equal(module.ours(a, b), a @ b + a @ b @ b)
        module.loop(a, b)
    assert (counts.products, counts.operations) == (3, 3 * 2 * 3 * 4 * 4)


def test_products_by_blas_are_counted() -> None:
    blas = scipy.linalg.blas
    a, b, triangle = np.ones((3, 4)), np.ones((4, 5)), np.tril(np.ones((3, 3)))
    plain = blas.dtrsm
    with counting.counting() as counts:
        assert np.array_equal(blas.dgemm(1.0, a, b), a @ b)
        blas.dgemm(1.0, b, a, trans_a=1, trans_b=1)
        assert np.array_equal(blas.dtrsm(1.0, triangle, a, lower=1)[0], a[0])
    assert (counts.products, counts.operations) == (3, 2 * 3 * 4 * 5 + 2 * 5 * 4 * 3 + 3 * 3 * 4)
    assert blas.dtrsm is plain


def test_what_has_changed_is_told_with_both_counts() -> None:
    before = {"kernel_values": 1000, "products": 3, "mistakes": 7}
    told = measuring.differences("perceptron, stream", before, {"kernel_values": 2500, "products": 3, "stored": 1})
    assert told == [
        "perceptron, stream: kernel values: accepted 1,000, now 2,500 (2.500 times)",
        "perceptron, stream: mistakes: accepted 7, now none",
        "perceptron, stream: stored: accepted none, now 1",
    ]
    assert not measuring.differences("perceptron, stream", before, dict(before))


def test_floors_grow_with_what_was_stored() -> None:
    class Model:
        def __init__(self, stored: int) -> None:
            self.margins_ = np.zeros(512)
            self.sizes_ = np.full(512, stored)
            self.insertions_, self.removals_ = stored, 0

    X = np.ones((512, 3), dtype=np.float32)
    for floor in (floors.updates_floor, floors.projections_floor, lambda model: floors.kernel_floor(model, KERNEL, X)):
        assert floor(Model(0)) == 0.0
        assert floor(Model(8)) >= 0.0


def record(commit: str, date: str, ratio: float | None) -> course.Record:
    counts = {"kernel_values": 1234567, "products": 0, "operations": 0}
    told = {"seconds": 0.5, "ratio": ratio, "floor": ratio and 0.5 / ratio, "twin": None, "megabytes": 3.2}
    return {
        "commit": commit,
        "date": date,
        "subject": "What it does",
        "machine": {"processor": "Abacus", "cores": 2, "system": "Linux"},
        "versions": {"python": "3", "numpy": "2", "scipy": "1", "numba": "0"},
        "benchmarks": {
            "perceptron, stream": told | {"counts": counts},
            "a run": told | {"counts": counts, "ratio": None},
        },
    }


def test_the_page_goes_by_the_dates_of_commits() -> None:
    measured = [
        record("aaaaaaaaaaaa", "2026-01-01T10:00:00+00:00", 2.5),
        record("bbbbbbbbbbbb", "2026-02-01T10:00:00", 1.25),
    ]
    told = course.page(measured)
    assert "## Commit bbbbbbbbbbbb" in told
    assert "| perceptron, stream | 0.500 | 1.25 | – | 3 | 1,234,567 | 0 | 0 |" in told
    assert "|  | aaaaaaa | bbbbbbb |" in told
    assert "| perceptron, stream | 2.50 | 1.25 |" in told
    assert "| a run | 0.500 | – | – | 3 |" in told


def test_its_figure_is_drawn(tmp_path: Path) -> None:
    one, other = record("aaaaaaaaaaaa", "2026-01-01", 2.5), record("bbbbbbbbbbbb", "2026-02-01", 1.25)
    paths = course.draw([one, other], tmp_path)
    assert [path.name for path in paths] == ["course.png", "course.pdf", "course.csv"]
    assert paths[2].read_text().splitlines() == ["benchmark,aaaaaaaaaaaa,bbbbbbbbbbbb", '"perceptron, stream",2.5,1.25']
