"""The statement that a printed table whose data is one random draw is, as a whole, like a draw of ours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import pandas as pd

from budgetbench.learners import learners
from budgetbench.published import rows_of
from budgetbench.results.measures import MEASURES, PLAIN, MeasureName
from budgetbench.verdicts.comparing import judged
from budgetbench.verdicts.evidence import Finding, MissingError
from budgetbench.verdicts.selection import Selector, Selectors, View
from budgetbench.verdicts.statements import statements
from budgetbench.verdicts.statistics import INNER, below, share_nearer


@statements.register("among_draws")
def among_draws(view: View, *, of: Selectors, measures: list[MeasureName]) -> Finding:
    """What the table that the experiment reproduces prints of all learners lies among the rows of our draws.

    Of each measure: a row is its values of all learners and sizes in one draw, and fewer than `INNER` of our rows are
    nearer to their middle than the printed one. Where the paper's numbers are means over permutations of its draw and
    ours are of one permutation each, ours scatter more: what is refuted is refuted all the more.

    Parameters
    ----------
    of : selectors that say more of some of the learners than the table does, such as which variant is meant.
    """
    compared = [(_what(measure), share_nearer(*_rows(view, measure, _several(of)))) for measure in measures]
    return judged(compared, partial(below, threshold=INNER), PLAIN, f"fewer than {INNER:g} nearer", signed=False)


def _what(measure: str) -> str:
    return f"share of our draws nearer to the middle than the paper's, {MEASURES[measure].said}"


def _several(given: Selectors) -> list[Selector]:
    return [given] if isinstance(given, Mapping) else given


def _rows(view: View, measure: str, more: Iterable[Selector]) -> tuple[pd.DataFrame, pd.Series]:
    """Our draws as rows with a column for each learner and size, and the printed row; what is the same for all draws,
    and printed so, is no column."""
    reproduces = view.results().experiment.reproduces
    if reproduces is None:
        raise MissingError(f"{view.experiment} does not say what it reproduces")
    told = {learners.canonical(one["algorithm"]): one for one in more}
    ours, printed = {}, {}
    for of, values in rows_of(reproduces.paper, reproduces.item):
        if measure in values:
            (candidate,) = view.pick({**of, **told.get(learners.canonical(of["algorithm"]), {})})
            ours[candidate.label] = candidate.values(measure)
            printed[candidate.label] = values[measure].mean
    rows = pd.DataFrame(ours).dropna()
    varied = [name for name in rows if rows[name].nunique() > 1 or rows[name].iloc[0] != printed[name]]
    return rows[varied], pd.Series(printed, dtype=float)[varied]
