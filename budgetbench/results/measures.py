"""What is measured of a run. Each measure is declared here, once.

The schema of records, the summary, tables, the axes of figures, published numbers and claims read the declarations: a
new measure is one entry of `MEASURES`. One that a record holds has a type there; any other is made from what it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from budgetbench.lazy import pd
from budgetbench.results.sizes import budget_of

CLOSE = 0.3
RELATIVE = 0.03
"""What passes for the same: so many points of errors, and this share of sizes."""


@dataclass(frozen=True)
class Unit:
    """What a number is counted in, and how it is printed.

    Attributes
    ----------
    name : beside a difference; `words` in full, where that is something else.
    sign : beside a number, in headings and on axes.
    scale : what a recorded value is multiplied by.
    digits : decimals.
    """

    name: str = ""
    words: str = ""
    sign: str = ""
    scale: float = 1.0
    digits: int = 2

    def text(self, mean: float, spread: float | None = None) -> str:
        """A mean and its spread over runs, without the sign.

        Examples that are whole are printed so, and as many as 10 000, of kilobytes too, without decimals.
        """
        apart = spread is not None and not np.isnan(spread) and (spread or self is not EXAMPLES)
        many = self in (EXAMPLES, KILOBYTES) and abs(mean) >= 1e4
        whole = many or (self is EXAMPLES and mean == round(mean) and not apart)
        text = f"{mean:.{0 if whole else self.digits}f}"
        return f"{text} ± {spread:.{self.digits}f}" if apart else text


POINTS = Unit("points", "percentage points", "%", scale=100)
EXAMPLES = Unit("examples", digits=1)
KILOBYTES = Unit("kB", "kilobytes", "kB", scale=1e-3, digits=1)
SECONDS = Unit("s", "seconds", "s")
TIMES = Unit("times")
PLAIN = Unit()

Fraction = Annotated[float, Field(ge=0, le=1)]
LARGEST = 2**63 - 1
Count = Annotated[int, Field(ge=0, le=LARGEST)]
NonNegative = Annotated[float, Field(ge=0)]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A number that every run has.

    Attributes
    ----------
    title : in headings and on axes; `axis` where axes have another one.
    words : in a sentence; as the title where nothing is said.
    field : type of the record's field of its name, or None for one that is made.
    made : from records, as `read_trials` has them, to one value for each, on the scale of records.
    summarised : whether the summary has its mean, spread and range; figures and tables show what it has.
    tested : measured on test examples; a size chosen by anything else is chosen by what a run sees itself.
    close, relative : what passes for the same: the larger of this many units and this share of the number.
    """

    name: str
    title: str
    unit: Unit
    words: str = ""
    axis: str = ""
    field: Any = None
    made: Callable[[pd.DataFrame], Any] | None = None
    summarised: bool = False
    tested: bool = False
    close: float = 0.0
    relative: float = 0.0

    def recorded(self, runs: pd.DataFrame) -> pd.Series[float]:
        """Its value in each run on the scale of records, NaN where a run has none."""
        values = self.made(runs) if self.made else runs[self.name]
        return pd.Series(pd.to_numeric(values), runs.index).astype(float)

    def values(self, runs: pd.DataFrame) -> pd.Series[float]:
        """Its value in each run, in its unit."""
        return self.unit.scale * self.recorded(runs)

    def same(self, *numbers: float) -> float:
        """The largest difference that passes for none, between numbers of this size."""
        return max(self.close, self.relative * max(abs(number) for number in numbers))

    @property
    def heading(self) -> str:
        """As a column's heading: ``Test error, %``."""
        return f"{self.title}, {self.unit.sign}".removesuffix(", ")

    @property
    def label(self) -> str:
        """As an axis' label: ``Test error (%)``."""
        return f"{self.axis or self.title} ({self.unit.sign})".removesuffix(" ()")

    @property
    def said(self) -> str:
        """In a sentence."""
        return self.words or self.title.lower()


def _error(name: str, title: str, **more: Any) -> Measure:
    more = {"field": None if "made" in more else Fraction, "summarised": True, "close": CLOSE} | more
    return Measure(name=name, title=title, unit=POINTS, **more)


def _size(name: str, title: str, **more: Any) -> Measure:
    more = {"field": None if "made" in more else Count, "summarised": True, "relative": RELATIVE} | more
    return Measure(name=name, title=title, unit=EXAMPLES, **more)


def _memory(name: str, title: str, axis: str) -> Measure:
    more: dict[str, Any] = {"field": Count, "summarised": True, "relative": RELATIVE}
    return Measure(name=name, title=title, axis=axis, unit=KILOBYTES, **more)


