"""Running an experiment: the same results however it is run, only what is missing, and nothing left behind."""

from __future__ import annotations

import gc
import json
import math
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import budgetbench
from budgetbench.archive import read_results
from budgetbench.datasets import Cache, datasets
from budgetbench.errors import RequestError
from budgetbench.learners import Perceptron, learners
from budgetbench.runner import Crew, workspace
from budgetbench.runner import store as store_module
from budgetbench.runner.progress import ProgressReport
from budgetbench.runner.store import Store, recorded
from budgetbench.streams import load_problem, stream_of

TRIALS = 12

KEYS = (
    "key status experiment dataset algorithm params budget run seed train_size test_size online_mistakes online_error "
    "margin_errors insertions removals support_size model_bytes state_bytes test_error averaged_test_error "
    "validation_error kernel_evaluations train_seconds kernel_seconds predict_seconds curve version commit host"
)


def lines(folder: Path) -> list[str]:
    return (folder / "trials.jsonl").read_text(encoding="utf-8").splitlines()


# -- the records ------------------------------------------------------------------------------------------------------


def test_each_run_is_a_line_with_all_that_is_promised(execute: Any, records: Any) -> None:
    outcome = execute()
    assert (outcome.done, outcome.ran, outcome.failed) == (0, TRIALS, 0)
    assert len(lines(outcome.folder)) == TRIALS
    for line in lines(outcome.folder):
        record = json.loads(line)
        assert sorted(record) == sorted(KEYS.split())
        assert record["status"] == "ok"
        assert (record["experiment"], record["dataset"], record["seed"]) == ("tiny", "gaussian", 0)
        assert (record["train_size"], record["test_size"]) == (100, 60)
        assert 0 <= record["test_error"] <= 1
        assert record["version"] == budgetbench.__version__
        assert record["budget"] == record["params"].get("budget")
        assert record["train_seconds"] > record["kernel_seconds"] > 0
        assert 0 < record["model_bytes"] < record["state_bytes"]
        if record["algorithm"] == "svm":
            assert record["online_error"] is record["curve"] is record["insertions"] is None
            continue
        assert record["online_error"] == record["online_mistakes"] / 100
        assert record["insertions"] - record["removals"] == record["support_size"] <= (record["budget"] or 100)
        assert record["margin_errors"] == record["online_mistakes"]
        curve = record["curve"]
        assert curve["seen"] == [25, 50, 75, 100]
        assert math.isclose(curve["online_error"][-1], record["online_error"])
        assert curve["support_size"][-1] == record["support_size"]
    for name in ("experiment.yaml", "provenance.json", "summary.csv"):
        assert (outcome.folder / name).exists()


def test_python_gets_one_row_for_each_run(tmp_path: Path, experiment: Any, shared_memory: Path) -> None:
    experiment()
    trials = budgetbench.run(tmp_path / "tiny.yaml", jobs=1, results=tmp_path / "results", data=tmp_path / "data")
    assert len(trials) == TRIALS
    assert set(KEYS.split()) <= set(trials.columns)
    few = budgetbench.run(
        tmp_path / "tiny.yaml", jobs=1, results=tmp_path / "few", permutations=1, only=["svm"], overrides=["seed=4"]
    )
    assert few["algorithm"].tolist() == ["svm"]
    assert few["seed"].tolist() == [4]


# -- however it is run ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [
        {"jobs": 1, "backend": "loky"},
        {"jobs": 2, "backend": "loky"},
        {"jobs": 2, "backend": "threading"},
        {"jobs": 3, "backend": "threading"},
    ],
)
def test_workers_make_no_difference(execute: Any, records: Any, how: dict[str, Any]) -> None:
    assert records(execute(into="many", **how).folder) == records(execute(into="one").folder)


