"""All verdicts on a folder of results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from budgetbench.published import PAPERS
from budgetbench.verdicts.model import Claim, MissingError, Number, Verdict
from budgetbench.verdicts.numbers import beside
from budgetbench.verdicts.published import Published, published
from budgetbench.verdicts.selection import Archive, View
from budgetbench.verdicts.statements import statements


def check(root: Path | str, papers: Sequence[str] = PAPERS) -> list[Verdict]:
    """Every published number and claim beside the results under a folder.

    Parameters
    ----------
    root : folder of all results, or of one experiment's; what is not there is ``not run``.
    papers : keys of the papers.

    Returns
    -------
    The verdicts, by paper and by the order of its items; numbers before claims.

    Raises
    ------
    RequestError : there are no results at `root`, or no such paper.
    """
    archive = Archive(root)
    return [verdict for key in papers for verdict in check_paper(published(key), archive)]


def check_paper(source: Published, archive: Archive) -> list[Verdict]:
    """The verdicts on one paper."""
    said: list[Number | Claim] = [*source.numbers, *source.claims]
    found = [verdict(one, View(archive, experiment)) for one in said for experiment in one.experiments]
    order = {item: place for place, item in enumerate(source.paper.items)}
    return sorted(found, key=lambda verdict: order[verdict.said.item])


def verdict(said: Number | Claim, view: View) -> Verdict:
    """What a number or a claim comes to on the view's experiment."""
    try:
        if isinstance(said, Number):
            return Verdict(said, view.experiment, beside(said, view))
        return Verdict(said, view.experiment, statements[said.statement](view, **said.arguments))
    except MissingError as error:
        return Verdict(said, view.experiment, None, error.reason)
