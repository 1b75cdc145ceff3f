"""Verdicts in words: what the terminal, Markdown, CSV and the page have in common, and the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from budgetbench.results.measures import CLOSE, EXAMPLES, MEASURES, POINTS, RELATIVE
from budgetbench.results.sizes import signs
from budgetbench.significance import ALPHA
from budgetbench.verdicts.evidence import Evidence, Finding, Measured, Reason
from budgetbench.verdicts.model import EXPLAINED, FAILS, HOLDS, OUTCOMES, Basis, Explanation, Number, Verdict, counts
from budgetbench.verdicts.numbers import FACTS, SPREADS
from budgetbench.verdicts.selection import label
from budgetbench.verdicts.statistics import FEW, INNER, OPEN, REFUTED, SHOWN, WIDER

RULE = {
    "tests": f"Every test is two-sided at the {100 * ALPHA:g} % level: a comparison is shown, refuted or open as its "
    f"{100 * (1 - ALPHA):g} % confidence interval over runs (Student's; over pairs of runs where both sides saw the "
    "same streams, else Welch's) lies on the claim's side of the threshold, on the other, or on both.",
    "claims": "A claim holds when each of its comparisons is shown, fails when one is refuted, and is undecided "
    "otherwise. What is said to be alike has its whole interval between the bounds (two one-sided tests).",
    "test_sets": "Where all runs were tested on the same examples, their interval says nothing of other test sets: "
    "beside it stands what the test set adds to it at most, as if no two learners erred on the same example, and the "
    "verdict over runs and test sets.",
    "corrected": "Beside each verdict stands the one after Holm's correction over all measured comparisons of the "
    "paper.",
    "numbers": f"A number holds within {SPREADS:g} published standard deviations, or {CLOSE:g} percentage points or "
    f"{100 * RELATIVE:g} % of a size if that is more; the interval of the difference (Welch's) stands beside it.",
    "draws": f"Where the paper's data is one random draw, a number holds within {SPREADS:g} standard deviations of our "
    "draws, as the difference from a learner of the same draw where all move with it, and what a table prints of all "
    f"learners holds if it is nearer to the middle of our draws than the outer {1 - INNER:.0%} of them.",
    "explained": "What fails is explained where the reason is given and reaches as far as the deviation.",
    "few": f"Fewer than {FEW} runs show nothing: what is further off than {WIDER:g} times these tolerances, at every "
    "size, fails; all else is undecided.",
}
"""How it is decided what holds."""

READINGS = "readings_"
"""Begins the name of an experiment of configs/readings, and so that of its folder of results."""

APART: dict[Basis, str] = {
    "input": "inputs",
    "construction": "true by construction",
    "theorem": "proved",
    "variant": "of a variant",
}
"""What is listed apart from what was measured."""

REASONS: dict[str, Callable[..., str]] = {
    "missing": "{text}".format,
    "unfinished": "{text}, and not all has been run".format,
    "untimed": "{text} that can be set beside the others: run it again with --fresh".format,
    "spread": "a spread needs at least {needed} runs".format,
    "no_results": "no results of {experiment}".format,
    "no_comparators": (
        "no comparators of {lacking} of the {runs} streams of {experiment}; budgetbench bounds looks for them".format
    ),
    "few_runs": lambda runs: (
        f"{runs} run{'s' * (runs != 1)}: means compared, with widened tolerance; a test needs {FEW}"
    ),
    "more_to_run": "{ours:.0f} of {wanted:.0f} {what}".format,
    "opposite": "the opposite is shown in {refuted} of {of}".format,
    "undecided": lambda runs, open, of: f"{runs} runs do not decide {f'{open} of {of}' if of > 1 else 'it'}",
    "quantile": "at quantile {quantile:.2f} of our {draws} draws".format,
}


def reason(found: Reason | None) -> str:
    """How a verdict was reached, or why there is none."""
    return REASONS[found.kind](**found.values) if found else ""


def remark(verdict: Verdict) -> str:
    """What is to be said beside the outcome: why it does not hold, how the verdict was reached, and who took part."""
    how = reason(verdict.reason), over_test_sets(verdict), leniency(verdict)
    return sentences(explanation(verdict), *how, *verdict.substitutes)


def sentences(*texts: str) -> str:
    """Texts one after the other, each with a full stop; empty ones are left out."""
    return " ".join(f"{text.rstrip('.')}." for text in texts if text)


def over_test_sets(verdict: Verdict) -> str:
    """That the verdict is about this test set alone, where it is another one over test sets."""
    outcome, found = verdict.over_test_sets, verdict.found
    if outcome is None or outcome is verdict.outcome or not isinstance(found, Finding):
        return ""
    changed, of = found.on_one_test_set, len(found.comparisons)
    one = max(changed, key=lambda one: one.doubt or 0.0)
    which = (
        f"{minus_sign(one.what)} is then {amount(one.wider or one)}, of which the test set makes up to {test_set(one)}"
    )
    many = f"{len(changed)} of {of} comparisons change, and " if of > 1 else ""
    return f"Over test sets too it is {outcome.name}: {many}{which}"


def on_one_test_set(verdicts: Iterable[Verdict]) -> str:
    """How many verdicts are about one test set alone, in a sentence; empty if none is."""
    number = sum(bool(over_test_sets(one)) for one in verdicts if one.said.basis == "measured")
    what = f"{number} of these verdicts {'is' if number == 1 else 'are'}"
    return f"{what} shown over runs on one test set, and not over test sets." if number else ""


def test_set(one: Evidence) -> str:
    """What the test set of all runs makes of an interval at most: ``±0.45 points (2007 examples)``."""
    test = one.interval.test
    return f"±{test.half:.2f} {one.unit.name} ({test.examples} examples)" if test and one.wider else ""


def explanation(verdict: Verdict) -> str:
    """Why it does not hold, and how far the reason reaches."""
    known = verdict.known
    if known and verdict.unneeded:
        return "It holds, and yet is explained away"
    if known and verdict.outcome is EXPLAINED:
        return f"{known.reason} This explains {reach(known)}."
    if known and verdict.outcome is FAILS:
        return f"It is explained for {reach(known)} alone"
    return ""


def reading(name: str) -> str:
    """Where the table of a reading lies, from the folder of results of which the verdicts are."""
    return f"readings/{READINGS}{name}/table.md"


def reach(known: Explanation) -> str:
    """The bound of an explanation: ``a deviation of 0 to 0.6``."""
    low, high = (minus(f"{bound:g}") for bound in (known.low, known.high))
    return f"a deviation of {low}" if low == high else f"deviations of {low} to {high}"


def tolerance(verdict: Verdict) -> str:
    """By how much ours may differ from a published number, and what that is: ``3 spreads, 0.42 points``."""
    found, said = verdict.found, verdict.said
    if not isinstance(found, Measured) or not isinstance(said, Number) or found.tolerance is None:
        return ""
    own, judged = MEASURES[said.name], found.tolerance
    fixed = "" if own.unit is POINTS else f"{100 * own.relative:g} %"
    kinds = {"spreads": f"{SPREADS:g} spreads", "draws": f"{SPREADS:g} spreads of our draws", "fixed": fixed}
    kind = kinds[judged.kind]
    amount = f"{judged.amount:.{own.unit.digits}f} {own.unit.name}"
    if judged.widened:
        kind = f"{WIDER:g} × {kind}" if kind else ""
    return ", ".join(filter(None, (kind, amount)))


def leniency(verdict: Verdict) -> str:
    """That a number holds by the fixed tolerance alone, further off than its spread allows."""
    found, away = verdict.found, verdict.in_spreads
    fixed = isinstance(found, Measured) and found.tolerance is not None and found.tolerance.kind == "fixed"
    if not fixed or away is None or abs(away) <= SPREADS or verdict.outcome is not HOLDS:
        return ""
    return f"within {tolerance(verdict)}, and {abs(away):.1f} published spreads off"


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
    if not said.of:
        return FACTS[said.name].words.capitalize()
    less = f" − {label(said.less['algorithm'], {}, said.less)}" if said.less else ""
    return MEASURES[said.name].said + less


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
    return minus(f"{own.text(found.mean, found.spread)} {own.sign * unit}".rstrip())


def difference(verdict: Verdict, interval: bool = True, unit: bool = True) -> str:
    """Ours less the published number, or the least favourable comparison of a claim."""
    found, said = verdict.found, verdict.said
    if isinstance(found, Finding):
        return amount(found.decisive, interval=interval)
    if not isinstance(found, Measured) or not isinstance(said, Number):
        return ""
    if found.evidence:
        return amount(found.evidence[0], interval=interval, unit=unit)
    return minus(f"{found.mean - said.value.mean:+.3g}") if found.mean != said.value.mean else "0"


def brief(verdict: Verdict) -> str:
    """A claim's least favourable comparison without its interval."""
    return difference(verdict, interval=False) if isinstance(verdict.found, Finding) else ""


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


