"""How the report writes numbers, names and anchors."""

from __future__ import annotations

import re
from itertools import chain, count
from typing import Any

import pandas as pd

MINUS = "\u2212"


def number(value: Any, signed: bool = False) -> str:
    """A number for reading: two decimals up to 100, whole numbers as they are, thousands apart from 10 000 on."""
    if pd.isna(value):
        return ""
    value = float(value)
    if abs(value - round(value)) < 1e-9 and not signed:
        text = f"{abs(value):,.0f}".replace(",", "\u2009") if abs(value) >= 10000 else f"{abs(value):.0f}"
    elif 0 < abs(value) < 0.01:
        text = f"{abs(value):.2g}"
    else:
        text = f"{abs(value):.1f}" if abs(value) >= 1000 else f"{abs(value):.2f}"
    sign = MINUS if value < 0 else "+" if signed and value > 0 else ""
    return sign + text


def slug(text: str) -> str:
    """A text as part of an id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "x"


class Anchors:
    """Ids that are used once on a page."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._given: dict[tuple[str, ...], str] = {}

    def new(self, *parts: str) -> str:
        """An id made of these texts, numbered where it is taken."""
        base = "-".join(slug(part) for part in parts)
        numbered = chain([base], (f"{base}-{number}" for number in count(2)))
        anchor = next(one for one in numbered if one not in self._taken)
        self._taken.add(anchor)
        self._given[parts] = anchor
        return anchor

    def of(self, *parts: str) -> str:
        """The id that was made last of these texts."""
        return self._given[parts]


def counted(how_many: int, noun: str) -> str:
    """`1 run`, `3 runs`."""
    return f"{how_many} {noun}{'s' * (how_many != 1)}"
