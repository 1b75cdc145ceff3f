"""The summary: numbers worked out by hand, selection, and which runs enter."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.results import Record, record, write_results

from budgetbench.archive import read_results, write_summary
from budgetbench.experiment import Experiment
from budgetbench.results import assigned, summarise
from budgetbench.results.records import trials_frame

MadeUp = Callable[..., Experiment]


def summarised(records: list[Record], experiment: Experiment, keys: Sequence[str] = ()) -> pd.DataFrame:
    return summarise(assigned(trials_frame(records), experiment, keys), experiment)


def test_statistics_by_hand(made_up: MadeUp) -> None:
    errors, sizes = (0.1, 0.2, 0.6), (3, 5, 4)
    records = [
        record("a", {"epochs": 2}, i, test_error=error, support_size=size, margin_errors=10 * (i + 1), train_size=100)
        for i, (error, size) in enumerate(zip(errors, sizes, strict=True))
    ]
    (row,) = summarised(records, made_up({"name": "a", "epochs": 2})).to_dict("records")
    assert row["runs"] == 3
    assert row["failed"] == 0
    assert row["test_error_mean"] == pytest.approx(0.3)
    assert row["test_error_std"] == pytest.approx(np.sqrt((0.04 + 0.01 + 0.09) / 2))  # n - 1
    assert (row["test_error_min"], row["test_error_max"]) == (0.1, 0.6)
    assert (row["support_size_mean"], row["support_size_std"]) == (4, 1)
    assert row["margin_error_mean"] == pytest.approx(0.2)  # 10, 20, 30 of 100 examples, whatever the epochs
    assert np.isnan(row["online_error_mean"])


def test_equal_values_have_no_spread_and_one_run_has_none_to_tell(made_up: MadeUp) -> None:
    records = [record("a", {}, i, test_error=0.22) for i in range(3)] + [record("b", {}, 0, test_error=0.22)]
    summary = summarised(records, made_up({"name": "a"}, {"name": "b"}))
    assert list(summary["test_error_mean"]) == [0.22, 0.22]
    assert summary["test_error_std"].iloc[0] == 0
    assert np.isnan(summary["test_error_std"].iloc[1])


def test_rows_are_in_the_order_of_the_configuration(made_up: MadeUp) -> None:
    wanted = made_up({"name": "b", "budget": [20, 10]}, {"name": "a"})
    records = [record("a", {}, 0), record("b", {"budget": 10}, 0), record("b", {"budget": 20}, 0)]
    summary = summarised(records, wanted)
    assert [json.loads(text) for text in summary["params"]] == [{"budget": 20}, {"budget": 10}, {}]
    assert list(summary["entry"]) == [0, 0, 1]
    assert list(summary["budget"][:2]) == [20, 10]
    assert pd.isna(summary["budget"].iloc[2])


def test_params_are_written_with_sorted_names(made_up: MadeUp) -> None:
    params = {"z": 1, "b": "x", "c": None}
    summary = summarised([record("a", params, 0)], made_up({"name": "a", **params}))
    assert summary["params"].iloc[0] == '{"b": "x", "c": null, "z": 1}'


def test_failed_runs_are_counted_and_do_not_enter_the_means(made_up: MadeUp) -> None:
    records = [record("a", {}, 0, test_error=0.5), record("a", {}, 1, status="failed", error="no memory")]
    records += [record("b", {}, 0, status="failed", error="no memory")]
    summary = summarised(records, made_up({"name": "a"}, {"name": "b"}))
    assert list(summary["runs"]) == [1, 0]
    assert list(summary["failed"]) == [1, 1]
    assert summary["test_error_mean"].iloc[0] == 0.5
    assert np.isnan(summary["test_error_mean"].iloc[1])


def test_only_runs_of_the_configuration_enter(made_up: MadeUp) -> None:
    wanted = made_up({"name": "a", "C": [1, 10]}, permutations=2)
    inside = [record("a", {"C": C}, i, test_error=0.1) for C in (1, 10) for i in (0, 1)]
    outside = [
        record("a", {"C": 100}, 0, test_error=0.9),  # not in the grid
        record("b", {}, 0, test_error=0.9),  # another algorithm
        record("a", {"C": 1}, 2, test_error=0.9),  # more permutations
        record("a", {"C": 1}, 0, test_error=0.9, seed=7),  # another seed
        record("a", {}, 0, test_error=0.9),  # does not say its C
    ]
    summary = summarised(outside + inside, wanted)
    assert list(summary["runs"]) == [2, 2]
    assert list(summary["test_error_mean"]) == [0.1, 0.1]


def test_runs_belong_to_parameter_sets_by_their_keys(made_up: MadeUp) -> None:
    """In the order of the plan, whatever their parameters say; without keys, those that equal the experiment's."""
    wanted = made_up({"name": "a", "C": [1, 10]}, permutations=2)
    records = [record("a", {"C": C}, i, test_error=0.1 * C) for i in (0, 1) for C in (1, 10)]
    keys = [record["key"] for record in records]
    assert list(summarised(records[::-1], wanted, keys)["test_error_mean"]) == [0.1, 1.0]
    assert list(summarised(records, wanted, [keys[i] for i in (1, 0, 3, 2)])["test_error_mean"]) == [1.0, 0.1]
    assert list(summarised(records, wanted, keys[:3])["test_error_mean"]) == [0.1, 1.0]  # of another configuration


