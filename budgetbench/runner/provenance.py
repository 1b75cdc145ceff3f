"""Where results come from: program, machine, settings and data."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from budgetbench.datasets import Data
from budgetbench.results.files import replace_file
from budgetbench.version import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "pandas")


def write_provenance(
    folder: Path,
    data: Data,
    example_bytes: int,
    settings: dict[str, Any],
    keys: Sequence[str],
    packages: Iterable[str] = (),
) -> None:
    """Write `provenance.json`: no path and no host name, so that it can be published as it is.

    Parameters
    ----------
    example_bytes : what an example takes in a model.
    keys : those of the experiment's trials; `trials.jsonl` may hold others, of an earlier state of the config.
    packages : others than ours that learners or the dataset come from, each with its version.
    """
    libraries = _linear_algebra()
    content = {
        "budgetbench": __version__,
        "commit": commit(),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "cpus": os.cpu_count(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))}
        | {name: version for name, _, version in (package.partition(" ") for package in packages)},
        "processor": processor(),
        "blas": sorted({f"{one['internal_api']} {one.get('version', '')}".strip() for one in libraries}),
        "blas_for": sorted({one["architecture"] for one in libraries if one.get("architecture")}),
        "data": {
            "identity": data.identity,
            "checksum": data.checksum,
            "files": [path.name for path in data.files],
            "example_bytes": example_bytes,
        },
        "settings": settings,
        "keys": list(keys),
    }
    replace_file(folder / "provenance.json", json.dumps(content, indent=2) + "\n")


@cache
def host() -> str:
    """Tells this machine from others without giving its name away, as results are published as they are."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _linear_algebra() -> list[dict[str, Any]]:
    """What NumPy and SciPy compute with: their libraries, which are loaded when they are first used."""
    importlib.import_module("scipy.linalg")
    return [library for library in threadpool_info() if library["user_api"] == "blas"]


@cache
def processor() -> str | None:
    """The processor's model, where the system tells it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, model = line.partition(":")
            if name.strip() == "model name":
                return model.strip()
    return platform.processor() or None


def commit(package: Path = Path(__file__).parents[1]) -> str | None:
    """The commit of the checkout that the program runs from, None outside of one.

    ``-dirty`` marks changes in the package itself; new results beside it are none.
    """

    def git(*arguments: str) -> str:
        run = ["git", "-C", str(package), *arguments]
        return subprocess.run(run, capture_output=True, text=True, timeout=10, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "__init__.py")  # else it only happens to lie in somebody's repository
        changed = git("status", "--porcelain", "--", ".")
        return git("rev-parse", "--short=12", "HEAD") + ("-dirty" if changed else "")
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
