"""All verdicts on a folder of results."""

from __future__ import annotations

from pathlib import Path

from budgetbench.verdicts.model import Claim, MissingError, Number, Verdict
from budgetbench.verdicts.numbers import beside
from budgetbench.verdicts.published import papers
from budgetbench.verdicts.selection import Archive, View
from budgetbench.verdicts.statements import statements


def check(root: Path | str) -> list[Verdict]:
    """Every published number and claim beside the results under a folder, of all experiments or of one.

    By paper and by the order of its items, numbers before claims; what is not in the folder is ``not run``.

    Raises
    ------
    RequestError : there are no results at `root`.
    """
    archive, verdicts = Archive(root), []
    for paper in papers():
        said: list[Number | Claim] = [*paper.numbers, *paper.claims]
        said.sort(key=lambda one: paper.items.index(one.item))
        verdicts += [verdict(one, View(archive, experiment)) for one in said for experiment in one.experiments]
    return verdicts


def verdict(said: Number | Claim, view: View) -> Verdict:
    """What a number or a claim comes to on the view's experiment."""
    try:
        if isinstance(said, Number):
            return Verdict(said, view.experiment, beside(said, view))
        return Verdict(said, view.experiment, statements[said.statement](view, **said.arguments))
    except MissingError as error:
        return Verdict(said, view.experiment, None, error.reason)
