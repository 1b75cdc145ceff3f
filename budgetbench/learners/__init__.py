"""The learners, a kind to a file, families in packages of their own; importing this package registers them all.

>>> from budgetbench.learners import Perceptron
>>> Perceptron(kernel="rbf", gamma=0.5).fit([[0.0], [1.0]], [-1, 1]).n_support_
2
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

import budgetbench.engine.one_vs_rest  # noqa: F401  learners of two classes learn more by it
from budgetbench import foreign as _foreign  # noqa: F401  classes of other packages, by module:Class
from budgetbench.engine.base import KernelClassifier, learners

# In the order of their files' names, whatever family they are of.
_names = [_module.name for _module in pkgutil.walk_packages(__path__, f"{__name__}.")]
for _name in sorted(_names, key=lambda name: name.rpartition(".")[2]):
    importlib.import_module(_name)

# Each learner's class is at hand here under its own name, whichever file defines it.
globals().update({one.__name__: one for one in learners.registered.values()})

if TYPE_CHECKING:

    def __getattr__(name: str) -> type[KernelClassifier]: ...


__all__ = ["KernelClassifier", "learners", *sorted(one.__name__ for one in learners.registered.values())]