@pytest.mark.usefixtures("gram_wanted")
@pytest.mark.parametrize("how", [{}, {"jobs": 2, "backend": "threading"}])
def test_neither_does_a_gram_matrix(
    execute: Any, records: Any, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bool] = []
    write = workspace.write_gram
    monkeypatch.setattr(workspace, "write_gram", lambda *given: made.append(True) or write(*given))
    gram, streamed = records(execute(into="gram").folder), records(execute(into="stream", gram_limit=0, **how).folder)
    assert made == [True]
    assert gram.keys() == streamed.keys()
    for key, record in gram.items():
        other = streamed[key]
        if record["algorithm"] == "svm":  # solved with other kernel values in the last bits
            assert abs(record["test_error"] - other["test_error"]) < 0.05
        else:
            assert record == other


def test_data_drawn_anew_in_each_run(execute: Any, records: Any) -> None:
    one = records(execute("dataset.redraw=true", into="one").folder)
    assert records(execute("dataset.redraw=true", into="two", jobs=2, backend="threading").folder) == one
    fixed = records(execute(into="fixed").folder)
    of = {(r["run"], r["algorithm"], str(r["params"])): r["test_error"] for r in one.values()}
    other = {(r["run"], r["algorithm"], str(r["params"])): r["test_error"] for r in fixed.values()}
    assert {key: value for key, value in of.items() if key[0] == 0} == {k: v for k, v in other.items() if k[0] == 0}
    assert of != other


def test_who_else_is_in_the_config_makes_no_difference(execute: Any, records: Any) -> None:
    whole = records(execute(into="whole", gram_limit=0).folder)
    alone = records(execute(into="alone", only=["tighter_budget_perceptron"], gram_limit=0).folder)
    assert len(alone) == 4
    assert alone == {key: whole[key] for key in alone}


def test_a_run_that_only_repeats_another_has_a_record_of_its_own(execute: Any, records: Any) -> None:
    """Without noise and with a fixed test set, the order of the examples is all that differs between runs."""
    text = (
        "name: same\ndataset: {name: toy_noisy, n: 90, n_test: 40}\nkernel: {name: rbf, gamma: 1}\n"
        "permutations: 3\nalgorithms: [{name: svm, C: [1, 10]}]\n"
    )
    outcome = execute(text=text)
    assert (outcome.ran, execute(text=text).ran) == (6, 0)
    found = records(outcome.folder)
    assert sorted((record["run"], record["params"]["C"]) for record in found.values()) == [
        (run, C) for run in range(3) for C in (1.0, 10.0)
    ]
    assert records(execute(text=text, into="other", jobs=2, backend="threading").folder) == found


@pytest.mark.parametrize("name", ["svm", "multiclass_svm"])
def test_a_bound_that_nothing_came_to_is_not_tried_higher(
    execute: Any, records: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "name: path\ndataset: {name: gaussian, n: 160, train_size: 100, test_size: 60}\n"
        "kernel: {name: rbf, gamma: 100}\npermutations: 2\n"
        f"algorithms: [{{name: {name}, C: [1e+6, 0.01, 1e+5, 1e+4]}}]\n"
    )
    asked: list[float] = []
    learn = learners[name].learn

    def watched(self: Any, access: Any, labels: Any, order: Any) -> None:
        asked.extend([self.C] * (len(order) == 100))  # not to warm up
        learn(self, access, labels, order)

    monkeypatch.setattr(learners[name], "learn", watched)
    found = records(execute(text=text).folder)
    assert asked == [0.01, 1e4] * 2
    assert len(found) == 8
    alone: dict[str, Any] = {}
    for C in ("1e+6", "0.01", "1e+5", "1e+4"):
        override = f"algorithms=[{{name: {name}, C: {C}}}]"
        alone |= records(execute(override, text=text, into=f"alone {C}").folder)
    assert alone == found


def test_all_learners_of_a_run_see_the_same_stream(execute: Any, broken: dict[str, Any], records: Any) -> None:
    """A learner that never discards has the same course under another name."""
    broken["raise"] = None
    text = (
        "name: same\ndataset: {name: gaussian, n: 160, train_size: 100, test_size: 60}\nlabel_noise: {rate: 0.2}\n"
        "kernel: {name: rbf, gamma: 1}\npermutations: 3\nalgorithms: [{name: perceptron}, {name: broken}, "
        "{name: budget_perceptron, budget: 100}, {name: tighter_budget_perceptron, budget: 100}]\n"
    )
    found = records(execute(text=text).folder).values()
    courses = {run: {json.dumps(r["curve"]) for r in found if r["run"] == run} for run in range(3)}
    assert [len(course) for course in courses.values()] == [1, 1, 1]
    assert len(set.union(*courses.values())) == 3


