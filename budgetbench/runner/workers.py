"""Worker processes, each with one unit at a time and watched while it is at it.

loky starts them: fresh interpreters that leave the caller's main module alone. An executor on top of them would give up
altogether when one of them dies; here each has a pipe of its own, so that it is known what it was doing. The others go
on, and one that is at a run for too long can be ended.
"""

from __future__ import annotations

import atexit
import math
import multiprocessing.resource_tracker
import os
import pickle
import signal
import time
import warnings
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from threading import Thread

from budgetbench import system
from budgetbench.errors import BudgetbenchError, Notice
from budgetbench.runner.execute import Record, Setting, Unit, execute, failures, warm_up
from budgetbench.runner.workspace import open_access, sweep

with warnings.catch_warnings():  # pools of joblib need semaphores, which a machine without /dev/shm lacks; ours do not
    warnings.filterwarnings("ignore", ".*joblib will operate in serial mode")
    from joblib.externals.loky import cpu_count as cpu_count
    from joblib.externals.loky.backend import get_context, resource_tracker

#: Seconds after which the caller hears of it when nothing has happened.
TICK = 1.0
#: Workers in a row that may die before they are up.
STILLBORN = 5
#: Seconds that compiling a unit's loops may take before the time of its runs begins.
COMPILING = 120.0
#: Libraries start a thread for each core, of which a worker uses one, and joblib tries whether it can start processes.
ALONE = {f"{library}_THREADS": "1" for library in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "VECLIB_MAXIMUM")}
SERIAL = "JOBLIB_MULTIPROCESSING"
ALONE[SERIAL] = "0"


#: What a worker says beside the records of its task: that it is up, and that the loops are compiled.
UP, BEGUN = "up", "begun"


@dataclass
class Task:
    """A unit on its way to its records."""

    unit: Unit
    setting: Setting
    deaths: int = 0  # of workers that were at it


class Worker:
    """A process that does one task after another."""

    def __init__(self) -> None:
        context = get_context("loky")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, os.getpid()), daemon=True, env=ALONE)
        with ThreadPoolExecutor(1) as thread:  # a signal interrupts the main thread alone, not a start
            thread.submit(_start, self._process).result()
        theirs.close()
        self.task: Task | None = None
        self.deadline = math.inf
        self.up = False

    @property
    def alive(self) -> bool:
        return not wait([self._process.sentinel], timeout=0)

    @property
    def signs(self) -> list[Connection | int]:
        """What shows that it has something to say, or has died."""
        return [self._connection, self._process.sentinel]

    def give(self, task: Task, seconds: float) -> None:
        """Hand it a task, for whose runs it has so many seconds."""
        self.task, self.deadline = task, time.monotonic() + COMPILING + seconds
        with suppress(OSError):  # it has just died; that shows when its answer is asked for
            self._connection.send((task.unit, task.setting))

    def answer(self) -> list[Record] | str:
        """The records of its task, or UP or BEGUN.

        Raises
        ------
        EOFError : it has died.
        """
        try:
            if self._connection.poll():
                return self._connection.recv()
        except (OSError, pickle.UnpicklingError):
            pass
        raise EOFError

    def rest(self) -> None:
        """Let go of the files that it has mapped, which would keep their memory."""
        with suppress(OSError):
            self._connection.send(None)

    def end(self, patience: float = 0.0) -> int | None:
        """See to it that the process is gone, and say with which exit code; None where the system keeps none."""
        self._connection.close()
        self._process.join(patience)
        if self.alive:
            with suppress(ProcessLookupError):  # it has ended by itself
                os.kill(self._process.pid, system.KILL)
            self._process.join()
        return self._process.exitcode


#: Workers without work are kept for the next experiment: it takes them a second to import what they need.
_resting: list[Worker] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_resting.clear)


@atexit.register
def dismiss() -> None:
    """End the workers that have nothing to do, whatever state they are in."""
    while _resting:
        _resting.pop().end()


@contextmanager
def results(tasks: Iterator[Task], number: int, timeout: float | None = None) -> Iterator[Iterator[list[Record]]]:
    """What comes of the tasks, done by so many workers: the records of one after another as they end.

    An empty list comes where nothing has come for a while. A task whose worker died is done once more when all others
    are through, by itself; what fails then, or takes longer than `timeout` seconds for each of its runs, gets records
    that say so. In the end, be it by an exception, no worker is at work.
    """
    workers: list[Worker] = []
    try:
        while len(workers) < number:
            workers.append(_resting.pop() if _resting else Worker())
        yield _results(tasks, workers, math.inf if timeout is None else timeout)
    finally:
        for worker in workers:
            if worker.task or not worker.alive:
                worker.end()
            else:
                worker.rest()
                _resting.append(worker)


