"""The errors that budgetbench raises on purpose; the command line prints them as one short message."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: Characters of what was found that a message shows.
LONGEST = 120


class BudgetbenchError(Exception):
    """Work that was asked for rightly and could not be done (exit code 1)."""

    exit_code = 1


class DataError(BudgetbenchError):
    """A dataset could not be had, or is not what it should be."""


class NumericalError(BudgetbenchError, ArithmeticError):
    """Numbers grew beyond what floating point can hold."""


class FailedRunsError(BudgetbenchError):
    """Some runs of an experiment failed; the others are done and recorded.

    Attributes
    ----------
    trials : pandas.DataFrame, one row for each run that is there, those that failed among them.
    """

    def __init__(self, message: str, trials: pd.DataFrame) -> None:
        super().__init__(message)
        self.trials = trials


class RequestError(BudgetbenchError):
    """A request that cannot be carried out as it stands: a bad flag, path or file (exit code 2)."""

    exit_code = 2


class Notice(UserWarning):
    """Something that a user should know of and that stops nothing; the command line prints it as one short message."""


class ConfigError(RequestError):
    """A value of the configuration that is not accepted.

    Parameters
    ----------
    key : path of the value inside the configuration, such as ``("dataset", "positive")``.
    found : the value that was read, as Python sees it.
    accepted : what is accepted instead, in words.
    hint : the next step, such as the nearest valid name.

    ``file`` and ``line`` are filled in by the loader, which alone knows the positions.
    """

    def __init__(self, key: Iterable[str | int], found: Any, accepted: str, hint: str = "") -> None:
        self.key = tuple(key)
        self.found = found
        self.accepted = accepted
        self.hint = hint
        self.file: str | None = None
        self.line: int | None = None
        super().__init__()

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        text = f"{place}{dotted(self.key)}: found {shown(self.found)}; accepted: {self.accepted}"
        return f"{text}. {self.hint}" if self.hint else text


def dotted(key: Iterable[str | int]) -> str:
    """The path of a configuration value as people write it: ``algorithms[1].budget``."""
    text = ""
    for part in key:
        name = clipped(str(part))
        text += f"[{name}]" if isinstance(part, int) else f".{name}" if text else name
    return text


def clipped(text: str) -> str:
    """A text short enough for a message."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def shown(value: object) -> str:
    """A value as Python writes it, short enough for a message."""
    return clipped(repr(value))


def nearest(name: object, names: Iterable[str]) -> str:
    """A hint naming the valid name closest to `name`, or an empty string."""
    names = list(names)
    if len(str(name)) > LONGEST:
        return ""
    begun = [valid for valid in names if str(name) and valid.startswith(str(name))]
    close = begun[:1] or difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    return f"Did you mean {close[0]!r}?" if close else ""


class ParameterError(ValueError):
    """A learner's or kernel's parameter out of its range; a `ValueError`, as scikit-learn's conventions ask.

    The configuration turns it into a `ConfigError` that names file and line.
    """

    def __init__(self, parameter: str, found: Any, accepted: str) -> None:
        self.parameter = parameter
        self.found = found
        self.accepted = accepted
        super().__init__(parameter, found, accepted)

    def __str__(self) -> str:
        return f"{clipped(self.parameter)}: found {shown(self.found)}; accepted: {self.accepted}"
