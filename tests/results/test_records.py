"""Reading trials.jsonl, also one that a crash left behind."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from budgetbench.archive import experiment_folders
from budgetbench.config import recorded
from budgetbench.errors import Notice, RequestError
from budgetbench.results import completed, failed, read_trials


def record(key: str, **values: object) -> str:
    return json.dumps({"key": key, "status": "ok", "algorithm": "made_up", "params": {"a": 1}, "run": 0} | values)


def write(folder: Path, text: str) -> Path:
    (folder / "trials.jsonl").write_text(text, encoding="utf-8")
    return folder


def test_one_row_for_each_run_with_the_types_promised(tmp_path: Path) -> None:
    trials = read_trials(write(tmp_path, record("k", budget=None, test_error=0.25, curve=None) + "\n"))
    (row,) = trials.to_dict("records")
    assert row["params"] == {"a": 1}
    assert row["test_error"] == 0.25
    assert math.isnan(row["online_error"])
    assert row["curve"] is None
    assert str(trials["budget"].dtype) == "Int64"
    assert trials["budget"].isna().all()


@pytest.mark.parametrize(
    "rest", ['{"key": "b", "sta', '{"key": "b", "title": "caf\u00e9'.encode()[:-1].decode("latin-1"), "{"]
)
def test_a_last_line_that_breaks_off_is_left_out(tmp_path: Path, rest: str, recwarn: pytest.WarningsRecorder) -> None:
    trials = read_trials(write(tmp_path, record("a") + "\n" + rest))
    assert list(trials["key"]) == ["a"]
    assert not [warning for warning in recwarn if issubclass(warning.category, Notice)]


def test_a_complete_last_line_needs_no_newline(tmp_path: Path) -> None:
    assert list(read_trials(write(tmp_path, record("a") + "\n" + record("b")))["key"]) == ["a", "b"]


def test_a_broken_line_elsewhere_is_left_out_with_a_warning(tmp_path: Path) -> None:
    folder = write(tmp_path, f'{record("a")}\n{{"key": "b"{record("c")}\n{record("d")}\n')
    with pytest.warns(Notice, match=r"trials\.jsonl:2: 1 line is no record of a run \(no complete JSON"):
        trials = read_trials(folder)
    assert list(trials["key"]) == ["a", "d"]


def test_the_last_record_of_a_key_counts(tmp_path: Path) -> None:
    lines = [record("a", status="failed", error="no memory"), record("b"), record("a", test_error=0.5)]
    trials = read_trials(write(tmp_path, "\n".join(lines) + "\n"))
    assert list(trials["key"]) == ["b", "a"]
    assert list(trials["status"]) == ["ok", "ok"]
    assert trials["test_error"].iloc[1] == 0.5


def test_failed_runs_are_kept_apart(tmp_path: Path) -> None:
    trials = read_trials(write(tmp_path, record("a", status="failed", error="no memory") + "\n" + record("b") + "\n"))
    assert list(completed(trials)["key"]) == ["b"]
    assert list(failed(trials)["error"]) == ["no memory"]


def test_an_empty_file_gives_an_empty_frame_with_all_columns(tmp_path: Path) -> None:
    trials = read_trials(write(tmp_path, ""))
    assert len(trials) == 0
    assert {"key", "params", "curve", "support_size"} <= set(trials.columns)


def test_a_folder_without_results_says_what_was_looked_for_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"looked for trials\.jsonl.*budgetbench run CONFIG"):
        read_trials(tmp_path)
    with pytest.raises(RequestError, match=r"looked for trials\.jsonl.*budgetbench run CONFIG"):
        experiment_folders(tmp_path)
    with pytest.raises(RequestError, match=r"no results folder .*nowhere.*budgetbench run CONFIG"):
        experiment_folders(tmp_path / "nowhere")


def test_experiment_folders_by_name_or_the_folder_itself(tmp_path: Path) -> None:
    for name in ("b", "a", "empty"):
        (tmp_path / name).mkdir()
    write(tmp_path / "a", "")
    write(tmp_path / "b", "")
    assert experiment_folders(tmp_path) == [tmp_path / "a", tmp_path / "b"]
    assert experiment_folders(tmp_path / "b") == [tmp_path / "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "holds no experiment.yaml"),
        ("- a\n", "found list; accepted: a mapping"),
        ("a: [\n", "not readable as YAML"),
    ],
)
def test_an_unusable_experiment_file_is_named(tmp_path: Path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "experiment.yaml").write_text(text)
    with pytest.raises(RequestError, match=message):
        recorded(tmp_path / "experiment.yaml")
