"""The search for comparators: what it finds is what it says, and it serves the runs that see the same examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetbench import run
from budgetbench.archive import read_results
from budgetbench.comparators import make_comparators, search
from budgetbench.datasets import Cache
from budgetbench.errors import RequestError
from budgetbench.kernels import make_kernel
from budgetbench.results.comparators import FILE, read_comparators

CONFIG = """
name: streams
dataset: {{name: gaussian, n: 120, redraw: {redraw}}}
kernel: {{name: rbf, gamma: 1}}
permutations: 3
algorithms: [{{name: perceptron}}, {{name: stoptron, budget: 10}}]
"""


@pytest.fixture
def recorded(tmp_path: Path) -> Any:
    """Make the runs of a small experiment, whose draw is anew in each run or not; gives its folder."""

    def made(redraw: bool) -> Path:
        config = tmp_path / "streams.yaml"
        config.write_text(CONFIG.format(redraw=str(redraw).lower()), encoding="utf-8")
        run(config, jobs=1, backend="threading", results=tmp_path / "results", quiet=True)
        return tmp_path / "results" / "streams"

    return made


def test_of_two_examples_that_share_nothing_it_finds_the_best() -> None:
    """g = v (y₁ x₁ + y₂ x₂) / √2 has ‖g‖ = v and loses 2 max(0, 1 - v / √2)."""
    g = search(make_kernel("linear"), np.eye(2, dtype=np.float32), np.array([1.0, -1.0]))
    best = 2 * np.maximum(0, 1 - g.norms / np.sqrt(2))
    assert (g.losses >= best).all()
    assert g.losses == pytest.approx(best, abs=1e-4)
    assert (g.norms[0], g.losses[0], g.square) == (0, 2, 1)


def test_no_loss_is_less_than_a_hypothesis_of_that_norm_can_have() -> None:
    """By duality: for ‖g‖ = v and 0 ≤ αₜ ≤ 1, D₁ ≥ Σ αₜ - v ‖Σ αₜ yₜ k(xₜ, ·)‖; and the search comes near to it."""
    random = np.random.default_rng(5)
    X = random.normal(size=(300, 2)).astype(np.float32)
    y = np.where(X[:, 0] + random.normal(size=300) > 0, 1.0, -1.0)
    g = search(make_kernel("rbf", gamma=1.0), X, y)
    K = np.exp(-np.square(X[:, None].astype(float) - X).sum(axis=2))
    for norm, loss in zip(g.norms[1:], g.losses[1:], strict=True):
        alpha = np.full(300, 0.5)
        for _ in range(400):
            w = K @ (alpha * y)
            length = np.sqrt(max((alpha * y) @ w, 1e-12))
            alpha = np.clip(alpha + 0.02 * (1 - norm * y * w / length), 0, 1)
        least = alpha.sum() - norm * np.sqrt((alpha * y) @ K @ (alpha * y))
        assert least <= loss * (1 + 1e-6)
        if norm <= 4:
            assert loss < 1.1 * least + 5


@pytest.mark.parametrize(("redraw", "streams"), [(False, 1), (True, 3)])
def test_one_search_serves_the_runs_that_see_the_same_examples(
    redraw: bool, streams: int, recorded: Any, tmp_path: Path
) -> None:
    folder, cache = recorded(redraw), Cache(tmp_path / "data", quiet=True)
    assert make_comparators(folder, cache) == streams
    found, experiment = read_comparators(folder), read_results(folder).experiment
    assert len(found) == streams
    identity = json.loads((folder / "provenance.json").read_text())["data"]["identity"]
    assert {experiment.examples_key(identity, run) for run in range(3)} == set(found)
    before = (folder / FILE).read_bytes()
    assert make_comparators(folder, cache) == 0
    assert (folder / FILE).read_bytes() == before


def test_other_data_than_that_of_the_runs_is_refused(recorded: Any, tmp_path: Path) -> None:
    folder = recorded(False)
    provenance = json.loads((folder / "provenance.json").read_text())
    provenance["data"]["identity"] = "another"
    (folder / "provenance.json").write_text(json.dumps(provenance))
    with pytest.raises(RequestError, match=r"other data than there is now. Run the experiment again"):
        make_comparators(folder, Cache(tmp_path / "data", quiet=True))


@pytest.mark.parametrize(
    "text",
    ["norm,loss\n1,2\n", "examples,norm,loss,square\na,1,-2,1\n", "examples,norm,loss,square\na,2,1,1\na,1,2,1\n"],
)
def test_a_damaged_file_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text)
    with pytest.raises(RequestError, match=r"comparators.csv: no table of comparators .* makes it anew"):
        read_comparators(tmp_path)
