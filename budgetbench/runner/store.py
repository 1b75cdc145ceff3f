"""The file of finished runs: one line for each, written and flushed as it ends."""

from __future__ import annotations

import json
import os
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

    def clear(self) -> None:
        """Forget all runs."""
        self.path.unlink(missing_ok=True)

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
    records = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if record.get("status") == "ok":
            records[record["key"]] = record
    return records
