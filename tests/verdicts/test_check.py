"""All verdicts on a folder, and the command that shows them."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from support.results import records, write_results

from budgetbench.cli import main
from budgetbench.config import load
from budgetbench.results.measures import POINTS
from budgetbench.significance import holm
from budgetbench.verdicts import Verdict, check, counts, failures, published, words
from budgetbench.verdicts.evidence import Evidence, Finding
from budgetbench.verdicts.model import EXPLAINED, FAILS, HOLDS, NOT_RUN, Basis, Explanation, Outcome
from budgetbench.verdicts.statistics import Interval
from budgetbench.verdicts.writing import FORMATS

Make = Callable[..., Any]


LITTLE = [{"name": "perceptron"}, {"name": "budget_perceptron", "budget": 50}]
PLANNED = load(Path(__file__).parents[2] / "configs" / "banana.yaml").resolved() | {"permutations": 10}


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["check", *arguments])
    return int(end.value.code or 0)


@pytest.fixture
def banana(write: Make, tmp_path: Path) -> Callable[[float], Path]:
    """Results like those of Banana, with this test error of the Tighter Budget Perceptron."""

    def written(tighter: float) -> Path:
        def errors(mean: float) -> dict[str, list[Any]]:
            return {"test_error": [mean - 0.01, mean, mean + 0.01, mean, mean], "support_size": [30] * 5}

        sets = [records("perceptron", test_error=[0.13, 0.13, 0.14, 0.14, 0.13], support_size=[500] * 5)]
        for size in (25, 50):
            sets.append(records("budget_perceptron", {"budget": size}, **errors(0.4)))
            for removal in ("after_insertion", "before_insertion"):
                sets.append(
                    records("tighter_budget_perceptron", {"budget": size, "removal": removal}, **errors(tighter))
                )
        sets.append(records("svm", {"C": 316.0}, **(errors(0.095) | {"support_size": [900] * 5})))
        write(*sets, **PLANNED)
        return tmp_path

    return written


def of(verdicts: list[Verdict], name: str) -> Verdict:
    (found,) = [verdict for verdict in verdicts if verdict.id == name]
    return found


def test_a_claim_that_holds_and_one_that_does_not(banana: Callable[[float], Path]) -> None:
    name = "weston2005.tighter_below_budget_perceptron.banana"
    verdict = of(check(banana(0.10)), name)
    assert (verdict.outcome, words.ours(verdict)) == (HOLDS, "2 of 2 shown")
    assert verdict.experiments == ("banana",)
    assert [row.interval.runs for row in verdict.evidence] == [5, 5]
    assert of(check(banana(0.50)), name).outcome is FAILS


def test_what_was_not_run_never_fails(banana: Callable[[float], Path]) -> None:
    verdicts = check(banana(0.10))
    verdict = of(verdicts, "orabona2008.plus_plus_below_perceptron.adult9")
    assert words.reason(verdict.reason) == "no results of adult9"
    assert verdict.said.learners == ("projectron_plus_plus", "perceptron")  # known without any results
    assert not failures([verdict for verdict in verdicts if verdict.experiments != ("banana",)])
    counted = [sum(counts(verdicts, basis).values()) for basis in get_args(Basis)]
    assert sum(counted) == len(verdicts)
    assert all(counted)
    assert len({verdict.id for verdict in verdicts}) == len(verdicts)


def test_a_listed_reason_keeps_it_from_failing(write: Make, tmp_path: Path) -> None:
    write(records("perceptron", test_error=[0.02] * 5, train_size=[7291] * 5), name="usps")
    verdict = of(check(tmp_path), "weston2005.table-1.usps.train_size")
    assert (verdict.outcome, words.difference(verdict)) == (EXPLAINED, "−38")
    assert words.explanation(verdict).startswith("A misprint.")
    assert verdict not in failures([verdict])


def test_exit_codes(banana: Callable[[float], Path], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    root = banana(0.10)
    wrong = [verdict.id for verdict in failures(check(root))]
    assert wrong == ["weston2005.table-1.banana.train_size", "weston2005.table-1.banana.test_size"]  # 100 and 50
    assert run(str(root)) == 1
    out, err = capsys.readouterr()
    assert "✓ holds" in out
    assert "Without results: adult9, bounds, " in out
    assert max(map(len, out.splitlines())) <= 80
    assert err.startswith("budgetbench: 2 of ")
    assert all(name in err for name in wrong)
    assert run(str(tmp_path / "nowhere")) == 2


def test_nothing_wrong_is_exit_code_0(write: Make, tmp_path: Path) -> None:
    sizes = {"train_size": [4000] * 10, "test_size": [1300] * 10}
    sets = records("perceptron", test_error=[0.13] * 10, support_size=[500] * 10, **sizes)
    write(sets, **PLANNED)
    assert run(str(tmp_path), "--format", "csv") == 0


def test_what_was_run_and_does_not_tell_is_an_error(
    write: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sizes = {"train_size": [4000] * 10, "test_size": [1300] * 10}
    perceptron = records("perceptron", test_error=[0.13] * 10, support_size=[500] * 10, **sizes)
    small = records("budget_perceptron", {"budget": 50}, test_error=[0.4] * 10, support_size=[50] * 10, **sizes)
    name, problem = "weston2005.budget_perceptron_meets_perceptron.banana", "no size as large as the 500 that"
    for plan, unanswered in ((PLANNED, False), ({**PLANNED, "algorithms": LITTLE}, True)):
        write(perceptron, small, **plan)
        verdict = of(check(tmp_path), name)
        assert verdict.outcome is NOT_RUN
        assert problem in words.reason(verdict.reason)
        assert words.reason(verdict.reason).endswith(", and not all has been run") is not unanswered
        assert (verdict in failures([verdict])) is unanswered
    assert run(str(tmp_path)) == 1
    err = capsys.readouterr().err
    assert "fail, hold and are explained away, or cannot be told from the runs:\n" in err
    assert f"{name}: With a cache that holds all" in err
    assert f". Budget Perceptron, B = 50: {problem} Perceptron stores.\n" in err


def test_an_experiment_beside_it_that_was_not_run_is_no_error(write: Make, tmp_path: Path) -> None:
    clean = records("perceptron", test_error=[0.02] * 5)
    for name in ("usps_noise10", "usps_runs"):
        write(clean, name=name)  # of the Budget Perceptron nothing was planned on either
        verdict = of(check(tmp_path), "weston2005.noise_degrades_budget_perceptron.usps_noise10")
        assert verdict.unanswered is (name == "usps_runs")


def test_formats(banana: Callable[[float], Path], capsys: pytest.CaptureFixture[str]) -> None:
    root = banana(0.10)
    verdicts = check(root)
    run(str(root), "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["id"] for row in rows] == [verdict.id for verdict in verdicts]
    assert {row["state"] for row in rows} == {"holds", "fails", "undecided", "not run"}
    assert {row["basis"] for row in rows} == set(get_args(Basis))
    run(str(root), "--format", "markdown")
    page = capsys.readouterr().out
    tables = [line for line in page.splitlines() if line.startswith("|")]
    assert {line.count("|") - line.count("\\|") for line in tables} == {10, 11}
    assert page == FORMATS["markdown"](verdicts)
    assert " ".join(words.RULE.values()) in page


def test_write(banana: Callable[[float], Path]) -> None:
    root = banana(0.10)
    run(str(root), "--write", "--format", "csv")
    assert (root / "verdicts.md").read_text(encoding="utf-8") == FORMATS["markdown"](check(root))
    assert (root / "verdicts.csv").read_text(encoding="utf-8").startswith("id,paper,item,kind,")


def test_written_verdicts_do_not_become_not_run(
    banana: Callable[[float], Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root = banana(0.10)
    run(str(root), "--write", "--format", "csv")
    written = (root / "verdicts.md").read_bytes()
    shutil.rmtree(root / "banana")
    (root / "other").mkdir()
    write_results(root / "other", records("perceptron", test_error=[0.1] * 5), dataset={"name": "usps"})
    capsys.readouterr()
    assert run(str(root), "--write", "--format", "csv") == 2
    assert "verdicts.csv has verdicts on banana, which would become not run" in capsys.readouterr().err
    assert (root / "verdicts.md").read_bytes() == written
    assert run(str(root), "--write", "--force", "--format", "csv") == 0
    assert (root / "verdicts.md").read_bytes() != written


def test_p_is_corrected_over_the_measured_comparisons_of_a_paper(banana: Callable[[float], Path]) -> None:
    found = check(banana(0.10))
    weston = [one for one in found if one.said.paper == "weston2005" and one.said.basis == "measured" and one.found]
    family = [one for verdict in weston for one in verdict.evidence if one.p is not None]
    assert len(family) > 5
    assert [one.adjusted for one in family] == holm([one.p for one in family]).tolist()


def test_variants_are_corrected_by_themselves_and_may_fail(banana: Callable[[float], Path]) -> None:
    found = check(banana(0.50))
    tested = [one for one in found if one.said.basis == "variant" and one.outcome is not NOT_RUN]
    family = [one for verdict in tested for one in verdict.evidence if one.p is not None]
    assert len(family) > 5
    assert [one.adjusted for one in family] == holm([one.p for one in family]).tolist()
    failed = [one for one in tested if one.outcome is FAILS]
    assert failed
    assert not failures(failed)


@pytest.mark.parametrize(("high", "outcome"), [(3, EXPLAINED), (1, FAILS)])
def test_a_reason_has_to_reach_each_comparison_that_is_refuted(high: float, outcome: Outcome) -> None:
    means = {0.5: 0.999, 2.0: 0.999, -9.0: 0.001}
    comparisons = tuple(Evidence("a - b", Interval(5, mean), POINTS, doubt) for mean, doubt in means.items())
    said = replace(published("weston2005").claims[0], explained={"all": Explanation("Why.", 0, high)})
    assert Verdict(said, "usps", Finding("difference < 0", comparisons)).outcome is outcome


def test_what_is_true_by_construction_is_not_corrected(write: Make, tmp_path: Path) -> None:
    fixed = records("mira", {"size": "fixed", "budget": 50}, test_error=[0.1] * 5, support_size=[50] * 5)
    write(fixed, name="fig4_usps")
    verdict = of(check(tmp_path), "crammer2003.limit_never_exceeded.fig4_usps")
    assert (verdict.outcome, verdict.said.basis) == (HOLDS, "construction")
    assert [(one.p, one.adjusted) for one in verdict.evidence] == [(0, None)]


def test_a_substitute_is_named_wherever_it_takes_part(write: Make, tmp_path: Path) -> None:
    errors = {"test_error": [0.02] * 5, "support_size": [100] * 5}
    variable = records("mira", {"size": "variable"}, **errors)
    name = "crammer2003.variable_error_like_svm.fig4_usps"
    for svm, told in (("svm", "The SVM is one against one, in place of "), ("multiclass_svm", "")):
        write(variable, records(svm, {"C": 1.0}, **errors), name="fig4_usps")
        verdict = of(check(tmp_path), name)
        assert verdict.outcome is HOLDS
        assert told in words.remark(verdict)
        assert bool(verdict.substitutes) is bool(told)
