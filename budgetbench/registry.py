"""Named things that users choose from: learners, datasets, kernels, figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from budgetbench.errors import RequestError, nearest, shown

Item = TypeVar("Item")


class Registry(Generic[Item]):
    """Items by name, in the order in which they were registered, with aliases.

    A module registers what it defines when it is imported, so that adding an item touches no other file.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._items: dict[str, Item] = {}
        self._aliases: dict[str, str] = {}

    def add(self, name: str, item: Item, aliases: tuple[str, ...] = ()) -> Item:
        for new in (name, *aliases):
            if new in self:
                raise ValueError(f"{self.kind} {new!r} is registered twice")
        self._items[name] = item
        self._aliases.update(dict.fromkeys(aliases, name))
        return item

    def register(self, name: str, aliases: tuple[str, ...] = ()) -> Callable[[Item], Item]:
        """`add` as a decorator."""
        return lambda item: self.add(name, item, aliases)

    def canonical(self, name: str) -> str:
        return self._aliases.get(name, name)

    def __contains__(self, name: object) -> bool:
        return name in self._items or name in self._aliases

    def __getitem__(self, name: str) -> Item:
        if name not in self:
            known = ", ".join(self._items)
            hint = nearest(name, [*self._items, *self._aliases])
            raise RequestError(f"unknown {self.kind} {shown(name)}; accepted: {known}. {hint}".rstrip())
        return self._items[self.canonical(name)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)