def test_keys_decide_between_runs_that_look_alike(made_up: MadeUp) -> None:
    old = record("a", {}, 0, test_error=0.1, kernel="narrow")
    new = record("a", {}, 0, test_error=0.2, kernel="wide")
    wanted = made_up({"name": "a"}, permutations=1)
    assert list(summarised([old, new], wanted)["test_error_mean"]) == [0.2]  # the last written
    assert list(summarised([old, new], wanted, [old["key"]])["test_error_mean"]) == [0.1]


@pytest.mark.parametrize(("checkpoints", "seen"), [(10, [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]), (2, [50, 100])])
def test_curves_have_as_many_checkpoints_as_asked(made_up: MadeUp, checkpoints: int, seen: list[int]) -> None:
    recorded = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    curve = {"seen": recorded, "online_error": [s / 1000 for s in recorded], "support_size": [s // 2 for s in recorded]}
    (found,) = assigned(
        trials_frame([record("a", {}, 0, curve=curve)]), made_up({"name": "a"}, checkpoints=checkpoints)
    )["curve"]
    assert found == {"seen": seen, "online_error": [s / 1000 for s in seen], "support_size": [s // 2 for s in seen]}
    assert not assigned(trials_frame([record("a", {}, 0, curve=curve)]), made_up({"name": "a"}, checkpoints=0))[
        "curve"
    ][0]


def test_defaults_of_a_registered_learner_are_part_of_what_is_asked_for(made_up: MadeUp) -> None:
    wanted = made_up({"name": "perceptron"}, epochs=1)
    records = [
        record("perceptron", {"beta": 0.0, "average": False, "epochs": 1}, 0, test_error=0.1),
        record("perceptron", {"beta": 0.5, "average": False, "epochs": 1}, 1, test_error=0.9),  # of an earlier grid
        record("perceptron", {"beta": 0.0, "average": False, "epochs": 9}, 2, test_error=0.9),
    ]
    (row,) = summarised(records, wanted).to_dict("records")
    assert (row["runs"], row["test_error_mean"]) == (1, 0.1)


@pytest.mark.parametrize(
    ("errors", "best"),
    [((0.3, 0.1, 0.2), 1), ((0.2, 0.1, 0.1), 1), ((None, 0.2, 0.1), 2), ((None, None, None), 0)],
)
def test_select_keeps_the_lowest_test_error_the_first_of_equals(
    made_up: MadeUp, errors: tuple[float | None, ...], best: int
) -> None:
    wanted = made_up({"name": "a"}, {"name": "svm", "C": [1, 10, 100], "select": "test_error"})
    records = [record("a", {}, 0, test_error=0.9)]
    for C, error in zip((1, 10, 100), errors, strict=True):
        records.append(record("svm", {"C": C}, 0, test_error=error))
    summary = summarised(records, wanted)
    assert list(summary["selected"]) == [True, *(i == best for i in range(3))]


def test_no_trials_make_an_empty_summary(made_up: MadeUp) -> None:
    summary = summarised([], made_up({"name": "a"}))
    assert len(summary) == 0
    assert "test_error_mean" in summary


def test_write_summary_writes_the_same_bytes_again(tmp_path: Path) -> None:
    runs = [record("a", {}, i, test_error=0.1 * i) for i in range(3)]
    write_results(tmp_path, runs, title="Made up", permutations=3, algorithms=["a"])
    paths = write_summary(tmp_path)
    assert [path.name for path in paths] == ["summary.csv", "table.md"]
    first = [path.read_bytes() for path in paths]
    assert write_summary(tmp_path) == paths
    assert [path.read_bytes() for path in paths] == first
    read = pd.read_csv(paths[0])
    assert read["test_error_mean"].iloc[0] == pytest.approx(0.1)
    assert list(read.columns[:4]) == ["algorithm", "params", "budget", "runs"]
    assert paths[1].read_text(encoding="utf-8").startswith("# Made up\n\n| Algorithm | Runs | Test error, % |\n")


def test_provenance_may_name_the_runs_that_count(tmp_path: Path) -> None:
    old, new = (record("a", {}, 0, test_error=error, kernel=kernel) for error, kernel in ((0.1, "x"), (0.2, "y")))
    write_results(tmp_path, [old, new], {"keys": [old["key"]]}, algorithms=["a"])
    assert list(read_results(tmp_path).summary["test_error_mean"]) == [0.1]
