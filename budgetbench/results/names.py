"""How learners and parameters are written in tables and legends."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from budgetbench.errors import ParameterError
from budgetbench.experiment import KERNEL, Algorithm, without_kernel
from budgetbench.learners import learners


def learner(name: str) -> Any | None:
    """The class of a registered learner, None for an unknown name (results of a learner that is gone)."""
    return learners[name] if learners.canonical(name) in list(learners) else None


def complete(algorithm: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """A parameter set with the learner's defaults; as it stands where this version does not know or accept it."""
    cls = learner(algorithm)
    try:
        return dict(params) if cls is None else {**params, **cls.checked(without_kernel(params))}
    except ParameterError:
        return dict(params)


def canonical_json(params: Mapping[str, Any]) -> str:
    """Parameters as text that is the same whatever the order of their names."""
    return json.dumps(params, sort_keys=True, ensure_ascii=False)


def learner_title(name: str) -> str:
    """How a learner is called in print."""
    title = getattr(learner(name), "title", None)
    if title or ":" in name:  # a class of another package
        return str(title or name.rpartition(":")[2])
    return name.replace("_", " ").capitalize()


def entry_title(entry: Algorithm) -> str:
    """How an entry of an experiment's algorithms is called in print."""
    return entry.title or learner_title(entry.name)


def value_text(value: Any) -> str:
    """A parameter's value as people write it: `before insertion`, 0.01, yes."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:.6g}" if abs(value) < 1e6 else f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(value_text(item) for item in value)
    return str(value).replace("_", " ")


def parameter_name(name: str) -> str:
    """A parameter's name as people write it: `train size`; of `kernel.gamma` and of `nystroem__gamma`, `gamma`."""
    return name.removeprefix(KERNEL).rpartition("__")[2].replace("_", " ")


def parameter_text(name: str, value: Any) -> str:
    """One parameter in words: `C = 10`, `removal: before insertion`, `no average`."""
    words = parameter_name(name)
    if isinstance(value, bool):
        return words if value else f"no {words}"
    if value is None or isinstance(value, str):
        return f"{words}: {value_text(value)}"
    return f"{words} = {value_text(value)}"


def parameters_text(params: Mapping[str, Any], names: Iterable[str]) -> str:
    """Some of the parameters in words, those without a value left out."""
    return ", ".join(parameter_text(name, params[name]) for name in names if params.get(name) is not None)


def varying(sets: Iterable[Mapping[str, Any]], without: Iterable[str] = ()) -> list[str]:
    """Names of the parameters that are not the same in all parameter sets, in order of appearance."""
    rows = list(sets)
    names = dict.fromkeys(name for row in rows for name in row)
    left_out = set(without)
    return [name for name in names if name not in left_out and any(row.get(name) != rows[0].get(name) for row in rows)]
