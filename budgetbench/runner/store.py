"""The file of finished runs: one line for each, written and flushed as it ends."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from budgetbench.errors import RequestError
from budgetbench.results.trials import FILE


class Store:
    """`trials.jsonl` of one experiment. Only ever appended to, so that nothing finished is lost."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"cannot write results to {folder}: {error.strerror}"
            raise RequestError(f"{message}. Name another folder with --results or BUDGETBENCH_RESULTS.") from None

    def forget(self, keys: Collection[str]) -> None:
        """Drop the runs with these keys; all others stay."""
        if self.path.exists():
            kept = [line for line, record in _lines(self.path) if record.get("key") not in keys]
            fresh = self.path.with_suffix(".new")
            fresh.write_bytes(b"".join(line + b"\n" for line in kept))
            fresh.replace(self.path)

    def append(self, record: dict[str, Any]) -> None:
        """Add one run; when this returns the line is on its way to the disk whatever happens to the program."""
        line = json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
        with self.path.open("a+b") as file:
            if file.tell() and not self._ends_with_newline():
                line = "\n" + line
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    def _ends_with_newline(self) -> bool:
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"


def recorded(folder: Path) -> dict[str, dict[str, Any]]:
    """Records of the runs that ended well in a folder, by key; a line cut off by a crash is passed over."""
    path = folder / FILE
    records = (record for _, record in _lines(path)) if path.exists() else ()
    return {record["key"]: record for record in records if record.get("status") == "ok"}


def _lines(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Each complete line of the file and what it says."""
    for line in path.read_bytes().split(b"\n"):
        with suppress(ValueError):  # cut off, perhaps in the middle of a character
            yield line, json.loads(line)
