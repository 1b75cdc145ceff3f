"""Programs that tests start."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Any


def heed() -> None:
    """What runs in the background of a shell or under nohup inherits that it ignores these, and would pass that on."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def wait(until: Callable[[], Any], seconds: float = 240.0) -> Any:
    """For something to happen; gives what says that it has."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := until():
            return value
        time.sleep(0.02)
    raise AssertionError("nothing happened in time")
