"""Kernel functions, a kind to a file, and the matrices of their values.

Every kernel value in the program comes from here. It is a function of the inner product of two rows, or of their
distance, which `products.py` computes in float64 and in a fixed order; what follows is done in float64 too, and
the outcome is rounded to float32 once. So a value depends on the two rows alone: not on the block in which it is asked
for, the machine, or its BLAS, and K(x, z) of equal rows is K(x, x) to the last bit.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from budgetbench.kernels.base import Kernel, kernels, make_kernel
from budgetbench.kernels.products import Floats, Values

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

# Each kernel's class is at hand here under its own name, whichever file defines it.
globals().update({kernels[name].__name__: kernels[name] for name in kernels})

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


__all__ = ["Floats", "Kernel", "Values", "kernels", "make_kernel", *sorted(kernels[name].__name__ for name in kernels)]
