"""All verdicts on a folder of results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from budgetbench.published import PAPERS
from budgetbench.verdicts.claims import check_claim
from budgetbench.verdicts.model import Verdict
from budgetbench.verdicts.numbers import check_number
from budgetbench.verdicts.published import Published, published
from budgetbench.verdicts.selection import Archive, View


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
    key = source.paper.key
    found = [check_number(number, key, View(archive, number.experiment)) for number in source.numbers]
    for claim in source.claims:
        found += [check_claim(claim, key, View(archive, experiment)) for experiment in claim.experiments]
    order = {item: place for place, item in enumerate(source.paper.items)}
    return sorted(found, key=lambda verdict: order[verdict.item])
