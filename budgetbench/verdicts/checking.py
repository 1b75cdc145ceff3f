"""All verdicts on a folder of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from budgetbench.archive import read_results
from budgetbench.results import Results
from budgetbench.significance import holm
from budgetbench.verdicts.evidence import Evidence, Finding, MissingError
from budgetbench.verdicts.model import Basis, Claim, Number, Verdict
from budgetbench.verdicts.numbers import beside
from budgetbench.verdicts.published import papers, selectors
from budgetbench.verdicts.selection import Archive, View
from budgetbench.verdicts.statements import statements


def check(root: Path | str, read: Callable[[Path], Results] = read_results) -> list[Verdict]:
    """Every published number and claim beside the results under a folder, of all experiments or of one.

    By paper and by the order of its items, numbers before claims; what is not in the folder is ``not run``.

    Parameters
    ----------
    read : what an experiment's folder holds, see `archive.read_results`.

    Raises
    ------
    RequestError : there are no results at `root`.
    """
    archive, verdicts = Archive(root, read), []
    for paper in papers():
        said: list[Number | Claim] = [*paper.numbers, *paper.claims]
        said.sort(key=lambda one: paper.items.index(one.item))
        verdicts += [verdict(one, View(archive, experiment)) for one in said for experiment in one.experiments]
    return corrected(verdicts)


def verdict(said: Number | Claim, view: View) -> Verdict:
    """What a number or a claim comes to on the view's experiment."""
    try:
        if isinstance(said, Number):
            return Verdict(said, view.experiment, beside(said, view))
        found = statements[said.statement](view, **said.arguments)
        return Verdict(said, view.experiment, found, substitutes=tuple(dict.fromkeys(_substitutes(said, view))))
    except MissingError as error:
        missing = Verdict(said, view.experiment, None, error.reason)
        if missing.unanswered and not view.complete(missing.experiments):
            return replace(missing, missing=replace(error.reason, kind="unfinished"))
        return missing


def _substitutes(claim: Claim, view: View) -> Iterator[str]:
    """What is to be said of the learners that take part in place of others."""
    for selector in selectors(claim.arguments):
        used = view.stands_in(selector)
        if used:
            yield claim.substitutes[used]


def corrected(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts with the p of each comparison adjusted for all measured ones of the same paper (Holm).

    Those of variants are a family of their own.
    """
    return [one for _, of_paper in groupby(verdicts, key=lambda one: one.said.paper) for one in _together(of_paper)]


def _together(verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    of_paper = list(verdicts)
    p: dict[Basis, list[float]] = {}
    for verdict in of_paper:
        p.setdefault(verdict.said.basis, []).extend(one.p for one in _family(verdict) if one.p is not None)
    adjusted = {basis: iter(holm(found).tolist()) for basis, found in p.items()}
    for verdict in of_paper:
        own = adjusted[verdict.said.basis]
        family = [one if one.p is None else replace(one, adjusted=next(own)) for one in _family(verdict)]
        if family and isinstance(verdict.found, Finding):
            yield replace(verdict, found=replace(verdict.found, comparisons=tuple(family)))
        else:
            yield verdict


def _family(verdict: Verdict) -> tuple[Evidence, ...]:
    """The comparisons that are corrected together: those that could come out either way."""
    if verdict.said.basis in ("measured", "variant") and isinstance(verdict.found, Finding):
        return verdict.found.comparisons
    return ()
