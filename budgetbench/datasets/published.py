"""Datasets that come in files: have them from wherever they can be had, read them, and check what was read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from budgetbench.datasets.base import Data, Dataset, Examples, Label, Request
from budgetbench.datasets.cache import Cache, Fetched, File, Reach, place
from budgetbench.datasets.download import UnusableError
from budgetbench.datasets.fingerprint import ROUNDED, Fingerprint, Rounding, fingerprint
from budgetbench.datasets.incoming import ending_in_order
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


class Published(Dataset):
    """A dataset in files. A subclass gives recipes, all of the same content, and what to recognise it by.

    `fingerprints` are by variant (the empty string where there are none) and part; `roundings` by variant, for training
    sets of which a copy can be had that no checksum confirms.
    """

    fingerprints: Mapping[str, Mapping[str, Fingerprint]] = {}
    roundings: Mapping[str, Rounding] = {}
    tolerance: float = ROUNDED

    @abstractmethod
    def recipes(self, variant: str) -> tuple[Recipe, ...]:
        """The ways to get the dataset, the preferred one first."""

    def classes_of(self, variant: str) -> tuple[Label, ...]:
        """The class labels of a variant."""
        assert self.classes is not None
        return self.classes

    def _load(self, request: Request) -> Data:
        parts, files = Hunt(self, request.variant, request.cache).run()
        identity = f"{self.name}/{request.variant}".rstrip("/")
        paths = tuple(request.cache.path(file) for file in files)
        return Data(parts["train"], parts.get("test"), self.classes_of(request.variant), identity, paths)

    def problems(self, parts: Parts, variant: str) -> dict[str, str]:
        """What is wrong with loaded examples, by part; empty if they are the published ones."""
        found = {}
        for part, expected in self.fingerprints[variant].items():
            actual = fingerprint(parts[part], len(self.classes_of(variant)))
            difference = expected.difference(actual, self.tolerance)
            if not difference and part == "train" and variant in self.roundings:
                difference = self.roundings[variant].difference(parts[part], expected, actual)
            if difference:
                found[part] = difference
        return found


@dataclass
class Hunt:
    """One search for a dataset's files. It remembers what has failed, so that no place is asked twice."""

    dataset: Published
    variant: str
    cache: Cache
    had: dict[File, tuple[str, Fetched]] = field(default_factory=dict)
    failed: dict[tuple[File, str], str] = field(default_factory=dict)

    def run(self) -> tuple[Parts, tuple[File, ...]]:
        """The examples and the files they came from; raises `DataError` when every way has failed."""
        with ending_in_order():
            return self.search(self.dataset.recipes(self.variant))

    def search(self, recipes: tuple[Recipe, ...]) -> tuple[Parts, tuple[File, ...]]:
        self.cache.sweep()
        try:
            for reach in Reach:
                for recipe in recipes:
                    parts = self.attempt(recipe, reach)
                    if parts is not None:
                        for file in recipe.files:
                            self.had[file][1].keep()
                        return parts, recipe.files
        finally:
            for _, fetched in self.had.values():
                fetched.drop()
        raise DataError(self.message(recipes))

    def attempt(self, recipe: Recipe, reach: Reach) -> Parts | None:
        """The examples by this recipe, or None if a file cannot be had within reach."""
        while all(self.have(file, reach) for file in recipe.files):
            read: list[Any] = []
            try:
                for file in recipe.files:
                    read.append(recipe.read(self.had[file][1].content))
                parts = recipe.combine(*read)
                problems = self.dataset.problems(parts, self.variant)
            except (ValueError, IndexError) as error:  # the readers', for content in no known form
                culprits = recipe.files[len(read) : len(read) + 1] or recipe.files
                self.put_aside(
                    culprits, str(error) if isinstance(error, UnfitError) else f"cannot be read ({brief(error)})"
                )
                continue
            if not problems:
                return parts
            for part, problem in problems.items():
                self.put_aside(tuple(f for f in recipe.files if f.part in ("", part)) or recipe.files, problem)
        return None

    def have(self, file: File, reach: Reach) -> bool:
        """Get the file from the nearest place that has not failed."""
        if file in self.had:
            return True
        for origin in self.cache.origins(file, reach):
            if (file, origin) in self.failed:
                continue
            try:
                self.had[file] = (origin, self.cache.fetch(file, origin))
                return True
            except UnusableError as error:
                self.failed[file, origin] = str(error)
        return False

    def put_aside(self, suspects: tuple[File, ...], problem: str) -> None:
        """Do not use these copies again; of several, only those that no checksum has confirmed."""
        for file in [file for file in suspects if not file.verified] or suspects:
            if file in self.had:
                origin, fetched = self.had.pop(file)
                fetched.drop()
                self.failed[file, origin] = problem

    def message(self, recipes: tuple[Recipe, ...]) -> str:
        """What was tried, in a line each, and what to do."""
        folders = list(dict.fromkeys(file.folder for recipe in recipes for file in recipe.files))
        where = self.cache.folder / folders[0] if len(folders) == 1 else self.cache.folder
        ways = [
            listed([file.name if len(folders) == 1 else f"{file.folder}/{file.name}" for file in recipe.files])
            for recipe in recipes
        ]
        reasons = dict.fromkeys(
            f"  {file.name}: {self.where(file, origin)}: {reason}"
            for (file, origin), reason in self.failed.items()
            if origin or reason != "not there"
        )
        layout = " or ".join(f"{folder}/<file>" for folder in folders)
        lines = [
            f"the files of dataset {self.dataset.name} could not be had.",
            *reasons,
            f"Put {'; or '.join(ways)} into {where}.",
            f"Or name a folder or URL that holds {layout} with --mirror or BUDGETBENCH_MIRROR.",
        ]
        return "\n".join(lines)

    def where(self, file: File, origin: str) -> str:
        return place(origin) if origin else str(self.cache.path(file))


def listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
