"""Datasets that are drawn from a distribution, afresh from (seed, run), with no files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from annotated_types import Ge, Le

from budgetbench.datasets.base import Data, Dataset, Examples, Label, Request
from budgetbench.parameters import Unit
from budgetbench.seeds import Role, generator

MOST_DRAWN = 10_000_000  # 1.7 GB of the widest
#: How many examples a generated set has.
Drawn = Annotated[int, Ge(2), Le(MOST_DRAWN), Unit("examples")]


class Generated(Dataset):
    """A distribution. A subclass declares in `options` how many examples there are: `n`, and `n_test` for a test set.

    Attributes
    ----------
    draw : with a generator of random numbers, `n` and the other options, makes so many examples.
    """

    source = "generated"
    licence = "not applicable"
    preparation = "none"
    generated = True
    classes: tuple[Label, ...]
    draw: Callable[..., Examples]

    def _load(self, request: Request) -> Data:
        options = vars(request.options)
        told = "/".join(f"{name}={value}" for name, value in options.items())
        identity = f"{self.name}/1/{told}/seed={request.seed}/run={request.run}"
        random = generator(request.seed, Role.DATA, request.run)
        how = {name: value for name, value in options.items() if name != "n_test"}
        train = self.draw(random, **how)
        test = self.draw(random, **how | {"n": options["n_test"]}) if "n_test" in options else None
        return Data(train, test, self.classes, identity)
