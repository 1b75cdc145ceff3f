"""The table of an experiment's results: `layouts` decides what it says, `formats` how it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from budgetbench.errors import ConfigError, RequestError, nearest
from budgetbench.results import formats

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Table as RichTable


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    header : its heading in print.
    numeric : aligned to the right.
    fields : headings in CSV; a cell such as ``1.20 ± 0.10`` is several of them.
    dispensable : left out first where there is too little room.
    """

    header: str
    numeric: bool = False
    fields: tuple[str, ...] = ()
    dispensable: bool = False


@dataclass(frozen=True)
class Cell:
    """One cell: its text in print, its plain values in CSV (one for each of the column's fields), its text in brief."""

    text: str
    values: tuple[str, ...] = ()
    brief: str | None = None


@dataclass(frozen=True)
class Group:
    """Rows under a heading; an empty heading for rows that need none."""

    heading: str
    rows: list[list[Cell]]


@dataclass(frozen=True)
class Table:
    """A table of results; rich prints it as it is.

    Attributes
    ----------
    title, notes : text above and below the table.
    """

    title: str
    columns: list[Column]
    groups: list[Group]
    notes: list[str] = field(default_factory=list)

    def render(self, style: str = "text") -> str:
        """The table as `text`, `markdown`, `latex` or `csv`, ending in a newline.

        Raises
        ------
        RequestError : another style.
        """
        if style not in formats.FORMATS:
            hint = nearest(style, formats.FORMATS)
            raise RequestError(
                f"table format: found {style!r}; accepted: {', '.join(formats.FORMATS)}. {hint}".rstrip()
            )
        return formats.FORMATS[style](self)

    def document(self) -> str:
        """A markdown page: title, table, notes."""
        notes = "".join(f"\n{note}\n" for note in self.notes)
        return f"# {self.title}\n\n{self.render('markdown')}{notes}"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RichTable]:
        yield formats.fitting(self, options.max_width)


Layout = Callable[[pd.DataFrame, Mapping[str, Any]], Table]


def table(summary: pd.DataFrame, experiment: Mapping[str, Any]) -> Table:
    """The table of an experiment.

    Parameters
    ----------
    summary : as `summarise` returns it; rows that are not selected stay out.
    experiment : the configuration. Its optional key `table` names the layout: ``accuracy`` (test error first),
        ``mistakes`` (online mistakes and support size, grouped by budget as in Orabona et al. 2008, Tables 1 to 3) or
        ``cache`` (three errors, support size, insertions and removals: Crammer et al. 2003, Figure 4), as a text, as
        ``{layout: ...}`` or as ``{group_by: budget}``. Without it: accuracy where there is a test error.

    Raises
    ------
    ConfigError : a layout that does not exist.
    """
    from budgetbench.results.layouts import LAYOUTS

    wanted = experiment.get("table")
    key: tuple[str, ...] = ("table",)
    if isinstance(wanted, Mapping):
        key = ("table", "layout") if "layout" in wanted else ("table", "group_by")
        wanted = wanted.get("layout") or {"budget": "mistakes"}.get(wanted.get("group_by", ""), wanted.get("group_by"))
    if wanted is None:
        wanted = "accuracy" if summary["test_error_mean"].notna().any() else "mistakes"
    if wanted not in LAYOUTS:
        accepted = "budget" if key[-1] == "group_by" else ", ".join(LAYOUTS)
        raise ConfigError(key, wanted, accepted, nearest(wanted, LAYOUTS))
    return LAYOUTS[wanted](summary, experiment)
