"""The course of a run, noted at its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def checkpoints_of(n: int, checkpoints: int) -> NDArray[np.int64]:
    """The rounds, evenly spaced, at which a pass of n rounds is noted; the last one is among them."""
    rounds = np.unique(np.linspace(n / checkpoints, n, checkpoints).round().astype(np.int64))
    return rounds[rounds > 0]


def at_checkpoints(curve: Mapping[str, Any], checkpoints: int) -> dict[str, list[Any]] | None:
    """A curve with so many checkpoints, taken out of one that has more; None where it does not have these."""
    places = {seen: place for place, seen in enumerate(curve["seen"])}
    wanted = checkpoints_of(curve["seen"][-1], checkpoints).tolist()
    if not places.keys() >= set(wanted):
        return None
    return {name: values and [values[places[seen]] for seen in wanted] for name, values in curve.items()}


def has_curve(record: Mapping[str, Any], checkpoints: int) -> bool:
    """Whether a record tells the course of its run as finely as asked; only online learners have one to tell."""
    if not checkpoints or record.get("online_error") is None:
        return True
    return bool(record.get("curve")) and at_checkpoints(record["curve"], checkpoints) is not None
