"""How far a run has come: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

#: Seconds between two plain lines.
INTERVAL = 10.0
#: Seconds between two looks at how far a stream has come.
GLANCE = 0.25


class ProgressReport:
    """Counts finished runs and shows the count on standard error."""

    def __init__(self, title: str, total: int, quiet: bool) -> None:
        self.title, self.total, self.done, self.quiet = title, total, 0, quiet
        self._begun = self._said = time.monotonic()
        self._bar: Progress | None = None
        if not quiet and sys.stderr.isatty():
            columns: list[Any] = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
            columns += [TimeElapsedColumn(), TimeRemainingColumn()]
            self._bar = Progress(*columns, console=Console(stderr=True))

    def __enter__(self) -> ProgressReport:
        if self._bar:
            self._bar.start()
            self._task = self._bar.add_task(self.title, total=self.total)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def stage(self, text: str) -> None:
        """Say what is being done before the first run ends."""
        if self._bar:
            self._bar.update(self._task, description=f"{self.title}: {text}" if text else self.title)

    @contextmanager
    def watching(self, look: Callable[[], str]) -> Iterator[None]:
        """While the context lasts say what `look` sees: at once when there is something, then now and then."""
        ended, said = Event(), -INTERVAL

        def watch() -> None:
            nonlocal said
            while not ended.wait(GLANCE):
                text, now = look(), time.monotonic()
                if text and self._bar:
                    self.stage(text)
                elif text and not self.quiet and now - said > INTERVAL:
                    said = now
                    print(f"{self.title}: {text}, {now - self._begun:.0f} s", file=sys.stderr, flush=True)

        thread = Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def advance(self, n: int = 1) -> None:
        """Count n more runs."""
        self.done += n
        if self._bar:
            self._bar.update(self._task, completed=self.done)
            return
        now = time.monotonic()
        if not self.quiet and (now - self._said > INTERVAL or self.done == self.total):
            self._said = now
            count = f"{self.title}: {self.done}/{self.total} runs, {now - self._begun:.0f} s"
            print(count, file=sys.stderr, flush=True)
