"""Statements about the course of a run: online error and support size against the examples seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from budgetbench.results.measures import MEASURES
from budgetbench.verdicts.comparing import judged, matched, of_runs
from budgetbench.verdicts.model import Finding, MissingError
from budgetbench.verdicts.selection import Candidate, Selector, Selectors, View
from budgetbench.verdicts.statements import statements
from budgetbench.verdicts.statistics import WIDER, below, within

Floats = NDArray[np.float64]

ERROR = "online_error"
UNIT = MEASURES[ERROR].unit
ALLOWANCE = WIDER * MEASURES[ERROR].close


def _courses(a: Candidate, b: Candidate) -> dict[Any, tuple[dict[str, Floats], dict[str, Floats]]]:
    """For each run of both their courses: `seen`, `error` in points and `size`, at the same examples."""
    found: dict[Any, tuple[dict[str, Floats], dict[str, Floats]]] = {}
    recorded = [dict(candidate.runs["curve"].items()) for candidate in (a, b)]
    for run in recorded[0].keys() & recorded[1].keys():
        first, second = (courses[run] for courses in recorded)
        if first and second and first["seen"] == second["seen"]:
            found[run] = (_course(first), _course(second))
    if not found:
        raise MissingError(f"no course of {a.label} and {b.label} was recorded")
    return found


def _course(curve: dict[str, list[float]]) -> dict[str, Floats]:
    seen, error, size = (np.asarray(curve[name], float) for name in ("seen", "online_error", "support_size"))
    return {"seen": seen, "error": 100 * error, "size": size}


@statements.register("tracks")
def tracks(view: View, *, of: Selector, beside: Selector, tolerance: float) -> Finding:
    """After the first tenth of the stream the online error of `of` is never further than this from `beside`'s."""
    compared = []
    for a, b in matched(view.pick(of), view.pick(beside)):
        distances = {}
        for run, (first, second) in _courses(a, b).items():
            late = first["seen"] >= first["seen"][-1] / 10
            distances[run] = float(np.abs(first["error"] - second["error"])[late].max())
        compared.append((f"largest distance of {a.label} from {b.label}", pd.Series(distances)))
    return judged(
        *of_runs(compared, ALLOWANCE),
        lambda interval, allowance: within(interval, 0.0, tolerance, allowance),
        UNIT,
        f"within {tolerance:g} {UNIT.name}",
        signed=False,
    )


@statements.register("stops_improving")
def stops_improving(view: View, *, of: Selectors, beside: Selector, share: float = 0.5) -> Finding:
    """Once full, `of` lowers its online error by less than this share of what `beside` does over the same examples."""
    compared = []
    for a, b in matched(view.pick(of), view.pick(beside)):
        excess = {}
        for run, (first, second) in _courses(a, b).items():
            full = int(np.argmax(first["size"] >= a.sizes["budget"]))
            if first["size"][full] >= a.sizes["budget"]:
                falls = [course["error"][full] - course["error"][-1] for course in (first, second)]
                excess[run] = float(falls[0] - share * falls[1])
        if not excess:
            raise MissingError(f"{a.label} never was full")
        compared.append((f"fall of {a.label} - {share:g} of that of {b.label}", pd.Series(excess)))
    return judged(
        *of_runs(compared, ALLOWANCE),
        lambda interval, allowance: below(interval, 0.0, allowance),
        UNIT,
        f"falls less than {share:g} of it",
    )


@statements.register("below_at_equal_size")
def below_at_equal_size(view: View, *, lower: Selectors, upper: Selector) -> Finding:
    """With as many examples stored, the online error of `lower` is below that of `upper`.

    Over the sizes from a fifth of the final one of `lower` to that one. A size is reached once and kept while more
    examples are seen: the error is that at the end of this stretch.
    """
    compared = []
    for a, b in matched(view.pick(lower), view.pick(upper)):
        means = {}
        for run, (first, second) in _courses(a, b).items():
            sizes, errors = _last_at_size(first)
            other_sizes, other_errors = _last_at_size(second)
            kept = (sizes >= sizes[-1] / 5) & (sizes <= other_sizes[-1])
            if kept.any():
                other = np.interp(sizes[kept], other_sizes, other_errors)
                means[run] = float((errors[kept] - other).mean())
        if not means:
            raise MissingError(f"{a.label} and {b.label} never had as many examples")
        compared.append((f"{a.label} - {b.label}, at equal size", pd.Series(means)))
    return judged(
        *of_runs(compared, ALLOWANCE),
        lambda interval, allowance: below(interval, 0.0, allowance),
        UNIT,
        "difference < 0",
    )


def _last_at_size(course: dict[str, Floats]) -> tuple[Floats, Floats]:
    """The sizes that occur, ascending, and the error when each occurred last."""
    last = np.append(np.diff(course["size"]) > 0, True)
    return course["size"][last], course["error"][last]
