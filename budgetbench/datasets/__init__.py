"""Datasets by name. A new one is a new module in this package that registers what it defines."""

from __future__ import annotations

import importlib
import pkgutil

from budgetbench.datasets.base import Data, Dataset, Examples, datasets, register
from budgetbench.datasets.cache import Cache

__all__ = ["Cache", "Data", "Dataset", "Examples", "datasets", "register"]

for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    importlib.import_module(f"{__name__}.{_module}")
