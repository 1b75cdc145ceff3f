"""Comparisons as a table, in words, and as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from budgetbench.comparison.comparing import Comparison, Report
from budgetbench.comparison.diagram import diagram
from budgetbench.plots.experiment import save
from budgetbench.plots.style import styled
from budgetbench.results.files import replace_file
from budgetbench.results.formats import document, floating
from budgetbench.results.measures import MEASURES
from budgetbench.results.table import Cell, Column, Group, Table
from budgetbench.significance import ALPHA

LABEL = "tab:compare"
#: Datasets whose columns fit on a narrow terminal; of more it shows the ranks alone.
FEW = 4


def table(report: Report) -> Table:
    """A row for each learner, the best average rank first, and a column for each dataset; a group for each size."""
    measure = MEASURES[report.measure]
    columns = [Column("Learner"), Column("Average rank", numeric=True)]
    columns += [Column(name, True, dispensable=len(report.experiments) > FEW) for name in report.experiments]
    return Table(
        title=f"{measure.title} at equal memory, {measure.unit.sign}",
        columns=columns,
        groups=[Group(one.memory.words, _rows(one, report)) for one in report.comparisons],
        notes=_notes(report),
    )


def _rows(comparison: Comparison, report: Report) -> list[list[Cell]]:
    unit = MEASURES[report.measure].unit
    chosen = comparison.chosen.set_index(["learner", "experiment"])
    least = comparison.chosen.groupby("experiment")["mean"].min()
    rows = []
    for learner, rank in comparison.ranks.items():
        row = [Cell(str(learner)), Cell(f"{rank:.2f}", best=rank == comparison.ranks.min())]
        for name in report.experiments:
            mean, spread = (unit.scale * float(chosen.loc[(learner, name), part]) for part in ("mean", "std"))
            best = bool(chosen.loc[(learner, name), "mean"] == least[name])
            row.append(Cell(unit.text(mean, spread), brief=unit.text(mean), best=best))
        rows.append(row)
    return rows


def _notes(report: Report) -> list[str]:
    """How parameters were chosen, who is missing and why, and what the tests say."""
    notes = [f"Mean ± standard deviation over the runs; {_chosen_by(report)}. Bold: the best"]
    for one in report.comparisons:
        notes.append(f"M{one.memory.words[1:]}: {_tested(one)}")
        notes += [f"{name} is left out: {why}" for name, why in one.left_out.items()]
    return [f"{note}." for note in notes]


def _chosen_by(report: Report) -> str:
    used = dict.fromkeys(by for one in report.comparisons for by in one.chosen["chosen_by"] if by)
    words = " or ".join(MEASURES[name].title.lower() for name in used)
    optimistic = " (optimistic)" if "test_error" in used else ""
    return f"parameters by {words}{optimistic} among models that fit" if used else "no parameters to choose"


def _tested(comparison: Comparison) -> str:
    """What Friedman's and Wilcoxon's tests say."""
    n, test = comparison.datasets, comparison.friedman
    said = f"F({test.freedom[0]}, {test.freedom[1]}) = {test.F:.2f}, p {_p(test.p)} (Friedman); " if test else ""
    if n < comparison.needed:
        of = f"{len(comparison.ranks)} learners"
        return f"{said}{n} datasets are too few for any two of {of} to differ, which takes {comparison.needed}"
    pairs = comparison.pairs[comparison.pairs["p_holm"] <= ALPHA]
    of = f"of {len(comparison.pairs)} pairs"
    if pairs.empty:
        return f"{said}none {of} differs at the {ALPHA:.0%} level (Wilcoxon, Holm)"
    return f"{said}{len(pairs)} {of} differ at the {ALPHA:.0%} level (Wilcoxon, Holm)"


def _p(p: float) -> str:
    return f"= {p:.2g}" if p >= 1e-4 else "< 0.0001"


def tidy(report: Report) -> str:
    """CSV: a row for each memory size, dataset and learner; errors are fractions, sizes bytes."""
    return pd.concat([one.chosen for one in report.comparisons]).to_csv(index=False, lineterminator="\n")


def pairs_of(report: Report) -> str:
    """CSV: a row for each memory size and two learners."""
    parts = [one.pairs.assign(memory=one.memory.text) for one in report.comparisons]
    found = pd.concat(parts)
    return found[["memory", *[name for name in found if name != "memory"]]].to_csv(index=False, lineterminator="\n")


def latex(report: Report) -> str:
    return floating(table(report), LABEL)


#: How a comparison is written to a file.
FORMATS: dict[str, Callable[[Report], str]] = {
    "markdown": lambda report: document(table(report)),
    "latex": latex,
    "csv": tidy,
}


def write(report: Report, folder: Path) -> list[Path]:
    """Write the table, the tidy numbers, the tests of pairs and the figure into a folder; returns their paths."""
    with styled():
        drawing = diagram(report)
    paths = save(drawing.figure, drawing.data, folder, "critical_difference")
    contents = {"compare.md": FORMATS["markdown"], "compare.tex": latex, "compare.csv": tidy, "pairs.csv": pairs_of}
    for name, content in contents.items():
        replace_file(folder / name, content(report))
    return [*(folder / name for name in contents), *paths]
