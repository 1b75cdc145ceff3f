"""The file of finished runs: what is written can be read, by one process at a time, whatever the disk does."""

from __future__ import annotations

import errno
import json
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from budgetbench.errors import BudgetbenchError, Notice, RequestError
from budgetbench.results.records import fitting, parsed, read_lines
from budgetbench.results.schema import Unfit
from budgetbench.runner import store as store_module
from budgetbench.runner.store import HOLDER, LOCK, Store, recorded

RECORD: dict[str, Any] = {"key": "k", "status": "ok", "algorithm": "perceptron", "params": {"beta": 0.5}, "run": 0}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "PATIENCE", 0.05)


# -- what is written --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"seed": 2**63}, "seed: found 9223372036854775808; accepted: less than or equal to 9223372036854775807"),
        ({"seed": "x", "budget": -1, "error": "none"}, "budget: found -1; accepted: greater than or equal to 0"),
        ({"test_error": float("nan")}, "test_error: found nan; accepted: a finite number"),
        ({"test_error": float("inf")}, "test_error: found inf; accepted: a finite number"),
        ({"params": {"budget": 2**63}}, "params.budget: found 9223372036854775808; accepted: an integer below 2^63"),
        ({"params": {"a": {1, 2}}}, "params.a: found {1, 2}; accepted: a text, a number, true, false, null, or a list"),
        ({"params": {"a": {1: 2}}}, "a mapping with texts as names"),
        ({"support_size": np.int64(3)}, "support_size: found "),
        ({"made_up": object()}, "made_up: found <object"),
        ({"version": "half \ud800"}, "version: found 'half "),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_does_not_fit_is_recorded_as_a_failed_run(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    with Store(tmp_path) as store:
        written = store.append(RECORD | values)
        store.append(RECORD | {"key": "other"})
    assert written["status"] == "failed"
    assert "its record cannot be written: " in written["error"]
    assert message in written["error"]
    lines = read_lines(tmp_path / "trials.jsonl")
    assert [line.record for line in lines.good] == [written, RECORD | {"key": "other"}]
    assert not lines.unfit
    assert set(recorded(tmp_path)) == {"other"}


def test_an_error_that_cannot_be_printed_is_written_all_the_same(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        written = store.append(RECORD | {"status": "failed", "error": "no file \udcff here"})
    assert written == RECORD | {"status": "failed", "error": "no file ? here"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=6,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["run", "seed", "budget", "params", "test_error", "curve", "x"]), json_values))
def test_whatever_is_written_can_be_read(values: dict[str, Any]) -> None:
    written, line = fitting(RECORD | {name: value for name, value in values.items() if name != "run"})
    assert line.count(b"\n") == 1
    assert parsed(line) == written


@given(st.binary(max_size=60) | json_values.map(lambda value: json.dumps(value).encode()))
def test_a_line_is_a_record_or_refused(line: bytes) -> None:
    with pytest.raises(Unfit) as caught:
        parsed(line)
    assert 0 < len(str(caught.value)) < 200


# -- a full disk ------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk() -> Iterator[Any]:
    """No file may become larger than this many bytes; a write goes as far as there is room."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_takes_no_finished_run_with_it(tmp_path: Path, small_disk: Any) -> None:
    path = tmp_path / "trials.jsonl"
    with Store(tmp_path) as store:
        store.append(RECORD)
        before = path.read_bytes()
        small_disk(len(before) + 20)
        with pytest.raises(OSError, match="large") as caught:
            store.append(RECORD | {"key": "other"})
        assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(path))
        assert path.read_bytes() == before
        small_disk(2**30)
        store.append(RECORD | {"key": "other"})
    assert set(recorded(tmp_path)) == {"k", "other"}


def test_half_a_line_that_could_not_be_taken_back_is_harmless(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    with Store(tmp_path) as store:
        store.append(RECORD)
        with path.open("ab") as file:
            file.write(b'{"key": "oth')
        store.append(RECORD | {"key": "third"})
    with pytest.warns(Notice, match=r"trials\.jsonl:2: 1 line is no record"):
        assert set(recorded(tmp_path)) == {"k", "third"}
    with pytest.warns(Notice, match=r"Set aside in trials\.rejected\.jsonl"), Store(tmp_path):
        pass
    assert (tmp_path / "trials.rejected.jsonl").read_bytes() == b'{"key": "oth\n'


# -- one process at a time --------------------------------------------------------------------------------------------


def test_a_second_one_is_told_who_is_at_work(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        with pytest.raises(BudgetbenchError) as caught, Store(tmp_path):
            pass
        message = str(caught.value)
        assert caught.value.exit_code == 1
        assert f"process {store_module.os.getpid()} on {socket.gethostname()} since 20" in message
        assert f"remove {tmp_path / LOCK} if that process is no more" in message
        store.append(RECORD)
        assert set(recorded(tmp_path)) == {"k"}  # reading needs no lock
    with Store(tmp_path):
        pass
    assert not (tmp_path / HOLDER).exists()


@pytest.mark.parametrize("holder", [None, b"", b"[]", b'{"pid": 3}', b"\xff"])
def test_also_where_it_is_not_known_who(tmp_path: Path, holder: bytes | None) -> None:
    with FileLock(tmp_path / LOCK):
        if holder is not None:
            (tmp_path / HOLDER).write_bytes(holder)
        with pytest.raises(BudgetbenchError, match="another process is running this experiment"), Store(tmp_path):
            pass


def test_it_waits_for_one_that_is_about_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "PATIENCE", 60.0)
    held = FileLock(tmp_path / LOCK, thread_local=False)
    held.acquire()
    ending = threading.Timer(0.2, held.release)
    ending.start()
    with Store(tmp_path) as store:
        store.append(RECORD)
    ending.join()


def test_a_process_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from budgetbench.runner.store import Store;"
        "Store(Path(sys.argv[1])).__enter__(); os.kill(os.getpid(), 9)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=120)
    assert ended.returncode == -9
    assert (tmp_path / HOLDER).exists()
    with Store(tmp_path) as store:
        store.append(RECORD)


@pytest.mark.parametrize("error", [NotImplementedError("no locks"), OSError(errno.ENOLCK, "No locks available")])
def test_a_file_system_without_locks_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(self: Any) -> None:
        raise error

    monkeypatch.setattr(FileLock, "acquire", refuse)
    with pytest.warns(Notice, match=r"cannot be locked \(.*ocks.*\): start no second run"), Store(tmp_path) as store:
        store.append(RECORD)
    assert set(recorded(tmp_path)) == {"k"}


def test_a_folder_that_may_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(tmp_path / LOCK))

    monkeypatch.setattr(FileLock, "acquire", refuse)
    with pytest.raises(RequestError, match=r"cannot write results to .*: Read-only file system. Name"), Store(tmp_path):
        pass


def test_a_damaged_file_does_not_keep_the_lock(tmp_path: Path) -> None:
    (tmp_path / "trials.jsonl").mkdir()
    for _ in range(2):
        with pytest.raises(RequestError, match=r"trials\.jsonl cannot be read \(Is a directory\)"), Store(tmp_path):
            pass
