"""Runs on the workers of a dask cluster, which may be any machines that reach its scheduler.

Through `distributed.Client` itself, and not joblib's backend of dask: that waits for all calls together and knows of no
worker that is lost, while here each unit is a task of its own, whose records are kept as it ends, which dask does again
elsewhere when its worker is lost, and which fails alone when it takes every worker with it.
"""

from __future__ import annotations

import importlib
import logging
import os
import time
import uuid
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from budgetbench.errors import BudgetbenchError, Notice, RequestError
from budgetbench.kernels import Kernel
from budgetbench.lazy import lazy
from budgetbench.learners import learners
from budgetbench.packages import package_of
from budgetbench.runner import machine
from budgetbench.runner.execute import Record, Setting, failures
from budgetbench.runner.machine import Refused, Shared
from budgetbench.runner.workers import TICK, Task
from budgetbench.runner.workspace import OF_COHORTS, default_gram_limit
from budgetbench.sparse import SMALL, Inputs, SparseRows
from budgetbench.streams import LearningProblem

if TYPE_CHECKING:
    import dask
    import distributed
else:
    dask, distributed = lazy("dask"), lazy("distributed")

#: Seconds to reach the scheduler.
REACHING = 5
#: Units for each thread of the workers that are handed out: one in work, and one that waits for it to end.
AHEAD = 2
#: A share of a worker's memory that a Gram matrix may take where nothing else is said.
SHARE = 0.25
ADVICE = "Install the same versions on all workers: results depend on them."


class Remote:
    """A problem with its kernel values on the machines of a cluster, where each makes them when it first needs them."""

    def __init__(self, cluster: Cluster, problem: LearningProblem, gram: bool) -> None:
        self.path, self.has_gram, self._cluster = f"dask-{os.getpid()}-{uuid.uuid4().hex}", gram, cluster
        self._X: Inputs = problem.X
        self._data: Any = None

    def shared(self, setting: Setting) -> Shared:
        """What goes with each unit; the data are handed over with the first."""
        client = self._cluster.client
        if self._data is None:
            key = f"budgetbench-data-{self.path}"
            self._data = client.submit(machine.given, setting, self._X, key=key, pure=False, priority=1)
            del self._X
            problem = self._data.exception()  # once a worker has them
            if problem is not None:
                raise BudgetbenchError(f"the data did not reach the cluster: {problem}") from problem
        return Shared(self.path, self._data.key, self.has_gram, self._cluster.told)

    def close(self) -> None:
        self._cluster.left(self)
        self._data = None


