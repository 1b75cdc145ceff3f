"""Runs on a dask cluster: a real scheduler and workers, each a process on this machine.

Nothing depends on time: an estimator of these tests says by a file who is at it, and waits until another one is there.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from support.processes import heed, wait
from support.results import read_records

from budgetbench.datasets import Cache
from budgetbench.errors import BudgetbenchError, Notice, RequestError
from budgetbench.runner import Crew, run_experiment
from budgetbench.runner import cluster as module
from budgetbench.runner.workspace import MEMORY_FILES

pytest.importorskip("distributed", reason="needs the extra cluster")

ESTIMATOR = '''
import os, time
from pathlib import Path
import numpy as np

class Waiting:
    """Says by a file that a process is at it, and waits for another file; a third one lets it kill its process."""

    def __init__(self, folder=".", number=0):
        self.folder, self.number = folder, number

    def fit(self, X, y):
        folder = Path(self.folder)
        (folder / f"at-{self.number}-{os.getpid()}").touch()
        if (folder / f"kill-{self.number}").exists():
            os._exit(9)
        while not (folder / "go").exists():
            time.sleep(0.01)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0, self.classes_[-1], self.classes_[0])
'''

CONFIG = """\
name: spread
dataset: {name: gaussian, n: 160, train_size: 100, test_size: 60}
label_noise: {rate: 0.1}
kernel: {name: rbf, gamma: 1}
permutations: 2
checkpoints: 4
algorithms:
  - {name: budget_perceptron, budget: [5, 9]}
  - {name: svm, C: 1}
