"""A pack beside what came of it here: number by number, and what may be why."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from budgetbench.archive import read_provenance
from budgetbench.experiment import Experiment
from budgetbench.results.names import canonical_json, complete
from budgetbench.runner.merging import compared
from budgetbench.runner.store import recorded
from budgetbench.sharing.packing import Pack

UNTOLD = "not told"
#: Characters of a value that are shown.
LONGEST = 80
#: What is said of a run and is no number of it.
NAMES = frozenset({"key", "status", "experiment", "dataset", "algorithm", "params", "run", "seed", "error"})
#: What the provenance tells of a machine, a program and data, in the order of how much it explains.
DATA = ("identity", "checksum")
ENVIRONMENT = ("budgetbench", "commit", "python", "blas", "blas_for", "processor", "cpus", "platform")


@dataclass(frozen=True)
class Difference:
    """A run whose numbers are not the same: of each measure that differs, the pack's and ours."""

    run: str
    measures: dict[str, tuple[Any, Any]]

    def __str__(self) -> str:
        told = "; ".join(f"{name} {_said(theirs)} in the pack, {_said(ours)} here" for name, (theirs, ours) in self)
        return f"{self.run}: {told}"

    def __iter__(self) -> Iterator[tuple[str, tuple[Any, Any]]]:
        return iter(self.measures.items())


@dataclass
class Reproduction:
    """What came of a pack here.

    Attributes
    ----------
    equal : how many runs have the same numbers.
    differing : those that have not.
    absent : how many of the pack's are not among ours.
    beyond : how many of ours are not in the pack.
    otherwise : how many have another key, and were found by algorithm, parameters, run and seed.
    environment : what differs of data, program and machine: name, in the pack, here.
    """

    equal: int = 0
    differing: list[Difference] = field(default_factory=list)
    absent: int = 0
    beyond: int = 0
    otherwise: int = 0
    environment: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def other_data(self) -> bool:
        """Whether what was learnt from was not the same, as far as both tell."""
        return any(name.startswith("data ") and UNTOLD not in sides for name, *sides in self.environment)


def reproduced(pack: Pack, folder: Path, experiment: Experiment) -> Reproduction:
    """The runs of a pack beside those of a folder.

    Parameters
    ----------
    experiment : what was run here; the folder may hold others beside.
    """
    keys = set(read_provenance(folder).get("keys") or ())
    ours = {key: record for key, record in recorded(folder).items() if key in keys}
    left, found = dict(ours), Reproduction()
    unmatched = []
    for theirs in pack.records:
        if theirs["key"] in left:
            _compare(found, theirs, left.pop(theirs["key"]), experiment.checkpoints)
        else:
            unmatched.append(theirs)
    by_name = {_name(record): key for key, record in left.items()}
    for theirs in unmatched:
        key = by_name.pop(_name(theirs), None)
        if key is None:
            found.absent += 1
        else:
            found.otherwise += 1
            _compare(found, theirs, left.pop(key), experiment.checkpoints)
    found.beyond = len(left)
    found.environment = list(_environment(pack.provenance, read_provenance(folder)))
    return found


def _compare(found: Reproduction, theirs: dict[str, Any], ours: dict[str, Any], checkpoints: int) -> None:
    """Count a run as equal, or note what is not; times, host and version are aside."""
    one, other = compared(theirs, checkpoints), compared(ours, checkpoints)
    names = [name for name in {**one, **other} if name not in NAMES]
    if theirs.get("version") != ours.get("version"):  # which may record more, or less
        names = [name for name in names if name in one and name in other]
    measures = {name: (one.get(name), other.get(name)) for name in names if one.get(name) != other.get(name)}
    if curve := measures.pop("curve", None):
        measures |= _of_curves(*curve)
    if measures:
        found.differing.append(Difference(_called(theirs), measures))
    else:
        found.equal += 1


def _of_curves(theirs: Mapping[str, Any] | None, ours: Mapping[str, Any] | None) -> dict[str, tuple[Any, Any]]:
    """Where two curves part: the first checkpoint at which they are not the same."""
    if not theirs or not ours or theirs["seen"] != ours["seen"]:
        return {"checkpoints": (len(theirs["seen"]) if theirs else 0, len(ours["seen"]) if ours else 0)}
    parted = {}
    for name in ("online_error", "support_size"):
        pairs = zip(theirs["seen"], theirs.get(name) or (), ours.get(name) or (), strict=False)
        first = next(((seen, one, other) for seen, one, other in pairs if one != other), None)
        if first:
            parted[f"{name} after {first[0]} examples"] = first[1:]
    return parted or {"curve": ("another", "another")}


def _name(record: Mapping[str, Any]) -> Hashable:
    """Tells a run from the others of its experiment, in any version."""
    params = canonical_json(complete(record["algorithm"], record["params"]))
    return record["algorithm"], params, record["run"], record.get("seed")


def _called(record: Mapping[str, Any]) -> str:
    params = " ".join(f"{name}={value}" for name, value in record["params"].items())
    return _printable(" ".join(part for part in (record["algorithm"], params, f"run {record['run']}") if part))


def _environment(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """What differs of data, packages and machine, the data first."""
    sides = [_flat(side) for side in (theirs, ours)]
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        one, other = (side.get(name, "") for side in sides)
        if one != other:
            yield name, one or UNTOLD, other or UNTOLD


def _flat(provenance: Mapping[str, Any]) -> dict[str, str]:
    parts = {name: provenance.get(name) for name in ("data", "packages")}
    data, packages = (part if isinstance(part, dict) else {} for part in parts.values())
    told = {f"data {name}": data.get(name) for name in DATA} | {name: packages[name] for name in sorted(packages)}
    told = {**told, **{name: provenance.get(name) for name in ENVIRONMENT}}
    return {name: _said(value) for name, value in told.items() if value is not None}


def _said(value: Any) -> str:
    """A value in a line of print."""
    text = _printable(", ".join(map(str, value)) if isinstance(value, list) else str(value))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _printable(text: str) -> str:
    """Without what would steer a terminal: what came from a pack may be anything."""
    return "".join(character if character.isprintable() else " " for character in text)
