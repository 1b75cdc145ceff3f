"""What workers share: made where there is room, locked while its process lives, and swept away when that was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetbench.datasets import Cache
from budgetbench.errors import BudgetbenchError
from budgetbench.runner import workspace
from budgetbench.runner.workspace import Workspace, open_access, sweep
from budgetbench.streams import LearningProblem, load_problem

GB = 1e9


@pytest.fixture
def problem(experiment: Any, tmp_path: Path) -> LearningProblem:
    return load_problem(experiment(), Cache(tmp_path, quiet=True))[0]


@pytest.fixture
def kernel(experiment: Any) -> Any:
    return experiment().kernel


def test_a_name_says_which_process_made_it(problem: LearningProblem, kernel: Any, shared_memory: Path) -> None:
    with Workspace(problem, kernel, GB, jobs=1) as shared:
        assert Path(shared.path).parent == shared_memory
        assert Path(shared.path).name.startswith(f"budgetbench-{os.getpid()}-")
        X, access = open_access(shared.path, kernel)
        assert access.gram is not None
        assert np.array_equal(X, problem.X)
    shared.close()  # twice does no harm
    assert not list(shared_memory.iterdir())


def test_a_sweep_takes_what_dead_processes_left_and_nothing_else(
    problem: LearningProblem, kernel: Any, shared_memory: Path, tmp_path: Path
) -> None:
    left_behind = (
        "import os, signal; from budgetbench.runner import workspace; from pathlib import Path\n"
        f"folder, lock = workspace._locked_folder(Path({str(shared_memory)!r}))\n"
        "(folder / 'gram.npy').write_bytes(b'0' * 1000); print(folder, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    project = str(Path(workspace.__file__).parents[2])
    killed = subprocess.run(
        [sys.executable, "-c", left_behind], env=os.environ | {"PYTHONPATH": project}, capture_output=True, text=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    dead = Path(killed.stdout.strip())
    assert dead.is_dir()
    others = [shared_memory / name for name in ("budgetbench-mine", "somebody-1-2-x", "budgetbench-1-2-link")]
    elsewhere = tmp_path / "elsewhere"
    for folder in (*others[:2], elsewhere):
        folder.mkdir()
    others[2].symlink_to(elsewhere)
    with Workspace(problem, kernel, GB, jobs=1) as alive:
        sweep()
        assert not dead.exists()
        assert sorted(shared_memory.iterdir()) == sorted([*others, Path(alive.path)])
        assert sorted(path.name for path in Path(alive.path).iterdir()) == ["X.npy", "gram.npy", "lock"]
    assert not list(elsewhere.iterdir())


def test_folders_of_other_users_are_left_alone(shared_memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shared_memory / "budgetbench-1-2-x"
    folder.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(workspace.os, "getuid", lambda: os.stat(folder).st_uid + 1)
        sweep()
    assert folder.exists()
    sweep()
    assert not folder.exists()


def test_a_folder_swept_before_it_was_locked_is_made_again(
    shared_memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    mkdtemp = workspace.tempfile.mkdtemp

    def swept(**how: Any) -> str:
        made.append(mkdtemp(**how))
        if len(made) == 1:
            sweep()
        return made[-1]

    monkeypatch.setattr(workspace.tempfile, "mkdtemp", swept)
    folder, lock = workspace._locked_folder(shared_memory)
    with lock:
        assert str(folder) == made[1] != made[0]
        assert list(shared_memory.iterdir()) == [folder]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
def test_nothing_stays_of_one_that_could_not_be_made(
    problem: LearningProblem, kernel: Any, shared_memory: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(workspace, "write_gram", fail)
    told = BudgetbenchError if isinstance(error, OSError) else type(error)
    with pytest.raises(told, match=r"^$|cannot write what the workers share to .*: No space left .*TMPDIR"):
        Workspace(problem, kernel, GB, jobs=1)
    assert not list(shared_memory.iterdir())


def test_without_a_file_system_in_memory_it_lies_among_temporary_files(
    problem: LearningProblem, kernel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "MEMORY_FILES", tmp_path / "none")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Workspace(problem, kernel, GB, jobs=1) as shared:
        assert Path(shared.path).parent == tmp_path


def test_memory_that_cannot_be_written_is_passed_over(
    problem: LearningProblem, kernel: Any, shared_memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    make = workspace._locked_folder

    def refuse(place: Path) -> Any:
        if place == shared_memory:
            raise PermissionError(13, "Permission denied")
        return make(place)

    monkeypatch.setattr(workspace, "_locked_folder", refuse)
    with Workspace(problem, kernel, GB, jobs=1) as shared:
        assert Path(shared.path).parent == tmp_path


def test_where_nothing_can_be_written_one_message_says_so(
    problem: LearningProblem, kernel: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(workspace, "MEMORY_FILES", tmp_path / "none")
    monkeypatch.setattr(workspace.tempfile, "gettempdir", nowhere)
    with pytest.raises(BudgetbenchError, match=r"no folder can be written .*TMPDIR\.$"):
        Workspace(problem, kernel, GB, jobs=1)