"""
WAITING = "  - {{estimator: 'waiting:Waiting', params: {{folder: '{folder}', number: {numbers}}}}}\n"


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "scheduler.json"
        (folder / "waiting.py").write_text(ESTIMATOR)
        self.processes: list[subprocess.Popen[bytes]] = []
        options = ["--host", "127.0.0.1", "--port", "0", "--idle-timeout", "900"]
        few = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
        self._start("scheduler", *options, "--scheduler-file", str(self.file), **few)
        wait(lambda: self.file.exists() and self.file.read_text().strip().endswith("}"))

    def _start(
        self, program: str, *arguments: str, where: Path | None = None, **environment: str
    ) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", program, *arguments, "--no-dashboard"]
        paths = os.pathsep.join([str(where or self.folder), str(Path(__file__).parents[2])])
        log = (self.folder / "log").open("ab")
        process = subprocess.Popen(
            command,
            env=os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"} | environment,
            cwd=where or self.folder,
            stdout=log,
            stderr=log,
            preexec_fn=heed,
        )
        log.close()
        self.processes.append(process)
        return process

    def worker(self, where: Path | None = None) -> subprocess.Popen[bytes]:
        options = [
            "--host",
            "127.0.0.1",
            "--nthreads",
            "1",
            "--no-nanny",
            "--death-timeout",
            "120",
            "--memory-limit",
            "0",
        ]
        local = ["--local-directory", str(self.folder / f"local{len(self.processes)}")]
        return self._start("worker", "--scheduler-file", str(self.file), *options, *local, where=where)

    def has(self, number: int) -> None:
        """Wait until there are so many workers."""
        from distributed import Client

        with Client(scheduler_file=str(self.file), set_as_default=False) as client:
            wait(lambda: len(client.nthreads()) == number)

    def two(self) -> None:
        """See to it that there are two workers."""
        workers = [process for process in self.processes[1:] if process.poll() is None]
        for _ in range(2 - len(workers)):
            self.worker()
        for process in workers[2:]:
            process.terminate()
            process.wait(60)
        self.has(2)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster(tmp_path_factory.mktemp("cluster"))
    yield found
    for process in found.processes:
        process.kill()
        process.wait()


@pytest.fixture
def run(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, experiment: Any) -> Callable[..., Any]:
    """Runs a configuration, on the cluster unless it says otherwise."""
    monkeypatch.syspath_prepend(str(cluster.folder))
    cluster.two()

    def run(text: str = CONFIG, into: str = "there", **how: Any) -> Any:
        crew = Crew(**({"backend": "dask", "scheduler": str(cluster.file)} | how))
        cache = Cache(tmp_path / "data", quiet=True)
        return run_experiment(experiment(text=text), cache, tmp_path / into, crew, quiet=True)

    return run


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """What the machine still has of the folders that were made for the runs of this test."""
    made: list[str] = []
    workspace = module.Cluster.workspace

    def noting(*arguments: Any) -> Any:
        remote = workspace(*arguments)
        made.append(remote.path)
        return remote

    monkeypatch.setattr(module.Cluster, "workspace", noting)

    def left() -> list[str]:
        assert made
        return [path.name for token in made for path in MEMORY_FILES.glob(f"budgetbench-{token}")]

    return left


LOCALLY: dict[str, Any] = {"backend": "threading", "scheduler": None, "jobs": 1, "into": "here"}


@pytest.mark.parametrize("gram_limit", [None, 0.0], ids=["gram", "stream"])
def test_results_are_those_of_this_machine_to_the_bit(
    run: Callable[..., Any], records: Any, gram_limit: float | None, left: Callable[[], list[str]]
) -> None:
    outcome = run(gram_limit=gram_limit)
    assert (outcome.ran, outcome.failed) == (6, 0)
    assert records(outcome.folder) == records(run(**LOCALLY, gram_limit=gram_limit).folder)
    assert not left()
    assert run().ran == 0


def test_what_a_lost_worker_was_at_is_done_elsewhere(
    run: Callable[..., Any], records: Any, tmp_path: Path, left: Callable[[], list[str]]
) -> None:
    """One of two is killed when both are half-way through a run, and what they share has to outlive it."""
    text = CONFIG + WAITING.format(folder=tmp_path, numbers=[1, 2])
    with ThreadPoolExecutor(1) as thread:
        outcome = thread.submit(run, text)
        wait(lambda: len(pids(tmp_path)) == 2)
        victim = min(pids(tmp_path))
        os.kill(victim, signal.SIGKILL)
        (tmp_path / "go").touch()
        found = outcome.result(240)
    assert (found.ran, found.failed) == (10, 0)
    assert records(found.folder) == records(run(text, **LOCALLY).folder)
    assert not left()


def pids(folder: Path) -> set[int]:
    """The processes that were at runs of the waiting estimator."""
    return {int(path.name.rpartition("-")[2]) for path in folder.glob("at-*")}


def test_who_joins_late_gets_work(
    run: Callable[..., Any], cluster: Cluster, tmp_path: Path, left: Callable[[], list[str]]
) -> None:
    """While both others wait for it."""
    text = CONFIG + WAITING.format(folder=tmp_path, numbers=[1, 2, 3, 4])
    with ThreadPoolExecutor(1) as thread:
        outcome = thread.submit(run, text)
        wait(lambda: len(pids(tmp_path)) == 2)
        late = cluster.worker()
        wait(lambda: late.pid in pids(tmp_path))
        (tmp_path / "go").touch()
        assert (outcome.result(240).ran, outcome.result().failed) == (14, 0)
    assert not left()


def test_a_run_that_kills_every_worker_has_failed_and_the_others_go_on(
    run: Callable[..., Any], cluster: Cluster, tmp_path: Path
) -> None:
    cluster.worker()
    (tmp_path / "go").touch()
    (tmp_path / "kill-1").touch()
    text = CONFIG.replace("permutations: 2", "permutations: 1") + WAITING.format(folder=tmp_path, numbers=[1, 2])
    cluster.has(3)
    outcome = run(text)
    assert (outcome.ran, outcome.failed) == (5, 1)
    (failed,) = [record for record in read_records(outcome.folder) if record["status"] == "failed"]
    assert failed["params"]["number"] == 1
    assert failed["error"].startswith("2 workers died of it, the last one tcp://127.0.0.1:")


def test_an_interruption_leaves_nothing_in_the_queue(
    run: Callable[..., Any], cluster: Cluster, monkeypatch: pytest.MonkeyPatch, left: Callable[[], list[str]]
) -> None:
    from distributed import Client

    from budgetbench.runner.store import Store

    def interrupted(self: Store, record: Any) -> Any:
        append(self, record)
        raise KeyboardInterrupt

    append = Store.append
    with monkeypatch.context() as patch:
        patch.setattr(Store, "append", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run()
    with Client(scheduler_file=str(cluster.file), set_as_default=False) as client:
        wait(lambda: not any(client.processing().values()))
    assert not left()
    again = run()
    assert (again.done, again.ran) == (1, 5)


def test_a_learner_that_workers_lack_is_a_clear_error(
    run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here_alone.py").write_text(ESTIMATOR)
    monkeypatch.syspath_prepend(str(tmp_path))
    text = CONFIG + WAITING.format(folder=tmp_path, numbers=[1]).replace("waiting:", "here_alone:")
    with pytest.raises(BudgetbenchError, match=r"^worker tcp://.*: it lacks a learner: .*here_alone:Waiting"):
        run(text)


def test_another_version_is_refused_by_both_names(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from budgetbench.runner import machine

    ours = machine.versions()
    monkeypatch.setattr(machine, "versions", lambda algorithms: ours | {"budgetbench": "99.0"})
    message = rf"^worker tcp://127\.0\.0\.1:\d+: budgetbench {ours['budgetbench']} there, 99\.0 here\. Install the same"
    with pytest.raises(BudgetbenchError, match=message):
        run()


def test_who_joins_late_with_another_version_is_turned_away(
    run: Callable[..., Any], cluster: Cluster, tmp_path: Path
) -> None:
    """Here one whose estimator is another, as a digest of its source says."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "waiting.py").write_text(ESTIMATOR + "\n# another\n")
    text = CONFIG + WAITING.format(folder=tmp_path, numbers=[1, 2])
    with warnings.catch_warnings(record=True) as said, ThreadPoolExecutor(1) as thread:
        warnings.simplefilter("always")
        outcome = thread.submit(run, text)
        wait(lambda: len(pids(tmp_path)) == 2)
        late = cluster.worker(other)
        assert wait(lambda: late.poll() is not None)
        (tmp_path / "go").touch()
        assert (outcome.result(240).ran, outcome.result().failed) == (10, 0)
    assert late.pid not in pids(tmp_path)
    (notice,) = [str(one.message) for one in said if issubclass(one.category, Notice)]
    assert "is turned away: waiting " in notice


def test_a_scheduler_that_does_not_answer_is_one_short_error(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REACHING", 0.5)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(
            BudgetbenchError, match=rf"^--scheduler: no dask scheduler answers at {address} \(.*dask worker"
        ):
            run(scheduler=address)


def test_without_dask_the_extra_is_named(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(RequestError, match=r"pip install 'budgetbench\[cluster\]'"):
        run()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"backend": "dask"}, "--scheduler: found nothing; accepted: with --backend dask the address"),
        (
            {"scheduler": "tcp://x:1"},
            "--scheduler: found 'tcp://x:1' with --backend loky; accepted: with --backend dask",
        ),
        ({"backend": "dask", "scheduler": "x", "jobs": 2}, "--jobs: found 2; accepted: nothing with --backend dask"),
        ({"backend": "dask", "scheduler": "x", "timeout": 2.0}, "--timeout: a worker of dask cannot be ended"),
    ],
)
def test_options_that_do_not_go_together(how: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        Crew(**how)
