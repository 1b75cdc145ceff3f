"""What a benchmark gives: the contract of measuring one, its counts compared, and the record of a commit."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

Counts = dict[str, int]

PACKAGES = ("numpy", "scipy", "numba")


class Measure(Protocol):
    def __call__(
        self,
        name: str,
        work: Callable[[], Any],
        floor: Callable[[Any], float] | None = None,
        decided: Callable[[Any], dict[str, int]] = ...,
        twin: tuple[Callable[[], Any], Callable[[], Any]] | None = None,
    ) -> None:
        """Measure some work, and compare its counts.

        Parameters
        ----------
        work : what is timed; gives what the next two are asked about.
        floor : seconds that cannot be avoided, measured once before each round.
        decided : what came of it, in numbers that are counted too.
        twin : a plain transcription, and the same work done by the package.
        """


def differences(name: str, before: Counts, now: Counts) -> list[str]:
    """A line for each count that is not what it was."""
    told = []
    for what in sorted(before.keys() | now.keys()):
        old, new = before.get(what), now.get(what)
        if old != new:
            ratio = f" ({new / old:.3f} times)" if old and new else ""
            words = ["none" if count is None else f"{count:,}" for count in (old, new)]
            told.append(f"{name}: {what.replace('_', ' ')}: accepted {words[0]}, now {words[1]}{ratio}")
    return told


def record(benchmarks: Any) -> dict[str, Any]:
    """What is kept of a commit: no path and no name of a machine, so that it can be published as it is."""
    import budgetbench

    package = Path(budgetbench.__file__).parent
    found = {}
    for one in benchmarks:
        if "name" in one.extra_info:  # it went through
            told = dict(one.extra_info)
            name, seconds = told.pop("name"), one.stats.median
            ratio = seconds / told["floor"] if told["floor"] else None
            found[name] = {"seconds": rounded(seconds), "ratio": ratio and rounded(ratio)} | {
                what: rounded(value) if isinstance(value, float) else value for what, value in told.items()
            }
    return {
        "commit": git(package, "describe", "--always", "--abbrev=12", "--dirty", "--exclude=*"),
        "date": git(package, "show", "-s", "--format=%cI"),
        "subject": git(package, "show", "-s", "--format=%s"),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "system": platform.system()},
        "versions": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        "benchmarks": found,
    }


def rounded(value: float) -> float:
    """To four digits: more is noise."""
    return float(f"{value:.4g}")


def git(package: Path, *arguments: str) -> str:
    run = ["git", "-C", str(package), *arguments]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()


def processor() -> str:
    from cpuinfo import get_cpu_info

    return str(get_cpu_info().get("brand_raw") or platform.machine())
