"""The compiler of the inner loops."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba
import numba.core.config as numba_config
import pooch

Function = TypeVar("Function", bound=Callable[..., object])


def _cache_folder() -> str:
    """Where compiled loops are kept: a folder of its own for each state of the sources.

    numba notices a change in the file of a loop but not in the files of the helpers it calls; keyed by all of
    them, a loop compiled from older sources is never run.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    package = Path(__file__).parents[1]
    for source in sorted([package / "kernels.py", *package.glob("engine/*.py"), *package.glob("learners/*.py")]):
        digest.update(source.read_bytes())
    return str(Path(pooch.os_cache("budgetbench")) / "compiled" / digest.hexdigest()[:16])


_FOLDER = _cache_folder()


def compiled(function: Function) -> Function:
    """Compile on first use, keep the result on disk, and release the interpreter's lock while running.

    No fast-math: a sign decides a mistake, so sums are added up in the order in which they are written.
    """
    return _compiled(function)


def contracted(function: Function) -> Function:
    """As `compiled`, and a product may be fused with a sum: where products are exact, that changes no bit."""
    return _compiled(function, {"contract"})


def _compiled(function: Function, fastmath: bool | set[str] = False) -> Function:
    before = numba_config.CACHE_DIR  # type: ignore[attr-defined]
    numba_config.CACHE_DIR = _FOLDER  # type: ignore[attr-defined]
    try:
        return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=fastmath)(function))
    finally:
        numba_config.CACHE_DIR = before  # type: ignore[attr-defined]
