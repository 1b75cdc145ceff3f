"""The kernel of a configuration, or a grid of them."""

from __future__ import annotations

import itertools
from typing import Any

from budgetbench.config.algorithms import MOST_SETS, grid_size, selection_of
from budgetbench.errors import ParameterError, Words
from budgetbench.experiment import KernelGrid
from budgetbench.kernels import Kernel, kernels
from budgetbench.reading import Reading

KEY = ("kernel",)
ACCEPTED = "a mapping such as {name: rbf, gamma: 0.5}"


def kernels_of(reading: Reading, raw: Any) -> KernelGrid | None:
    """The kernels that the configuration names, one where no parameter is a list; None with its problems noted."""
    before = len(reading.problems)
    if not isinstance(raw, dict):
        reading.note(KEY, raw, ACCEPTED)
        return None
    name = reading.named(KEY, raw, kernels)
    if name is None:
        return None
    if grid_size(raw) > MOST_SETS:
        reading.note(KEY, Words(f"{grid_size(raw)} kernels"), f"at most {MOST_SETS}")
        return None
    given = {parameter: value for parameter, value in raw.items() if parameter not in ("name", "select")}
    select = selection_of(reading, KEY, raw)
    _check_values(reading, kernels[name], given)
    if len(reading.problems) > before:
        return None
    lists = [value if isinstance(value, list) else [value] for value in given.values()]
    try:
        made = [kernels[name].made(dict(zip(given, values, strict=True))) for values in itertools.product(*lists)]
    except ParameterError as error:
        reading.note_all(KEY, error)
        return None
    repeated = next((kernel for place, kernel in enumerate(made) if kernel in made[:place]), None)
    if repeated:
        reading.note(KEY, Words(f"{repeated} once more"), "each kernel once")
    return KernelGrid(tuple(made), select)


def _check_values(reading: Reading, kernel: type[Kernel], given: dict[str, Any]) -> None:
    """Note unknown parameters, and values that are wrong by themselves."""
    known = kernel.parameters()
    reading.known(KEY, given, ["name", "select", *known])
    for name, value in given.items():
        for number, one in enumerate(value if isinstance(value, list) else [value]):
            at = (name, number) if isinstance(value, list) else (name,)
            try:
                if name in known:
                    known[name].checked(one)
            except ParameterError as error:
                reading.note((*KEY, *at), one, error.accepted, names=error.names)
        if value == []:
            reading.note((*KEY, name), value, "a value, or a list of at least one")
