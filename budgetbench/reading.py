"""A document that is being judged: what is wrong with it is noted with its place, so that all is told at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from budgetbench.document import Document, Key
from budgetbench.errors import NOTHING, ConfigError, ParameterError
from budgetbench.parameters import Parameters, check, unknown


@dataclass
class Reading:
    """A document, and the problems noted so far."""

    document: Document
    problems: list[ConfigError] = field(default_factory=list)

    def note(self, key: Key, found: Any, accepted: str, hint: str = "", names: Iterable[str] = ()) -> None:
        self.problems.append(self.document.problem(key, found, accepted, hint, names))

    def note_all(self, key: Key, error: ParameterError) -> None:
        """Note all faults of parameters that stand under `key`."""
        for fault in error.faults:
            self.note((*key, *fault.key), fault.found, fault.accepted, fault.given_hint, fault.names)

    def known(self, key: Key, raw: Mapping[str, Any], names: Iterable[str]) -> None:
        """Note each key of a mapping that is not among `names`."""
        for fault in unknown(raw, list(names)):
            self.note_all(key, fault)

    def named(self, key: Key, raw: Mapping[str, Any], items: Iterable[str], name: str = "name") -> str | None:
        """What a mapping says is its `name`, if it is one of the items."""
        found = raw.get(name, NOTHING)
        if isinstance(found, str) and found in items:
            return found
        self.note((*key, name), found, ", ".join(items), names=items)
        return None

    def checked(self, key: Key, raw: Any, parameters: Parameters) -> dict[str, Any] | None:
        """The values of a mapping with its defaults, or None with its problems noted."""
        if not isinstance(raw, dict):
            self.note(key, raw, f"a mapping with the keys {', '.join(parameters)}")
            return None
        try:
            return check(parameters, raw)
        except ParameterError as error:
            self.note_all(key, error)
            return None
