"""Claims in words, checked on our results: one verdict for each claim and experiment."""

from __future__ import annotations

from budgetbench.verdicts.comparing import Finding
from budgetbench.verdicts.model import DOES_NOT_HOLD, HOLDS, NOT_RUN, State, Verdict
from budgetbench.verdicts.published import Claim
from budgetbench.verdicts.selection import MissingError, View


def check_claim(claim: Claim, paper: str, view: View) -> Verdict:
    """The verdict on a claim, on the view's experiment."""
    try:
        found = claim.function(view, **claim.arguments)
        state: State = HOLDS if found.holds else DOES_NOT_HOLD
    except MissingError as error:
        found = Finding(False, "", "", "", (), note=str(error))
        state = NOT_RUN
    deviation = claim.deviations.get(view.experiment) or claim.deviations.get("all")
    return Verdict(
        id=f"{claim.id}.{view.experiment}",
        paper=paper,
        item=claim.item,
        kind="claim",
        text=claim.text,
        quote=claim.quote,
        published=found.claimed,
        ours=found.ours,
        difference=found.difference,
        in_spreads=None,
        state=state,
        deviation=deviation if state == DOES_NOT_HOLD else None,
        note=found.note,
        experiments=experiments_of(claim, view.experiment),
        evidence=found.evidence,
    )


def experiments_of(claim: Claim, experiment: str) -> tuple[str, ...]:
    """The experiments whose results a claim needs: the one that it is checked on, and those its selectors name."""
    found = [experiment]
    for value in claim.arguments.values():
        for selector in value if isinstance(value, list) else [value]:
            if isinstance(selector, dict) and "experiment" in selector:
                found.append(selector["experiment"])
    return tuple(dict.fromkeys(found))
