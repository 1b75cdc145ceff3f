"""Workers are watched: one that dies or hangs harms no other task, and its own is recorded with what befell it.

Most tests have workers that import nothing of the package, which spares them their start, and tasks that say by
themselves how they end.
"""

from __future__ import annotations

import importlib
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Pipe
from pathlib import Path
from threading import Thread, main_thread
from types import SimpleNamespace
from typing import Any

import pytest
from support.processes import wait

import budgetbench
from budgetbench.errors import BudgetbenchError, FailedRunsError, RequestError
from budgetbench.learners import learners
from budgetbench.runner import workers
from budgetbench.runner.execute import Unit
from budgetbench.runner.workers import Task


@pytest.fixture
def no_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """None are there yet, and those that come are gone afterwards."""
    monkeypatch.setattr(workers, "_resting", [])
    yield
    for worker in workers._resting:
        worker.end()


@pytest.fixture
def light(no_workers: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Workers for which a task is a tuple of ways to end; a folder in which it is marked that one was taken."""

    def serve(connection: Any, caller: int) -> None:  # within a function, so that workers get its source
        import ctypes
        import os
        import signal
        from pathlib import Path

        def act(word: str, folder: Path) -> None:
            if word.startswith("once "):
                word = word.removeprefix("once ")
                try:
                    (folder / word).touch(exist_ok=False)
                except FileExistsError:
                    return
            if word.startswith("SIG"):
                os.kill(os.getpid(), signal.Signals[word])
                time.sleep(3600)
            elif word == "segfault":
                ctypes.string_at(0)
            elif word == "exit":
                os._exit(3)
            elif word == "raise":
                raise SystemExit(4)
            elif word == "hang":
                (folder / "hangs").touch()
                time.sleep(3600)

        connection.send("up")
        while True:
            task = connection.recv()
            if task is not None:
                words, folder = task
                if "compiling" in words:
                    act("hang", Path(folder))
                connection.send("begun")
                for word in words:
                    act(word, Path(folder))
                connection.send([{"did": word} for word in words])

    def failures(unit: Unit, setting: Any, message: str) -> list[Any]:
        return [{"did": trial, "error": message} for trial in unit.trials]

    def give(self: Any, task: Task, seconds: float) -> None:
        """As ever, but without what must be imported."""
        sent = SimpleNamespace(unit=task.unit.trials, setting=task.setting)
        give_as_ever(self, sent, seconds)  # type: ignore[arg-type]
        self.task = task

    give_as_ever = workers.Worker.give
    monkeypatch.setattr(workers.Worker, "give", give)
    monkeypatch.setattr(workers, "serve", serve)
    monkeypatch.setattr(workers, "failures", failures)
    return tmp_path


def tasks(folder: Path, *units: str) -> Iterator[Task]:
    """A task for each text; several trials of one unit are separated by commas."""
    for run, unit in enumerate(units):
        yield Task(Unit(run, tuple(unit.split(","))), str(folder))  # type: ignore[arg-type]


def outcome(folder: Path, *units: str, number: int, **how: Any) -> dict[str, str | None]:
    """What became of each trial: nothing wrong, or a message."""
    with workers.results(tasks(folder, *units), number, **how) as results:
        records = [record for some in results for record in some]
    found = {record["did"]: record.get("error") for record in records}
    assert len(found) == len(records)
    return found


TWICE = "its worker process {}, and so did the next"
MEMORY = ", as a system does that is out of memory (fewer --jobs need less)"


ENDS = {
    "segfault": "was ended by SIGSEGV",
    "SIGABRT": "was ended by SIGABRT",
    "SIGTERM": "was ended by SIGTERM",
    "SIGKILL": "was ended by SIGKILL",
    "exit": "ended itself with exit code 3",
    "raise": "ended itself with exit code 4",
}


@pytest.mark.parametrize("number", [1, 2])
def test_who_kills_its_worker_is_found_and_the_others_go_on(light: Path, number: int) -> None:
    """At the start, between others, one after the other, and at the end."""
    found = outcome(light, "segfault", "a", "SIGABRT", "b", "SIGTERM", "SIGKILL", "c", "exit", "raise", number=number)
    expected: dict[str, str | None] = dict.fromkeys("abc")
    for end, how in ENDS.items():
        named = f" ({signal.strsignal(signal.Signals[how.split()[-1]])})" if "SIG" in how else ""
        expected[end] = TWICE.format(how + named + (MEMORY if end == "SIGKILL" else ""))
    assert found == expected


@pytest.mark.parametrize("number", [1, 2])
def test_what_dies_once_is_done_again(light: Path, number: int) -> None:
    """As when a system was short of memory for a moment, or somebody's hand slipped."""
    units = ["a", "once SIGKILL", "b", "once SIGTERM,c", "once segfault", "d,once exit"]
    found = outcome(light, *units, number=number)
    assert found == dict.fromkeys(",".join(units).split(","))


def test_of_trials_that_are_done_together_the_guilty_one_is_found(light: Path) -> None:
    found = outcome(light, "a,segfault,b", "c", "d,exit", number=2)
    assert {did for did, error in found.items() if error} == {"segfault", "exit"}
    assert set(found) == {"a", "b", "c", "d", "segfault", "exit"}


def test_runs_that_take_too_long_are_ended(light: Path) -> None:
    found = outcome(light, "a", "b,hang", "c", number=2, timeout=1.0)
    assert set(found) == {"a", "b", "c", "hang"}  # on a machine that is busy enough others may be too slow as well
    advice = "Give it more with --timeout, or look at the scale of the data and at the parameters."
    assert found["hang"] == f"not done after 1 s. {advice}"


def test_compiling_has_a_time_of_its_own(light: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "COMPILING", 2.0)
    found = outcome(light, "compiling", number=1, timeout=0.5)
    assert str(found["compiling"]).startswith("not done after 0.5 s")


def test_workers_that_cannot_start_are_no_endless_loop(light: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "serve", lambda connection, caller: os._exit(9))
    message = r"^5 worker processes in a row ended before they were up; the last one ended itself with exit code 9\."
    with pytest.raises(BudgetbenchError, match=message):
        outcome(light, "a", "b", number=2)


def test_workers_rest_between_experiments_and_are_replaced_when_they_die(light: Path) -> None:
    outcome(light, "a", "b", number=2)
    resting = [worker._process.pid for worker in workers._resting]
    assert len(resting) == 2
    outcome(light, "a", "b", number=2)
    assert sorted(worker._process.pid for worker in workers._resting) == sorted(resting)
    for worker in workers._resting:
        os.kill(worker._process.pid, signal.SIGKILL)
        worker._process.join()
    assert outcome(light, "a", "b", "c", number=2) == dict.fromkeys("abc")
    assert not {worker._process.pid for worker in workers._resting} & set(resting)


def test_a_worker_that_is_killed_while_it_has_nothing_to_do_harms_nothing(light: Path) -> None:
    """At the very end of an experiment, when others are still at work."""
    with workers.results(tasks(light, "a", "hang"), 2, timeout=20.0) as results:
        for records in results:
            if records and records[0]["did"] == "a":
                (idle,) = (process for process in workers_of(results) if process.task is None)
                os.kill(idle._process.pid, signal.SIGKILL)
            if (light / "hangs").exists():
                break
    assert not [worker for worker in workers._resting if worker.task]


def test_where_the_system_keeps_no_exit_codes(light: Path) -> None:
    """As under a program that wants to hear nothing of the end of its children, which is inherited."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        found = outcome(light, "a", "segfault", "b", "once SIGKILL", number=2)
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert found.pop("segfault") == TWICE.format("ended")
    assert found == dict.fromkeys(["a", "b", "once SIGKILL"])


def test_no_state_of_a_worker_holds_up_the_exit(light: Path) -> None:
    outcome(light, "a", "b", "c", number=3)
    resting = list(workers._resting)
    os.kill(resting[0]._process.pid, signal.SIGSTOP)
    os.kill(resting[1]._process.pid, signal.SIGKILL)
    workers.dismiss()
    assert not workers._resting
    assert not [worker for worker in resting if worker.alive]


def test_an_interruption_while_a_worker_starts_comes_after_the_start(
    light: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of a start would leave a process that prints a traceback."""
    started = []
    start = workers._start

    def interrupted(process: Any) -> None:
        signal.pthread_kill(main_thread().ident, signal.SIGINT)
        start(process)
        started.append(process)

    monkeypatch.setattr(workers, "_start", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            outcome(light, "a", number=1)
    finally:
        signal.signal(signal.SIGINT, before)
    wait(lambda: started)
    wait(lambda: started[0].exitcode is not None)  # its pipe is closed


def workers_of(results: Any) -> list[workers.Worker]:
    return list(results.gi_frame.f_locals["workers"])


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interruption_ends_those_at_work(light: Path, error: type[BaseException]) -> None:
    at_work: list[workers.Worker] = []

    def interrupted() -> None:
        with workers.results(tasks(light, "a", "hang", "b"), 2) as results:
            for _ in results:  # also when nothing comes for a while
                if (light / "hangs").exists():
                    at_work.extend(worker for worker in workers_of(results) if worker.task)
                    raise error

    with pytest.raises(error):
        interrupted()
    assert at_work
    assert not [worker for worker in at_work if worker.alive]


def test_a_worker_ends_when_the_pipe_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it does when its caller is gone; here in a thread, where it can be seen."""
    monkeypatch.setattr(workers.signal, "signal", lambda *_: None)  # for the main thread alone
    ours, theirs = Pipe()
    served = Thread(target=workers.serve, args=(theirs, os.getppid()))
    served.start()
    assert ours.recv() == "up"
    ours.send(None)
    ours.close()
    served.join(60)
    assert not served.is_alive()


def test_a_worker_without_a_caller_cleans_up_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []
    monkeypatch.setattr(workers, "sweep", lambda: done.append("swept"))
    monkeypatch.setattr(workers.os, "_exit", done.append)
    workers._watch(caller=-1)
    assert done == ["swept", 1]


# -- whole experiments ------------------------------------------------------------------------------------------------

CONFIG = """\
name: deadly
dataset: {name: gaussian, n: 160, train_size: 100, test_size: 60}
label_noise: {rate: 0.1}
kernel: {name: rbf, gamma: 1}
permutations: 1
algorithms:
  - {name: svm, C: 1}
  - {name: deadly, end: [segfault, memory]}
  - {name: budget_perceptron, budget: [5, 9]}
"""
TRIALS = 5


@pytest.fixture
def mended(monkeypatch: pytest.MonkeyPatch, no_workers: None, tmp_path: Path) -> Path:
    """Registers, here and in workers, a learner that ends as its parameter says, unless this file is there."""
    mended = tmp_path / "mended"

    def register() -> None:
        import ctypes

        from budgetbench.engine.base import learner
        from budgetbench.learners import Perceptron

        @learner("deadly", title="Deadly", color="k", marker="x")
        class Deadly(Perceptron):
            end: str = "segfault"

            def _visit(self, block: Any, f: Any, rounds: Any) -> None:
                if not mended.exists():
                    if self.end == "memory":
                        raise MemoryError("no room for 8 TB")
                    ctypes.string_at(0)
                super()._visit(block, f, rounds)

    def serve(connection: Any, caller: int) -> None:
        import sys
        from types import ModuleType

        sys.modules[register.__module__] = ModuleType("of this test, which a worker cannot import")
        from budgetbench.runner.workers import serve

        register()
        serve(connection, caller)

    monkeypatch.setattr(learners, "_items", dict(learners._items))
    register()
    monkeypatch.setattr(workers, "serve", serve)
    return mended


@pytest.fixture
def run(execute: Any) -> Callable[..., Any]:
    return lambda **how: execute(text=CONFIG, **how)


def test_an_experiment_with_deadly_runs_is_done_but_for_them(
    mended: Path, run: Any, records: Any, shared_memory: Path
) -> None:
    outcome = run(backend="loky", gram_limit=0)  # where all learners of a run share a stream
    assert (outcome.ran, outcome.failed) == (TRIALS, 2)
    failed = {r["params"]["end"]: r for r in records(outcome.folder).values() if r["status"] == "failed"}
    assert re.match(r"its worker process was ended by SIGSEGV", failed["segfault"]["error"])
    assert failed["memory"]["error"] == "MemoryError: no room for 8 TB"
    assert (failed["segfault"]["train_size"], failed["segfault"]["test_size"]) == (100, 60)
    assert not list(shared_memory.glob("budgetbench-*"))
    mended.touch()
    again = run(backend="loky", gram_limit=0)
    assert (again.done, again.ran, again.failed) == (TRIALS - 2, 2, 0)
    assert records(outcome.folder) == records(run(into="undisturbed", gram_limit=0).folder)


def test_python_is_told_of_failed_runs_and_keeps_the_others(mended: Path, shared_memory: Path, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CONFIG.replace("segfault, memory", "memory"))
    how: dict[str, Any] = {"jobs": 1, "backend": "threading", "results": tmp_path, "data": tmp_path}
    message = r"^1 of 4 runs failed; the first: deadly .* run 0: MemoryError: no room for 8 TB$"
    with pytest.raises(FailedRunsError, match=message) as caught:
        budgetbench.run(tmp_path / "c.yaml", **how)
    assert caught.value.trials["status"].value_counts().to_dict() == {"ok": 3, "failed": 1}
    mended.touch()
    assert len(budgetbench.run(tmp_path / "c.yaml", **how)) == 4


def test_the_summary_is_written_while_runs_end(
    run: Any, mended: Path, monkeypatch: pytest.MonkeyPatch, shared_memory: Path
) -> None:
    """So that one which does not end withholds nothing."""
    mended.touch()
    run_module: Any = importlib.import_module("budgetbench.runner.run")  # `run` of the package is the function
    monkeypatch.setattr(run_module, "SUMMARY_INTERVAL", 0.0)
    monkeypatch.setattr(run_module, "SUMMARY_SHARE", float("inf"))
    rows: list[int] = []
    write = run_module.write_summary

    def writing(folder: Path) -> None:
        write(folder)
        rows.append(len((folder / "summary.csv").read_text().splitlines()) - 1)

    monkeypatch.setattr(run_module, "write_summary", writing)
    run()
    assert rows[0] < rows[-2] == rows[-1] == 5  # a cohort, or who is alone, before the others


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"timeout": 0}, "--timeout: found 0; accepted: seconds, more than 0"),
        ({"timeout": float("nan")}, "--timeout: found nan"),
        ({"timeout": 5, "backend": "threading"}, "--timeout: a thread cannot be ended; accepted: with --backend loky"),
    ],
)
def test_a_timeout_that_cannot_be_kept_is_refused(execute: Any, how: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        execute(**({"backend": "loky"} | how))
