"""How a table is written: for the terminal, as markdown, LaTeX or CSV."""

from __future__ import annotations

import csv
import io
import textwrap

from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from budgetbench.results.table import Cell, Table

LEFT_OUT = "Mean ± standard deviation; a wider terminal, or markdown, shows all columns and ranges."

LATEX = {"\\": r"\textbackslash{}", "±": r"$\pm$", "–": "--", "~": r"\textasciitilde{}"}
LATEX |= {character: f"\\{character}" for character in "%&_#$\x7b\x7d"}


def rich_table(table: Table, brief: bool = False) -> RichTable:
    """For the terminal, its colours left to the terminal's theme; in brief without ranges and dispensable columns."""
    notes = [LEFT_OUT] if brief else table.notes
    shown = RichTable(
        title=Text(table.title),
        caption=Text("\n".join(notes)) if notes else None,
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    kept = [i for i, column in enumerate(table.columns) if not (brief and column.dispensable)]
    groups = [
        (group, [[(brief and row[i].brief) or row[i].text for i in kept] for row in group.rows])
        for group in table.groups
    ]
    for place, i in enumerate(kept):
        column = table.columns[i]
        header = column.header
        if brief and column.numeric:  # a heading is not worth more room than its numbers take
            header = textwrap.fill(header, max(13, *(len(cells[place]) for _, rows in groups for cells in rows)))
        # numbers and names stay in one piece, other words give way
        shown.add_column(
            Text(header),
            justify="right" if column.numeric else "left",
            no_wrap=column.numeric or place == 0,
            min_width=None if column.numeric else 10,
        )
    for group, rows in groups:
        if group.heading:
            shown.add_section()
            shown.add_row(Text(group.heading, style="bold"))
        for above, cells, row in zip([[], *rows], rows, group.rows, strict=False):
            styles = ["bold" if row[i].best else "" for i in kept]
            shown.add_row(*map(Text, _said_once(cells, above, table, kept), styles))
    return shown


def _said_once(cells: list[str], above: list[str], table: Table, kept: list[int]) -> list[str]:
    """A row whose leading words are left out as far as they repeat those of the row above."""
    shown = list(cells)
    for place, i in enumerate(kept):
        if table.columns[i].numeric or cells[place : place + 1] != above[place : place + 1]:
            break
        shown[place] = ""
    return shown


def fitting(table: Table, width: int) -> RichTable:
    """The table for a terminal this wide: in brief where it would not fit."""
    needed = 2 * len(table.columns)
    for i, column in enumerate(table.columns):
        texts = [column.header, *(row[i].text for group in table.groups for row in group.rows)]
        words = texts if column.numeric or i == 0 else [word for text in texts for word in text.split()]
        needed += max(map(len, words), default=0)
    return rich_table(table, brief=needed > width)


def markdown(table: Table) -> str:
    """A pipe table; a group's heading is a row of its own."""

    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"

    lines = [line([column.header for column in table.columns])]
    lines.append("|" + "|".join("---:" if column.numeric else ":---" for column in table.columns) + "|\n")
    for group in table.groups:
        if group.heading:
            lines.append(line([f"**{group.heading}**", *[""] * (len(table.columns) - 1)]))
        lines.extend(line([f"**{cell.text}**" if cell.best else cell.text for cell in row]) for row in group.rows)
    return "".join(lines)


def latex(table: Table) -> str:
    """A `tabular` with the rules of the package booktabs."""
    lines = [
        "\\begin{tabular}{" + "".join("r" if column.numeric else "l" for column in table.columns) + "}",
        "\\toprule",
        _latex_line([column.header for column in table.columns]),
    ]
    for group in table.groups:
        lines.append("\\midrule")
        if group.heading:
            lines.append(f"\\multicolumn{{{len(table.columns)}}}{{l}}{{{_latex(group.heading)}}} \\\\")
        lines.extend(map(_latex_row, group.rows))
    lines += ["\\bottomrule", "\\end{tabular}"]
    return "\n".join(lines) + "\n"


def floating(table: Table, label: str) -> str:
    """A `table` with a label, the title and the first note as its caption, and the other notes below."""
    first, *others = table.notes or [""]
    head = ["\\begin{table}", "\\centering", f"\\caption{{{_latex(f'{table.title}. {first}'.rstrip())}}}"]
    below = [f"\\par\\smallskip\\footnotesize\\raggedright {_latex(' '.join(others))}"] if others else []
    return "\n".join([*head, f"\\label{{{label}}}", latex(table).rstrip(), *below, "\\end{table}", ""])


def comma_separated(table: Table) -> str:
    """Plain numbers, a column for each statistic; a group's heading is a column."""
    grouped = any(group.heading for group in table.groups)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    fields = [field for column in table.columns for field in column.fields]
    writer.writerow([*fields, "group"] if grouped else fields)
    for group in table.groups:
        for row in group.rows:
            values = [value for cell in row for value in cell.values]
            writer.writerow([*values, group.heading] if grouped else values)
    return stream.getvalue()


def document(table: Table) -> str:
    """A markdown page: title, table, notes."""
    notes = "".join(f"\n{note}\n" for note in table.notes)
    return f"# {table.title}\n\n{markdown(table)}{notes}"


def _latex_row(row: list[Cell]) -> str:
    cells = [f"\\textbf{{{_latex(cell.text)}}}" if cell.best else _latex(cell.text) for cell in row]
    return " & ".join(cells) + " \\\\"


def _latex_line(cells: list[str]) -> str:
    return " & ".join(_latex(cell) for cell in cells) + " \\\\"


def _latex(words: str) -> str:
    return "".join(LATEX.get(character, character) for character in words)


#: How a table is written to a file; a terminal gets `fitting`.
FORMATS = {"markdown": markdown, "latex": latex, "csv": comma_separated}
