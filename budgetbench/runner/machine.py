"""What a worker of a cluster does: units, on data and a Gram matrix that the workers of its machine share.

The first that needs them on a machine fetches the data, once, and computes the Gram matrix; the others wait for it and
map the same files. Each holds a lock on the folder as long as it uses it, which the system lets go of however a process
ends: the last one takes the folder away, or else whoever sweeps next.
"""

from __future__ import annotations

import os
import pickle
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from budgetbench import system
from budgetbench.lazy import lazy
from budgetbench.learners import learners
from budgetbench.packages import packages_of
from budgetbench.runner import workspace
from budgetbench.runner.execute import Record, Setting, Unit, execute, warm_up
from budgetbench.runner.provenance import commit
from budgetbench.runner.workspace import LOCK, PREFIX, open_access, sweep, write_gram, write_inputs
from budgetbench.sparse import Inputs
from budgetbench.version import __version__

if TYPE_CHECKING:
    import distributed
else:
    distributed = lazy("distributed")

#: Files in the folder: what the units have in common, and a sign that all is there.
SETTING, READY = "setting.pickle", "ready"
#: Seconds for data to come from another machine before the unit goes back to the queue.
PATIENCE = 600.0
#: How many numbers of a version have to agree for the same results.
AGREEING = {"python": 2, "numba": 2, "numpy": 1}


@dataclass(frozen=True)
class Shared:
    """What units of one kernel and one data set share, by name: it is small and goes with each of them.

    Attributes
    ----------
    token : names the folder on each machine.
    data : key of the dask task that gives `Setting` and inputs.
    gram : whether a Gram matrix is wanted.
    told : what the client runs on, see `versions`.
    """

    token: str
    data: str
    gram: bool
    told: Mapping[str, str]


@dataclass(frozen=True)
class Refused:
    """The answer of a worker that does not run on what the client runs on."""

    worker: str
    message: str


@cache
def _kept_commit() -> str | None:
    return commit()


@cache
def versions(algorithms: tuple[str, ...] = ()) -> dict[str, str]:
    """What results depend on here: our own version, and those of what computes them and of packages with learners.

    Raises
    ------
    RequestError : there is no learner of such a name here.
    """
    found = {"budgetbench": __version__, "python": platform.python_version()}
    found |= {name: version(name) for name in ("numba", "numpy")}
    found = {name: ".".join(said.split(".")[: AGREEING.get(name)]) for name, said in found.items()}
    for package in packages_of(*(learners[name].__module__ for name in algorithms)):
        name, _, said = package.partition(" ")
        found[name] = said
    return found


def misfit(told: Mapping[str, str], algorithms: tuple[str, ...] = ()) -> str:
    """What is different here from what the client runs on; nothing where all agrees."""
    try:
        here = versions(algorithms)
    except Exception as error:  # whatever a module of learners does while it is imported
        return f"it lacks a learner: {type(error).__name__}: {error}"
    found = [
        f"{name} {here.get(name, 'is missing')} there, {told[name]} here"
        for name in told
        if here.get(name) != told[name]
    ]
    return "; ".join(found)


def perform(unit: Unit, shared: Shared, algorithms: tuple[str, ...]) -> list[Record] | Refused:
    """Do one unit on this machine; `algorithms` are those whose code has to be the client's.

    Raises
    ------
    distributed.Reschedule : the data are on their way to another machine that holds them no more.
    """
    different = misfit(shared.told, algorithms)
    if different:
        return Refused(distributed.get_worker().address, different)
    place = _joined(shared)
    setting = replace(place.setting, workspace=str(place.folder), commit=_kept_commit())
    warm_up(unit.trials, setting.kernel)
    return execute(unit, setting)


def given(setting: Setting, X: Inputs) -> tuple[bytes, Inputs]:
    """The data as a dask task, so that they are made again elsewhere when the machine that holds them is lost."""
    return pickle.dumps(setting), X


# -- the folder that the workers of a machine share -------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """A folder that this process uses, with its lock."""

    folder: Path
    lock: IO[bytes]
    setting: Setting


_joined_places: dict[str, tuple[Place, str]] = {}


