"""How a configuration writes an estimator of another package, and the flat parameter set that its runs have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from budgetbench.document import Key
from budgetbench.foreign.features import JOINT, MAPS
from budgetbench.foreign.learner import CHUNK, EPOCHS
from budgetbench.parameters import Accepted, Parameter, Text
from budgetbench.reading import Reading

#: What stands beside the parameters of how it is driven.
SECTION = {
    "estimator": Parameter("estimator", Annotated[str, Accepted("a class as module:Class")], ...),
    "params": Parameter("params", Annotated[dict[str, Any], Accepted("a mapping of parameters of the class")], {}),
    "features": Parameter("features", Annotated[dict[str, Any], Accepted(f"a mapping with {' or '.join(MAPS)}")], {}),
    "title": Parameter("title", Text | None, None),
}
DRIVEN = (CHUNK.name, EPOCHS.name)

#: Name in a parameter set → where it stands in the entry, and what is written there.
Written = dict[str, tuple[Key, Any]]


def written(raw: Mapping[str, Any]) -> Written:
    """The parameters of an entry, of whichever section, as far as it is right."""
    found: Written = {name: ((name,), raw[name]) for name in DRIVEN if name in raw}
    features, params = raw.get("features"), raw.get("params")
    for kind, own in features.items() if isinstance(features, dict) else ():
        for name, value in own.items() if isinstance(own, dict) and kind in MAPS else ():
            found[f"{kind}{JOINT}{name}"] = (("features", kind, name), value)
    for name, value in params.items() if isinstance(params, dict) else ():
        found[name] = (("params", name), value)
    return found


def rewritten(name: str, title: str, select: str | None, grid: Mapping[str, tuple[Key, Any]]) -> dict[str, Any]:
    """The entry as plain data that is read back as the same entry; `grid` has places and values of all parameters."""
    entry: dict[str, Any] = {"estimator": name, "title": title, **({"select": select} if select else {})}
    for place, values in grid.values():
        inside = entry
        for section in place[:-1]:
            inside = inside.setdefault(str(section), {})
        alone = len(values) == 1 and not isinstance(values[0], list)  # a list by itself would be read as a grid
        inside[str(place[-1])] = values[0] if alone else list(values)
    return entry


def refusal(name: str, place: Key, own: Mapping[str, Any]) -> tuple[Any, str, str, list[str]]:
    """What is found, what is accepted, a hint and names, for a parameter that there is not."""
    if place[0] in DRIVEN:
        accepted = "nothing: it is for a class that goes on learning and has no parameter of this name"
        return name, accepted, "", []
    names = [other for other in own if JOINT not in other and other not in DRIVEN]
    if place[0] == "features":
        names = [other.partition(JOINT)[2] for other in own if other.startswith(f"{place[1]}{JOINT}")]
    return place[-1], ", ".join(names) or "no parameter", "", names


def title_of(raw: Mapping[str, Any]) -> str:
    """What an entry is called in tables and figures: what it says, or the class, with its features."""
    if isinstance(raw.get("title"), str):
        return str(raw["title"])
    features = raw.get("features")
    maps = [MAPS[kind].__name__ for kind in (features if isinstance(features, dict) else ()) if kind in MAPS]
    return " + ".join([*maps, str(raw.get("estimator")).rpartition(":")[2]])


def check_features(reading: Reading, key: Key, raw: Mapping[str, Any]) -> None:
    """Note what is wrong with the maps of an entry; their parameters are judged with the others."""
    features = raw.get("features") or {}
    if not isinstance(features, dict):
        return
    for kind, own in features.items():
        if kind not in MAPS:
            reading.note((*key, "features", kind), kind, ", ".join(MAPS), names=MAPS)
        elif not isinstance(own, dict) or not own:
            reading.note((*key, "features", kind), own, "a mapping such as {n_components: 100}")
