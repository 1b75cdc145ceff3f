"""Error against evaluation size and against time: what is drawn is what the trials say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from support.results import Record, read_records, record, write_records, write_results

from budgetbench.config import recorded
from budgetbench.plots.base import NothingToDraw

NAME = "tighter_budget_perceptron"
ALGORITHMS = [
    {"name": NAME, "budget": [35, 85], "evaluate": ["all", "support"]},
    {"name": NAME, "budget": [35, 85], "evaluate": ["random", "flips"], "evaluation_size": [10, 100]},
    {"name": NAME, "budget": [35, 85], "candidates": 5},
]


def made_up(params: Record, run: int) -> Record:
    size = params.get("evaluation_size") or {"all": 1000, "support": params["budget"]}[params.get("evaluate", "all")]
    return record(
        NAME,
        params,
        run,
        train_size=1000,
        test_error=1 / size + 0.01 * run,
        support_size=params["budget"],
        train_seconds=[0.1, 0.2, 7.0][run] * size / 100,
    )


def write(folder: Path, algorithms: list[dict[str, Any]]) -> Path:
    write_results(folder, [], title="Made up", permutations=3, algorithms=algorithms)
    sets = recorded(folder / "experiment.yaml").parameter_sets
    write_records(folder, [made_up(params, run) for _, params in sets for run in range(3)])
    return folder


def test_two_scales_for_each_budget(tmp_path: Path, drawing: Any) -> None:
    drawn = drawing(write(tmp_path / "made_up", ALGORITHMS[:2]), "error_vs_evaluation_size")
    axes = drawn.figure.axes
    assert [one.get_title(loc="left") for one in axes] == [
        f"{budget} support vectors, {scale} scale" for budget in (35, 85) for scale in ("log", "linear")
    ]
    assert [one.get_xscale() for one in axes] == ["log", "linear"] * 2
    for one, budget in zip(axes, (35, 35, 85, 85), strict=True):
        own = drawn.data[drawn.data["budget"] == budget]
        assert len(one.containers) == 4
        shown = [(x, y) for bars in one.containers for x, y in zip(*bars[0].get_data(), strict=True)]
        assert shown == [pytest.approx(pair) for pair in zip(own["evaluation_size"], own["y"], strict=True)]


def test_the_size_and_the_bar_of_each_point(tmp_path: Path, drawing: Any) -> None:
    data = drawing(write(tmp_path / "made_up", ALGORITHMS[:2]), "error_vs_evaluation_size").data
    own = data[data["budget"] == 85]
    assert list(own["evaluate"]) == ["all", "support", "random", "random", "flips", "flips"]
    assert list(own["evaluation_size"]) == [1000, 85, 10, 100, 10, 100]
    assert list(own["y"]) == pytest.approx(list(100 / own["evaluation_size"] + 1))
    assert list(own["high"] - own["y"]) == pytest.approx([1 / np.sqrt(3)] * 6)  # of the values -1, 0 and 1


def test_median_time_and_short_labels(tmp_path: Path, drawing: Any) -> None:
    algorithms = [{"name": NAME, "budget": [35, 85], "evaluate": ["all", "support"]}, ALGORITHMS[2]]
    drawn = drawing(write(tmp_path / "made_up", algorithms), "error_vs_time")
    labels = ["Tighter Budget Perceptron", "(evaluate: support)", "(candidates = 5)"]
    assert list(dict.fromkeys(drawn.data["series"])) == [labels[0], *(f"{labels[0]} {rest}" for rest in labels[1:])]
    assert list(drawn.data["seconds"]) == pytest.approx([2, 2, 0.07, 0.17, 2, 2])
    (axes,) = drawn.figure.axes
    marks = [marks.get_sizes().tolist() for marks in axes.collections if isinstance(marks, PathCollection)]
    assert len(marks) == 3
    assert all(small < large for small, large in marks)  # the mark grows with the budget


def test_results_without_what_is_shown(tmp_path: Path, drawing: Any) -> None:
    folder = write(tmp_path / "made_up", ALGORITHMS[:1])
    write_records(folder, [one | {"test_error": None} for one in read_records(folder)])
    with pytest.raises(NothingToDraw, match="test_error and a parameter evaluate"):
        drawing(folder, "error_vs_evaluation_size")
    with pytest.raises(NothingToDraw, match="train_seconds and test_error or online_error"):
        drawing(folder, "error_vs_time")
