"""Which parameters say how many examples a learner keeps or looks at: those that learners declare as a `Size`.

The name of a number of examples means the same to every learner, so that records of one that is gone are read as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from budgetbench.learners import learners
from budgetbench.parameters import Size


def sizes() -> dict[str, Size]:
    """By name, in the order in which learners declare them."""
    return _sizes(tuple(learners))


@cache
def _sizes(names: tuple[str, ...]) -> dict[str, Size]:
    own = [learners[name].own_parameters() for name in names]
    return {parameter.name: parameter.size for one in own for parameter in one.values() if parameter.size}


def kept(algorithm: str) -> tuple[str, ...]:
    """Parameters that set how much a learner keeps: its results that differ in these only are joined to a line.

    Of a learner that is gone those that any other has. The same name, such as η, may be a learning rate elsewhere.
    """
    own = _sizes((algorithm,)) if algorithm in learners else sizes()
    return tuple(name for name, size in own.items() if size.kept)


def budgets() -> tuple[str, ...]:
    """Parameters that are a budget B, set or matched."""
    return tuple(name for name, size in sizes().items() if size.kept and size.sign)


def signs() -> dict[str, str]:
    """What points of two learners are matched on: for each sign of a size the first parameter that has it."""
    found = {size.sign: name for name, size in reversed(sizes().items()) if size.sign}
    return {name: sign for sign, name in reversed(found.items())}


def sizes_of(params: Mapping[str, Any]) -> dict[str, int | None]:
    """What a parameter set has of each of `signs`: of several parameters with the same sign, the first given."""
    alike = {name: [other for other, size in sizes().items() if size.sign == sign] for name, sign in signs().items()}
    return {
        name: next((int(params[other]) for other in others if params.get(other) is not None), None)
        for name, others in alike.items()
    }


def budget_of(params: Mapping[str, Any]) -> int | None:
    """The budget B that a parameter set stands for, or None."""
    return next((int(params[name]) for name in budgets() if params.get(name) is not None), None)
