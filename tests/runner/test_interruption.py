"""Ctrl-C in the middle of a run, as a user does it: finished runs are kept and nothing is left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import budgetbench

PROJECT = Path(budgetbench.__file__).resolve().parents[1]

CONFIG = """\
name: long
dataset: {name: gaussian, n: 3500, train_size: 3000, test_size: 500}
label_noise: {rate: 0.2}
kernel: {name: rbf, gamma: 1}
permutations: 60
checkpoints: 5
algorithms:
  - {name: perceptron}
  - {name: tighter_budget_perceptron, budget: 60}
  - {name: budget_perceptron, budget: 60}
"""
TRIALS = 180

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="sees what is left behind in /proc, which only Linux has"
)


def heed_interrupts() -> None:
    """What runs in the background of a shell inherits that it ignores them, and would pass that on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
        preexec_fn=heed_interrupts,
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


def wait(until: Callable[[], Any], seconds: float = 240.0) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := until():
            return value
        time.sleep(0.02)
    raise AssertionError("nothing happened in time")


def records(folder: Path, results: str = "results") -> list[dict[str, Any]]:
    path = folder / results / "long" / "trials.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("signalled", ["the process", "the group"])  # kill -INT; Ctrl-C on a terminal
def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path, signalled: str) -> None:
    (tmp_path / "c.yaml").write_text(CONFIG)
    run = command(tmp_path, "--jobs", "2", "--set", "permutations=60")
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
        said = [line for line in errors.splitlines() if not re.match(r"long: \d+/\d+ runs", line)]
        assert said == ["budgetbench: interrupted; every finished run is kept, and the same command goes on from there"]
        kept = records(tmp_path)
        assert 4 <= len(kept) < TRIALS
        assert all(record["status"] == "ok" for record in kept)
        # the Gram matrix was there once, for all workers
        files = set.union(*mapped.values())
        assert len(mapped) >= 2
        assert len(files) == 1
        # nothing is left
        wait(lambda: not of_session(run.pid), 15)
        ((_, path),) = files
        assert not Path(path).parent.exists()
        left = [name for name in os.listdir("/dev/shm") if f"-{run.pid}-" in name or f"_{run.pid}_" in name]
        assert not left
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
    if signalled == "the group":
        goes_on(tmp_path)


def goes_on(folder: Path) -> None:
    """The same command comes to what a call without interruption comes to."""
    again = command(folder, "--jobs", "1", "--permutations", "5", "--quiet")
    assert again.communicate(timeout=240) == ("", "")
    assert again.returncode == 0
    budgetbench.run(folder / "c.yaml", jobs=1, permutations=5, results=folder / "whole", data=folder / "data")
    expected = {record["key"]: measures(record) for record in records(folder, "whole")}
    assert len(expected) == 15
    found = {record["key"]: measures(record) for record in records(folder)}
    assert len(found) == len(records(folder)), "a run was done twice"
    assert {key: found[key] for key in expected} == expected


def measures(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if not key.endswith("_seconds")}
