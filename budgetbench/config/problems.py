"""What is wrong with a configuration, each problem with its place in the file or on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from budgetbench.errors import ConfigError, clipped, dotted, nearest, shown

Key = tuple[str | int, ...]

#: Problems that one message names; the others are counted.
MOST_SHOWN = 20


class Words(str):
    """Something found that is not a value, such as nothing at all: an error shows it without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


NOTHING = Words("nothing")


class Problem(ConfigError):  # noqa: N818 (one is noted first, and raised with the others)
    """One value that is not accepted.

    Parameters
    ----------
    key, found, accepted, hint : as for `ConfigError`.
    file : the file, or the flag that set the value (``--set dataset.limit=no``), which has no line.
    line : counted from 1.
    """

    def __init__(
        self,
        key: Iterable[str | int],
        found: Any,
        accepted: str,
        hint: str = "",
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(key, found, accepted, hint)
        self.file, self.line = file, line

    def __str__(self) -> str:
        file = self.file and clipped(self.file)
        place = f"{file}:{self.line}" if file and self.line else file
        where = "".join(f"{part}: " for part in (place, dotted(self.key)) if part)
        text = f"{where}found {shown(self.found)}; accepted: {self.accepted}"
        return f"{text}. {self.hint}" if self.hint else text


class Problems(ConfigError):  # noqa: N818
    """Several problems of one configuration, one to a line up to `MOST_SHOWN`; its own attributes are the first's."""

    def __init__(self, problems: Iterable[ConfigError]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        super().__init__(first.key, first.found, first.accepted, first.hint)
        self.file, self.line = first.file, first.line

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems[:MOST_SHOWN]]
        more = len(self.problems) - len(lines)
        return "\n".join([*lines, f"and {more} more problems"] if more else lines)


def hint_for(found: Any, names: Iterable[str], problems: list[Problem]) -> str:
    """The nearest of some names, as far as anybody will read it: it takes time to find."""
    return nearest(found, names) if len(problems) < MOST_SHOWN else ""


def refuse(problems: Iterable[Problem]) -> None:
    """Raise what was found, in the order of the file; nothing happens when nothing was found."""
    ordered = sorted(problems, key=lambda problem: problem.line or 0)
    if ordered:
        raise ordered[0] if len(ordered) == 1 else Problems(ordered)
