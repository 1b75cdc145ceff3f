"""Named things that users choose from: learners, datasets, kernels, figures."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from budgetbench.errors import Notice, RequestError, nearest, shown

Item = TypeVar("Item")


class Registry(Generic[Item]):
    """Items by name, in the order in which they were registered, with aliases.

    A module registers what it defines when it is imported, so that adding an item touches no other file.

    Parameters
    ----------
    kind : what the items are, for messages.
    group : entry points by which installed packages add items: each names a module that registers some, or an item in
        one. They are imported when the registry is first asked for a name, by which time our own modules are there.
    """

    def __init__(self, kind: str, group: str = "") -> None:
        self.kind = kind
        self._group = group
        self._items: dict[str, Item] = {}
        self._aliases: dict[str, str] = {}
        self._elsewhere: Callable[[str], Item | None] = lambda name: None

    def add(self, name: str, item: Item, aliases: tuple[str, ...] = ()) -> Item:
        for new in (name, *aliases):
            if new in self._items or new in self._aliases:
                raise ValueError(f"{self.kind} {new!r} is registered twice")
        self._items[name] = item
        self._aliases.update(dict.fromkeys(aliases, name))
        return item

    def register(self, name: str, aliases: tuple[str, ...] = ()) -> Callable[[Item], Item]:
        """`add` as a decorator."""
        return lambda item: self.add(name, item, aliases)

    def elsewhere(self, find: Callable[[str], Item | None]) -> Callable[[str], Item | None]:
        """As a decorator: the function is asked for items of names that nobody has registered."""
        self._elsewhere = find
        return find

    @property
    def registered(self) -> dict[str, Item]:
        """The items by name that are there so far, without those of packages that are not imported yet."""
        return dict(self._items)

    def canonical(self, name: str) -> str:
        return self._aliases.get(name, name)

    def names_of(self, name: str) -> tuple[str, ...]:
        """An item's own name, and its aliases."""
        return (name, *(alias for alias, meant in self._aliases.items() if meant == name))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._found(name) is not None

    def __getitem__(self, name: str) -> Item:
        item = self._found(name)
        if item is None:
            known = ", ".join(self._items)
            hint = nearest(name, [*self._items, *self._aliases])
            raise RequestError(f"unknown {self.kind} {shown(name)}; accepted: {known}. {hint}".rstrip())
        return item

    def __iter__(self) -> Iterator[str]:
        self._import_installed()
        return iter(self._items)

    def __len__(self) -> int:
        self._import_installed()
        return len(self._items)

    def _found(self, name: str) -> Item | None:
        self._import_installed()
        item = self._items.get(self.canonical(name))
        return self._elsewhere(name) if item is None else item

    def _import_installed(self) -> None:
        """Import what installed packages add, once; one that fails is left out with a notice."""
        group, self._group = self._group, ""
        for point in entry_points(group=group) if group else ():
            try:
                point.load()
            except Exception as error:
                package = f"{point.dist.name} {point.dist.version}" if point.dist else point.module
                problem = f"{type(error).__name__}: {error}"
                warnings.warn(f"{self.kind} {point.name} of {package} is left out: {problem}", Notice, stacklevel=4)
