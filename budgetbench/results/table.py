"""A table of an experiment's results, as a value: `layouts` makes it, `formats` writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


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


def joined(tables: Mapping[str, Table]) -> Table:
    """The tables of several experiments, by name, as one: a column says which, and all columns of any stand once."""
    columns: dict[str, Column] = {}  # by what they tell first; one table may tell more of it than another
    for column in (column for table in tables.values() for column in table.columns):
        known = columns.get(column.fields[0])
        if known is None or len(known.fields) < len(column.fields):
            columns[column.fields[0]] = column
    groups = []
    for name, table in tables.items():
        for group in table.groups:
            told = [
                {column.fields[0]: cell for column, cell in zip(table.columns, row, strict=True)} for row in group.rows
            ]
            rows = [[Cell(name, (name,)), *(_filled(row.get(key), columns[key]) for key in columns)] for row in told]
            groups.append(Group(group.heading, rows))
    notes = dict.fromkeys(note for table in tables.values() for note in table.notes)
    return Table("", [Column("Experiment", fields=("experiment",)), *columns.values()], groups, list(notes))


def _filled(cell: Cell | None, column: Column) -> Cell:
    """A cell with a value for each field of its column, empty where it has none."""
    cell = cell or Cell("")
    return replace(cell, values=cell.values + ("",) * (len(column.fields) - len(cell.values)))
