"""The panels of Crammer et al. 2003, Figure 4: several experiments in one picture, and each panel alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.results import record, write_results

from budgetbench.archive import plot_experiment, read_results
from budgetbench.errors import ParameterError
from budgetbench.plots import figures
from budgetbench.plots.base import NothingToDraw
from budgetbench.plots.style import styled

BUDGETS = [100, 300, 1000]


def write(root: Path, name: str, best: int, plots: list[dict[str, Any]] | None = None) -> Path:
    """An experiment with MIRA in its three sizes, and an SVM whose best C differs from one experiment to the other."""
    algorithms: list[dict[str, Any]] = [
        {"name": "mira", "size": "unlimited"},
        {"name": "mira", "size": "fixed", "budget": BUDGETS},
        {"name": "mira", "size": "variable"},
        {"name": "svm", "C": [1, 10], "select": "test_error"},
    ]
    sizes = [("mira", {"size": "unlimited"}, 2000), ("mira", {"size": "variable"}, 1500)]
    sizes += [("mira", {"size": "fixed", "budget": budget}, budget) for budget in BUDGETS]
    sizes += [("svm", {"C": C}, 1800) for C in (1, 10)]
    records = [
        record(
            algorithm,
            params,
            train_size=5000,
            test_error=0.04 if params.get("C") == best else 0.05 + 1 / size,
            online_error=0.03 + 1 / size if algorithm == "mira" else None,
            margin_errors=4000 if algorithm == "mira" else None,
            support_size=size,
        )
        for algorithm, params, size in sizes
    ]
    return write_results(root / name, records, title=name.upper(), algorithms=algorithms, plots=plots)


def drawing(folder: Path, **options: Any) -> Any:
    with styled():
        return figures["support_panels"].drawn(read_results(folder), figures["support_panels"].checked(options))


def test_rows_are_measures_and_columns_experiments(tmp_path: Path) -> None:
    folder = write(tmp_path, "one", best=1)
    write(tmp_path, "two", best=10)
    drawn = drawing(folder, experiments=["one", "two"])
    assert len(drawn.figure.axes) == 6
    assert [axes.get_title("left") for axes in drawn.figure.axes] == ["ONE", "TWO", "", "", "", ""]
    test, online = drawn.figure.axes[0], drawn.figure.axes[2]
    lines = {line.get_label(): line for line in test.get_lines()}
    assert list(lines) == ["MIRA (size: unlimited)", "MIRA (size: fixed)", "MIRA (size: variable)", "SVM (best C)"]
    assert list(lines["MIRA (size: fixed)"].get_xdata()) == BUDGETS
    assert list(lines["MIRA (size: fixed)"].get_ydata()) == pytest.approx([100 * (0.05 + 1 / p) for p in BUDGETS])
    assert [line.get_linestyle() for line in lines.values()] == ["None", "-", "None", "None"]
    assert len({(line.get_color(), line.get_marker()) for line in lines.values()}) == 4
    assert len(online.get_lines()) == 3  # a batch learner has no online error


def test_one_legend_for_all_panels_covers_none(tmp_path: Path) -> None:
    folder = write(tmp_path, "one", best=1)
    write(tmp_path, "two", best=10)
    with styled():
        figure = drawing(folder, experiments=["one", "two"]).figure
        figure.draw_without_rendering()
        (legend,) = figure.legends
        box = legend.get_window_extent()
        assert all(box.y1 <= axes.get_tightbbox().y0 for axes in figure.axes)
        assert figure.bbox.contains(box.x0, box.y0)
        assert figure.bbox.contains(box.x1, box.y1)
    assert [text.get_text() for text in legend.get_texts()] == list(
        dict.fromkeys(line.get_label() for axes in figure.axes for line in axes.get_lines())
    )


def test_a_panel_alone(tmp_path: Path) -> None:
    plots = [{"kind": "support_panels", "name": "online", "measures": ["online_error"]}]
    paths = plot_experiment(write(tmp_path, "one", best=1, plots=plots))
    assert [path.name for path in paths] == ["online.png", "online.pdf", "online.csv"]
    drawn = drawing(tmp_path / "one", measures=["margin_error"])
    (axes,) = drawn.figure.axes
    assert axes.get_ylabel() == "Margin error (%)"
    assert axes.get_yscale() == "linear"
    assert set(drawn.data["mean"]) == {80.0}


def test_an_experiment_that_is_not_there(tmp_path: Path) -> None:
    folder = write(tmp_path, "one", best=1)
    with pytest.raises(NothingToDraw, match="no results of two"):
        drawing(folder, experiments=["one", "two"])


@pytest.mark.parametrize("options", [{"experiments": []}, {"experiments": "one"}, {"measures": ["size"]}])
def test_options_that_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        figures["support_panels"].checked(options)
