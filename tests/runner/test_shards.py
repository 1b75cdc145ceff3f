"""Parts of an experiment that several machines do, and their folders put together again."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.results import read_records

from budgetbench.archive import read_results
from budgetbench.errors import BudgetbenchError, RequestError
from budgetbench.learners import learners
from budgetbench.results import compact
from budgetbench.runner import Shard, merge
from budgetbench.runner.plan import Trial, plan
from budgetbench.runner.shards import cost_of

TRIALS = 12
TABLES = ("summary.csv", "table.md")


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "1/0", "a/b", "1/2/3", "-1/2", "1/ 2", "1/1000000"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match=r"^--shard: found .*; accepted: I/N with I from 1 to N, such as 3/20$"):
        Shard.read(text)


@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_every_trial_is_in_one_part(experiment: Any, count: int) -> None:
    wanted = experiment("permutations=7")
    trials = plan(wanted, lambda run: "")
    parts = [Shard(number, count).of(trials, wanted, 100) for number in range(1, count + 1)]
    assert Counter(trial.key for part in parts for trial in part) == Counter(trial.key for trial in trials)
    places = {trial.key: place for place, trial in enumerate(trials)}
    for part in parts:
        assert part == sorted(part, key=lambda trial: places[trial.key])


def test_parts_are_even_in_what_they_cost(experiment: Any) -> None:
    """Where one learner takes a hundred times as long as another, and kernel values keep what shares them together."""
    wanted = experiment(
        "permutations=8",
        "algorithms=[{name: perceptron}, {name: forgetron, budget: [10, 100, 1000]}, {name: svm, C: [1, 10]}]",
    )
    trials = plan(wanted, lambda run: "")
    parts = [Shard(number, 4).of(trials, wanted, 20000) for number in range(1, 5)]
    costs = [sum(cost_of(trial, 20000) for trial in part) for part in parts]
    assert max(costs) < 1.1 * sum(costs) / 4
    with_online = [number for number, part in enumerate(parts) for trial in part if not learners[trial.algorithm].batch]
    runs = {run: set() for run in range(8)}
    for number, part in enumerate(parts):
        for trial in part:
            if not learners[trial.algorithm].batch:
                runs[trial.run].add(number)
    assert set(with_online) == {0, 1, 2, 3}
    assert all(len(numbers) == 1 for numbers in runs.values())


def test_one_run_is_divided_where_there_are_more_parts(experiment: Any) -> None:
    wanted = experiment("permutations=1", "algorithms=[{name: forgetron, budget: [10, 20, 30, 40, 50, 60, 70, 80]}]")
    trials = plan(wanted, lambda run: "")
    assert [len(Shard(number, 4).of(trials, wanted, 100)) for number in range(1, 5)] == [2, 2, 2, 2]


def test_what_is_done_once_for_all_runs_is_one_machines(experiment: Any) -> None:
    wanted = experiment(
        "dataset={name: usps, positive: 0}",
        "label_noise=null",
        "permutations=6",
        "algorithms=[{name: svm, C: [1, 10]}]",
    )
    trials = plan(wanted, lambda run: "")
    parts = [Shard(number, 2).of(trials, wanted, 100) for number in (1, 2)]
    assert sorted([trial.params["C"] for trial in part] for part in parts) == [[1.0] * 6, [10.0] * 6]


def test_what_takes_longer_costs_more() -> None:
    def cost(name: str, n: int = 10000, **params: Any) -> int:
        return cost_of(Trial(name, params, 0, ""), n)

    assert cost("forgetron", budget=10) < cost("forgetron", budget=100) < cost("forgetron", budget=10**9)
    assert cost("forgetron", budget=100) < cost("forgetron", budget=100, epochs=3) < cost("svm", C=1)
    assert cost("forgetron", budget=100) < cost("tighter_budget_perceptron", budget=100)
    assert cost("perceptron") < cost("perceptron", 20000)
    assert all(isinstance(cost(name), int) for name in learners)


# -- shards, run and merged -------------------------------------------------------------------------------------------


@pytest.fixture
def shards(execute: Any, tmp_path: Path) -> list[Path]:
    """Three folders of results, each with a part of the small experiment."""
    for number in (1, 2, 3):
        execute(into=f"shard{number}", shard=Shard(number, 3))
    return [tmp_path / f"shard{number}" for number in (1, 2, 3)]


def of_same_runs(folder: Path, other: Path) -> None:
    """Give the records of a folder the times of another's, which differ each time."""
    times = {record["key"]: record for record in read_records(other)}
    lines = [
        record | {name: times[record["key"]][name] for name in record if name.endswith("_seconds")}
        for record in read_records(folder)
    ]
    (folder / "trials.jsonl").write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def test_merged_tables_are_those_of_one_undivided_run(
    execute: Any, shards: list[Path], tmp_path: Path, records: Any
) -> None:
    whole = execute().folder
    for shard in shards:
        assert 0 < len(read_records(shard / "tiny")) < TRIALS
        of_same_runs(shard / "tiny", whole)
    (merged,) = merge(shards, tmp_path / "merged")
    assert (merged.folder, merged.runs, merged.planned) == (tmp_path / "merged" / "tiny", TRIALS, TRIALS)
    for name in (*TABLES, "experiment.yaml"):
        assert (merged.folder / name).read_bytes() == (whole / name).read_bytes(), name
    assert records(merged.folder) == records(whole)
    said, told = (json.loads((folder / "provenance.json").read_text()) for folder in (whole, merged.folder))
    assert (told["keys"], told["data"]) == (said["keys"], said["data"])
    again = execute(into="merged")
    assert (again.done, again.ran) == (TRIALS, 0)


