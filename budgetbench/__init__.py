"""Reproducible benchmarks of kernel learning under a memory budget.

>>> from budgetbench import run
>>> trials = run("configs/usps_noise10.yaml", jobs=2)  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from budgetbench.version import __version__

if TYPE_CHECKING:
    from budgetbench.runner import run

__all__ = ["__version__", "run"]


def __getattr__(name: str) -> Any:
    if name == "run":
        from budgetbench.runner import run  # noqa: PLC0415  `--help` comes without it

        return run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