# -- only what is missing ---------------------------------------------------------------------------------------------


def test_what_has_nothing_to_do_leaves_what_is_said_of_the_runs(execute: Any) -> None:
    said = execute().folder / "provenance.json"
    elsewhere = said.read_text(encoding="utf-8").replace('"cpus": ', '"cpus": 9')
    said.write_text(elsewhere, encoding="utf-8")
    execute()
    assert said.read_text(encoding="utf-8") == elsewhere
    execute(fresh=True)
    assert said.read_text(encoding="utf-8") != elsewhere


def test_a_second_call_does_nothing(execute: Any) -> None:
    before = lines(execute().folder)
    again = execute()
    assert (again.done, again.ran) == (TRIALS, 0)
    assert lines(again.folder) == before


@pytest.mark.parametrize(
    ("end", "lost"),
    [(b"}", 0), (b', "run": ', 1), ("ü".encode()[:1], 1)],
    ids=["no newline", "half a line", "half a character"],
)
def test_it_goes_on_after_a_last_line_that_breaks_off(execute: Any, records: Any, end: bytes, lost: int) -> None:
    outcome = execute()
    whole, path = records(outcome.folder), outcome.folder / "trials.jsonl"
    *kept, last = path.read_bytes().splitlines()
    broken = last if not lost else last[:40] + end
    assert broken.endswith(end)
    path.write_bytes(b"\n".join([*kept, broken]))
    again = execute()
    assert (again.done, again.ran) == (TRIALS - lost, lost)
    kept = recorded(outcome.folder)
    assert set(kept) == set(whole)
    assert execute().ran == 0
    seconds = ("train_seconds", "kernel_seconds", "predict_seconds")
    assert {key: {k: v for k, v in r.items() if k not in seconds} for key, r in kept.items()} == whole


