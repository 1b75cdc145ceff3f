"""Figures: what is drawn is what the csv says, and the same results give the same bytes."""

from __future__ import annotations

import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.results import Record, read_records, record, write_records, write_results

from budgetbench.archive import plot_experiment, plot_results
from budgetbench.errors import Notice, ParameterError, RequestError
from budgetbench.plots import figures
from budgetbench.plots.base import NothingToDraw
from budgetbench.plots.style import styled

BUDGETS = [10, 30, 100]
SEEN = [1, 500, 1000]


def made_up(algorithm: str, params: Record, run: int, error: float | None, size: int) -> Record:
    curve = {
        "seen": SEEN,
        "online_error": [1.0, 0.4 + 0.02 * run, 0.3 + 0.02 * run],
        "support_size": [1, size // 2, size],
    }
    measures = {"test_error": error, "online_error": 0.3 + 0.01 * run, "support_size": size}
    return record(algorithm, params, run, **measures, curve=curve)


def write(folder: Path, plots: list[dict[str, Any]] | None = None, tested: bool = True) -> Path:
    """An experiment of three made-up learners: two with budgets, one that searches for its C."""
    algorithms = [
        {"name": "first", "budget": BUDGETS},
        {"name": "second", "budget": BUDGETS, "mode": ["left_side", "right_side"]},
        {"name": "searcher", "C": [1, 10], "select": "test_error"},
    ]
    records = []
    for run in range(2):
        for budget in BUDGETS:
            records.append(made_up("first", {"budget": budget}, run, 0.10 + 0.02 * run, budget))
            for mode, error in (("left_side", 0.2), ("right_side", 0.3)):
                records.append(made_up("second", {"budget": budget, "mode": mode}, run, error + 0.04 * run, budget))
        for C, error in ((1, 0.05), (10, 0.04)):
            records.append(made_up("searcher", {"C": C}, run, error, 300 + 10 * run))
    if not tested:
        records = [one | {"test_error": None} for one in records]
    return write_results(folder, records, title="Made up", permutations=2, algorithms=algorithms, plots=plots)


def test_importing_the_kinds_loads_no_matplotlib_and_drawing_no_pyplot(tmp_path: Path) -> None:
    write(tmp_path / "made_up")
    code = (
        "import sys, budgetbench.archive as p\n"
        "assert 'matplotlib' not in sys.modules\n"
        f"p.plot_results({str(tmp_path)!r})\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_every_figure_comes_as_png_pdf_and_csv(tmp_path: Path) -> None:
    paths = plot_experiment(write(tmp_path / "made_up"))
    assert [path.name for path in paths] == [f"error_vs_support.{ending}" for ending in ("png", "pdf", "csv")]
    png = paths[0].read_bytes()
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert width == 860  # 4.3 inches at 200 dots
    assert height > 600
    assert len(png) > 10_000
    assert paths[1].read_bytes().startswith(b"%PDF")
    assert b"FontFile2" in paths[1].read_bytes()  # the fonts are embedded as TrueType


def test_points_lines_and_bars_are_those_of_the_csv(tmp_path: Path, drawing: Any) -> None:
    folder = write(tmp_path / "made_up")
    drawn = drawing(folder, "error_vs_support")
    (axes,) = drawn.figure.axes
    assert len(axes.containers) == 4
    for container in axes.containers:
        own = drawn.data[drawn.data["series"] == container.get_label()]
        line, _, (bars,) = container
        assert list(line.get_xdata()) == pytest.approx(list(own["x"]))
        assert list(line.get_ydata()) == pytest.approx(list(own["y"]))
        ends = [(segment[0][1], segment[1][1]) for segment in bars.get_segments()]
        assert ends == [pytest.approx(pair) for pair in zip(own["low"], own["high"], strict=True)]
    plot_experiment(folder)
    written = pd.read_csv(folder / "figures" / "error_vs_support.csv")
    assert list(written["x"]) == pytest.approx(list(drawn.data["x"]))
    assert list(written["y"]) == pytest.approx(list(drawn.data["y"]))


def test_numbers_and_labels_of_error_vs_support(tmp_path: Path, drawing: Any) -> None:
    data = drawing(write(tmp_path / "made_up"), "error_vs_support").data
    assert list(dict.fromkeys(data["series"])) == [
        "First",
        "Second (mode: left side)",
        "Second (mode: right side)",
        "Searcher (best C = 10)",
    ]
    first = data[data["series"] == "First"]
    assert list(first["support_size"]) == BUDGETS
    assert list(first["y"]) == pytest.approx([11, 11, 11])
    assert list(first["low"]) == pytest.approx([10, 10, 10])
    assert list(first["high"]) == pytest.approx([12, 12, 12])
    searcher = data[data["series"] == "Searcher (best C = 10)"]
    assert list(searcher["x"]) == [305]  # stands alone: not moved


def test_points_on_one_another_are_set_apart_a_little(tmp_path: Path, drawing: Any) -> None:
    data = drawing(write(tmp_path / "made_up"), "error_vs_support").data
    at = data[data["support_size"] == 30]["x"]
    assert at.nunique() == 3
    assert at.between(30 * 0.95, 30 * 1.05).all()


@pytest.mark.parametrize(("bars", "reach"), [("std", 2 * 0.5**0.5), ("stderr", 1.0), ("none", 0.0), ("minmax", 1.0)])
def test_error_bars(tmp_path: Path, bars: str, reach: float, drawing: Any) -> None:
    data = drawing(write(tmp_path / "made_up"), "error_vs_support", error_bars=bars).data
    assert data["high"].iloc[0] - data["y"].iloc[0] == pytest.approx(reach)
    assert data["y"].iloc[0] - data["low"].iloc[0] == pytest.approx(reach)


def test_variants_share_a_colour_and_differ_in_line_and_fill(tmp_path: Path, drawing: Any) -> None:
    (axes,) = drawing(write(tmp_path / "made_up"), "error_vs_support").figure.axes
    first, left, right, searcher = (container[0] for container in axes.containers)
    assert left.get_color() == right.get_color()
    assert left.get_linestyle() != right.get_linestyle()
    assert left.get_markerfacecolor() != right.get_markerfacecolor()
    assert len({line.get_color() for line in (first, left, searcher)}) == 3
    assert searcher.get_linestyle() == "None"


CHOSEN = "Best by test error: optimistic, as the test examples chose it."


def test_the_legend_covers_no_data(tmp_path: Path, drawing: Any) -> None:
    with styled():
        figure = drawing(write(tmp_path / "made_up"), "error_vs_support").figure
        figure.draw_without_rendering()
        (legend,) = figure.legends
        box = legend.get_window_extent()
        axes = figure.axes[0].get_tightbbox()
        assert box.y1 <= axes.y0
        assert figure.bbox.contains(box.x0, box.y0)
        assert figure.bbox.contains(box.x1, box.y1)
    assert legend.get_title().get_text() == f"Mean of 2 runs; bars: minimum to maximum.\n{CHOSEN}"


def test_the_mean_curve_and_its_band(tmp_path: Path, drawing: Any) -> None:
    drawn = drawing(write(tmp_path / "made_up"), "online_error_vs_seen", budget=30)
    data = drawn.data
    assert set(data["series"]) == {
        "First", "Second (mode: left side)", "Second (mode: right side)", "Searcher (best C = 10)",
    }  # fmt: skip
    own = data[data["series"] == "First"]
    assert list(own["seen"]) == [500, 1000]  # the first 2 % are not drawn
    assert list(own["y"]) == pytest.approx([41, 31])
    assert list(own["high"] - own["y"]) == pytest.approx([2**0.5, 2**0.5])
    line = drawn.figure.axes[0].get_lines()[0]
    assert list(line.get_ydata()) == pytest.approx(list(own["y"]))
    (legend,) = drawn.figure.legends
    assert legend.get_title().get_text() == f"Mean of 2 runs; band: ± standard deviation; B = 30.\n{CHOSEN}"


def test_the_other_two_curves(tmp_path: Path, drawing: Any) -> None:
    folder = write(tmp_path / "made_up")
    growth = drawing(folder, "support_vs_seen", budget=100).data
    assert list(growth[growth["series"] == "First"]["y"]) == [1, 50, 100]
    trade = drawing(folder, "online_error_vs_support", budget=100).data
    own = trade[trade["series"] == "First"]
    assert list(own["x"]) == [50, 100]
    assert list(own["y"]) == pytest.approx([41, 31])


def test_without_a_budget_all_are_drawn_and_told_apart(tmp_path: Path, drawing: Any) -> None:
    data = drawing(write(tmp_path / "made_up"), "online_error_vs_seen").data
    assert "First (B = 10)" in set(data["series"])
    assert "Second (B = 100, mode: right side)" in set(data["series"])


def test_checkpoints_that_only_some_runs_have_are_left_out(tmp_path: Path, drawing: Any) -> None:
    folder = write(tmp_path / "made_up")
    first, *rest = read_records(folder)
    first["curve"] = {"seen": [1, 700, 1000], "online_error": [1.0, 0.4, 0.3], "support_size": [1, 5, 10]}
    write_records(folder, [first, *rest])
    data = drawing(folder, "support_vs_seen", budget=10).data
    assert list(data[data["series"] == "First"]["seen"]) == [1, 1000]


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    kinds = [{"kind": kind} for kind in figures]
    folder = write(tmp_path / "made_up", plots=kinds)
    with pytest.warns(Notice, match="figure left out"):  # what the runs do not have
        paths = plot_experiment(folder)
    first = {path: path.read_bytes() for path in paths}
    time.sleep(1.1)  # dates in files have seconds
    with pytest.warns(Notice, match="figure left out"):
        plot_experiment(folder)
    assert {path: path.read_bytes() for path in paths} == first


def test_an_experiment_without_test_errors_gets_the_curves(tmp_path: Path) -> None:
    paths = plot_experiment(write(tmp_path / "made_up", tested=False))
    assert [path.stem for path in paths[::3]] == ["online_error_vs_seen", "support_vs_seen", "online_error_vs_support"]


def test_several_figures_of_a_kind_have_names_of_their_own(tmp_path: Path) -> None:
    plots = [{"kind": "error_vs_support"}, {"kind": "error_vs_support", "y": "log"}]
    plots.append({"kind": "error_vs_support", "name": "mistakes", "measure": "online_error", "size": "double"})
    paths = plot_experiment(write(tmp_path / "made_up", plots=plots))
    assert [path.stem for path in paths[::3]] == ["error_vs_support", "error_vs_support_2", "mistakes"]


def test_results_of_several_experiments(tmp_path: Path) -> None:
    write(tmp_path / "one")
    write(tmp_path / "two")
    assert {path.parent.parent.name for path in plot_results(tmp_path)} == {"one", "two"}
    assert {path.parent.parent.name for path in plot_results(tmp_path / "one")} == {"one"}


def test_missing_and_empty_results_are_said_clearly(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"no results folder .*nowhere.*budgetbench run CONFIG"):
        plot_results(tmp_path / "nowhere")
    with pytest.raises(RequestError, match=r"looked for trials\.jsonl.*budgetbench run CONFIG"):
        plot_results(tmp_path)


def test_an_experiment_that_asks_for_no_figure_has_none(tmp_path: Path) -> None:
    assert plot_results(write(tmp_path / "made_up", plots=[])) == []
    write(tmp_path / "other")
    assert {path.parent.parent.name for path in plot_results(tmp_path)} == {"other"}


def test_results_with_nothing_to_draw(tmp_path: Path) -> None:
    folder = write(tmp_path / "made_up", plots=[{"kind": "error_vs_support", "measure": "margin_error"}])
    with pytest.raises(NothingToDraw, match=r"nothing to draw in .*no finished run has margin_error"):
        plot_experiment(folder)
    write(folder, plots=[{"kind": "error_vs_support"}, {"kind": "support_vs_seen", "budget": 77}])
    with pytest.warns(UserWarning, match="budget 77 has no curve; there are: 10, 30, 100"):
        assert len(plot_experiment(folder)) == 3


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("error_vs_support", {"error_bar": "std"}, r"error_bar: .*Did you mean 'error_bars'"),
        ("error_vs_support", {"error_bars": "sd"}, r"error_bars: .*minmax, std, stderr, none"),
        ("error_vs_support", {"y_limits": [3, 1]}, r"y_limits: .*the lower first"),
        ("error_vs_support", {"x_limits": [1, 2], "y": "lin", "x": "logs"}, r"x: .*\ny: .*Did you mean 'linear'"),
        ("support_vs_seen", {"budget": True}, r"budget: .*an integer of at least 1"),
    ],
)
def test_options_that_are_not_accepted(kind: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        figures[kind].checked(options)


def test_numbers_of_numpy_are_numbers() -> None:
    complete = figures["support_vs_seen"].checked({"budget": np.int64(5), "x_limits": (np.float64(0.5), np.int32(2))})
    assert (complete["budget"], complete["x_limits"]) == (5, [0.5, 2.0])


@pytest.mark.parametrize("kind", list(figures))
def test_each_option_says_what_it_means(kind: str) -> None:
    assert all(parameter.meaning and parameter.accepted for parameter in figures[kind].parameters().values())
