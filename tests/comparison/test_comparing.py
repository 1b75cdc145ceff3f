"""Comparisons of made-up results: who stands for a learner at which size, who is left out, and what is written."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.results import records, write_results

from budgetbench.archive import read_results
from budgetbench.comparison import FORMATS, Memory, compare, table, write
from budgetbench.errors import Notice, RequestError
from budgetbench.results.formats import fitting

#: Of each learner: budget → test error, online error, bytes. The smallest test error is not the smallest online error.
LEARNERS: dict[str, dict[int, tuple[float, float, int]]] = {
    "budget_perceptron": {5: (0.30, 0.32, 900), 20: (0.20, 0.24, 3600), 30: (0.19, 0.25, 3900)},
    "forgetron": {5: (0.28, 0.33, 900), 20: (0.22, 0.23, 3600)},
    "stoptron": {20: (0.26, 0.27, 3600)},
}

DATASETS = ("gaussian", "banana", "usps", "adult9", "waveform", "letter")


def experiment(folder: Path, learners: Any, shift: float, dataset: str = "gaussian", **also: Any) -> None:
    runs, algorithms = [], []
    for name, budgets in learners.items():
        algorithms.append({"name": name, "budget": list(budgets)})
        for budget, (test, online, size) in budgets.items():
            spread = (-0.01, 0.0, 0.01)
            measures = {"test_error": [test + shift + s for s in spread], "online_error": [online + s for s in spread]}
            measures |= {"model_bytes": [size] * 3}
            measures |= {measure: [value(budget)] * 3 for measure, value in also.items()}
            runs += records(name, {"budget": budget}, **measures)
    more = {"dataset": {"name": dataset}, "kernel": {"name": "rbf", "gamma": 1.0}, "algorithms": algorithms}
    write_results(folder, runs, permutations=3, **more)


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., list[Any]]:
    def made(n: int = 4, learners: Any = LEARNERS, **also: Any) -> list[Any]:
        for number, dataset in enumerate(DATASETS[:n]):
            experiment(tmp_path / f"e{number}", learners, number / 100, dataset, **also)
        return [read_results(tmp_path / f"e{number}") for number in range(n)]

    return made


@pytest.mark.parametrize(("datasets", "columns"), [(4, 6), (5, 2)])
def test_a_narrow_terminal_gets_whole_columns(datasets: int, columns: int, made: Any) -> None:
    shown = fitting(table(compare(made(datasets), "test_error", [Memory(4000)])), 60)
    assert len(shown.columns) == columns


def test_a_memory_of_examples_is_as_many_bytes_as_they_take_on_each_dataset(made: Any) -> None:
    small, large = (replace(one, example_bytes=size) for one, size in zip(made(2), (45, 180), strict=True))
    chosen = compare([small, large], "test_error", [Memory(20, examples=True)]).comparisons[0].chosen
    assert set(chosen["memory"]) == {"20 examples"}
    assert set(chosen.loc[chosen["experiment"] == "e0", "model_bytes"]) == {900}
    assert set(chosen.loc[chosen["experiment"] == "e1", "model_bytes"]) == {3600}
    with pytest.raises(RequestError, match="e0: what an example takes was not recorded; give --memory in bytes"):
        compare(made(2), "test_error", [Memory(20, examples=True)])


def test_parameters_are_chosen_by_online_error_among_models_that_fit(made: Any) -> None:
    report = compare(made(), "test_error", [Memory(1000), Memory(3700), Memory(100_000)])
    assert [one.memory.amount for one in report.comparisons] == [1000, 3700, 100_000]
    for one, value in zip(report.comparisons, (0.30, 0.20, 0.20), strict=True):  # never 0.19: its online error is worse
        own = one.chosen[one.chosen["learner"] == "Budget Perceptron"]
        assert own["mean"].tolist() == pytest.approx([value, value + 0.01, value + 0.02, value + 0.03])
    assert set(report.comparisons[0].chosen["chosen_by"]) == {""}
    assert report.comparisons[1].ranks.to_dict() == {"Budget Perceptron": 1, "Forgetron": 2, "Stoptron": 3}
    assert report.comparisons[0].ranks.to_dict() == {"Forgetron": 1, "Budget Perceptron": 2}


def test_validation_errors_choose_where_they_are_recorded(made: Any) -> None:
    results = made(validation_error=lambda budget: 1 / budget)
    (one,) = compare(results, "test_error", [Memory(100_000)]).comparisons
    assert set(one.chosen["chosen_by"]) == {"validation_error", ""}
    assert one.chosen["mean"].iloc[0] == pytest.approx(0.19)


def test_entries_of_one_class_with_titles_of_their_own_are_learners_of_their_own(made: Any) -> None:
    results = made()
    for one in results:
        first, *others = one.experiment.algorithms
        object.__setattr__(one.experiment, "algorithms", (replace(first, title="Mine"), *others))
    found = compare(results, "test_error", [Memory(1000)]).comparisons[0]
    assert found.ranks.to_dict() == {"Forgetron": 1, "Mine": 2}
    assert set(found.chosen["algorithm"]) == {"forgetron", "budget_perceptron"}


def test_test_errors_choose_when_that_is_asked_for(made: Any) -> None:
    (one,) = compare(made(), "test_error", [Memory(100_000)], ["test_error"]).comparisons
    assert one.chosen["mean"].iloc[0] == pytest.approx(0.19)


def test_who_has_no_model_so_small_is_left_out_and_named(made: Any) -> None:
    report = compare(made(), "test_error", [Memory(1000)])
    assert report.comparisons[0].left_out == {"Stoptron": "no model so small on any of the 4 datasets"}
    assert any("Stoptron is left out: no model so small" in note for note in table(report).notes)


def test_who_has_nothing_to_be_chosen_by_is_left_out(made: Any, tmp_path: Path) -> None:
    results = made()
    for one in results:
        own = one.summary["algorithm"] == "forgetron"
        one.summary.loc[own, "online_error_mean"] = float("nan")
    (found,) = compare(results, "test_error", [Memory(100_000)]).comparisons
    assert found.left_out == {"Forgetron": "nothing recorded that may choose its parameters on any of the 4 datasets"}


def test_a_size_that_is_asked_for_and_too_small_is_told(made: Any) -> None:
    with pytest.warns(Notice, match="100 B are left out: fewer than two learners have one on every dataset"):
        report = compare(made(), "test_error", [Memory(100), Memory(1000)])
    assert [one.memory.amount for one in report.comparisons] == [1000]


def test_sizes_that_make_no_difference_are_left_out(made: Any) -> None:
    assert [one.memory.amount for one in compare(made(), "test_error").comparisons] == [1000, 4000]


def test_datasets_are_too_few_or_enough(made: Any) -> None:
    few = compare(made(4), "test_error", [Memory(1000)]).comparisons[0]
    assert (few.datasets, few.needed, few.groups) == (4, 6, [])
    assert few.friedman is None
    text = FORMATS["markdown"](compare(made(4), "test_error"))
    assert "4 datasets are too few for any two of 2 learners to differ, which takes 6." in text
    enough = compare(made(6), "test_error", [Memory(1000)])
    assert enough.comparisons[0].pairs["p_holm"].tolist() == [2 / 64]
    assert any("1 of 1 pairs differ at the 5% level" in note for note in table(enough).notes)


def test_runs_are_no_datasets(made: Any) -> None:
    """Means over runs are compared: a learner that wins each of four datasets wins four times, not twelve."""
    found = compare(made(4), "test_error", [Memory(1000)]).comparisons[0].pairs
    assert found[["wins", "losses", "ties"]].to_numpy().tolist() == [[0, 4, 0]]


def test_one_experiment_or_none_in_common_is_refused(made: Any, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"compare needs two experiments or more.*found 1"):
        compare(made(1), "test_error")
    with pytest.raises(RequestError, match=r"of at most 100 B on every dataset.*the two smallest need --memory 900"):
        compare(made(), "test_error", [Memory(100)])
    results = made()
    for one in results:
        one.summary["online_error_mean"] = float("nan")
        one.summary.loc[one.summary["algorithm"] == "stoptron", "test_error_mean"] = float("nan")
    with pytest.raises(RequestError, match=r"no two learners have one parameter set.*give --select test_error"):
        compare(results, "test_error", [Memory(100_000)])
    experiment(tmp_path / "other", {"stoptron": {20: (0.2, 0.2, 100)}}, 0.0, "vehicle")
    with pytest.raises(RequestError, match="only Stoptron is in all of e0, other"):
        compare([*made(1), read_results(tmp_path / "other")], "test_error")


def test_results_without_sizes_are_left_out(made: Any, tmp_path: Path) -> None:
    runs = records("forgetron", {"budget": 5}, test_error=[0.1, 0.2, 0.3])
    algorithms, kernel = [{"name": "forgetron", "budget": 5}], {"name": "rbf", "gamma": 1.0}
    write_results(
        tmp_path / "old", runs, permutations=3, dataset={"name": "usps"}, kernel=kernel, algorithms=algorithms
    )
    with pytest.warns(Notice, match="old is left out: no finished run has test_error and model_bytes"):
        report = compare([*made(3), read_results(tmp_path / "old")], "test_error")
    assert report.experiments == ["e0", "e1", "e2"]


def test_two_experiments_of_one_dataset_are_told(made: Any, tmp_path: Path) -> None:
    experiment(tmp_path / "again", LEARNERS, 0.0, "banana")
    with pytest.warns(Notice, match="e1, again are all of banana: the tests take them for independent"):
        compare([*made(2), read_results(tmp_path / "again")], "test_error")


def test_what_is_written(made: Any, tmp_path: Path) -> None:
    report = compare(made(6), "test_error")
    paths = write(report, tmp_path / "out")
    assert {path.name for path in paths} == {path.name for path in (tmp_path / "out").iterdir()}
    assert {path.suffix for path in paths} == {".md", ".tex", ".csv", ".png", ".pdf"}
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out" / "compare.csv").read_text(encoding="utf-8"))))
    assert len(rows) == 6 * (2 + 3)
    assert {"memory", "experiment", "learner", "algorithm", "params", "model_bytes", "mean", "rank"} <= set(rows[0])
    tests = pd.read_csv(tmp_path / "out" / "pairs.csv")
    assert tests[["memory", "first", "second"]].drop_duplicates().shape == (1 + 3, 3)
    drawn = pd.read_csv(tmp_path / "out" / "critical_difference.csv")
    assert drawn["average_rank"].between(1, 3).all()
    before = {path: path.read_bytes() for path in paths}
    write(report, tmp_path / "out")
    assert before == {path: path.read_bytes() for path in paths}


def test_latex_has_bold_caption_and_label(made: Any) -> None:
    text = FORMATS["latex"](compare(made(), "test_error", [Memory(3700)]))
    lines = text.splitlines()
    assert lines[0] == r"\begin{table}"
    assert lines[-1] == r"\end{table}"
    assert any(
        line.startswith(r"\caption{Test error at equal memory, \%. Mean $\pm$ standard deviation") for line in lines
    )
    assert r"\label{tab:compare}" in lines
    (best,) = (line for line in lines if line.startswith("Budget Perceptron"))
    assert best.count(r"\textbf{") == 5  # its rank and four errors
    assert text.count(r"\textbf{") == 5
    assert text.count("{") == text.count("}")
