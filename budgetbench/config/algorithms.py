"""The algorithms of a configuration: each entry a learner and a grid of its parameters."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from budgetbench.config.document import Document
from budgetbench.config.problems import NOTHING, Key, Problem, Words, hint_for
from budgetbench.config.sections import note_unknown_key
from budgetbench.errors import ParameterError, dotted
from budgetbench.experiment import Algorithm, Parameters
from budgetbench.learners import KernelClassifier, learners

SELECTIONS = ("test_error",)

#: Parameter sets of one experiment: more than a table or a figure shows.
MOST_SETS = 10_000


def algorithms_of(document: Document, raw: Any, epochs: int, problems: list[Problem]) -> list[Algorithm | None]:
    """The entries in order, None for one whose problems were noted.

    `epochs` is for the learners that have epochs and are given none of their own.
    """
    key = ("algorithms",)
    if not isinstance(raw, list) or not raw:
        problems.append(document.problem(key, raw, "a list of mappings, each with a name: at least one"))
        return []
    sets = sum(map(_grid_size, raw))
    if sets > MOST_SETS:
        largest = max(range(len(raw)), key=lambda number: _grid_size(raw[number]))
        found, accepted = Words(f"{sets} parameter sets"), f"at most {MOST_SETS} of all algorithms together"
        problems.append(document.problem((*key, largest), found, accepted))
        return []
    entries = [_Entry(document, (*key, number), entry, epochs, problems).read() for number, entry in enumerate(raw)]
    _refuse_repeats(document, entries, problems)
    return entries


def _grid_size(entry: Any) -> int:
    """How many parameter sets an entry asks for, whether they are right or not."""
    values = entry.values() if isinstance(entry, dict) else ()
    return math.prod(len(value) for value in values if isinstance(value, list))


class _Entry:
    """Reads one entry, noting what is wrong with it."""

    def __init__(self, document: Document, key: Key, raw: Any, epochs: int, problems: list[Problem]) -> None:
        self.document, self.key, self.raw, self.epochs, self.problems = document, key, raw, epochs, problems

    def read(self) -> Algorithm | None:
        before = len(self.problems)
        if not isinstance(self.raw, dict):
            self._problem((), self.raw, "a mapping with a name")
            return None
        name = self.raw.get("name", NOTHING)
        if not isinstance(name, str) or name not in learners:
            self._problem(("name",), name, ", ".join(learners), hint_for(name, learners, self.problems))
            return None
        learner = learners[name]
        select = self.raw.get("select")
        if select not in (None, *SELECTIONS):
            self._problem(("select",), select, ", ".join(SELECTIONS), hint_for(select, SELECTIONS, self.problems))
        grid = self._grid(learner)
        trials = self._trials(learner, grid) if grid is not None else ()
        if grid is None or len(self.problems) > before:
            return None
        return Algorithm(learners.canonical(name), learner.revision, select, _complete(grid, trials), trials)

    def _grid(self, learner: type[KernelClassifier]) -> dict[str, tuple[Any, ...]] | None:
        """The values of each parameter given, in the learner's order so that the order of the keys does not matter."""
        own = learner.own_parameters()
        given = {name: value for name, value in self.raw.items() if name not in ("name", "select")}
        unknown = [name for name in given if name not in own]
        for name in unknown:
            if name in {field.name for field in fields(KernelClassifier)}:
                hint = "The kernel is the same for all algorithms: set it under kernel."
                self._problem((name,), name, ", ".join(["name", "select", *own]), hint)
            else:
                note_unknown_key(self.document, (*self.key, name), ["name", "select", *own], self.problems)
        for name, value in given.items():
            if isinstance(value, list):
                self._check_list(name, value)
        if any(value == [] for value in given.values()):
            return None
        if "epochs" in own:
            given.setdefault("epochs", self.epochs)
        listed = {name: value if isinstance(value, list) else [value] for name, value in given.items()}
        return {name: tuple(listed[name]) for name in own if name in listed}

    def _check_list(self, name: str, values: list[Any]) -> None:
        if not values:
            self._problem((name,), values, "a value, or a list of at least one")
        seen: set[str] = set()
        for number, value in enumerate(values):
            if repr(value) in seen:
                self._problem((name, number), value, "each value once")
            seen.add(repr(value))

    def _trials(self, learner: type[KernelClassifier], grid: dict[str, tuple[Any, ...]]) -> tuple[Parameters, ...]:
        trials = []
        reported = set()
        misspelt = any(name not in learner.own_parameters() for name in self.raw if name not in ("name", "select"))
        for numbers in itertools.product(*(range(len(values)) for values in grid.values())):
            chosen = dict(zip(grid, numbers, strict=True))
            try:
                trials.append(learner.checked({name: grid[name][number] for name, number in chosen.items()}))
            except ParameterError as error:
                name = error.parameter
                key: Key = (name, chosen[name]) if isinstance(self.raw.get(name), list) else (name,)
                # What is missing is probably what an unknown key was meant to be, which is noted already.
                if key not in reported and (name in self.raw or not misspelt):
                    reported.add(key)
                    self._problem(key, error.found if name in self.raw else NOTHING, error.accepted)
        return tuple(trials)

    def _problem(self, key: Key, found: Any, accepted: str, hint: str = "") -> None:
        self.problems.append(self.document.problem((*self.key, *key), found, accepted, hint))


def _complete(given: dict[str, tuple[Any, ...]], trials: tuple[Parameters, ...]) -> dict[str, tuple[Any, ...]]:
    """The grid with defaults and with values as the learner takes them (1 becomes 1.0 for a real parameter).

    A default that depends on another parameter of the grid is no axis of its own and stays unsaid.
    """
    grid = {}
    for name in trials[0]:
        values = tuple(dict.fromkeys(trial[name] for trial in trials))
        if len(values) == len(given.get(name, (None,))):
            grid[name] = values
        elif name in given:
            grid[name] = given[name]
    return grid


def _refuse_repeats(document: Document, entries: list[Algorithm | None], problems: list[Problem]) -> None:
    """Note parameter sets that come up again: running them twice would show one result as two."""
    first: dict[str, int] = {}
    for number, identity, trial in _identities(entries):
        if identity not in first:
            first[identity] = number
            continue
        key: Key = ("algorithms", number)
        values = ", ".join(f"{name}={value!r}" for name, value in trial.items())
        found = Words(f"{entries[number].name} with {values} once more")  # type: ignore[union-attr]
        there = document.problem(("algorithms", first[identity]), None, "")
        place = f", line {there.line}" if there.line else ""
        hint = f"It is in {dotted(there.key)}{place} already."
        problems.append(document.problem(key, found, "each algorithm with the same parameters once", hint))


def _identities(entries: list[Algorithm | None]) -> Iterator[tuple[int, str, Parameters]]:
    for number, entry in enumerate(entries):
        for trial in entry.trials if entry else ():
            yield number, json.dumps([entry.name, trial], sort_keys=True), trial  # type: ignore[union-attr]
