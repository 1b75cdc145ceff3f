"""Programs that tests start."""

from __future__ import annotations

import signal


def heed() -> None:
    """What runs in the background of a shell or under nohup inherits that it ignores these, and would pass that on."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