def _time(name: str, title: str, words: str = "") -> Measure:
    return Measure(name=name, title=title, unit=SECONDS, words=words, field=NonNegative, summarised=True, relative=0.1)


def _ratio(name: str, title: str, made: Callable[[pd.DataFrame], Any]) -> Measure:
    return Measure(name=name, title=title, unit=PLAIN, made=made, relative=RELATIVE)


def _of_train_size(name: str) -> Callable[[pd.DataFrame], Any]:
    """A share of the training examples: what is counted is counted in the first pass, whatever the epochs."""
    return lambda runs: runs[name].astype(float) / runs["train_size"].astype(float)


def _of_budget(runs: pd.DataFrame) -> Any:
    budgets = [budget_of(params) for params in runs["params"]]
    return runs["support_size"] / pd.Series([np.nan if b is None else b for b in budgets], index=runs.index)


def _of_curve(value: Callable[[Any, Any, Any], float]) -> Callable[[pd.DataFrame], Any]:
    """From the course of a run: seen, online error, support size (arrays, of NaN where unknown); NaN without one."""

    def values(runs: pd.DataFrame) -> list[float]:
        names = ("seen", "online_error", "support_size")
        return [
            value(*(np.asarray(curve.get(name) or np.full(len(curve["seen"]), np.nan), float) for name in names))
            if curve
            else np.nan
            for curve in runs["curve"]
        ]

    return values


def _growth(seen: Any, error: Any, size: Any) -> float:
    """What the second half of the stream adds to the support set, in units of what the first half adds."""
    half = float(np.interp(seen[-1] / 2, seen, size))
    return float((size[-1] - half) / half) if half else np.nan


def _fall(seen: Any, error: Any, size: Any) -> float:
    """By how much the online error falls in the second half of the stream."""
    return float(np.interp(seen[-1] / 2, seen, error) - error[-1])


def _full_at(seen: Any, error: Any, size: Any) -> float:
    """How many examples were seen when the support set had the size that it has at the end."""
    return np.nan if np.isnan(size[-1]) else float(seen[int(np.argmax(size >= size[-1]))])


MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        _error("online_error", "Online error", words="mistakes"),
        _error("margin_error", "Margin error", words="margin errors", made=_of_train_size("margin_errors")),
        _error("test_error", "Test error", tested=True),
        _error("validation_error", "Validation error"),
        _error("averaged_test_error", "Averaged test error", words="test error of the mean hypothesis", tested=True),
        _size("support_size", "Support size", words="support set", axis="Number of support vectors"),
        _size("insertions", "Insertions"),
        _size("removals", "Removals"),
        Measure(
            name="kernel_evaluations",
            title="Kernel evaluations",
            unit=PLAIN,
            field=Count,
            summarised=True,
            relative=RELATIVE,
        ),
        _memory("model_bytes", "Model", axis="Size of the model"),
        _memory("state_bytes", "State of learning", axis="Size of the state that learning goes on from"),
        _time("train_seconds", "Training time"),
        _time("kernel_seconds", "Training time of kernel values", words="kernel values' part of the training time"),
        _time("predict_seconds", "Prediction time"),
        _size("online_mistakes", "Mistakes", summarised=False),
        _size("margin_errors", "Margin errors", summarised=False),
        _error("removal_rate", "Share of rounds with a removal", made=_of_train_size("removals"), summarised=False),
        _error("fall", "Fall of the online error in the second half", made=_of_curve(_fall), summarised=False),
        _size("full_at", "Examples seen when the support set is full", made=_of_curve(_full_at), summarised=False),
        _ratio("of_budget", "Support set over B", _of_budget),
        _ratio(
            "insertions_of_margin_errors",
            "Insertions over margin errors",
            lambda runs: runs["insertions"] / runs["margin_errors"],
        ),
        Measure(
            name="growth",
            title="Growth of the support set, second half over first",
            unit=PLAIN,
            made=_of_curve(_growth),
            close=0.05,
        ),
    )
}
"""Every measure by name; those that are summarised stand in the summary's order."""

SUMMARISED = tuple(name for name, measure in MEASURES.items() if measure.summarised)
"""What means are taken of."""
ERRORS = tuple(name for name in SUMMARISED if MEASURES[name].unit is POINTS)
if TYPE_CHECKING:
    MeasureName = str
    Error = str
else:
    MeasureName, Error = Literal[tuple(MEASURES)], Literal[ERRORS]