class Cluster:
    """The workers of a dask scheduler, those that join while runs go on among them.

    Parameters
    ----------
    algorithms : names of the learners that are to run.

    Raises
    ------
    BudgetbenchError : a worker that is there runs on other versions than we do.
    """

    def __init__(self, client: Any, algorithms: Iterable[str]) -> None:
        self.client, self._address = client, client.scheduler.address
        #: Those of other packages; ours come with our version.
        self._foreign = tuple(name for name in algorithms if package_of(learners[name].__module__))
        self.told = machine.versions(self._foreign)
        self._known: set[str] = set()
        self._away: set[str] = set()  # told to go, which takes them a moment
        self._open: dict[str, Remote] = {}
        refused = self._new()
        if refused:
            worker, why = next(iter(refused.items()))
            raise BudgetbenchError(f"worker {worker}: {why}. {ADVICE}")

    @property
    def size(self) -> int:
        """How many units go on at once."""
        return sum(self._threads().values())

    def _threads(self) -> dict[str, int]:
        """The threads of each worker, by its address."""
        try:
            return dict(self.client.nthreads())
        except Exception as error:  # whatever a connection that is lost brings with it
            raise self._lost() from error

    @property
    def room(self) -> float:
        """Bytes of kernel values that the learners of a cohort may hold, on the worker that has least for each."""
        threads, memory = self._threads(), self.client.run(machine.memory, on_error="ignore")
        return min((OF_COHORTS * memory[one] / threads[one] for one in threads if one in memory), default=0.0)

    def workspace(self, problem: LearningProblem, kernel: Kernel, limit: float | None) -> Remote:
        """Where units find a problem and, up to `limit` bytes, its Gram matrix."""
        if limit is None:
            allowed = [SHARE * memory for memory in self.client.run(machine.memory, on_error="ignore").values()]
            limit = min(allowed, default=default_gram_limit())
        if isinstance(problem.X, SparseRows):
            limit = min(limit, SMALL)
        remote = Remote(self, problem, 4 * problem.n_train**2 <= limit)
        self._open[remote.path] = remote
        return remote

    def left(self, remote: Remote) -> None:
        """Have the machines take away what they made for a problem."""
        if self._open.pop(remote.path, None):
            with suppress(Exception):  # a lost worker has let go of it by dying
                self.client.run(machine.leave, remote.path, on_error="ignore")

    @contextmanager
    def at_work(self, tasks: Iterator[Task], most: int) -> Iterator[Iterator[list[Record]]]:
        """What comes of the tasks as they end; in the end, be it by an exception, none is left in the queue."""
        waiting: dict[Any, Task] = {}
        try:
            yield self._results(tasks, waiting)
        finally:
            with suppress(Exception):  # the connection may be what was lost
                self.client.cancel(list(waiting), force=True)

    def _results(self, tasks: Iterator[Task], waiting: dict[Any, Task]) -> Iterator[list[Record]]:
        ended: SimpleQueue[Any] = SimpleQueue()
        again: deque[Task] = deque()
        room, looked = AHEAD * self.size, time.monotonic()
        while True:
            if time.monotonic() > looked + TICK:  # who has come, who has gone
                self._turn_away(self._new())
                room, looked = AHEAD * self.size, time.monotonic()
            while len(waiting) < max(1, room):
                task = again.popleft() if again else next(tasks, None)
                if task is None:
                    break
                future = self._handed(task)
                waiting[future] = task
                future.add_done_callback(ended.put)
            if not waiting:
                return
            try:
                future = ended.get(timeout=TICK)
            except Empty:
                yield []
            else:
                yield self._heard(future, waiting.pop(future), again)

    def _handed(self, task: Task) -> Any:
        shared = self._open[task.setting.workspace].shared(task.setting)
        key = f"budgetbench-{uuid.uuid4().hex}"
        return self.client.submit(machine.perform, task.unit, shared, self._foreign, key=key, pure=False)

    def _heard(self, future: Any, task: Task, again: deque[Task]) -> list[Record]:
        if future.status == "finished":
            answer = future.result()
            if not isinstance(answer, Refused):
                return answer
            self._turn_away({answer.worker: answer.message})
        elif future.status != "error":  # a worker that leaves takes its answers along: the task is done again
            if self.client.status != "running":
                raise self._lost()
        else:
            error = future.exception()
            if isinstance(error, distributed.KilledWorker):
                return self._given_up(task, error, again)
            refused = self._new()  # one that has just come may lack the very package
            if not refused:
                raise BudgetbenchError(
                    f"a worker of {self._address} failed: {type(error).__name__}: {error}"
                ) from error
            self._turn_away(refused)
        again.append(task)
        return []

    def _given_up(self, task: Task, error: Any, again: deque[Task]) -> list[Record]:
        """Records of a unit that took several workers with it; of several trials each is tried by itself."""
        if len(task.unit.trials) > 1:
            again.extend(Task(one, task.setting) for one in task.unit.apart)
            return []
        died = f"{error.allowed_failures + 1} workers died of it, the last one {error.last_worker.address}"
        return failures(task.unit, task.setting, f"{died}; their logs may say why, and short memory is likely")

    def _new(self) -> dict[str, str]:
        """Look at workers that have come: of each that cannot do our runs the reason, by its address."""
        present = set(self._threads())
        new, self._known = present - self._known, present
        if not new:
            return {}
        told = self.client.run(machine.misfit, self.told, self._foreign, workers=list(new), on_error="return")
        found = {
            worker: f"it cannot import budgetbench ({answer})" if isinstance(answer, Exception) else answer
            for worker, answer in told.items()
        }
        return {worker: why for worker, why in found.items() if why}

    def _turn_away(self, refused: Mapping[str, str]) -> None:
        refused = {worker: why for worker, why in refused.items() if worker not in self._away}
        self._away.update(refused)
        for worker, why in refused.items():
            warnings.warn(f"worker {worker} is turned away: {why}. {ADVICE}", Notice, stacklevel=2)
        if refused:
            self.client.retire_workers(list(refused), close_workers=True, remove=True)

    def _lost(self) -> BudgetbenchError:
        return BudgetbenchError(
            f"the scheduler at {self._address} is lost. Finished runs are kept: give the same command again."
        )


@contextmanager
def connected(scheduler: str, algorithms: Iterable[str]) -> Iterator[Cluster]:
    """The cluster of a scheduler: its address, or the file in which it wrote that.

    Raises
    ------
    RequestError : dask is not installed.
    BudgetbenchError : no scheduler answers there.
    """
    try:
        importlib.import_module("distributed")
    except ImportError:
        message = "--backend dask: found no package distributed; accepted: with the extra cluster"
        raise RequestError(f"{message}. Install it: pip install 'budgetbench[cluster]'") from None
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)  # what matters of it is said in our own words
    try:
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PB"}), _client(scheduler) as client:
            yield Cluster(client, algorithms)
    finally:
        logger.setLevel(before)


def _client(scheduler: str) -> Any:
    named: dict[str, Any] = {"scheduler_file": scheduler} if Path(scheduler).is_file() else {"address": scheduler}
    try:
        return distributed.Client(**named, timeout=REACHING, set_as_default=False, name="budgetbench")
    except Exception as error:  # whatever is wrong with the address or behind it
        why = " ".join(str(error).split())[:200] or type(error).__name__
        hint = "Start one with `dask scheduler`, and workers with `dask worker ADDRESS --nthreads 1`."
        raise BudgetbenchError(f"--scheduler: no dask scheduler answers at {scheduler} ({why}). {hint}") from None
