"""Error against memory and against time: points, the front, and times that do not go together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.results import Record, read_records, record, write_records, write_results

from budgetbench.archive import read_results
from budgetbench.plots.base import NothingToDraw
from budgetbench.plots.costs import FRONT, on_front

ALGORITHMS = [
    {"name": "perceptron"},
    {"name": "forgetron", "budget": [10, 20]},
    {"name": "budget_perceptron", "budget": [10, 20]},
]
#: Of each learner and budget: test error, bytes, seconds.
POINTS = {
    ("perceptron", None): (0.10, 8000, 4.0),
    ("forgetron", 10): (0.30, 1000, 0.5),
    ("forgetron", 20): (0.20, 2000, 1.0),
    ("budget_perceptron", 10): (0.35, 1000, 2.0),
    ("budget_perceptron", 20): (0.20, 2000, 2.0),
}


def made_up() -> list[Record]:
    return [
        record(
            name,
            {} if budget is None else {"budget": budget},
            run,
            test_error=error + 0.02 * run,
            online_error=0.5,
            support_size=budget or 80,
            model_bytes=size,
            state_bytes=3 * size,
            train_seconds=seconds * [1, 1, 50][run],
            kernel_seconds=0.1,
        )
        for (name, budget), (error, size, seconds) in POINTS.items()
        for run in range(3)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_results(tmp_path / "made_up", made_up(), title="Made up", permutations=3, algorithms=ALGORITHMS)


def test_points_are_mean_errors_over_the_size_of_the_model(folder: Path, drawing: Any) -> None:
    drawn = drawing(folder, "error_vs_memory")
    assert drawn.data["kilobytes"].tolist() == [8, 1, 2, 1, 2]
    assert drawn.data["y"].tolist() == pytest.approx([12, 32, 22, 37, 22])
    (axes,) = drawn.figure.axes
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_xlabel()) == ("log", "log", "Size of the model (kB)")
    assert axes.get_ylabel() == "Test error (%)"
    state = drawing(folder, "error_vs_memory", memory="state_bytes")
    assert state.data["kilobytes"].tolist() == [24, 3, 6, 3, 6]


def test_the_front_is_drawn_as_steps_with_a_name(folder: Path, drawing: Any) -> None:
    drawn = drawing(folder, "error_vs_memory")
    assert drawn.data["front"].tolist() == [True, True, True, False, True]  # of equals both
    (axes,) = drawn.figure.axes
    (front,) = [line for line in axes.lines if line.get_label() == FRONT]
    assert front.get_drawstyle() == "steps-post"
    assert list(front.get_xdata())[:-1] == [1, 2, 2, 8]
    assert list(front.get_xdata())[-1] == axes.get_xlim()[1]
    assert FRONT in [text.get_text() for text in drawn.figure.legends[0].get_texts()]
    assert drawing(folder, "error_vs_time").data["front"].tolist() == [True, True, True, False, False]


def test_a_front_of_any_points() -> None:
    random = np.random.default_rng(0)
    costs, errors = random.integers(0, 9, 40).astype(float), random.integers(0, 9, 40).astype(float)
    expected = [
        not any(
            other_cost <= cost and other_error <= error and (other_cost, other_error) != (cost, error)
            for other_cost, other_error in zip(costs, errors, strict=True)
        )
        for cost, error in zip(costs, errors, strict=True)
    ]
    assert on_front(costs, errors).tolist() == expected


def test_a_learner_has_its_colour_in_every_figure(folder: Path, drawing: Any) -> None:
    colours = []
    for kind in ("error_vs_memory", "error_vs_time", "error_vs_support"):
        (axes,) = drawing(folder, kind).figure.axes
        colours.append([bars[0].get_color() for bars in axes.containers])
    assert colours[0] == colours[1] == colours[2]
    assert len(set(colours[0])) == 3


def test_online_errors_are_drawn_where_there_are_no_others(folder: Path, drawing: Any) -> None:
    write_records(folder, [one | {"test_error": None} for one in read_records(folder)])
    drawn = drawing(folder, "error_vs_memory")
    assert drawn.figure.axes[0].get_ylabel() == "Online error (%)"
    assert set(drawn.data["y"]) == {50.0}
    with pytest.raises(NothingToDraw, match="no finished run has model_bytes and test_error"):
        drawing(folder, "error_vs_memory", measure="test_error")


def test_an_error_of_0_has_a_place_on_a_logarithmic_axis(folder: Path, drawing: Any) -> None:
    write_records(
        folder, [one | {"test_error": one["test_error"] * (one["algorithm"] != "forgetron")} for one in made_up()]
    )
    drawn = drawing(folder, "error_vs_memory", error_bars="none")
    assert drawn.data["y"].min() == pytest.approx(6.0)  # half of the lowest other


def test_a_bar_that_all_but_reaches_0_does_not_stretch_a_logarithmic_axis(folder: Path, drawing: Any) -> None:
    once = [one | {"test_error": 0.07 * (one["run"] == 2)} for one in made_up() if one["algorithm"] == "perceptron"]
    write_records(folder, [one for one in made_up() if one["algorithm"] != "perceptron"] + once)
    drawn = drawing(folder, "error_vs_memory")  # its mean less its standard error is 0 but for rounding
    assert drawn.data["low"].min() == pytest.approx(drawn.data["y"].min() / 2)


def test_times_taken_in_two_ways_are_not_put_together(folder: Path, drawing: Any) -> None:
    old = {"train_seconds": 0.001, "kernel_seconds": None}
    write_records(folder, [one | (old if one["run"] == 0 else {}) for one in made_up()])
    drawn = drawing(folder, "error_vs_time")
    assert drawn.data["seconds"].tolist() == pytest.approx([102, 12.75, 25.5, 51, 51])
    caption = drawn.figure.legends[0].get_title().get_text().replace("\n", " ")
    assert "median time (5 runs timed in another way left out)" in caption
    assert read_results(folder).summary["train_seconds_min"].min() == 0.5
    write_records(folder, [one | old for one in made_up()])
    assert set(drawing(folder, "error_vs_time").data["seconds"]) == {0.001}


def test_times_of_several_machines_are_said_to_be(folder: Path, drawing: Any) -> None:
    def caption() -> str:
        return str(drawing(folder, "error_vs_time").figure.legends[0].get_title().get_text().replace("\n", " "))

    write_records(folder, [one | {"host": "a"} for one in made_up()])
    assert "machines" not in caption()
    write_records(folder, [one | {"host": "ab"[one["run"] % 2]} for one in made_up()])
    assert "median time on 2 machines, which may not be alike" in caption()


def test_results_that_tell_no_bytes_are_read_and_have_no_such_figure(folder: Path, drawing: Any) -> None:
    new = ("model_bytes", "state_bytes", "kernel_seconds")
    write_records(folder, [{name: value for name, value in one.items() if name not in new} for one in made_up()])
    assert read_results(folder).summary["model_bytes_mean"].isna().all()
    with pytest.raises(NothingToDraw, match="no finished run has model_bytes"):
        drawing(folder, "error_vs_memory")
