"""Parameters and kernels that are chosen: by validation examples, over grids, on equal terms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from budgetbench.archive import read_results
from budgetbench.kernels import RBF
from budgetbench.results import table
from budgetbench.runner import workspace

CONFIG = """\
name: tiny
dataset: {name: gaussian, n: 160, train_size: 100, test_size: 60, validation_size: 0.3}
kernel: {name: rbf, gamma: [0.1, 1, 10], select: validation_error}
permutations: 2
checkpoints: 4
algorithms:
  - {name: budget_perceptron, budget: [5, 9]}
  - {name: tighter_budget_perceptron, budget: [5, 9], select: validation_error}
  - {name: svm, C: 1}
"""
SETS = 3 * (2 + 2 + 1)


def test_each_parameter_set_is_run_with_each_kernel(execute: Any, records: Any) -> None:
    outcome = execute(text=CONFIG)
    assert (outcome.ran, outcome.failed) == (2 * SETS, 0)
    for record in records(outcome.folder).values():
        assert record["params"]["kernel.gamma"] in (0.1, 1.0, 10.0)
        assert (record["train_size"], record["test_size"]) == (70, 60)
        assert 0 <= record["validation_error"] <= 1
        assert (30 * record["validation_error"]) == pytest.approx(round(30 * record["validation_error"]))


def test_a_grid_and_its_kernels_one_by_one_share_their_runs(execute: Any) -> None:
    execute("kernel={name: rbf, gamma: 1}", text=CONFIG)
    outcome = execute(text=CONFIG)
    assert (outcome.done, outcome.ran) == (2 * SETS // 3, 2 * SETS * 2 // 3)
    assert execute("kernel={name: rbf, gamma: 10}", text=CONFIG).ran == 0


def test_the_best_combination_is_chosen_for_each_size_where_the_entry_chooses_too(execute: Any) -> None:
    entry = "{name: budget_perceptron, budget: [5, 9], beta: [0.1, 0.2], select: validation_error}"
    results = read_results(execute(text=CONFIG + f"  - {entry}\n").folder)
    summary = results.summary
    chosen = summary[summary["selected"].astype(bool)]
    assert chosen.groupby("entry").size().tolist() == [2, 2, 1, 2]  # the best kernel, or combination, of each budget
    for (entry, budget), row in chosen.groupby(["entry", "budget"]):
        lowest = summary.loc[(summary["entry"] == entry) & (summary["budget"] == budget), "validation_error_mean"].min()
        assert row["validation_error_mean"].item() == lowest
    shown = table(summary, results.experiment)
    texts = [cells[1].text for group in shown.groups for cells in group.rows]
    assert all("(best of gamma = 0.1, 1, 10)" in text for text in texts)
    assert "Best by validation error: training examples held out chose it." in shown.notes


def test_without_select_all_kernels_are_shown(execute: Any) -> None:
    results = read_results(execute("kernel={name: rbf, gamma: [0.1, 1]}", "algorithms=[{name: perceptron}]",
                                   text=CONFIG).folder)  # fmt: skip
    shown = table(results.summary, results.experiment)
    assert [cells[1].text for group in shown.groups for cells in group.rows] == ["gamma = 0.1", "gamma = 1"]


@pytest.mark.parametrize("limit", [None, 0])
def test_one_gram_matrix_is_kept_at_a_time(execute: Any, monkeypatch: pytest.MonkeyPatch, limit: Any) -> None:
    opened: list[workspace.Workspace] = []
    made = workspace.Workspace.__init__

    def noted(self: Any, *args: Any) -> None:
        assert not [one for one in opened if Path(one.path).exists()]
        made(self, *args)
        opened.append(self)

    monkeypatch.setattr(workspace.Workspace, "__init__", noted)
    execute(text=CONFIG, gram_limit=limit)
    assert len(opened) == 3


def test_any_number_of_workers_gives_the_same(execute: Any, records: Any) -> None:
    one = execute(text=CONFIG, into="one")
    two = execute(text=CONFIG, into="two", jobs=2, backend="loky")
    assert records(one.folder) == records(two.folder)


def test_a_width_that_the_data_tells_is_a_number_in_what_is_written(execute: Any) -> None:
    outcome = execute("kernel={name: rbf, gamma: median}", text=CONFIG)
    kernel = read_results(outcome.folder).experiment.kernel
    assert isinstance(kernel, RBF)
    again = execute(f"kernel={{name: rbf, gamma: {kernel.gamma!r}}}", text=CONFIG)
    assert again.ran == 0
