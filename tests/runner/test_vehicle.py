"""The configuration for Vehicle, end to end on a small file of the same format, and without its data."""

from __future__ import annotations

import bz2
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from budgetbench import run
from budgetbench.archive import plot_experiment
from budgetbench.datasets import vehicle
from budgetbench.datasets.published import Recipe
from budgetbench.errors import DataError

CONFIG = Path(__file__).parents[2] / "configs" / "vehicle.yaml"


def write_rows(path: Path, n: int, seed: int) -> None:
    """LIBSVM's format: the class, then index:value with the zeros left out."""
    random = np.random.default_rng(seed)
    labels = random.choice([1, 2, 3], n, p=[0.25, 0.25, 0.5])
    X = 0.1 * random.normal(size=(n, 100)) + 0.3 * np.eye(4, 100)[labels]
    X[random.random(X.shape) < 0.3] = 0
    rows = [
        f"{label} " + " ".join(f"{j + 1}:{value:.5f}" for j, value in enumerate(x) if value)
        for label, x in zip(labels, X, strict=True)
    ]
    path.write_bytes(bz2.compress("\n".join([*rows, ""]).encode()))


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    files = tuple(replace(file, sources=(), checksum="") for file in vehicle.FILES)
    recipe = Recipe(files, vehicle.read_file)
    monkeypatch.setattr(vehicle.Vehicle, "forms", (replace(vehicle.Vehicle.forms[0], recipes=(recipe,)),))


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "mirror" / "vehicle"
    folder.mkdir(parents=True)
    write_rows(folder / "combined.bz2", 700, 0)
    write_rows(folder / "combined.t.bz2", 90, 1)
    # the published fingerprints tell it from any other file
    monkeypatch.setattr(vehicle.Vehicle, "forms", (replace(vehicle.Vehicle.forms[0], fingerprints={}),))
    return str(tmp_path / "mirror")


@pytest.mark.usefixtures("gram_wanted")
def test_end_to_end(mirror: str, tmp_path: Path) -> None:
    shared, streamed = (
        run(
            CONFIG,
            jobs=1,
            results=tmp_path / name,
            data=tmp_path / "data",
            mirror=mirror,
            permutations=1,
            overrides=["kernel.variance=0.5", "checkpoints=10"],
            gram_limit=limit,
        ).set_index("key")
        for name, limit in (("shared", None), ("streamed", 0))
    )
    assert len(shared) == 14
    assert (shared["status"] == "ok").all()
    assert (shared["train_size"] == 700).all()
    for measure in ("online_mistakes", "support_size", "test_error", "margin_errors"):
        assert shared[measure].tolist() == streamed.loc[shared.index, measure].tolist(), measure
    assert len(plot_experiment(tmp_path / "streamed" / "vehicle")) >= 3


def test_without_its_data_it_says_what_to_get(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError) as caught:
        run(CONFIG, jobs=1, results=tmp_path, data=tmp_path / "data", mirror=str(empty))
    message = str(caught.value)
    for part in ("vehicle", "combined.bz2", "combined.t.bz2", "--mirror", str(tmp_path / "data" / "vehicle")):
        assert part in message
