"""Which attributes of an object a call reads, and how large they are as a pickle."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any


def pickled(model: Any, use: Callable[[Any], object]) -> int:
    """The size of the pickle of a model with those attributes alone that a call reads before it sets them."""
    read: set[str] = set()
    known: set[str] = set()  # read or set

    class Watched(type(model)):  # type: ignore[misc]
        def __getattribute__(self, name: str) -> Any:
            if name not in known and name in object.__getattribute__(self, "__dict__"):
                read.add(name)
                known.add(name)
            return super().__getattribute__(name)

        def __setattr__(self, name: str, value: Any) -> None:
            known.add(name)
            super().__setattr__(name, value)

    before = pickle.dumps(model)
    copy = pickle.loads(before)
    copy.__class__ = Watched
    use(copy)
    bare = pickle.loads(before)  # whose parts may know it
    for name in set(vars(bare)) - read:
        object.__delattr__(bare, name)
    return len(pickle.dumps(bare))
