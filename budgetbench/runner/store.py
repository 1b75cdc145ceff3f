"""The file of finished runs: one line for each, written and flushed as it ends."""

from __future__ import annotations

import errno
import json
import os
import socket
import time
import warnings
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from budgetbench.errors import BudgetbenchError, Notice, RequestError
from budgetbench.results import compact
from budgetbench.results.files import replace_file
from budgetbench.results.records import FILE, append, file_of, latest, read_lines, readable_records, sync

REJECTED = "trials.rejected.jsonl"
LOCK = ".lock"
HOLDER = ".lock.json"
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
PATIENCE = 2.0
"""Seconds to wait for another run on the folder that may be about to end."""


class Store:
    """`trials.jsonl` of one experiment: appended to as runs end, so that nothing finished is lost.

    As a context manager it holds the folder alone. Runs of which there is only the compact form, as in a fresh clone,
    are then unpacked, and lines that are no records of a run set aside into `trials.rejected.jsonl`, so that those runs
    are done again.

    Raises
    ------
    RequestError : the folder cannot be made or its records cannot be read.
    BudgetbenchError : another process works on it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / FILE
        self._lock = FileLock(folder / LOCK, timeout=PATIENCE, thread_local=False)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._closed(error) from None

    def __enter__(self) -> Store:
        try:
            self._lock.acquire()
        except Timeout:
            raise BudgetbenchError(self._occupied()) from None
        except (NotImplementedError, OSError) as error:
            if isinstance(error, OSError) and error.errno in FORBIDDEN:
                raise self._closed(error) from None
            # a network file system without locks
            message = f"{self.folder} cannot be locked ({error}): start no second run on it meanwhile"
            warnings.warn(message, Notice, stacklevel=2)
        try:
            holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}
            with suppress(OSError):
                (self.folder / HOLDER).write_text(json.dumps(holder), encoding="utf-8")
            self._unpack()
            self._set_aside()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            (self.folder / HOLDER).unlink()
        self._lock.release()

    def _closed(self, error: OSError) -> RequestError:
        message = f"cannot write results to {self.folder}: {error.strerror}"
        return RequestError(f"{message}. Name another folder with --results or BUDGETBENCH_RESULTS.")

    def _occupied(self) -> str:
        try:
            holder = json.loads((self.folder / HOLDER).read_text(encoding="utf-8"))
            who = f"process {holder['pid']} on {holder['host']} since {holder['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            who = "another process"
        return (
            f"{self.folder}: {who} is running this experiment. Let it end, name another folder with --results, or "
            f"remove {self.folder / LOCK} if that process is no more."
        )

    def _unpack(self) -> None:
        kept = file_of(self.folder)
        if kept != self.path:
            replace_file(self.path, b"".join(line.text + b"\n" for line in read_lines(kept).good))

    def _set_aside(self) -> None:
        lines = read_lines(self.path)
        rejected = [line.text for line in lines.unfit] + [lines.torn] * bool(lines.torn.strip())
        if not rejected:
            return
        with (self.folder / REJECTED).open("ab") as file:
            file.writelines(line + b"\n" for line in rejected)
        replace_file(self.path, b"".join(line.text + b"\n" for line in lines.good))
        if lines.unfit:  # a line that was cut short by a crash is no news
            warnings.warn(f"{lines.problem(self.path)}. Set aside in {REJECTED}; those runs are done again.", Notice, 3)

    def forget(self, keys: Collection[str]) -> None:
        """Drop the runs with these keys; all others stay."""
        lines = read_lines(self.path).good
        kept = [line.text for line in lines if line.record["key"] not in keys]
        if len(kept) < len(lines):
            replace_file(self.path, b"".join(line + b"\n" for line in kept))

    def append(self, record: dict[str, Any]) -> dict[str, Any]:
        """Add one run, see `records.append`."""
        return append(self.path, record)

    def sync(self) -> None:
        """See to it that what was added is on the disk, see `records.sync`."""
        sync(self.path)

    def keep(self) -> None:
        """Bring the compact form up to date; one that holds the same runs stays as it is, byte for byte."""
        path, lines = self.folder / compact.FILE, [line.text for line in read_lines(self.path).good]
        with suppress(RequestError):  # it is damaged
            if [line.text for line in read_lines(path).good] == lines:
                return
        replace_file(path, compact.packed(lines))


def recorded(folder: Path) -> dict[str, dict[str, Any]]:
    """Records of the runs that ended well in a folder, by key; lines that are no records are passed over."""
    found = latest(readable_records(file_of(folder)))
    return {key: record for key, record in found.items() if record["status"] == "ok"}
