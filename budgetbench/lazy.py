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
else:
    pd = lazy("pandas")

__all__ = ["lazy", "pd"]
