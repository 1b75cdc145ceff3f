"""The three configurations of Crammer et al. 2003, Figure 4, from the run to the picture, on small slices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from budgetbench.archive import plot_experiment, read_results
from budgetbench.config import load
from budgetbench.datasets import Cache, Data, Examples, datasets
from budgetbench.runner import Crew, run_experiment

CONFIGS = Path(__file__).parents[2] / "configs"
COLUMNS = {"fig4_usps": "usps", "fig4_letter": "letter", "fig4_mnist": "mnist"}
LIMIT = 250


def made_up(name: str) -> Data:
    """As many classes and inputs as the dataset has, and one cloud of examples for each class."""
    dataset, random = datasets[name], np.random.default_rng(0)
    n_classes = len(dataset.classes)
    centres = random.uniform(0, 1, size=(n_classes, dataset.n_features))

    def examples(n: int) -> Examples:
        y = random.integers(n_classes, size=n)
        X = np.clip(centres[y] + 0.5 * random.normal(size=(n, dataset.n_features)), 0, 1)
        return Examples(X.astype(np.float32), y)

    return Data(examples(LIMIT), examples(100), dataset.classes, f"{name}/made up")


def run_slices(names: dict[str, str], cache: Cache, results: Path, gram_limit: float) -> None:
    for config in names:
        sizes = ["algorithms[1].budget=[20, 50]", f"dataset.limit={LIMIT}"]
        experiment = load(CONFIGS / f"{config}.yaml", overrides=sizes, permutations=2)
        outcome = run_experiment(experiment, cache, results, Crew(1, "threading", gram_limit), quiet=True)
        assert outcome.errors == []
        summary = read_results(outcome.folder).summary
        assert (summary["runs"] == 2).all()
        fixed = summary[summary["budget"].notna()]
        assert list(fixed["support_size_max"]) == [20, 50]
        unlimited = summary[summary["params"].str.contains("unlimited")].iloc[0]
        variable = summary[summary["params"].str.contains("variable")].iloc[0]
        assert variable["support_size_mean"] <= unlimited["support_size_mean"]
        assert unlimited["insertions_mean"] == unlimited["support_size_mean"]
        batch = summary[summary["algorithm"].str.contains("svm")]
        assert (batch["test_error_min"] == batch["test_error_max"]).all()  # the order is nothing to them


@pytest.mark.usefixtures("gram_wanted")
@pytest.mark.parametrize("gram_limit", [1e9, 0.0], ids=["Gram matrix", "streamed"])
def test_from_the_run_to_the_picture(tmp_path: Path, gram_limit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in COLUMNS.values():
        monkeypatch.setattr(type(datasets[name]), "load", lambda self, *_, **__: made_up(self.name))
    run_slices(COLUMNS, Cache(tmp_path / "data", None, quiet=True), tmp_path / "results", gram_limit)
    paths = plot_experiment(tmp_path / "results" / "fig4_mnist")
    assert {"figure4.png", "figure4.pdf", "test_error.png", "online_error.pdf"} <= {path.name for path in paths}


def test_on_the_real_data(tmp_path: Path, mirror: str) -> None:
    # reading MNIST takes longer than all the rest; it is run by CI's small reproduction
    names = {config: name for config, name in COLUMNS.items() if name != "mnist"}
    run_slices(names, Cache(tmp_path / "data", mirror, quiet=True), tmp_path / "results", 1e9)
