"""The parameter sets an experiment asks for, and which of them a recorded run belongs to."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from budgetbench.errors import ParameterError
from budgetbench.results.names import canonical_name, learner

NOT_PARAMETERS = ("name", "select")


@dataclass(frozen=True)
class Point:
    """One algorithm with one parameter set.

    Attributes
    ----------
    entry : position of the entry in the configuration's `algorithms`.
    given : the parameters as the configuration states them, one value each.
    params : `given` with the defaults filled in, as far as they are known.
    select : measure by which one point of the entry is chosen, or None.
    """

    entry: int
    algorithm: str
    given: dict[str, Any]
    params: dict[str, Any] = field(default_factory=dict)
    select: str | None = None

    def accepts(self, algorithm: str, params: Mapping[str, Any]) -> bool:
        """Whether a run with these parameters is a run of this point.

        What the configuration states must be there and equal; a default only must not be contradicted, because an
        older record may lack a parameter that was added since.
        """
        if algorithm != self.algorithm or any(name not in params for name in self.given):
            return False
        return all(params[name] == value for name, value in self.params.items() if name in params)


def canonical_json(params: Mapping[str, Any]) -> str:
    """Parameters as text that is the same whatever the order of their names."""
    return json.dumps(params, sort_keys=True, ensure_ascii=False)


def points(experiment: Mapping[str, Any]) -> list[Point]:
    """The points of an experiment in the configuration's order, the last-named list of an entry varying fastest."""
    found: list[Point] = []
    seen: set[tuple[str, str]] = set()
    for number, entry in enumerate(experiment.get("algorithms") or []):
        entry = {"name": entry} if isinstance(entry, str) else entry
        names = [name for name in entry if name not in NOT_PARAMETERS]
        choices = [entry[name] if isinstance(entry[name], list) else [entry[name]] for name in names]
        algorithm = canonical_name(entry["name"])
        for values in itertools.product(*choices):
            given = dict(zip(names, values, strict=True))
            params = _resolved(algorithm, given, experiment)
            identity = (algorithm, canonical_json(params))
            if identity not in seen:  # the same point asked for twice is one row
                seen.add(identity)
                found.append(Point(number, algorithm, given, params, entry.get("select")))
    return found


def points_of_runs(runs: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Point]:
    """The points that (algorithm, params) pairs make by themselves, in order of appearance."""
    found: dict[tuple[str, str], Point] = {}
    for algorithm, params in runs:
        identity = (algorithm, canonical_json(params))
        if identity not in found:
            found[identity] = Point(len(found), algorithm, dict(params), dict(params))
    return list(found.values())


def point_of(algorithm: str, params: Mapping[str, Any], candidates: list[Point]) -> int | None:
    """Index of the point that a run belongs to, or None.

    Where several accept it (the defaults of an unknown learner are not known), the one that states most parameters.
    """
    accepting = [i for i, point in enumerate(candidates) if point.accepts(algorithm, params)]
    return max(accepting, key=lambda i: (len(candidates[i].given), -i)) if accepting else None


def _resolved(algorithm: str, given: Mapping[str, Any], experiment: Mapping[str, Any]) -> dict[str, Any]:
    cls = learner(algorithm)
    if cls is None:
        return dict(given)
    params = dict(given)
    epochs = experiment.get("epochs")
    if epochs is not None and "epochs" in cls.own_parameters():
        params.setdefault("epochs", epochs)
    try:
        return dict(cls.checked(params))
    except ParameterError:  # results of another version, whose ranges were others, stay readable
        return params