def _joined(shared: Shared) -> Place:
    """The folder of this machine, made now if this is the first process that needs it."""
    if shared.token not in _joined_places:
        with _alone():
            if shared.token not in _joined_places:  # of a worker with several threads
                _leave_forgotten()
                _joined_places[shared.token] = _found(shared) or _made(shared), shared.data
    return _joined_places[shared.token][0]


@contextmanager
def _alone() -> Iterator[None]:
    """One process of this user on the machine at a time."""
    with open(_root() / f"{PREFIX}{system.user()}.making", "ab") as file:
        system.lock(file.fileno())
        yield


def _root() -> Path:
    """The same for all processes of a machine."""
    return workspace.MEMORY_FILES if os.access(workspace.MEMORY_FILES, os.W_OK) else Path(tempfile.gettempdir())


def _found(shared: Shared) -> Place | None:
    """A folder that another process has made; half of one, whose maker has died, is taken away."""
    for root in (_root(), Path(tempfile.gettempdir())):
        folder = root / f"{PREFIX}{shared.token}"
        if (folder / READY).exists() and system.owned(folder.stat()):
            with suppress(FileNotFoundError):
                lock = open(folder / LOCK, "ab")  # noqa: SIM115
                system.lock(lock.fileno(), shared=True)
                if (folder / READY).exists():  # a sweep has not been quicker
                    return Place(folder, lock, pickle.loads((folder / SETTING).read_bytes()))
        shutil.rmtree(folder, ignore_errors=True)
    return None


def _made(shared: Shared) -> Place:
    setting, X = _fetched(shared.data)
    told: Setting = pickle.loads(setting)
    size = 4 * told.problem.n_train**2 if shared.gram else 0
    folder = next(iter(workspace._places(size)), Path(tempfile.gettempdir())) / f"{PREFIX}{shared.token}"
    folder.mkdir(mode=0o700)
    try:
        lock = open(folder / LOCK, "ab")  # noqa: SIM115
        system.lock(lock.fileno(), shared=True)
        (folder / SETTING).write_bytes(setting)
        write_inputs(folder, X)
        if shared.gram and shutil.disk_usage(folder).free > 1.2 * size:
            rows = X[: told.problem.n_train]
            write_gram(folder / "gram.npy", told.kernel.fitted_to(X), rows, _threads())
        (folder / READY).touch()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Place(folder, lock, told)


def _fetched(key: str) -> tuple[bytes, Inputs]:
    """The data, from whichever worker has them.

    Where nobody does, since a worker was lost, they are made again by a task that may need this very thread: the unit
    steps back then.
    """
    client = distributed.get_client()
    future: Any = distributed.Future(key, client, "memory")  # type: ignore[arg-type]  # the state that it is told of
    if not any(client.who_has([future]).values()):
        raise distributed.Reschedule
    try:
        fetched: tuple[bytes, Inputs] = future.result(timeout=PATIENCE)
    except (TimeoutError, distributed.client.FutureCancelledError):
        raise distributed.Reschedule from None
    return fetched


def _threads() -> int:
    """As many as the cluster's workers have on this machine: they wait for what is made."""
    worker = distributed.get_worker()
    own = worker.address.rpartition(":")[0]
    known: Mapping[str, int] = distributed.get_client().nthreads()
    return max(1, sum(number for address, number in known.items() if address.rpartition(":")[0] == own))


def _leave_forgotten() -> None:
    """Let go of what clients that are gone did not tell us to."""
    client = distributed.get_client()
    for token, (_, key) in list(_joined_places.items()):
        if not any(client.who_has([distributed.Future(key, client)]).values()):
            leave(token)


def leave(token: str) -> None:
    """Let go of a folder; the last process of the machine that does so takes it away."""
    place, _ = _joined_places.pop(token, (None, ""))
    open_access.cache_clear()
    if place is not None:
        place.lock.close()
    sweep()


def memory(dask_worker: Any) -> float:
    """Bytes that a worker may take: what dask allows it, or else all of the machine."""
    limit = dask_worker.memory_manager.memory_limit
    return float(limit or system.memory())
