"""Modules that take long to import, imported when they are first used."""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager
from functools import cache
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


def one_thread() -> AbstractContextManager[Any]:
    """A context in which libraries of linear algebra use one thread."""
    context: AbstractContextManager[Any] = _linear_algebra().limit(limits=1)
    return context


@cache
def _linear_algebra() -> threadpoolctl.ThreadpoolController:
    """The libraries there are, found once, as that takes milliseconds; one that came later would not be among them."""
    for name in ("scipy.linalg", "sklearn"):
        importlib.import_module(name)
    return threadpoolctl.ThreadpoolController()
