"""A table of an experiment's results, as a value: `layouts` makes it, `formats` writes it."""

from __future__ import annotations

from dataclasses import dataclass, field


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
    """One cell: its text in print, its plain values in CSV (one for each of the column's fields), its text in brief,
    and whether it is the best of its column."""

    text: str
    values: tuple[str, ...] = ()
    brief: str = ""
    best: bool = False


@dataclass(frozen=True)
class Group:
    """Rows under a heading; an empty heading for rows that need none."""

    heading: str
    rows: list[list[Cell]]


@dataclass(frozen=True)
class Table:
    """A table of results.

    Attributes
    ----------
    title, notes : text above and below the table.
    """

    title: str
    columns: list[Column]
    groups: list[Group]
    notes: list[str] = field(default_factory=list)
