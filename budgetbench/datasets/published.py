"""Datasets that come in files: have them from wherever they can be had, read them, and check what was read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from budgetbench.datasets.base import Data, Dataset, Examples, Label, Request
from budgetbench.datasets.cache import Cache, Fetched, File, Reach, ending_in_order, place, sweep
from budgetbench.datasets.download import UnusableError
from budgetbench.datasets.fingerprint import ROUNDED, Fingerprint, Rounding, fingerprint
from budgetbench.datasets.parse import UnfitError, brief
from budgetbench.errors import DataError

#: Examples by part: ``train``, and ``test`` where there is one.
Parts = dict[str, Examples]


def by_part(train: Examples, test: Examples | None = None) -> Parts:
    return {"train": train} if test is None else {"train": train, "test": test}


@dataclass(frozen=True)
class Recipe:
    """One way to get a dataset.

    Attributes
    ----------
    files : what it needs.
    read : makes something of the unpacked content of one file; ValueError if that is not what it should be.
    combine : makes the examples of what was read from the files, in their order.
    """

    files: tuple[File, ...]
    read: Callable[[bytes], Any]
    combine: Callable[..., Parts] = by_part


@dataclass(frozen=True)
class Form:
    """One form of a dataset.

    Attributes
    ----------
    variant : its name; empty where there is one form.
    recipes : the ways to get it, all of the same content, the preferred one first.
    fingerprints : by part, what to recognise it by.
    tolerance : how far the averages of a copy may be off.
    rounding : of the known training set, where a copy can be had that no checksum confirms.
    classes : where they are others than the dataset's.
    """

    variant: str
    recipes: tuple[Recipe, ...]
    fingerprints: Mapping[str, Fingerprint]
    tolerance: float = ROUNDED
    rounding: Rounding | None = None
    classes: tuple[Label, ...] = ()


class Published(Dataset):
    """A dataset in files. A subclass gives its `forms`, the default one first, whose sizes are the dataset's."""

    classes: tuple[Label, ...]
    forms: tuple[Form, ...] = ()

    def __init_subclass__(cls) -> None:
        cls.variants = tuple(form.variant for form in cls.forms if form.variant)
        every = [file for form in cls.forms for recipe in form.recipes for file in recipe.files]
        cls.files = tuple(dict.fromkeys(file.place for file in every))
        for form in cls.forms[:1]:
            train, test = form.fingerprints["train"], form.fingerprints.get("test")
            cls.n_train, cls.n_features = train.rows, train.inputs
            cls.n_test, cls.pooled = test.rows if test else None, test is None

    def classes_of(self, variant: str | None) -> tuple[Label, ...]:
        return next((form.classes for form in self.forms if form.variant == variant and form.classes), self.classes)

    def _load(self, request: Request) -> Data:
        form = next(form for form in self.forms if form.variant == request.variant)
        with ending_in_order():
            parts, files = Hunt(self, form, request.cache).run()
        identity = f"{self.name}/{form.variant}".rstrip("/")
        paths = tuple(request.cache.path(file) for file in files)
        return Data(parts["train"], parts.get("test"), self.classes_of(form.variant), identity, paths)

    def problems(self, parts: Parts, form: Form) -> dict[str, str]:
        """What is wrong with loaded examples, by part; empty if they are the published ones."""
        found = {}
        for part, expected in form.fingerprints.items():
            actual = fingerprint(parts[part], len(self.classes_of(form.variant)))
            difference = expected.difference(actual, form.tolerance)
            if not difference and part == "train" and form.rounding:
                difference = form.rounding.difference(parts[part], expected, actual)
            if difference:
                found[part] = difference
        return found


@dataclass
class Hunt:
    """One search for a dataset's files. It remembers what has failed, so that no place is asked twice."""

    dataset: Published
    form: Form
    cache: Cache
    had: dict[File, Fetched] = field(default_factory=dict)
    failed: dict[tuple[File, str], str] = field(default_factory=dict)

    def run(self) -> tuple[Parts, tuple[File, ...]]:
        """The examples and the files they came from; raises `DataError` when every way has failed."""
        sweep(self.cache.folder)
        try:
            for reach in Reach:
                for recipe in self.form.recipes:
                    parts = self.attempt(recipe, reach)
                    if parts is not None:
                        for file in recipe.files:
                            self.had[file].keep()
                        return parts, recipe.files
        finally:
            for fetched in self.had.values():
                fetched.drop()
        raise DataError(self.message())

    def attempt(self, recipe: Recipe, reach: Reach) -> Parts | None:
        """The examples by this recipe, or None if a file cannot be had within reach."""
        while all(self.have(file, reach) for file in recipe.files):
            read: list[Any] = []
            try:
                for file in recipe.files:
                    read.append(recipe.read(self.had[file].content))
                parts = recipe.combine(*read)
                problems = self.dataset.problems(parts, self.form)
            except (ValueError, IndexError) as error:  # the readers', for content in no known form
                reason = str(error) if isinstance(error, UnfitError) else f"cannot be read ({brief(error)})"
                self.put_aside(recipe.files[len(read) : len(read) + 1] or recipe.files, reason)
                continue
            if not problems:
                return parts
            for part, problem in problems.items():
                self.put_aside(tuple(f for f in recipe.files if f.part in ("", part)) or recipe.files, problem)
        return None

    def have(self, file: File, reach: Reach) -> bool:
        """Get the file from the nearest place that has not failed."""
        for origin in self.cache.origins(file, reach):
            if file not in self.had and (file, origin) not in self.failed:
                try:
                    self.had[file] = self.cache.fetch(file, origin)
                except UnusableError as error:
                    self.failed[file, origin] = str(error)
        return file in self.had

    def put_aside(self, suspects: tuple[File, ...], problem: str) -> None:
        """Do not use these copies again; of several, only those that no checksum has confirmed."""
        for file in [file for file in suspects if not file.verified] or suspects:
            if file in self.had:
                fetched = self.had.pop(file)
                fetched.drop()
                self.failed[file, fetched.origin] = problem

    def message(self) -> str:
        """What was tried, in a line each, and what to do."""
        ways = [recipe.files for recipe in self.form.recipes]
        folders = list(dict.fromkeys(file.folder for files in ways for file in files))
        where, named = self.cache.folder, attrgetter("place")
        if len(folders) == 1:
            where, named = where / folders[0], attrgetter("name")
        reasons = dict.fromkeys(
            f"  {file.name}: {place(origin) if origin else self.cache.path(file)}: {reason}"
            for (file, origin), reason in self.failed.items()
            if origin or reason != "not there"
        )
        lines = [
            f"the files of dataset {self.dataset.name} could not be had.",
            *reasons,
            f"Put {'; or '.join(listed([named(file) for file in files]) for files in ways)} into {where}.",
            f"Or name a folder or URL that holds {' or '.join(f'{folder}/<file>' for folder in folders)} "
            "with --mirror or BUDGETBENCH_MIRROR.",
        ]
        return "\n".join(lines)


def listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
