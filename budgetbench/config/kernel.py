"""The kernel of a configuration."""

from __future__ import annotations

from typing import Any

from budgetbench.config.document import Document
from budgetbench.config.problems import NOTHING, Problem
from budgetbench.config.sections import note_unknown_key
from budgetbench.errors import ParameterError, nearest
from budgetbench.kernels import Kernel, kernels, make_kernel
from budgetbench.kernels.rbf import RBF_WIDTHS
from budgetbench.parameters import checked


def kernel_of(document: Document, raw: Any, problems: list[Problem]) -> Kernel | None:
    """The kernel that the configuration names, or None with its problems noted."""
    key = ("kernel",)
    if not isinstance(raw, dict):
        problems.append(document.problem(key, raw, "a mapping such as {name: rbf, gamma: 0.5}"))
        return None
    name = raw.get("name", NOTHING)
    if not isinstance(name, str) or name not in kernels:
        problems.append(document.problem((*key, "name"), name, ", ".join(kernels), nearest(name, kernels)))
        return None
    before = len(problems)
    given = {parameter: value for parameter, value in raw.items() if parameter != "name"}
    types = kernels[name].parameters()
    for parameter, value in given.items():
        if parameter not in types:
            note_unknown_key(document, (*key, parameter), ["name", *types], problems)
            continue
        try:
            checked(parameter, types[parameter], value)
        except ParameterError as error:
            problems.append(document.problem((*key, parameter), value, error.accepted))
    if name == "rbf" and not any(width in given for width in RBF_WIDTHS) and len(problems) == before:
        # A default would be a guess about the data, and every number of the experiment depends on it.
        problems.append(document.problem((*key, "gamma"), NOTHING, f"exactly one of {', '.join(RBF_WIDTHS)}"))
    if len(problems) > before:
        return None
    try:
        return make_kernel(name, **given)
    except ParameterError as error:
        problems.append(document.problem((*key, error.parameter), error.found, error.accepted))
        return None