def test_the_order_of_the_folders_makes_no_difference_and_merging_again_none(
    shards: list[Path], tmp_path: Path
) -> None:
    merge(shards, tmp_path / "one")
    merge(shards[2:], tmp_path / "two")
    merge([*shards[1::-1], shards[2]], tmp_path / "two")
    one, two = tmp_path / "one" / "tiny", tmp_path / "two" / "tiny"
    for name in (*TABLES, "trials.jsonl", compact.FILE):
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


def test_folders_with_the_compact_form_alone_and_of_one_experiment(shards: list[Path], tmp_path: Path) -> None:
    for shard in shards:
        (shard / "tiny" / "trials.jsonl").unlink()
    (merged,) = merge([shards[0] / "tiny", *shards[1:]], tmp_path / "merged")
    assert merged.runs == TRIALS


def test_several_experiments(execute: Any, shards: list[Path], tmp_path: Path) -> None:
    execute("name=other", "permutations=1", into="shard2")
    found = merge(shards, tmp_path / "merged")
    assert {(merged.folder.name, merged.runs, merged.planned) for merged in found} == {
        ("tiny", TRIALS, TRIALS),
        ("other", TRIALS // 2, TRIALS // 2),
    }


def changed(folder: Path, **values: Any) -> str:
    """Change the first record of a folder; its key."""
    first, *others = read_records(folder)
    lines = [first | values, *others]
    (folder / "trials.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(first["key"])


def copied(folder: Path, into: Path) -> Path:
    into.mkdir(parents=True)
    for name in ("experiment.yaml", "provenance.json", "trials.jsonl"):
        (into / name).write_bytes((folder / name).read_bytes())
    return into


def test_another_outcome_of_the_same_run_is_an_error_that_names_both(shards: list[Path], tmp_path: Path) -> None:
    other = copied(shards[0] / "tiny", tmp_path / "again" / "tiny")
    key = changed(other, test_error=0.123)
    with pytest.raises(BudgetbenchError) as caught:
        merge([shards[0], other], tmp_path / "merged")
    for said in (key, "test_error", "0.123", str(shards[0] / "tiny" / "trials.jsonl"), str(other / "trials.jsonl")):
        assert said in str(caught.value)
    assert not (tmp_path / "merged").exists()


def test_times_machines_and_failures_are_no_other_outcome(shards: list[Path], tmp_path: Path) -> None:
    """Of two records of a run the first counts, but one that ended well before one that failed."""
    other = copied(shards[0] / "tiny", tmp_path / "again" / "tiny")
    key = changed(other, train_seconds=99.0, host="elsewhere", commit="another")
    (merged,) = merge([shards[0], other], tmp_path / "merged")
    assert (merged.folder / "trials.jsonl").read_bytes().count(b"elsewhere") == 0
    changed(shards[0] / "tiny", status="failed", error="out of memory")
    (merged,) = merge([shards[0], other], tmp_path / "mended")
    kept = {record["key"]: record for record in read_records(merged.folder)}
    assert (kept[key]["status"], kept[key]["host"]) == ("ok", "elsewhere")


def test_two_experiments_of_one_name_are_an_error(execute: Any, shards: list[Path], tmp_path: Path) -> None:
    execute("label_noise.rate=0.2", into="noisy")
    with pytest.raises(
        RequestError, match=r"label_noise: found .*0\.1.* and .*0\.2.*accepted: one experiment"
    ) as caught:
        merge([shards[0], tmp_path / "noisy"], tmp_path / "merged")
    assert str(tmp_path / "noisy" / "tiny" / "experiment.yaml") in str(caught.value)


def test_runs_that_saw_other_data_are_an_error(shards: list[Path], tmp_path: Path) -> None:
    path = shards[1] / "tiny" / "provenance.json"
    said = json.loads(path.read_text())
    path.write_text(json.dumps(said | {"keys": said["keys"][1:]}))
    with pytest.raises(RequestError, match="keys are not the same"):
        merge(shards, tmp_path / "merged")


def test_the_provenance_tells_of_all_who_ran_it(shards: list[Path], tmp_path: Path) -> None:
    path = shards[1] / "tiny" / "provenance.json"
    said = json.loads(path.read_text())
    path.write_text(json.dumps(said | {"cpus": 96, "platform": "Darwin arm64"}))
    for _ in range(2):
        (merged,) = merge(shards, tmp_path / "merged")
        told = json.loads((merged.folder / "provenance.json").read_text())
        assert {"cpus": 96, "platform": "Darwin arm64"}.items() <= told["others"][0].items()
        assert len(told["others"]) == 1


def test_a_part_is_planned_and_done_again_by_itself(execute: Any) -> None:
    part = Shard(2, 3)
    planned = execute(dry=True, shard=part)
    outcome = execute(shard=part)
    assert 0 < outcome.ran == planned.missing.total() < TRIALS
    assert execute(shard=part).ran == 0
    assert execute(dry=True, shard=part).done == outcome.ran
    assert execute().done == outcome.ran
    assert len(read_results(outcome.folder).trials) == TRIALS


def test_a_damaged_folder_is_named(shards: list[Path], tmp_path: Path) -> None:
    (shards[0] / "tiny" / "trials.jsonl").unlink()
    (shards[0] / "tiny" / compact.FILE).write_bytes(lzma.compress(b"x")[:-5])
    with pytest.raises(RequestError, match="shard1"):
        merge(shards, tmp_path / "merged")
