"""The errors that budgetbench raises on purpose; the command line prints them as one short message."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: Characters of what was found that a message shows.
LONGEST = 120
#: Problems that one message names; the others are counted.
MOST_SHOWN = 20


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


class Fault(Exception):  # noqa: N818 - what is the matter; its kinds are errors
    """A value that is not accepted.

    Parameters
    ----------
    key : path of the value inside what holds it, such as ``("dataset", "positive")``.
    found : the value that was read, as Python sees it.
    accepted : what is accepted instead, in words.
    hint : the next step.
    names : the names that are accepted; where there is no other hint, the one nearest to `found` is it.
    """

    file: str | None = None
    line: int | None = None

    def __init__(
        self, key: Iterable[str | int], found: Any, accepted: str, hint: str = "", names: Iterable[str] = ()
    ) -> None:
        self.key, self.found, self.accepted = tuple(key), found, accepted
        self.given_hint, self.names = hint, tuple(names)
        super().__init__(self.key, found, accepted, hint, self.names)

    @property
    def hint(self) -> str:
        """The next step; found when it is asked for, as it takes time and of many faults only some are shown."""
        return self.given_hint or (nearest(self.found, self.names) if self.names and type(self.found) is str else "")

    def __str__(self) -> str:
        place = clipped(self.file) if self.file else ""
        if place and self.line:
            place = f"{place}:{self.line}"
        where = "".join(f"{part}: " for part in (place, dotted(self.key)) if part)
        text, hint = f"{where}found {shown(self.found)}; accepted: {self.accepted}", self.hint
        return f"{text}. {hint}" if hint else text


class ConfigError(Fault, RequestError):
    """A value of a file that is not accepted.

    ``file`` (or the flag that set the value, which has no line) and ``line``, counted from 1, are given by the
    document, which alone knows them.
    """

    def at(self, file: str | None, line: int | None = None) -> ConfigError:
        self.file, self.line = file, line
        return self


class Problems(ConfigError):  # noqa: N818
    """Several errors of one file, one to a line up to `MOST_SHOWN`; its own attributes are the first's."""

    def __init__(self, problems: Iterable[ConfigError]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        super().__init__(first.key, first.found, first.accepted, first.given_hint, first.names)
        self.args = (self.problems,)
        self.at(first.file, first.line)

    def __str__(self) -> str:
        return told(self.problems)


def refuse(problems: Iterable[ConfigError]) -> None:
    """Raise what was found, in the order of the file; nothing happens when nothing was found."""
    ordered = sorted(problems, key=lambda problem: problem.line or 0)
    if ordered:
        raise ordered[0] if len(ordered) == 1 else Problems(ordered)


def told(faults: Sequence[Fault]) -> str:
    """Each fault on a line, up to `MOST_SHOWN`."""
    lines = [str(fault) for fault in faults[:MOST_SHOWN]]
    more = len(faults) - len(lines)
    return "\n".join([*lines, f"and {more} more problems"] if more else lines)


class Words(str):
    """Something found that is not a value, such as nothing at all: an error shows it without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


NOTHING = Words("nothing")


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


class ParameterError(Fault, ValueError):
    """A parameter that is not accepted; a `ValueError`, as scikit-learn's conventions ask.

    A document turns it into a `ConfigError` with file and line.
    """

    def __init__(
        self,
        parameter: str,
        found: Any,
        accepted: str,
        hint: str = "",
        names: Iterable[str] = (),
        within: tuple[int, ...] = (),
    ) -> None:
        super().__init__((parameter, *within), found, accepted, hint, names)
        self.args = (parameter, found, accepted, hint, self.names, within)

    @property
    def parameter(self) -> str:
        return str(self.key[0])

    @property
    def faults(self) -> tuple[ParameterError, ...]:
        """All that is the matter, one by one."""
        return (self,)


class ParameterErrors(ParameterError):  # noqa: N818
    """Several parameters that are not accepted; its own attributes are the first's."""

    def __init__(self, *faults: ParameterError) -> None:
        super().__init__(*faults[0].args)
        self.args, self._faults = faults, faults

    @property
    def faults(self) -> tuple[ParameterError, ...]:
        return self._faults

    def __str__(self) -> str:
        return told(self.faults)
