"""The JSON Schema of a configuration, for editors and other programs: made of what `language` describes.

It says which keys there are and what each accepts by itself; what does not go together, `load` alone knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from budgetbench.config.estimators import DRIVEN
from budgetbench.config.estimators import SECTION as ESTIMATOR
from budgetbench.config.language import CHOICES, FIXED, KEYS, OF_ALGORITHM, Choice
from budgetbench.foreign.features import JOINT, MAPS
from budgetbench.foreign.features import PARAMETERS as FEATURES
from budgetbench.foreign.learner import CHUNK, EPOCHS
from budgetbench.parameters import Parameter, Parameters

Schema = dict[str, Any]


def schema() -> Schema:
    """What a configuration is, as draft 7 of JSON Schema says it, which editors know best."""
    definitions = {f"{key}.{name}": part for key, choice in CHOICES.items() for name, part in _definitions(choice)}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A configuration of budgetbench",
        **_mapping(KEYS, {key: _section(key) for key in (*CHOICES, *FIXED)}),
        "definitions": definitions | {"algorithms.estimator": _estimator()},
    }


def _mapping(parameters: Parameters, known: Mapping[str, Schema | bool]) -> Schema:
    """A mapping with these keys and no other; `known` are the schemas of some of them."""
    return {
        "type": "object",
        "required": [name for name, parameter in parameters.items() if parameter.default is ...],
        "properties": {name: known.get(name, parameter.json_schema) for name, parameter in parameters.items()},
        "additionalProperties": False,
    }


def _section(key: str) -> Schema:
    """What stands under a key of the configuration."""
    inside = _mapping(FIXED[key], {}) if key in FIXED else _chosen(key, CHOICES[key])
    told = {"description": f"{KEYS[key].meaning.rstrip('.')}."}
    return told | (inside if KEYS[key].default is ... else {"anyOf": [inside, {"type": "null"}]})


def _chosen(key: str, choice: Choice) -> Schema:
    """A mapping that chooses an item, or a list of such."""
    chosen, names = choice.chosen.name, [name for one in choice.items for name in choice.items.names_of(one)]
    inside: Schema = {
        "type": "object",
        "required": [chosen],
        "properties": {
            chosen: {"enum": names, "description": choice.chosen.meaning},
            **{name: parameter.json_schema for name, parameter in choice.shared.items()},
        },
        "allOf": [_if(chosen, choice.items.names_of(name), f"{key}.{name}") for name in choice.items],
    }
    if not choice.several:
        return inside
    if key == "algorithms":  # an entry with a class of another package chooses nothing
        inside = {"if": {"required": ["estimator"]}, "then": _definition(f"{key}.estimator"), "else": inside}
    return {"type": "array", "items": {"type": "object"} | inside} | ({"minItems": 1} if key == "algorithms" else {})


def _if(chosen: str, names: tuple[str, ...], definition: str) -> Schema:
    named = {"properties": {chosen: {"enum": list(names)}}, "required": [chosen]}
    return {"if": named, "then": _definition(definition)}


def _definition(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def _definitions(choice: Choice) -> Iterator[tuple[str, Schema]]:
    """For each item what a mapping that chooses it holds."""
    for name in choice.items:
        own = choice.own(choice.items[name])
        known: dict[str, Any] = {one: True for one in choice.shared if one not in own}  # are judged for all items alike
        known |= {one: _grid(parameter) for one, parameter in own.items()} if choice.grid else {}
        known[choice.chosen.name] = {"description": choice.summary(choice.items[name])}
        yield name, _mapping(choice.parameters(name), known)


def _grid(parameter: Parameter) -> Schema:
    """A value, or a list of different ones, each of which is tried."""
    one = dict(parameter.json_schema)
    told = {name: one.pop(name) for name in ("description", "default") if name in one}
    return told | {"anyOf": [one, {"type": "array", "items": one, "minItems": 1, "uniqueItems": True}]}


def _estimator() -> Schema:
    """An entry with a class of another package."""
    maps = {}
    for kind in MAPS:
        own = {name.partition(JOINT)[2]: one for name, one in FEATURES.items() if name.startswith(f"{kind}{JOINT}")}
        maps[kind] = _mapping(own, {name: _grid(parameter) for name, parameter in own.items()})
    known = {name: _grid(parameter) for name, parameter in zip(DRIVEN, (CHUNK, EPOCHS), strict=True)}
    known["features"] = ESTIMATOR["features"].json_schema | {"properties": maps, "additionalProperties": False}
    keys = {**ESTIMATOR, CHUNK.name: CHUNK, EPOCHS.name: EPOCHS, OF_ALGORITHM.name: OF_ALGORITHM}
    return _mapping(keys, known)
