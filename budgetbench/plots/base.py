"""What a kind of figure is: its options and how it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Len
from pydantic import AfterValidator

from budgetbench.errors import BudgetbenchError
from budgetbench.parameters import Accepted, FileName, Parameter, check, declared
from budgetbench.registry import Registry
from budgetbench.results import Results

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

figures: Registry[FigureKind] = Registry("kind of figure", "budgetbench.plots")


class NothingToDraw(BudgetbenchError):  # noqa: N818 - says what is the case
    """The results do not hold what this kind of figure shows."""


@dataclass(frozen=True)
class Drawing:
    """A figure and the numbers drawn in it."""

    figure: Figure
    data: pd.DataFrame


def _rising(limits: list[float]) -> list[float]:
    if not limits[0] < limits[1]:
        raise ValueError("the lower first")
    return limits


Limits = Annotated[list[float], Len(2, 2), AfterValidator(_rising), Accepted("two numbers, the lower first")]
Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class Options:
    """What figures of every kind take; a kind adds its own.

    Parameters
    ----------
    name : what its files are called; by default as its kind.
    title : above it; by default the experiment's.
    size : for one column of a page, or for two.
    x_limits, y_limits : where the axes begin and end.
    """

    name: FileName | None = None
    title: Annotated[str, Accepted("a text")] | None = None
    size: Literal["single", "double"] = "single"
    x_limits: Limits | None = None
    y_limits: Limits | None = None


Draw = Callable[[Results, Any], Drawing]


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure.

    Attributes
    ----------
    summary : what it shows, in one line.
    options : what a configuration can say about it.
    draw : draws it from results and its options; raises `NothingToDraw`.
    """

    name: str
    summary: str
    options: type[Options]
    draw: Draw

    def parameters(self) -> dict[str, Parameter]:
        """What `options` declares."""
        return declared(self.options)

    def checked(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The complete specification with these options; `ParameterError` says all that is wrong with them."""
        return {"kind": self.name} | check(self.parameters(), options)

    def drawn(self, results: Results, spec: Mapping[str, Any]) -> Drawing:
        """The figure that a complete specification asks for."""
        return self.draw(results, self.options(**{name: value for name, value in spec.items() if name != "kind"}))


def figure_kind(summary: str, options: type[Options]) -> Callable[[Draw], Draw]:
    """Make a drawing function a kind of figure that configurations can name as it is called."""

    def decorate(draw: Draw) -> Draw:
        name = draw.__name__
        figures.add(name, FigureKind(name, summary, options, draw))
        return draw

    return decorate
