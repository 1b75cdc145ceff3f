"""What differs between operating systems, each way tried on this one where that can be."""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from support import windows
from support.results import read_records

from budgetbench import private, system

PROJECT = Path(__file__).parents[1]
#: Holds a lock until its input ends.
HOLDER = """\
import sys
from budgetbench import system
file = open(sys.argv[1], "ab")
system.lock(file.fileno(), shared=sys.argv[2] == "shared")
print("held", flush=True)
sys.stdin.read()
"""
NO_SEMAPHORES = """\
import _multiprocessing

class SemLock(_multiprocessing.SemLock):
    def __new__(cls, *arguments, **more):
        raise OSError(30, "Read-only file system")

_multiprocessing.SemLock = SemLock
"""
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Windows is imitated by locks that Linux has")


@pytest.fixture(params=[False, pytest.param(True, marks=on_linux)], ids=["here", "windows"])
def environment(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Of a process on this system or on what we take for Windows, where our own locks are now those of bytes."""
    path = [PROJECT, PROJECT / "tests"]
    if request.param:
        path.insert(0, tmp_path / "site")
        path[0].mkdir()
        (path[0] / windows.FILE).write_text(windows.CODE)
        monkeypatch.setattr(system, "fcntl", None)
        monkeypatch.setattr(system, "msvcrt", windows.msvcrt, raising=False)
        monkeypatch.setattr(system, "locking", windows.locking, raising=False)
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path)), "TMPDIR": str(tmp_path)}


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "alone"])
def test_a_lock_is_held_until_its_process_ends(environment: dict[str, str], tmp_path: Path, shared: bool) -> None:
    path = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), "shared" if shared else "alone"],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with holder, path.open("ab") as file:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(OSError, match="temporarily unavailable"):
            system.lock(file.fileno(), wait=False)
        if shared:
            system.lock(file.fileno(), shared=True, wait=False)
        else:
            with pytest.raises(OSError, match="temporarily unavailable"):
                system.lock(file.fileno(), shared=True, wait=False)
        holder.kill()
        system.lock(file.fileno())  # waits for its end, be that yet to come


def test_a_locked_folder_goes_with_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with (folder / "lock").open("ab") as lock:
        system.remove_locked(folder / "lock", lock.close)
        assert lock.closed
    assert not folder.exists()
    # as Windows has it: a file that is open stays, until it is closed
    folder.mkdir()
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
    with (folder / "lock").open("ab") as lock:
        system.remove_locked(folder / "lock", lock.close)
    assert not folder.exists()


def test_a_file_that_is_read_is_replaced_a_little_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh, place, asked = tmp_path / "fresh", tmp_path / "place", []
    fresh.write_text("new")
    replace = Path.replace

    def busy(self: Path, target: Path) -> Path:
        asked.append(target)
        if len(asked) < 3:
            raise PermissionError
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", busy)
    with pytest.raises(PermissionError):
        system.replace(fresh, place)
    assert len(asked) == 1
    monkeypatch.setattr(system, "REPLACING", 600.0)
    system.replace(fresh, place)
    assert place.read_text() == "new"


def test_without_numbers_of_users_all_that_is_there_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o777)
    found = tmp_path.stat()
    assert not system.private(found)
    monkeypatch.delattr(os, "getuid")
    assert system.private(os.stat_result([found.st_mode, *[0] * 9]))
    assert system.user() == 0


def test_memory_as_windows_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 << 28 < system.memory() < 1 << 50

    def status(buffer: Any) -> None:
        assert struct.unpack_from("<I", buffer) == (64,) == (len(buffer),)
        struct.pack_into("<Q", buffer, 8, 12345678901)

    kernel32 = types.SimpleNamespace(GlobalMemoryStatusEx=status)
    monkeypatch.setattr(ctypes, "windll", types.SimpleNamespace(kernel32=kernel32), raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    assert system.memory() == 12345678901


def test_signals_by_which_a_program_is_asked_to_end() -> None:
    hangup = [signal.SIGHUP] if hasattr(signal, "SIGHUP") else []
    assert [signal.SIGTERM, *hangup] == list(system.ENDING)


def test_a_user_of_whom_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newer versions of what finds the caches of a system raise an error where it knows no home."""

    def unknown(name: str) -> Path:
        raise RuntimeError("could not determine the home directory")

    monkeypatch.setattr("pooch.os_cache", unknown)
    assert private.home_folder() is None


@on_linux
@pytest.mark.parametrize("environment", [True], indirect=True)
def test_runs_where_all_is_missing_that_windows_lacks(environment: dict[str, str], tmp_path: Path) -> None:
    """No file system in memory, numbers of users, fork, locks of whole files, signals that are held back."""
    command = ["run", "quickstart", "--only", "perceptron", "--permutations", "1", "--jobs", "1", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "budgetbench", *command, "--results", str(tmp_path / "results")],
        env=environment, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    (record,) = read_records(tmp_path / "results" / "quickstart")
    assert record["status"] == "ok"
    assert not list(tmp_path.glob("budgetbench-*-*-*"))


@pytest.mark.skipif(os.name == "nt", reason="semaphores are no files there")
def test_workers_start_where_no_semaphore_can_be_made(tmp_path: Path) -> None:
    """As with a /dev/shm that cannot be written; joblib would say in each process that it works serially."""
    (tmp_path / windows.FILE).write_text(NO_SEMAPHORES)
    code = "from budgetbench.runner.workers import Worker; it = Worker(); print(it._connection.recv()); it.end()"
    path = os.pathsep.join(map(str, (tmp_path, PROJECT)))
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "up\n", "")
