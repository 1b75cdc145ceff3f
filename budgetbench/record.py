"""Numbers by name that compiled loops read and write in place."""

from __future__ import annotations

from typing import TypeVar, cast, get_type_hints

import numpy as np

Layout = TypeVar("Layout")

_TYPES = {int: np.int64, float: np.float64}


def record(layout: type[Layout]) -> Layout:
    """One number for each annotation of a class, an int or a float, all 0: to numba a record, passed by reference.

    A name must be none that NumPy's scalars have, such as ``size`` or ``round``.
    """
    dtype = np.dtype((np.record, [(name, _TYPES[kind]) for name, kind in get_type_hints(layout).items()]))
    return cast(Layout, np.zeros((), dtype)[()])
