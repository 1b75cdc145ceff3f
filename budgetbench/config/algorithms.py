"""The algorithms of a configuration: each entry a learner and a grid of its parameters."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from budgetbench.config.estimators import (
    DRIVEN,
    SECTION,
    check_features,
    refusal,
    rewritten,
    title_of,
    written,
)
from budgetbench.document import Key
from budgetbench.errors import NOTHING, ParameterError, Words, dotted
from budgetbench.experiment import SELECTIONS, Algorithm, Parameters
from budgetbench.foreign import ForeignLearner, foreign
from budgetbench.learners import KernelClassifier, learners
from budgetbench.packages import packages_of
from budgetbench.parameters import Parameter, missing, unknown
from budgetbench.reading import Reading
from budgetbench.results.sizes import kept

Declared = Mapping[str, Parameter]
Grid = dict[str, tuple[Any, ...]]

#: Parameter sets of one experiment: more than a table or a figure shows.
MOST_SETS = 10_000


def algorithms_of(reading: Reading, raw: Any, epochs: int, kernels: int = 1) -> list[Algorithm | None]:
    """The entries in order, None for one whose problems were noted.

    `epochs` is for the learners that have epochs and are given none of their own; with so many kernels each parameter
    set is run.
    """
    key = ("algorithms",)
    if not isinstance(raw, list) or not raw:
        reading.note(key, raw, "a list of mappings, each with a name: at least one")
        return []
    sets = kernels * sum(map(grid_size, raw))
    if sets > MOST_SETS:
        largest = max(range(len(raw)), key=lambda number: grid_size(raw[number]))
        found, accepted = Words(f"{sets} parameter sets"), f"at most {MOST_SETS} of all algorithms together"
        reading.note((*key, largest), found, accepted)
        return []
    kinds = [_EstimatorEntry if isinstance(entry, dict) and "estimator" in entry else _Entry for entry in raw]
    entries = [kind(reading, (*key, i), raw[i], epochs).read() for i, kind in enumerate(kinds)]
    _refuse_repeats(reading, entries)
    return entries


def selection_of(reading: Reading, key: Key, raw: dict[str, Any]) -> str | None:
    """The measure by which what stands under `key` is chosen."""
    select = raw.get("select")
    if select not in (None, *SELECTIONS):
        reading.note((*key, "select"), select, ", ".join(SELECTIONS), names=SELECTIONS)
    return select


def grid_size(entry: Any) -> int:
    """How many parameter sets an entry asks for, whether they are right or not."""
    if isinstance(entry, dict) and "estimator" in entry:
        values = [value for _, value in written(entry).values()]
    else:
        values = list(entry.values()) if isinstance(entry, dict) else []
    return math.prod(len(value) for value in values if isinstance(value, list))


class _Entry:
    """Reads one entry, noting what is wrong with it."""

    def __init__(self, reading: Reading, key: Key, raw: Any, epochs: int) -> None:
        self.reading, self.key, self.raw, self.epochs = reading, key, raw, epochs

    def read(self) -> Algorithm | None:
        before = len(self.reading.problems)
        if not isinstance(self.raw, dict):
            self.reading.note(self.key, self.raw, "a mapping with a name")
            return None
        learner = self._learner()
        if learner is None:
            return None
        select = selection_of(self.reading, self.key, self.raw)
        grid = self._grid(learner)
        trials = self._trials(learner, grid) if len(self.reading.problems) == before else ()
        if len(self.reading.problems) > before:
            return None
        return self._algorithm(learner, select, _complete(grid, trials), trials)

    def _learner(self) -> type[KernelClassifier] | None:
        name = self.reading.named(self.key, self.raw, learners)
        return learners[name] if name else None

    def _algorithm(self, learner: type[KernelClassifier], select: str | None, grid: Grid, trials: Any) -> Algorithm:
        name, packages = learner.name, packages_of(learner.__module__)
        later = {one.name: one.default for one in self._parameters(learner).values() if one.later}
        return Algorithm(name, learner.revision, select, grid, trials, sizes=kept(name), packages=packages, later=later)

    def _parameters(self, learner: type[KernelClassifier]) -> Declared:
        return learner.own_parameters()

    def _given(self, own: Declared) -> dict[str, Any]:
        """The parameters that the entry gives, by name."""
        given = {name: value for name, value in self.raw.items() if name not in ("name", "select")}
        for fault in unknown(given, ["name", "select", *own]):
            kernel = fault.parameter in {field.name for field in fields(KernelClassifier)}
            hint = "The kernel is the same for all algorithms: set it under kernel." if kernel else ""
            self.reading.note((*self.key, *fault.key), fault.found, fault.accepted, hint, fault.names)
        return given

    def _place(self, name: str) -> Key:
        """Where a parameter stands in the entry."""
        return (name,)

    def _grid(self, learner: type[KernelClassifier]) -> Grid:
        """The values of each parameter given, in the learner's order so that the order of the keys does not matter."""
        own = self._parameters(learner)
        given = self.given = self._given(own)
        for fault in missing(given, own):
            self.reading.note((*self.key, *self._place(fault.parameter)), fault.found, fault.accepted)
        if "epochs" in own:
            given = {"epochs": self.epochs, **given}
        grid = {name: given[name] if isinstance(given[name], list) else [given[name]] for name in own if name in given}
        for name, values in grid.items():
            key = (*self.key, *self._place(name))
            if not values:
                self.reading.note(key, values, "a value, or a list of at least one")
            seen: set[str] = set()
            for number, value in enumerate(values):
                at = (*key, number) if isinstance(given[name], list) else key
                if repr(value) in seen:
                    self.reading.note(at, value, "each value once")
                seen.add(repr(value))
                try:
                    own[name].checked(value)
                except ParameterError as error:
                    self.reading.note(at, value, error.accepted, names=error.names)
        return {name: tuple(values) for name, values in grid.items()}

    def _trials(self, learner: type[KernelClassifier], grid: Grid) -> tuple[Parameters, ...]:
        """The parameter sets; what is noted are values that are each right and do not go together."""
        trials, reported = [], set()
        for numbers in itertools.product(*(range(len(values)) for values in grid.values())):
            chosen = dict(zip(grid, numbers, strict=True))
            try:
                trials.append(learner.checked({name: grid[name][number] for name, number in chosen.items()}))
            except ParameterError as error:
                name, place = error.parameter, self._place(error.parameter)
                key: Key = (*place, chosen[name]) if isinstance(self.given.get(name), list) else place
                if key not in reported:
                    reported.add(key)
                    found = error.found if name in self.raw or name in self.given else NOTHING
                    self.reading.note((*self.key, *key), found, error.accepted, error.given_hint)
        return tuple(trials)


