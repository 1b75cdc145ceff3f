"""Made-up results and verdicts, and the page made of them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.results import record, write_results

from budgetbench.archive import experiment_folders
from budgetbench.published import Value
from budgetbench.report import render
from budgetbench.results.measures import PLAIN, POINTS, TIMES
from budgetbench.verdicts.evidence import Evidence, Finding, Measured, Reason, Tolerance
from budgetbench.verdicts.model import Claim, Explanation, LeftOut, Number, Paper, Verdict
from budgetbench.verdicts.statistics import Interval

HOSTILE = "<script>alert('1')</script> & $\\frac$ \"quoted\""
SEEN = [1, *range(100, 1001, 10)]


def run(algorithm: str, params: dict[str, Any], number: int, **more: Any) -> dict[str, Any]:
    size = params.get("budget") or 300
    curve = {
        "seen": SEEN,
        "online_error": [0.5 - seen / 5000 + 0.01 * number for seen in SEEN],
        "support_size": [min(seen, size) for seen in SEEN],
    }
    measures = {"test_error": 0.1 + 0.02 * number, "online_error": 0.3 + 0.01 * number, "support_size": size}
    return record(algorithm, params, number, **measures | {"curve": curve} | more)


def make_results(root: Path) -> Path:
    """Three experiments: one complete, with a hostile title; one unfinished, with failed runs; one without results."""
    budgets = [10, 30, 100]
    sets = [("perceptron", {}), *(("budget_perceptron", {"budget": budget}) for budget in budgets)]
    complete = [run(name, params, number) for number in range(2) for name, params in sets]
    write_results(
        root / "complete",
        complete,
        {"budgetbench": "0.1.0", "commit": "0123abcd", "platform": "Linux", "python": "3.11", "keys": [
            one["key"] for one in complete
        ]},
        permutations=2,
        title=HOSTILE,
        reproduces={"paper": "known2001", "item": "Figure 2"},
        dataset={"name": "usps"},
        algorithms=[{"name": "perceptron"}, {"name": "budget_perceptron", "budget": budgets}],
        plots=[{"kind": "error_vs_support"}, {"kind": "online_error_vs_seen", "size": "double"}],
    )  # fmt: skip
    partly = [run("perceptron", {}, 0, test_error=None), run("stoptron", {"budget": 50}, 0, test_error=None)]
    partly.append(run("forgetron", {"budget": 50}, 0, status="failed", error="ValueError: <b>no</b>", curve=None))
    write_results(
        root / "partly",
        partly,
        permutations=2,
        title="Partly run",
        reproduces={"paper": "unknown1999", "item": "Table 9"},
        dataset={"name": "banana"},
        algorithms=[{"name": "perceptron"}, {"name": "stoptron", "budget": 50}, {"name": "forgetron", "budget": 50}],
    )
    write_results(
        root / "nothing",
        [run("svm", {"C": 1}, 0, status="failed", error="MemoryError", curve=None, test_error=None)],
        dataset={"name": "usps"},
        algorithms=[{"name": "svm", "C": 1}],
        plots=[{"kind": "error_vs_support"}],
    )
    return root


PAPERS = [
    Paper("known2001", "On <knowing>", ("Ann First", "Bo Second", "Cy Third"), "Journal", 2001, ("Table 1", "Figure 2"),
          {"complete": "usps", "elsewhere": "waveform"},
          (LeftOut("A sentence & more.", "Section 1", "It is about the future."),),
          pictures={"Figure 2": ("complete/error_vs_support", "elsewhere/error_vs_support")}),
    Paper("empty1900", "Of nothing", ("No One",), "Nowhere", 1900, (), {}),
]  # fmt: skip


def number(name: str, found: Measured | None, experiment: str = "complete", **of: Any) -> Verdict:
    """A verdict on a number of Table 1."""
    place = {"id": f"known2001.{name}", "paper": "known2001", "item": "Table 1", "quote": "as printed"}
    value = Value(20.0, 0.1, "20.0 ± 0.1 %")
    said = Number(
        **place, experiments=(experiment,), learners=(of["algorithm"],), of=of, name="online_error", value=value
    )
    return Verdict(said, experiment, found, None if found else Reason("no_results", {"experiment": experiment}))


def measured(outcome: str, mean: float, spread: float | None = None) -> Measured:
    difference = Evidence("ours - published", Interval(5, mean - 20, mean - 20.5, mean - 19.5), POINTS)
    return Measured(outcome, mean, spread, Tolerance(0.3, "fixed"), None, (difference,))


CLAIM = Claim(
    id="known2001.d",
    paper="known2001",
    item="Figure 2",
    quote="as printed",
    experiments=("complete",),
    learners=("perceptron", "svm"),
    explained={"all": Explanation("The <paper> errs.", 0, 1, ("misprints",))},
    text="The SVM is better than the Perceptron.",
    statement="below",
    arguments={},
)
DIFFERENCES = (
    Evidence("SVM & more - Perceptron", Interval(5, -1.5, -2.0, -1.0), POINTS, 0.01, adjusted=0.06),
    Evidence("wide", Interval(5, 0.001234), PLAIN, 0.49),
    Evidence("against", Interval(5, 0.3, 0.2, 0.4), POINTS, 0.9999),
)
MADE = Evidence("largest over smallest", Interval(5, 0.5), TIMES, signed=False)
VERDICTS = [
    number("a", measured("shown", 20.1, 0.2), algorithm="perceptron"),
    number("b", measured("refuted", 14.975), algorithm="budget_perceptron", budget=10),
    number("c", None, "elsewhere", algorithm="projectron_plus_plus"),
    Verdict(
        CLAIM,
        "complete",
        Finding("difference < 0", DIFFERENCES, made=MADE),
        substitutes=("The SVM takes part.",),
    ),
]


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_results(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="session")
def page(results: Path) -> str:
    return render(experiment_folders(results), VERDICTS, PAPERS)


@pytest.fixture(scope="session")
def made_up() -> SimpleNamespace:
    """What the page is made of."""
    return SimpleNamespace(claim=CLAIM, verdicts=VERDICTS, papers=PAPERS, number=number)


@pytest.fixture(scope="session")
def hostile() -> str:
    return HOSTILE