def _results(tasks: Iterator[Task], workers: list[Worker], timeout: float) -> Iterator[list[Record]]:
    again: deque[Task] = deque()
    stillborn = 0
    while True:
        for place, worker in enumerate(workers):
            if worker.task:
                continue
            task = next(tasks, None)
            if task is None and again and not any(other.task for other in workers):
                task = again.popleft()
            if task:
                if not worker.alive:
                    worker.end()
                    worker = workers[place] = Worker()
                worker.give(task, timeout * len(task.unit.trials))
        busy = [worker for worker in workers if worker.task]
        if not busy:
            return
        patience = min(worker.deadline for worker in busy) - time.monotonic()
        heard = wait([sign for worker in busy for sign in worker.signs], timeout=max(0.0, min(TICK, patience)))
        if not heard:
            yield []
        for worker in busy:
            if not set(heard).isdisjoint(worker.signs):
                yield _hear(worker, timeout, again)
                stillborn = 0 if worker.up else stillborn + (worker.task is None)
                if stillborn == STILLBORN:
                    raise BudgetbenchError(
                        f"{STILLBORN} worker processes in a row ended before they were up; the last one "
                        f"{_way_to_die(worker.end())}. --backend threading does without them."
                    )
            elif time.monotonic() > worker.deadline:
                yield _time_is_up(worker, timeout, again)


def _hear(worker: Worker, timeout: float, again: deque[Task]) -> list[Record]:
    task = worker.task
    assert task is not None
    try:
        answer = worker.answer()
    except EOFError:
        how = _way_to_die(worker.end(patience=10))
        worker.task = None
        task.deaths += worker.up
        if task.deaths < 2:
            again.append(task)
            return []
        return _given_up(task, f"its worker process {how}, and so did the next", again)
    if isinstance(answer, list):
        worker.task = None
        return answer
    worker.up = True
    worker.deadline = time.monotonic() + timeout * len(task.unit.trials) + (COMPILING if answer == UP else 0)
    return []


def _time_is_up(worker: Worker, timeout: float, again: deque[Task]) -> list[Record]:
    task = worker.task
    assert task is not None
    worker.end()
    worker.task = None
    advice = "Give it more with --timeout, or look at the scale of the data and at the parameters."
    return _given_up(task, f"not done after {timeout:g} s. {advice}", again)


def _given_up(task: Task, message: str, again: deque[Task]) -> list[Record]:
    """Records of a task that failed; where it has several trials they are tried one by one, to find the guilty one."""
    unit = task.unit
    if len(unit.trials) == 1:
        return failures(unit, task.setting, message)
    again.extend(Task(one, task.setting, deaths=1) for one in unit.apart)
    return []


def _way_to_die(code: int | None) -> str:
    if code is None:
        return "ended"
    if code >= 0:
        return f"ended itself with exit code {code}"
    how = f"was ended by {signal.Signals(-code).name} ({signal.strsignal(-code)})"
    if -code == system.KILL:
        how += ", as a system does that is out of memory (fewer --jobs need less)"
    return how


@contextmanager
def _without_semaphores() -> Iterator[None]:
    """Keep joblib from trying, in processes started meanwhile, whether semaphores can be made, and saying that not."""
    before = os.environ.get(SERIAL)
    os.environ[SERIAL] = "0"
    yield
    os.environ.pop(SERIAL)
    if before is not None:
        os.environ[SERIAL] = before


def _start(process: BaseProcess) -> None:
    """Start a process that never sees Ctrl-C and a closing terminal: they reach all of a group, and are the caller's.

    For a thread of its own: a process inherits what the thread that starts it holds back.
    """
    if system.HOLDS_BACK:
        multiprocessing.resource_tracker.ensure_running()  # loky starts them otherwise, and lets signals in again
        with _without_semaphores():
            resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGHUP))
    process.start()


def serve(connection: Connection, caller: int) -> None:
    """What a worker does: units, until the caller closes the pipe or is gone."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if not system.HOLDS_BACK:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's
    warnings.simplefilter("once")  # an estimator may warn of the same at each example
    warnings.simplefilter("ignore", Notice)  # which the caller has said
    Thread(target=_watch, args=(caller,), daemon=True).start()
    with suppress(EOFError, OSError):
        connection.send(UP)
        while True:
            task = connection.recv()
            if task is None:
                open_access.cache_clear()
                continue
            unit, setting = task
            warm_up(unit.trials, setting.kernel)
            connection.send(BEGUN)
            connection.send(execute(unit, setting))


def _watch(caller: int) -> None:
    """End this process soon after its caller, and take away what the caller had no time to."""
    system.outlive(caller)
    sweep()
    os._exit(1)