def decisive(verdict: Verdict) -> str:
    """What a claim's least favourable comparison subtracts from what, and its runs."""
    if not isinstance(verdict.found, Finding):
        return ""
    one = verdict.found.decisive
    return f"{minus_sign(one.what)} ({one.interval.runs} run{'s' * (one.interval.runs != 1)})"


def minus_sign(what: str) -> str:
    """A comparison with the sign of subtraction."""
    return what.replace(" - ", " − ")


def chance(p: float | None) -> str:
    """A p: ``0.031``, ``< 0.001``; empty where there is none."""
    return "" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def tally(verdicts: Iterable[Verdict], basis: Basis = "measured") -> str:
    """The counts in one line."""
    return ", ".join(f"{number} {outcome.counted}" for outcome, number in counts(verdicts, basis).items())


def apart(verdicts: Iterable[Verdict]) -> str:
    """What is counted apart, in one line: ``40 inputs (37 hold, 3 explained), …``; empty if there is nothing."""
    given = list(verdicts)
    parts = []
    for basis, name in APART.items():
        found = {outcome: number for outcome, number in counts(given, basis).items() if number}
        if found:
            counted = ", ".join(f"{found[one]} {one.counted}" for one in OUTCOMES if one in found)
            parts.append(f"{sum(found.values())} {name} ({counted})")
    return ", ".join(parts)
