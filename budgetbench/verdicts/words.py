"""Verdicts in words: what the terminal, Markdown, CSV and the page have in common, and the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from budgetbench.results.measures import CLOSE, EXAMPLES, MEASURES, RELATIVE
from budgetbench.results.sizes import signs
from budgetbench.verdicts.model import Evidence, Finding, Measured, Number, Reason, Verdict, counts
from budgetbench.verdicts.numbers import FACTS, SPREADS
from budgetbench.verdicts.selection import label
from budgetbench.verdicts.statistics import FEW, LEVEL, OPEN, REFUTED, SHOWN, WIDER

RULE = {
    "intervals": f"Intervals are two-sided {100 * LEVEL:g} % confidence intervals over runs, paired where both sides "
    "saw the same streams.",
    "claims": "A claim holds when the interval of its mean difference, or a sign test, shows it and no single "
    "comparison refutes it.",
    "numbers": f"A number holds within {SPREADS:g} published standard deviations, or {CLOSE:g} percentage points or "
    f"{100 * RELATIVE:g} % of a size if that is more.",
    "few": f"With fewer than {FEW} runs means are compared, with tolerances widened to {WIDER:g} times that.",
}
"""How it is decided what holds."""

REASONS: dict[str, Callable[..., str]] = {
    "missing": "{text}".format,
    "no_results": "no results of {experiment}".format,
    "few_runs": lambda runs: (
        f"{runs} run{'s' * (runs != 1)}: means compared, with widened tolerance; intervals need {FEW}"
    ),
    "more_to_run": "{runs:.0f} of {wanted:.0f} runs".format,
    "opposite": "the opposite is shown in {refuted} of {of}".format,
    "undecided": "{runs} runs do not decide it".format,
    "signs": "shown by the runs' agreement (sign test); the interval alone does not decide it".format,
    "quantile": "at quantile {quantile:.2f} of our {draws} draws".format,
}


def reason(found: Reason | None) -> str:
    """How a verdict was reached, or why there is none."""
    return REASONS[found.kind](**found.values) if found else ""


def remark(verdict: Verdict) -> str:
    """What is to be said beside the outcome: the reason of a known deviation, and how the verdict was reached."""
    return " ".join(f"{text.rstrip('.')}." for text in (verdict.deviation, reason(verdict.reason)) if text)


def title(verdict: Verdict) -> str:
    """Which number it is, such as `Projectron, B = 1500: mistakes`, or the claim."""
    return ": ".join(filter(None, (subject(verdict), quantity(verdict))))


def subject(verdict: Verdict) -> str:
    """The learner that a number is about; nothing above facts of the experiment and claims."""
    of = verdict.said.of if isinstance(verdict.said, Number) else None
    if not of:
        return ""
    others = {name: value for name, value in of.items() if name not in ("algorithm", *signs())}
    return label(of["algorithm"], others, of)


def quantity(verdict: Verdict) -> str:
    """What a number counts, or the claim."""
    said = verdict.said
    if not isinstance(said, Number):
        return said.text
    return MEASURES[said.name].said if said.of else FACTS[said.name].words.capitalize()


def published(verdict: Verdict) -> str:
    """The number as it was printed, or what a claim comes to in short."""
    if isinstance(verdict.said, Number):
        return verdict.said.value.text
    return verdict.found.claimed if isinstance(verdict.found, Finding) else ""


def ours(verdict: Verdict, unit: bool = True) -> str:
    """Our number, or how a claim's comparisons came out."""
    found, said = verdict.found, verdict.said
    if isinstance(found, Finding):
        return found.found or outcomes(found.comparisons)
    if not isinstance(found, Measured) or not isinstance(said, Number):
        return ""
    if not said.of:
        return f"{found.mean:.6g}"
    own = MEASURES[said.name].unit
    return f"{own.text(found.mean, found.spread)} {own.sign * unit}".rstrip()


def difference(verdict: Verdict, unit: bool = True) -> str:
    """Of ours from the published number, or the mean difference that a claim is about."""
    found, said = verdict.found, verdict.said
    if isinstance(found, Finding):
        return amount(found.whole)
    if not isinstance(found, Measured) or not isinstance(said, Number):
        return ""
    if found.evidence:
        return amount(found.evidence[0], interval=False, unit=unit)
    return minus(f"{found.mean - said.value.mean:+.3g}") if found.mean != said.value.mean else "0"


def spreads(verdict: Verdict) -> str:
    """The difference in units of the published spread, signed."""
    return "" if verdict.in_spreads is None else minus(f"{verdict.in_spreads:+.1f}")


def amount(one: Evidence, interval: bool = True, unit: bool = True) -> str:
    """A mean and its interval: ``−1.02 [−1.20, −0.84] points``."""
    found = one.interval
    digits = 0 if one.unit is EXAMPLES and abs(found.mean) >= 100 else 2
    mean, *bounds = (
        "" if value is None else minus(f"{value:{'+' * one.signed}.{digits}f}")
        for value in (found.mean, found.low, found.high)
    )
    text = f"{mean} [{', '.join(bounds)}]" if interval and all(bounds) else mean
    return f"{text} {one.unit.name * unit}".rstrip()


def minus(text: str) -> str:
    """A number with the sign that is as wide as a plus."""
    return text.replace("-", "−")


def outcomes(comparisons: Iterable[Evidence]) -> str:
    """How many comparisons came out which way."""
    found = [comparison.outcome for comparison in comparisons]
    if len(found) == 1:
        return {SHOWN: "shown", OPEN: "not decided", REFUTED: "the opposite"}[found[0]]
    text = f"{found.count(SHOWN)} of {len(found)} shown"
    return f"{text}, {found.count(REFUTED)} opposite" if REFUTED in found else text


def tally(verdicts: Iterable[Verdict]) -> str:
    """The counts in one line."""
    return ", ".join(f"{number} {outcome.counted}" for outcome, number in counts(verdicts).items())
