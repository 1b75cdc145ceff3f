"""Decision rules in the plane: models learnt again are those of the record, and what is drawn is theirs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.results import read_records, write_records

from budgetbench import run
from budgetbench.archive import plot_experiment, read_results
from budgetbench.errors import ParameterError
from budgetbench.plots import figures
from budgetbench.plots.base import NothingToDraw
from budgetbench.plots.refit import refit
from budgetbench.plots.style import styled

ALGORITHMS = [
    {"name": "perceptron"},
    {"name": "budget_perceptron", "budget": [4, 8]},
    {"name": "tighter_budget_perceptron", "budget": [4, 8], "evaluate": "random", "evaluation_size": 20},
]


def experiment(folder: Path, **changes: Any) -> Path:
    """Runs a small experiment; gives the folder of its results."""
    config = {
        "name": "plane",
        "dataset": {"name": "toy_noisy", "n": 120, "n_test": 50, "redraw": True},
        "kernel": {"name": "linear"},
        "permutations": 2,
        "algorithms": ALGORITHMS,
    } | changes
    path = folder / "plane.yaml"
    path.write_text(yaml.safe_dump(config))
    run(path, jobs=1, results=folder, data=folder / "data")
    return folder / "plane"


@pytest.fixture(scope="module")
def linear(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return experiment(tmp_path_factory.mktemp("linear"))


def drawing(folder: Path, **options: Any) -> Any:
    with styled():
        return figures["decision_2d"].drawn(read_results(folder), figures["decision_2d"].checked(options))


def test_a_panel_for_each_parameter_set_with_counts_in_its_title(linear: Path) -> None:
    drawn = drawing(linear, columns=3, best_line=True)
    panels = [axes for axes in drawn.figure.axes if axes.get_title()]
    assert len(panels) == 5
    trials = read_results(linear).trials
    first = trials[trials["run"] == 0]
    for axes, size, error in zip(panels, first["support_size"], first["test_error"], strict=True):
        assert f"{size:.0f} SVs, {100 * error:.1f} % error" in axes.get_title()
    names = [axes.get_title().split("\n")[0] for axes in panels]
    assert names[:3] == ["Perceptron", "Budget Perceptron, p = 4", "Budget Perceptron, p = 8"]
    (legend,) = drawn.figure.legends
    assert [text.get_text() for text in legend.get_texts()][-1] == "Bayes rule"


def test_the_line_drawn_is_where_the_rule_changes_its_mind(linear: Path) -> None:
    drawn = drawing(linear)
    results = read_results(linear)
    again = refit(results, 2)
    panels = [axes for axes in drawn.figure.axes if axes.get_title()]
    for axes, (_, model) in zip(panels, again.models(results), strict=True):
        contour = axes.collections[-1]
        points = np.concatenate([path.vertices for path in contour.get_paths()])
        scale = np.abs(model.decision_function(again.problem.X)).max()
        assert np.abs(model.decision_function(points.astype(np.float32))).max() < 1e-3 * scale


def test_the_csv_holds_the_support_vectors(linear: Path) -> None:
    data = drawing(linear).data
    results = read_results(linear)
    sizes = data.groupby("panel").size()
    first = results.trials[results.trials["run"] == 0]
    assert list(sizes) == list(first["support_size"])
    plane = refit(results, 2).problem.X
    assert np.allclose(data[["x", "y"]], plane[data["example"]])


@pytest.mark.parametrize("redraw", [True, False])
def test_models_learnt_again_are_those_of_the_record(tmp_path: Path, redraw: bool) -> None:
    folder = experiment(
        tmp_path,
        dataset={"name": "toy_nonlinear", "n": 80, "n_test": 200, "redraw": redraw},
        kernel={"name": "rbf", "gamma": 1.0},
        algorithms=[*ALGORITHMS, {"name": "svm", "C": 10}, {"name": "kernel_matching_pursuit", "budget": 5}],
        epochs=2,
    )
    results = read_results(folder)
    again = refit(results, 2)
    seen = 0
    for trial, model in again.models(results):
        X, labels = again.problem.X[again.stream.test], again.stream.labels[again.stream.test]
        assert np.mean(model.predict(X) != again.problem.classes[labels]) == trial["test_error"]
        seen += 1
    assert seen == 7
    drawn = drawing(folder, surface=True, errors="training", notes=list("abcdefg"))
    titles = [axes.get_title() for axes in drawn.figure.axes if axes.get_title()]
    assert [title.split("\n")[2] for title in titles] == list("abcdefg")
    assert titles[-1].startswith("Basic KMP\n5 SVs, ")
    assert "error" in titles[0]


def test_what_cannot_be_drawn_says_why(tmp_path: Path, linear: Path) -> None:
    with pytest.raises(NothingToDraw, match="notes has 2 texts for 5 panels"):
        drawing(linear, notes=["a", "b"])
    with pytest.raises(ParameterError, match=r"an integer from 1 to 6"):
        drawing(linear, columns=0)
    folder = experiment(
        tmp_path,
        dataset={"name": "digits", "positive": 8, "train_size": 100, "test_size": 50},
        plots=[{"kind": "decision_2d"}],
    )
    with pytest.raises(NothingToDraw, match="digits has 64 inputs, this figure shows 2"):
        plot_experiment(folder)


def test_a_record_of_another_version_is_noticed(tmp_path: Path) -> None:
    folder = experiment(tmp_path)
    first, *rest = read_records(folder)
    write_records(folder, [first | {"support_size": first["support_size"] + 1}, *rest])
    with pytest.raises(NothingToDraw, match=r"its record says .* --fresh"):
        drawing(folder)


def test_the_same_results_give_the_same_bytes(linear: Path) -> None:
    first = {path: path.read_bytes() for path in plot_experiment(linear)}
    assert {path: path.read_bytes() for path in plot_experiment(linear)} == first


@pytest.mark.parametrize(
    ("known", "unknown", "said"),
    [
        ("name: toy_noisy", "name: gone", "unknown dataset 'gone'"),
        ("{name: linear}", "{name: cosine}", "cosine is not known to this version"),
        ("name: perceptron", "name: gone", "unknown algorithm 'gone'"),
    ],
)
def test_what_this_version_does_not_know_is_not_learnt_again(
    linear: Path, tmp_path: Path, known: str, unknown: str, said: str
) -> None:
    folder = tmp_path / "plane"
    shutil.copytree(linear, folder)
    for name, old, new in (
        ("experiment.yaml", known, unknown),
        ("trials.jsonl", *(f'"{word.split(": ")[-1]}"' for word in (known, unknown))),
    ):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace(old, new))
    with pytest.raises(NothingToDraw, match=f"its models cannot be learnt again: .*{said}"):
        drawing(folder)