class _EstimatorEntry(_Entry):
    """Reads one that names a class of another package: its parameters stand in sections."""

    def _learner(self) -> type[KernelClassifier] | None:
        self._written = written(self.raw)
        section = {name: value for name, value in self.raw.items() if name in SECTION}
        self.reading.known(self.key, self.raw, [*SECTION, *DRIVEN, "select"])
        check_features(self.reading, self.key, self.raw)
        checked = self.reading.checked(self.key, section, SECTION)
        if checked is None:
            return None
        try:
            return foreign(checked["estimator"])
        except ParameterError as error:
            self.reading.note_all(self.key, error)
            return None

    def _parameters(self, learner: type[KernelClassifier]) -> Declared:
        assert issubclass(learner, ForeignLearner)
        return learner.parameters_for([name for name, (place, _) in self._written.items() if place[0] == "params"])

    def _given(self, own: Declared) -> dict[str, Any]:
        for name, (place, _) in self._written.items():
            if name not in own:
                self.reading.note((*self.key, *place), *refusal(name, place, own))
        return {name: value for name, (_, value) in self._written.items()}

    def _place(self, name: str) -> Key:
        if name in self._written:
            return self._written[name][0]
        return (name,) if name in ("estimator", *DRIVEN) else ("params", name)

    def _algorithm(self, learner: type[KernelClassifier], select: str | None, grid: Grid, trials: Any) -> Algorithm:
        algorithm = super()._algorithm(learner, select, grid, trials)
        title, places = title_of(self.raw), {name: (self._place(name), values) for name, values in grid.items()}
        modules = [learner.__module__, *(["sklearn"] if self.raw.get("features") else [])]
        entry = rewritten(algorithm.name, title, select, places)
        return replace(algorithm, packages=packages_of(*modules), title=title, entry=entry)


def _complete(given: Grid, trials: tuple[Parameters, ...]) -> Grid:
    """The grid with defaults and with values as the learner takes them (1 becomes 1.0 for a real parameter).

    A default that depends on another parameter of the grid is no axis of its own and stays unsaid.
    """
    grid = {}
    for name in trials[0]:
        values = tuple({repr(trial[name]): trial[name] for trial in trials}.values())
        if len(values) == len(given.get(name, (None,))):
            grid[name] = values
        elif name in given:
            grid[name] = given[name]
    return grid


def _refuse_repeats(reading: Reading, entries: list[Algorithm | None]) -> None:
    """Note parameter sets that come up again: running them twice would show one result as two."""
    first: dict[str, int] = {}
    for number, identity, trial in _identities(entries):
        if identity not in first:
            first[identity] = number
            continue
        key: Key = ("algorithms", number)
        values = ", ".join(f"{name}={value!r}" for name, value in trial.items())
        found = Words(f"{entries[number].name} with {values} once more")  # type: ignore[union-attr]
        there = reading.document.problem(("algorithms", first[identity]), None, "")
        place = f", line {there.line}" if there.line else ""
        hint = f"It is in {dotted(there.key)}{place} already."
        reading.note(key, found, "each algorithm with the same parameters once", hint)


def _identities(entries: list[Algorithm | None]) -> Iterator[tuple[int, str, Parameters]]:
    for number, entry in enumerate(entries):
        for trial in entry.trials if entry else ():
            yield number, json.dumps([entry.name, trial], sort_keys=True), trial  # type: ignore[union-attr]
