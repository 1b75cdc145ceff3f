"""The statement that runs keep to what is proved of their learner, whatever the stream.

It is no measurement: a run that breaks a bound shows an error of the program. What is measured is how loose the bound
is. So a run is enough, and nothing is tested.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from budgetbench.archive import data_identity
from budgetbench.engine.bounds import Comparators, refined
from budgetbench.results import Results
from budgetbench.results.comparators import bounds_of, read_comparators
from budgetbench.results.measures import MEASURES, MeasureName, Unit
from budgetbench.results.names import parameters_text, varying
from budgetbench.results.sizes import budgets
from budgetbench.verdicts.evidence import Evidence, Finding, MissingError, Reason
from budgetbench.verdicts.selection import Candidate, Selectors, View
from budgetbench.verdicts.statements import statements
from budgetbench.verdicts.statistics import REFUTED, SHOWN, of_values

OF_BOUND = Unit("of the bound", digits=2)

ROUNDING = 1e-6
"""Share of a bound: comparators are kept with seven digits."""


@dataclass(frozen=True)
class Kept(Evidence):
    """Runs of one learner beside a bound; the numbers are those of the run that comes nearest to it.

    Attributes
    ----------
    learner, measure : in words.
    counted, bound : what is bounded, and its largest value beside the comparator for which that is smallest.
    norm, loss : ‖g‖ and D₁ of this comparator.
    rounds : of the stream.
    share, least : counted / bound, and the smallest over the runs.
    """

    learner: str = ""
    measure: str = ""
    counted: float = 0.0
    bound: float = 0.0
    norm: float = 0.0
    loss: float = 0.0
    rounds: int = 0
    least: float = 0.0

    @property
    def share(self) -> float:
        return self.counted / self.bound


@statements.register("within_bound")
def within_bound(view: View, *, of: Selectors, measure: MeasureName = "online_mistakes") -> Finding:
    """In no run the measure is above the learner's bound, beside any of the comparators that were found."""
    candidates = view.pick(of, all_sets=True)
    differing = varying([one.params for one in candidates], without=budgets())
    labels = [", ".join(filter(None, (one.label, parameters_text(one.params, differing)))) for one in candidates]
    rows = [_kept(view, one, label, measure) for one, label in zip(candidates, labels, strict=True)]
    rows.sort(key=lambda one: -one.share)
    broken = [one for one in rows if one.share > 1 + ROUNDING]
    found = f"{rows[0].share:.2f} of the bound at most" if not broken else f"{len(broken)} of {len(rows)} break it"
    outcome = REFUTED if broken else SHOWN
    return Finding(f"{MEASURES[measure].said} ≤ bound", tuple(rows), lambda _: outcome, found)


def _kept(view: View, candidate: Candidate, label: str, measure: MeasureName) -> Kept:
    values, results = candidate.values(measure), view.results(candidate.experiment)
    given = _by_run(results, values.index.astype(int).tolist())
    algorithm = str(candidate.runs["algorithm"].iloc[0])
    rows = {}
    for run, counted in zip(given, values, strict=True):
        g = given[run]
        bounds = bounds_of(algorithm, candidate.params, g).get(measure, np.full(len(g.norms), np.inf))
        best = int(np.argmin(bounds))
        if not np.isfinite(bounds[best]):
            raise MissingError(f"no theorem bounds the {MEASURES[measure].said} of {label}")
        rows[run] = (counted, bounds[best], g.norms[best], g.losses[best])
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["counted", "bound", "norm", "loss"])
    shares = table["counted"] / table["bound"]
    nearest = table.loc[shares.idxmax()]
    counted, bound, norm, loss = (float(value) for value in nearest)
    said = MEASURES[measure].said
    return Kept(
        f"{label}: {counted:.0f} {said} of {bound:.0f} at most, beside ‖g‖ = {norm:.1f}, D₁ = {loss:.0f}",
        of_values(shares),
        OF_BOUND,
        signed=False,
        learner=label,
        measure=said,
        rounds=int(candidate.runs["train_size"].iloc[0]),
        least=float(shares.min()),
        counted=counted,
        bound=bound,
        norm=norm,
        loss=loss,
    )


def _by_run(results: Results, runs: list[int]) -> dict[int, Comparators]:
    """The comparators of each run.

    Raises
    ------
    MissingError : there are none of one of them.
    """
    found, identity = read_comparators(results.folder), data_identity(results.folder)
    keys = {run: results.experiment.examples_key(identity, run) for run in runs}
    lacking = sum(key not in found for key in keys.values())
    if lacking:
        reason = Reason("no_comparators", {"experiment": results.folder.name, "lacking": lacking, "runs": len(runs)})
        raise MissingError(f"no comparators of {results.folder.name}", reason)
    return {run: refined(found[key]) for run, key in keys.items()}
