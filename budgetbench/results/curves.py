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


class Noted:
    """The course of a pass of n rounds, noted at its checkpoints while it goes by: nothing else is kept of its rounds.

    Attributes
    ----------
    rounds, mistakes : how many there were.
    """

    def __init__(self, n: int, checkpoints: int) -> None:
        self._wanted = checkpoints_of(n, checkpoints) if checkpoints and n else np.empty(0, dtype=np.int64)
        self.rounds = self.mistakes = 0
        self._errors: list[float] = []
        self._sizes: list[int] = []

    def go_by(self, margins: NDArray[np.float64], sizes: NDArray[np.int64]) -> None:
        """Further rounds have passed.

        Parameters
        ----------
        margins : of each of them, before the update; at most 0 is a mistake.
        sizes : after each of them; none where no size is known.
        """
        mistakes = self.mistakes + np.cumsum(margins <= 0)
        reached = self._wanted[(self._wanted > self.rounds) & (self._wanted <= self.rounds + len(margins))]
        places = reached - self.rounds - 1
        self._errors += [round(value, 6) for value in (mistakes[places] / reached).tolist()]
        self._sizes += sizes[places].tolist() if len(sizes) else []
        self.rounds += len(margins)
        self.mistakes = int(mistakes[-1])

    @property
    def curve(self) -> dict[str, Any] | None:
        """As it stands in a record; None where no checkpoints are asked for."""
        if not len(self._wanted):
            return None
        return {"seen": self._wanted.tolist(), "online_error": self._errors, "support_size": self._sizes or None}


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
