"""Figures of results, one kind to a file; importing this package registers them all.

Matplotlib itself is loaded when the first figure is drawn, so that a configuration's `plots` are checked without it.
"""

from __future__ import annotations

import importlib
import pkgutil

from budgetbench.plots.base import FigureKind, NothingToDraw, figures
from budgetbench.plots.experiment import Wanted, drawings, save

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = ["FigureKind", "NothingToDraw", "Wanted", "drawings", "figures", "save"]
