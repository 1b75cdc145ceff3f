"""Whatever ends a run, as users and systems do it: finished runs are kept and nothing is left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest
from support.processes import heed, wait

import budgetbench

PROJECT = Path(budgetbench.__file__).resolve().parents[1]

CONFIG = """\
name: long
dataset: {name: gaussian, n: 3500, train_size: 3000, test_size: 500}
label_noise: {rate: 0.2}
kernel: {name: rbf, gamma: 1}
permutations: 1000
checkpoints: 5
algorithms:
  - {name: perceptron}
  - {name: tighter_budget_perceptron, budget: 60}
  - {name: budget_perceptron, budget: 60}
"""
TRIALS = 3000  # far more than there is time for
KEPT = "budgetbench: interrupted; every finished run is kept, and the same command goes on from there"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="sees what is left behind in /proc, which only Linux has"
)


def command(folder: Path, *more: str) -> subprocess.Popen[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BUDGETBENCH")}
    arguments = ["run", "c.yaml", "--results", "results", "--data", "data", *more]
    return subprocess.Popen(
        [sys.executable, "-m", "budgetbench", *arguments],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(PROJECT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a group of its own, so that all that belongs to it can be found
        preexec_fn=heed,
    )


def of_session(session: int) -> list[int]:
    """Living processes that a command started, itself included."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            state, _, _, number = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if entry.name.isdigit() and int(number) == session and state != "Z":
            found.append(int(entry.name))
    return found


def grams(processes: list[int]) -> dict[int, set[tuple[str, str]]]:
    """For each process that maps a Gram matrix the file's inode and path."""
    found = {}
    for process in processes:
        try:
            maps = Path(f"/proc/{process}/maps").read_text()
        except OSError:
            continue
        files = set(re.findall(r"(\d+)\s+(/\S*budgetbench-\S*gram\.npy)", maps))
        if files:
            found[process] = files
    return found


def records(folder: Path, results: str = "results") -> list[dict[str, Any]]:
    path = folder / results / "long" / "trials.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("signalled", ["the process", "the group"])  # kill -INT; Ctrl-C on a terminal
def test_an_interrupted_run_leaves_nothing_behind(tmp_path: Path, signalled: str) -> None:
    (tmp_path / "c.yaml").write_text(CONFIG)
    run = command(tmp_path, "--jobs", "2")
    try:
        wait(lambda: len(records(tmp_path)) >= 4)
        wait(lambda: len(grams(of_session(run.pid))) >= 2)  # one worker may be at it before the other is up
        mapped = grams(of_session(run.pid))
        if signalled == "the process":
            os.kill(run.pid, signal.SIGINT)
        else:
            os.killpg(run.pid, signal.SIGINT)
        _, errors = run.communicate(timeout=120)
        assert run.returncode == 130, errors
        assert said(errors) == [KEPT]
        kept = records(tmp_path)
        assert 4 <= len(kept) < TRIALS
        assert all(record["status"] == "ok" for record in kept)
        # the Gram matrix was there once, for all workers
        files = set.union(*mapped.values())
        assert len(mapped) >= 2
        assert len(files) == 1
        # nothing is left
        wait(lambda: not of_session(run.pid))
        ((_, path),) = files
        assert not Path(path).parent.exists()
        left = [name for name in os.listdir("/dev/shm") if f"-{run.pid}-" in name or f"_{run.pid}_" in name]
        assert not left
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)


#: Whom a signal is sent to, which, when (after so many more runs have ended), with how many workers, and the exit code.
ENDS = [
    ("the process", signal.SIGKILL, 0, 2, -signal.SIGKILL),
    ("the process", signal.SIGTERM, 2, 1, 128 + signal.SIGTERM),
    ("the group", signal.SIGHUP, 2, 2, 128 + signal.SIGHUP),  # a terminal that is closed
    ("the process", signal.SIGKILL, 2, 2, -signal.SIGKILL),
    ("the group", signal.SIGINT, 0, 1, 130),
]


def test_whatever_ends_it_the_next_start_goes_on(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CONFIG)
    before, ended = 0, []
    for whom, number, more, jobs, code in ENDS:
        run = command(tmp_path, "--jobs", str(jobs))
        ended.append(run.pid)
        try:
            if more:
                wait(lambda before=before, more=more: len(records(tmp_path)) >= before + more)
            else:
                wait(lambda run=run: workspaces(run.pid))
            (os.killpg if whom == "the group" else os.kill)(run.pid, number)
            _, errors = run.communicate(timeout=120)
            assert run.returncode == code, errors
            assert said(errors) == ([] if number == signal.SIGKILL else [KEPT])
            wait(lambda run=run: not of_session(run.pid))
            if number != signal.SIGKILL:
                assert not workspaces(run.pid)
        finally:
            if of_session(run.pid):
                os.killpg(run.pid, signal.SIGKILL)
        assert len(records(tmp_path)) >= before + more
        before = len(records(tmp_path))
    goes_on(tmp_path)
    assert not [workspace for process in ended for workspace in workspaces(process)]


def said(errors: str) -> list[str]:
    """What was written beside the progress."""
    return [line for line in errors.splitlines() if not re.match(r"long: \d+/\d+ runs", line)]


def workspaces(process: int) -> list[Path]:
    return [path for place in ("/dev/shm", gettempdir()) for path in Path(place).glob(f"budgetbench-{process}-*")]


def test_workers_that_are_killed_are_replaced(tmp_path: Path) -> None:
    """A real one, with a Gram matrix: what it was at is done again."""
    (tmp_path / "c.yaml").write_text(CONFIG)
    run = command(tmp_path, "--jobs", "2", "--permutations", "50")
    try:
        at_work = wait(lambda: set(grams(of_session(run.pid))) - {run.pid})
        os.kill(min(at_work), signal.SIGKILL)
        _, errors = run.communicate(timeout=240)
        assert run.returncode == 0, errors
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
    assert [record["status"] for record in records(tmp_path)] == ["ok"] * 150
    assert len({record["key"] for record in records(tmp_path)}) == 150


def goes_on(folder: Path) -> None:
    """The same command comes to what a call without interruption comes to."""
    again = command(folder, "--jobs", "1", "--permutations", "5", "--quiet")
    assert again.communicate(timeout=240) == ("", "")
    assert again.returncode == 0
    budgetbench.run(
        folder / "c.yaml", jobs=1, backend="threading", permutations=5, results=folder / "whole", data=folder / "data"
    )
    expected = {record["key"]: measures(record) for record in records(folder, "whole")}
    assert len(expected) == 15
    found = {record["key"]: measures(record) for record in records(folder)}
    assert len(found) == len(records(folder)), "a run was done twice"
    assert {key: found[key] for key in expected} == expected


def measures(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if not key.endswith("_seconds")}
