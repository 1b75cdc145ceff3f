"""Modules that take long to import, imported when they are first used."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _Lazy(ModuleType):
    """Stands for a module of its name; what is asked of it is asked of the module, imported then."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__name__), name)


def lazy(name: str) -> Any:
    """The module of this name, such as ``scipy.linalg``, imported when an attribute of it is wanted.

    Write it beside an import for the type checker, at the top of a module, as is done here for pandas.
    """
    return _Lazy(name)


if TYPE_CHECKING:
    import pandas as pd
    import threadpoolctl
else:
    pd, threadpoolctl = lazy("pandas"), lazy("threadpoolctl")

__all__ = ["lazy", "one_thread", "pd"]


def one_thread() -> threadpoolctl.threadpool_limits:
    """A context in which libraries of linear algebra use one thread.

    They are imported now: one that came later would know nothing of the limit.
    """
    for name in ("scipy.linalg", "sklearn"):
        importlib.import_module(name)
    return threadpoolctl.threadpool_limits(1)