def test_more_runs_and_algorithms_reuse_what_is_there(execute: Any) -> None:
    execute()
    assert execute("permutations=1").done == TRIALS // 2
    more = execute("permutations=3")
    assert (more.done, more.ran) == (TRIALS, TRIALS // 2)
    added = execute("algorithms.1.budget=[5, 9, 20]")
    assert (added.done, added.ran) == (TRIALS, 2)


@pytest.mark.parametrize(("asked", "again"), [(2, 0), (0, 0), (7, TRIALS - 2), (50, TRIALS - 2)])
def test_curves_that_lack_checkpoints_are_made_again(execute: Any, asked: int, again: int) -> None:
    """Those of four are among them for two; only the SVM, which learns from all at once, has none to make again."""
    before = execute().folder
    outcome = execute(f"checkpoints={asked}")
    assert (outcome.done, outcome.ran) == (TRIALS - again, again)
    curves = read_results(before).trials["curve"].dropna()
    assert [len(curve["seen"]) for curve in curves] == [asked] * (TRIALS - 2 if asked else 0)
    assert execute(f"checkpoints={asked}").ran == 0


def test_a_dry_run_says_what_is_missing_and_touches_nothing(execute: Any, tmp_path: Path) -> None:
    planned = execute(dry=True)
    assert (planned.done, planned.ran, planned.missing.total()) == (0, 0, TRIALS)
    assert not (tmp_path / "results").exists()
    execute(only=["svm"])
    planned = execute(dry=True)
    assert (planned.done, planned.missing.total()) == (2, TRIALS - 2)


def test_fresh_forgets_what_was_done(execute: Any, records: Any) -> None:
    first = records(execute().folder)
    again = execute(fresh=True)
    assert (again.done, again.ran) == (0, TRIALS)
    assert len(lines(again.folder)) == TRIALS
    assert records(again.folder) == first


# -- failures ---------------------------------------------------------------------------------------------------------

BROKEN = "algorithms=[{name: perceptron}, {name: broken}, {name: budget_perceptron, budget: 5}]"


@pytest.mark.parametrize("how", [{}, {"gram_limit": 0}, {"jobs": 2, "backend": "threading"}], ids=str)
def test_a_learner_that_fails_harms_no_other(
    execute: Any, broken: dict[str, Any], how: dict[str, Any], shared_memory: Path
) -> None:
    outcome = execute(BROKEN, **how)
    assert (outcome.ran, outcome.failed) == (6, 2)
    found = [json.loads(line) for line in lines(outcome.folder)]
    failed = [record for record in found if record["status"] == "failed"]
    assert [record["algorithm"] for record in failed] == ["broken", "broken"]
    assert failed[0]["error"] == "ValueError: the kernel matrix caught fire\nand burned down"
    assert {record["status"] for record in found} == {"ok", "failed"}
    # Two workers may fail in either order.
    assert re.match(r"broken {.*} run 0: ValueError: the kernel", min(outcome.errors))
    assert not list(shared_memory.iterdir())


def test_what_failed_is_done_again(execute: Any, broken: dict[str, Any], records: Any) -> None:
    execute(BROKEN)
    again = execute(BROKEN)
    assert (again.done, again.ran, again.failed) == (4, 2, 2)
    broken["raise"] = None
    mended = execute(BROKEN)
    assert (mended.done, mended.ran, mended.failed) == (4, 2, 0)
    assert {record["status"] for record in records(mended.folder).values()} == {"ok"}


@pytest.mark.parametrize(
    "how", [{"jobs": 1}, {"jobs": 2}, {"jobs": 1, "backend": "loky"}, {"jobs": 2, "backend": "loky"}]
)
def test_an_interruption_keeps_every_finished_run(
    execute: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_memory: Path, how: dict[str, Any]
) -> None:
    written: list[Any] = []
    append = Store.append

    def interrupted(self: Store, record: dict[str, Any]) -> dict[str, Any]:
        if len(written) == 5:
            raise KeyboardInterrupt
        written.append(append(self, record))
        return written[-1]

    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.filterwarnings("error", ".*tasks which were still being processed")  # joblib's own words
        patch.setattr(store_module.Store, "append", interrupted)
        with pytest.raises(KeyboardInterrupt):
            execute(**how)
        gc.collect()
    assert not list(shared_memory.glob("budgetbench-*"))
    assert set(recorded(tmp_path / "results" / "tiny")) == {record["key"] for record in written}
    again = execute(**how)
    assert (again.done, again.ran) == (5, TRIALS - 5)


def test_a_results_folder_that_cannot_be_made_is_named(execute: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here already")
    with pytest.raises(RequestError, match=r"cannot write results to .*file.*--results or BUDGETBENCH_RESULTS"):
        execute(into="file")


def test_zero_workers_are_refused() -> None:
    with pytest.raises(RequestError, match="--jobs: found 0"):
        Crew(jobs=0)
    assert Crew(jobs=3).size == 3
    assert Crew().size >= 1


# -- nothing left behind ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{}, {"jobs": 2, "backend": "loky"}, {"gram_limit": 0}], ids=str)
def test_shared_memory_is_given_back(execute: Any, how: dict[str, Any], shared_memory: Path) -> None:
    execute(**how)
    left = [path.name for path in shared_memory.iterdir() if path.name.startswith("budgetbench")]
    assert not left
    if sys.platform == "linux":  # a file that is still mapped keeps its memory after it is removed
        gc.collect()
        assert f"{shared_memory}/budgetbench" not in Path("/proc/self/maps").read_text()


def test_inputs_and_gram_matrix_lie_in_shared_memory_once(execute: Any, shared_memory: Path) -> None:
    seen: list[set[str]] = []
    append = Store.append

    def looking(self: Store, record: dict[str, Any]) -> dict[str, Any]:
        seen.append({str(path.relative_to(shared_memory)) for path in shared_memory.glob("*/*.npy")})
        return append(self, record)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "append", looking)
        execute()
    assert {len(files) for files in seen} == {2}
    assert {Path(file).name for file in seen[0]} == {"X.npy", "gram.npy"}


def test_runs_are_on_the_disk_before_they_are_told_of(execute: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def noted(owner: Any, name: str) -> None:
        does = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda self, *args: (seen.append(name), does(self, *args))[1])

    noted(Store, "append")
    noted(Store, "sync")
    noted(ProgressReport, "advance")
    execute()
    assert seen.count("append") == TRIALS
    assert re.fullmatch("((append )+sync advance )+", " ".join([*seen, ""]))


def test_the_provenance_can_be_published(execute: Any, tmp_path: Path) -> None:
    outcome = execute(backend="loky")
    text = (outcome.folder / "provenance.json").read_text(encoding="utf-8")
    found = json.loads(text)
    assert found["budgetbench"] == budgetbench.__version__
    assert found["settings"] == {"jobs": 1, "backend": "loky", "blas_threads": 1, "kernel": "RBF(gamma=1.0)"}
    assert found["packages"]["numpy"] == np.__version__
    assert re.fullmatch(r"[0-9a-f]{64}", found["data"]["checksum"])
    assert len(found["keys"]) == TRIALS
    assert set(found["keys"]) == set(recorded(outcome.folder))
    every = [text, (outcome.folder / "experiment.yaml").read_text(), *lines(outcome.folder)]
    for written in every:
        assert str(tmp_path) not in written
        assert not re.search(r'["\s](/|[A-Z]:\\)\w', written), "an absolute path"


def test_the_resolved_experiment_runs_as_the_same(execute: Any, tmp_path: Path) -> None:
    folder = execute().folder
    again = execute(text=(folder / "experiment.yaml").read_text(encoding="utf-8"))
    assert (again.done, again.ran) == (TRIALS, 0)


# -- inputs of one run ------------------------------------------------------------------------------------------------

SCALED = "dataset={name: gaussian, n: 160, train_size: 100, test_size: 60, scale: standard, scale_on: %s}"


def test_scaling_by_a_runs_own_training_rows(execute: Any, experiment: Any, records: Any, tmp_path: Path) -> None:
    """What the learner is given is what one scales by hand, in each run."""
    overrides = (SCALED % "train", "algorithms=[{name: perceptron}]")
    found = records(execute(*overrides).folder).values()
    wanted = experiment(*overrides)
    problem, data = load_problem(wanted, Cache(tmp_path / "data", quiet=True))
    for record in found:
        stream = stream_of(problem, wanted, record["run"])
        train = data.train.X[np.sort(stream.order)].astype(np.float64)
        Z = ((data.train.X - train.mean(axis=0)) / train.std(axis=0)).astype(np.float32)
        model = Perceptron(gamma=1.0).fit(Z[stream.order], stream.labels[stream.order])
        assert record["online_mistakes"] == model.mistakes_
        assert record["test_error"] == np.mean(model.predict(Z[stream.test]) != stream.labels[stream.test])


def test_a_dataset_is_read_once_for_all_runs(execute: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[int] = []
    gaussian = datasets["gaussian"]
    load = gaussian._load
    monkeypatch.setattr(gaussian, "_load", lambda request: loaded.append(request.run) or load(request))
    execute(SCALED % "train", "permutations=4")
    assert loaded == [0]


def test_the_convention_of_scaling_is_part_of_the_key(execute: Any, records: Any) -> None:
    on_all = records(execute(SCALED % "all", into="all").folder)
    on_train = records(execute(SCALED % "train", into="train").folder)
    assert len(on_all) == len(on_train) == TRIALS
    assert not set(on_all) & set(on_train)
    both = execute(SCALED % "train", into="all")
    assert (both.done, both.ran) == (0, TRIALS)
    assert records(both.folder) == on_all | on_train
    again = execute(SCALED % "train", into="all", gram_limit=0.0)
    assert (again.done, again.ran) == (TRIALS, 0)
