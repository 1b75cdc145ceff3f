"""What is compared: a number for each run, in the units in which papers print it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import AfterValidator

from budgetbench.errors import RequestError, nearest
from budgetbench.parameters import Accepted
from budgetbench.results.sizes import budget_of

Values = pd.Series  # of floats, indexed by run


@dataclass(frozen=True)
class Unit:
    """What a number is counted in.

    Attributes
    ----------
    name : in tables; `words` in full, where that is something else.
    sign : stands behind a number that is no difference.
    """

    name: str = ""
    words: str = ""
    sign: str = ""


POINTS = Unit("points", "percentage points", " %")
EXAMPLES = Unit("examples")
SECONDS = Unit("s", "seconds")
TIMES = Unit("times")
PLAIN = Unit()


@dataclass(frozen=True)
class Measure:
    """A number that every run has.

    Attributes
    ----------
    words : how it is called in print.
    unit : of a difference.
    value : from the runs of one parameter set, as `Results.trials` has them, to one number for each.
    close, relative : what passes for the same: the larger of this many units and this share of the number.
    """

    words: str
    unit: Unit
    value: Callable[[pd.DataFrame], Any]
    close: float = 0.0
    relative: float = 0.0

    def same(self, *numbers: float) -> float:
        """The largest difference that passes for none, between numbers of this size."""
        return max(self.close, self.relative * max(abs(number) for number in numbers))

    def text(self, number: float) -> str:
        """A number as it is printed, without its unit."""
        if self.unit is EXAMPLES:
            return f"{number:.0f}" if abs(number) >= 1e4 or number == round(number) else f"{number:.1f}"
        return f"{number:.2f}"


def measure_named(name: str) -> Measure:
    if name not in MEASURES:
        hint = nearest(name, MEASURES)
        raise RequestError(f"measure: found {name!r}; accepted: {', '.join(MEASURES)}. {hint}".rstrip())
    return MEASURES[name]


def _percent(column: str) -> Callable[[pd.DataFrame], Any]:
    return lambda runs: 100 * runs[column]


def _column(column: str) -> Callable[[pd.DataFrame], Any]:
    return lambda runs: runs[column]


def _removals(runs: pd.DataFrame) -> Any:
    return 100 * runs["removals"] / runs["train_size"].astype(float)


def _insertions(runs: pd.DataFrame) -> Any:
    return runs["insertions"] / runs["margin_errors"]


def _of_budget(runs: pd.DataFrame) -> Any:
    budgets = [budget_of(params) for params in runs["params"]]
    return runs["support_size"] / pd.Series([np.nan if b is None else b for b in budgets], index=runs.index)


def _of_curve(value: Callable[[Any, Any, Any], float]) -> Callable[[pd.DataFrame], Any]:
    """A measure made from the course of a run: seen, online error, support size (arrays); NaN where none was kept."""

    def values(runs: pd.DataFrame) -> Any:
        curves = [
            None if not curve else [np.asarray(curve[name], float) for name in ("seen", "online_error", "support_size")]
            for curve in runs["curve"]
        ]
        return pd.Series([np.nan if curve is None else value(*curve) for curve in curves], index=runs.index)

    return values


def _growth(seen: Any, error: Any, size: Any) -> float:
    """What the second half of the stream adds to the support set, in units of what the first half adds."""
    half = float(np.interp(seen[-1] / 2, seen, size))
    return float((size[-1] - half) / half) if half else np.nan


def _fall(seen: Any, error: Any, size: Any) -> float:
    """By how many points the online error falls in the second half of the stream."""
    return float(100 * (np.interp(seen[-1] / 2, seen, error) - error[-1]))


def _full_at(seen: Any, error: Any, size: Any) -> float:
    """How many examples were seen when the support set had the size that it has at the end."""
    return float(seen[int(np.argmax(size >= size[-1]))])


CLOSE = 0.3
RELATIVE = 0.03
"""What passes for the same: so many points of errors, and this share of sizes."""


def _error(words: str, value: Callable[[pd.DataFrame], Any]) -> Measure:
    return Measure(words, POINTS, value, close=CLOSE)


def _size(words: str, value: Callable[[pd.DataFrame], Any]) -> Measure:
    return Measure(words, EXAMPLES, value, relative=RELATIVE)


MEASURES: dict[str, Measure] = {
    "online_error": _error("mistakes", _percent("online_error")),
    "margin_error": _error("margin errors", _percent("margin_error")),
    "test_error": _error("test error", _percent("test_error")),
    "averaged_test_error": _error("test error of the mean hypothesis", _percent("averaged_test_error")),
    "removal_rate": _error("share of rounds with a removal", _removals),
    "fall": _error("fall of the online error in the second half", _of_curve(_fall)),
    "support_size": _size("support set", _column("support_size")),
    "margin_errors": _size("margin errors", _column("margin_errors")),
    "insertions": _size("insertions", _column("insertions")),
    "removals": _size("removals", _column("removals")),
    "full_at": _size("examples seen when the support set is full", _of_curve(_full_at)),
    "kernel_evaluations": Measure("kernel evaluations", PLAIN, _column("kernel_evaluations"), relative=0.03),
    "train_seconds": Measure("training time", SECONDS, _column("train_seconds"), relative=0.1),
    "of_budget": Measure("support set over B", PLAIN, _of_budget, relative=0.03),
    "insertions_of_margin_errors": Measure("insertions over margin errors", PLAIN, _insertions, relative=0.03),
    "growth": Measure("growth of the support set, second half over first", PLAIN, _of_curve(_growth), close=0.05),
}


def _a_measure(name: str) -> str:
    if name not in MEASURES:
        raise ValueError("no measure")
    return name


MeasureName = Annotated[str, AfterValidator(_a_measure), Accepted(", ".join(MEASURES))]
