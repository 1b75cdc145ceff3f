"""What a kind of figure is: its options and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from budgetbench.errors import BudgetbenchError, ConfigError, nearest
from budgetbench.registry import Registry
from budgetbench.results import Results

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

figures: Registry[FigureKind] = Registry("kind of figure")


class NothingToDraw(BudgetbenchError):  # noqa: N818 - says what is the case
    """The results do not hold what this kind of figure shows."""


@dataclass(frozen=True)
class Drawing:
    """A figure and the numbers drawn in it."""

    figure: Figure
    data: pd.DataFrame


@dataclass(frozen=True)
class Option:
    """One option of a kind of figure.

    Attributes
    ----------
    default : its value where the configuration says nothing.
    accepted : what is accepted, in words.
    accepts : whether a value is accepted.
    """

    default: Any
    accepted: str
    accepts: Callable[[Any], bool]


def one_of(*choices: str) -> Option:
    """One of some words, the first by default."""
    return Option(choices[0], ", ".join(choices), lambda value: value in choices)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_limits(value: Any) -> bool:
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        return False
    return all(map(_is_number, value)) and value[0] < value[1]


TEXT = Option(None, "a text", lambda value: isinstance(value, str))
LIMITS = Option(None, "two numbers, the lower first", _is_limits)
WHOLE = Option(
    None, "an integer of at least 1", lambda value: isinstance(value, int) and value is not True and value > 0
)
SCALE = one_of("linear", "log")
COMMON: dict[str, Option] = {
    "name": TEXT,  # of the files
    "title": TEXT,
    "size": one_of("single", "double"),
    "x_limits": LIMITS,
    "y_limits": LIMITS,
}
"""Options of every kind of figure."""

Draw = Callable[[Results, Mapping[str, Any]], Drawing]


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure.

    Attributes
    ----------
    summary : what it shows, in one line.
    options : its own options, besides the common ones.
    draw : draws it from results and a complete specification; raises `NothingToDraw`.
    """

    name: str
    summary: str
    options: dict[str, Option]
    draw: Draw

    def checked(self, spec: Mapping[str, Any], key: tuple[str | int, ...] = ()) -> dict[str, Any]:
        """A specification with defaults filled in.

        Raises
        ------
        ConfigError : an unknown option or a value that is not accepted; `key` is where the specification stands.
        """
        options = COMMON | self.options
        for name, value in spec.items():
            if name == "kind":
                continue
            if name not in options:
                hint = nearest(name, options)
                raise ConfigError((*key, name), value, f"an option of {self.name}: {', '.join(options)}", hint)
            if value is not None and not options[name].accepts(value):
                raise ConfigError((*key, name), value, options[name].accepted)
        given = {name: value for name, value in spec.items() if value is not None}
        return {"kind": self.name} | {name: option.default for name, option in options.items()} | given


def figure_kind(name: str, summary: str, **options: Option) -> Callable[[Draw], Draw]:
    """Make a drawing function a kind of figure that configurations can name."""

    def decorate(draw: Draw) -> Draw:
        figures.add(name, FigureKind(name, summary, options, draw))
        return draw

    return decorate


def checked_plots(plots: Any, key: tuple[str | int, ...] = ("plots",)) -> list[dict[str, Any]]:
    """The configuration's `plots` with defaults filled in.

    Raises
    ------
    ConfigError : not a list of mappings, an unknown kind, or what `FigureKind.checked` refuses.
    """
    if not isinstance(plots, Sequence) or isinstance(plots, str):
        raise ConfigError(key, plots, "a list of figures, such as [{kind: error_vs_support}]")
    found = []
    for number, spec in enumerate(plots):
        place = (*key, number)
        spec = {"kind": spec} if isinstance(spec, str) else spec
        if not isinstance(spec, Mapping) or "kind" not in spec:
            raise ConfigError(place, spec, "a mapping with the key kind, such as {kind: error_vs_support}")
        if not isinstance(spec["kind"], str) or spec["kind"] not in figures:
            raise ConfigError((*place, "kind"), spec["kind"], ", ".join(figures), nearest(spec["kind"], figures))
        found.append(figures[spec["kind"]].checked(spec, place))
    return found
