"""What has come of experiments so far, read on as their runs are appended, never from the start again."""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from budgetbench.archive import read_provenance
from budgetbench.config import recorded
from budgetbench.errors import RequestError
from budgetbench.experiment import Experiment
from budgetbench.results.names import entry_title, learner_title, parameters_text, varying
from budgetbench.results.records import FILE, file_of, read_lines

#: Runs that are shown as the last ones, and seconds over which their pace is taken.
LAST = 40
PACE = 120.0
SHOWN = ("test_error", "online_error", "support_size")


class Told(NamedTuple):
    """A parameter set, as it is called: its learner, and what tells it from the learner's others."""

    learner: str
    words: str


class Experiments:
    """The experiments in a folder of results, or the one that it is.

    Attributes
    ----------
    version : rises with everything that is new.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._followed: dict[Path, Followed] = {}
        self.version = 0

    def look(self) -> None:
        """Read on."""
        for folder in self._folders():
            if folder not in self._followed:
                self._followed[folder] = Followed(folder)
            self.version += self._followed[folder].look()

    def _folders(self) -> Iterator[Path]:
        one = (self._root / "experiment.yaml").exists()
        yield from [self._root] if one else sorted(path.parent for path in self._root.glob("*/experiment.yaml"))

    def state(self) -> dict[str, Any]:
        """All there is to show; those in which something has just happened come first."""
        found = [one.state() for one in self._followed.values() if one.total]
        found.sort(key=lambda one: (not one["under_way"], one["name"]))
        return {"version": self.version, "experiments": found}


@dataclass
class Followed:
    """One experiment's folder, and how far it was read."""

    folder: Path
    total: int = 0
    _experiment: Experiment | None = None
    _written: float = -1.0
    _read: tuple[int, int] = (0, 0)  # inode and bytes
    _places: dict[str, int] = field(default_factory=dict)
    _sets: list[Told] = field(default_factory=list)
    _runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    _last: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=LAST))
    _ended: deque[float] = field(default_factory=deque)

    def look(self) -> bool:
        """Read on; whether there was anything new."""
        changed = False
        with suppress(OSError, RequestError):  # a run may be about to write what is missing
            changed = self._look_at_plan()
            changed |= self._look_at_runs()
        return changed

    def _look_at_plan(self) -> bool:
        written = (self.folder / "experiment.yaml").stat().st_mtime
        with suppress(OSError):
            written = max(written, (self.folder / "provenance.json").stat().st_mtime)
        if written == self._written:
            return False
        experiment = recorded(self.folder / "experiment.yaml")
        keys = read_provenance(self.folder).get("keys") or []
        sets = experiment.parameter_sets
        self._experiment, self._written = experiment, written
        self.total = len(keys) or experiment.n_trials
        self._places = {key: place % len(sets) for place, key in enumerate(keys)}
        self._sets = list(_told(experiment))
        self._read = (0, 0)
        return True

    def _look_at_runs(self) -> bool:
        path = file_of(self.folder)
        status = path.stat()
        inode, size = self._read
        if status.st_ino != inode or status.st_size < size:  # another file, or begun anew
            inode, size = status.st_ino, 0
            self._runs.clear()
            self._last.clear()
        if status.st_size == size:
            return False
        if path.name != FILE:
            records = [line.record for line in read_lines(path).good]
            self._read = inode, status.st_size
        else:
            with path.open("rb") as file:
                file.seek(size)
                content = file.read()
            whole = content[: content.rfind(b"\n") + 1]
            records = list(_records(whole.splitlines()))
            self._read = inode, size + len(whole)
        first = size == 0  # what was there before is no news
        for record in records:
            self._hear(record, None if first else time.time())
        return bool(records)

    def _hear(self, record: dict[str, Any], at: float | None) -> None:
        key = record.get("key")
        if not isinstance(key, str) or (self._places and key not in self._places):
            return
        self._runs[key] = record
        self._last.appendleft(record | {"at": at})
        if at is not None:
            self._ended.append(at)

    def state(self) -> dict[str, Any]:
        """What is shown of it."""
        assert self._experiment is not None
        failed = sum(run.get("status") == "failed" for run in self._runs.values())
        done, now = len(self._runs), time.time()
        while self._ended and self._ended[0] < now - PACE:
            self._ended.popleft()
        pace = len(self._ended) / max(now - self._ended[0], 1.0) if self._ended else 0.0
        return {
            "name": self.folder.name,
            "title": self._experiment.title,
            "total": self.total,
            "done": done,
            "failed": failed,
            "under_way": bool(self._ended) and done < self.total,
            "seconds_left": round((self.total - done) / pace) if pace else None,
            "sets": self._means(),
            "last": [self._line(run) for run in self._last],
        }

    def _means(self) -> list[dict[str, Any]]:
        of: list[list[dict[str, Any]]] = [[] for _ in self._sets]
        for key, run in self._runs.items():
            place = self._places.get(key)
            if place is not None and run.get("status") != "failed":
                of[place].append(run)
        return [
            {**told._asdict(), "runs": len(runs)} | {name: _mean([run.get(name) for run in runs]) for name in SHOWN}
            for told, runs in zip(self._sets, of, strict=True)
            if runs
        ]

    def _line(self, run: dict[str, Any]) -> dict[str, Any]:
        place = self._places.get(run["key"])
        told = self._sets[place] if place is not None else Told(learner_title(str(run.get("algorithm"))), "")
        names = ("run", "status", "error", "train_seconds", "at", *SHOWN)
        return {**told._asdict()} | {name: run.get(name) for name in names}


def _told(experiment: Experiment) -> Iterator[Told]:
    for entry in experiment.algorithms:
        names = varying(entry.trials)
        for params in entry.trials:
            yield Told(entry_title(entry), parameters_text(params, names))


def _records(lines: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        with suppress(ValueError):
            record = json.loads(line)
            if isinstance(record, dict):
                yield record


def _mean(values: Sequence[Any]) -> float | None:
    known = [float(value) for value in values if isinstance(value, (int, float)) and math.isfinite(value)]
    return round(sum(known) / len(known), 6) if known else None
