"""The colours of the report, light and dark, and what keeps lines and text visible on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from budgetbench.verdicts.model import OUTCOMES

COLOURS: dict[str, tuple[str, str]] = {
    "ground": ("#fdfdfb", "#15171a"),
    "raised": ("#f4f4ef", "#1e2125"),
    "ink": ("#1c1e21", "#e7e6e1"),
    "muted": ("#565b61", "#a6aab0"),
    "line": ("#d9d9d2", "#373b41"),
    "control": ("#7d8187", "#81868d"),
    "accent": ("#1d5a9e", "#8fbdf0"),
    "grid": ("#e3e3e0", "#30343a"),
} | {outcome.slug: (outcome.light, outcome.dark) for outcome in OUTCOMES}
LIGHT, DARK = ({name: pair[side] for name, pair in COLOURS.items()} for side in (0, 1))

NEUTRALS = {"#000000": "ink", "#ffffff": "ground", "#e3e3e3": "grid", "#555555": "muted"}
"""Colours of the figures that are not a learner's, by the name they have in the report."""

VISIBLE = 3.0
"""Contrast that lines and markers have at least (WCAG 2.2, criterion 1.4.11)."""


def variable(colour: str) -> str:
    """The CSS variable that stands for a colour of a figure, such as ``#0072b2``."""
    return f"--{NEUTRALS[colour]}" if colour in NEUTRALS else f"--c-{colour[1:]}"


def variables(theme: Mapping[str, str], colours: Iterable[str]) -> str:
    """CSS declarations of a theme; the `colours` of the figures are moved as far as they need to be visible on it."""
    own = {f"--{name}": value for name, value in theme.items()}
    drawn = {variable(colour): visible(colour, theme) for colour in sorted(set(colours) - set(NEUTRALS))}
    return " ".join(f"{name}: {value};" for name, value in (own | drawn).items())


def visible(colour: str, theme: Mapping[str, str]) -> str:
    """The colour, moved towards the theme's ink until its contrast with the ground is `VISIBLE`."""
    moved = colour
    for step in range(1, 20):
        if contrast(moved, theme["ground"]) >= VISIBLE:
            break
        moved = _mixed(colour, theme["ink"], step / 20)
    return moved


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, 1 to 21, as WCAG 2 defines it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in _parts(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _parts(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def _mixed(colour: str, other: str, share: float) -> str:
    parts = zip(_parts(colour), _parts(other), strict=True)
    return "#" + "".join(f"{round(255 * ((1 - share) * a + share * b)):02x}" for a, b in parts)
