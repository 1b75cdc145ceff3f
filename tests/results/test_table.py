"""Tables: the exact text of one small case in each format."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from rich.console import Console
from support.results import record

from budgetbench.experiment import Experiment
from budgetbench.results import Table, assigned, joined, summarise, table
from budgetbench.results.formats import FORMATS, fitting
from budgetbench.results.records import trials_frame
from budgetbench.sections import Table as Layout

ALGORITHMS = [{"name": "plain_one", "budget": 10}, {"name": "searched", "C": [1, 10], "select": "test_error"}]


@pytest.fixture
def experiment(made_up: Any) -> Experiment:
    return made_up(*ALGORITHMS, title="A small case")


@pytest.fixture
def summary(experiment: Experiment) -> pd.DataFrame:
    records = [
        record("plain_one", {"budget": 10}, 0, test_error=0.1, online_error=0.2, support_size=10),
        record("plain_one", {"budget": 10}, 1, test_error=0.12, online_error=0.22, support_size=10),
        record("searched", {"C": 1}, 0, test_error=0.08, support_size=30),
        record("searched", {"C": 1}, 1, test_error=0.08, support_size=30),
        record("searched", {"C": 10}, 0, test_error=0.02, support_size=20),
        record("searched", {"C": 10}, 1, test_error=0.04, support_size=23),
    ]
    return summarise(assigned(trials_frame(records), experiment), experiment)


def in_layout(experiment: Experiment, name: str) -> Experiment:
    return replace(experiment, table=Layout(layout=name))


TEXT = """\
A small case

 Algorithm   Parameters                  Budget  Runs               Test error, %  Online error, %  Support size
 ───────────────────────────────────────────────────────────────────────────────────────────────────────────────
 Plain one                                   10     2  11.00 ± 1.41 (10.00–12.00)     21.00 ± 1.41            10
 Searched    C = 10 (best of C = 1, 10)             2     3.00 ± 1.41 (2.00–4.00)                     21.5 ± 2.1

Test error: mean ± standard deviation (minimum–maximum) over the runs; other measures: mean ± standard deviation.
Best by test error: optimistic, as the test examples chose it.
"""

MARKDOWN = """\
| Algorithm | Parameters | Budget | Runs | Test error, % | Online error, % | Support size |
|:---|:---|---:|---:|---:|---:|---:|
| Plain one |  | 10 | 2 | 11.00 ± 1.41 (10.00–12.00) | 21.00 ± 1.41 | 10 |
| Searched | C = 10 (best of C = 1, 10) |  | 2 | 3.00 ± 1.41 (2.00–4.00) |  | 21.5 ± 2.1 |
"""

LATEX = r"""\begin{tabular}{llrrrrr}
\toprule
Algorithm & Parameters & Budget & Runs & Test error, \% & Online error, \% & Support size \\
\midrule
Plain one &  & 10 & 2 & 11.00 $\pm$ 1.41 (10.00--12.00) & 21.00 $\pm$ 1.41 & 10 \\
Searched & C = 10 (best of C = 1, 10) &  & 2 & 3.00 $\pm$ 1.41 (2.00--4.00) &  & 21.5 $\pm$ 2.1 \\
\bottomrule
\end{tabular}
"""

CSV = """\
algorithm,parameters,budget,runs,test_error_percent_mean,test_error_percent_std,test_error_percent_min,\
test_error_percent_max,online_error_percent_mean,online_error_percent_std,support_size_mean,support_size_std
plain_one,,10,2,11,1.41421,10,12,21,1.41421,10,0
searched,"C = 10 (best of C = 1, 10)",,2,3,1.41421,2,4,,,21.5,2.12132
"""

MISTAKES = """\
| Algorithm | Parameters | Runs | Mistakes, % | Size of support set |
|:---|:---|---:|---:|---:|
| Searched | C = 10 (best of C = 1, 10) | 2 |  | 21.5 ± 2.1 |
| **B = 10** |  |  |  |  |
| Plain one |  | 2 | 21.00 ± 1.41 | 10 |
"""


def on_terminal(shown: Table, width: int = 1000) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    with console.capture() as capture:
        console.print(fitting(shown, width))
    return "".join(f"{line.rstrip()}\n" for line in capture.get().strip("\n").split("\n"))


def render(shown: Table, style: str) -> str:
    return on_terminal(shown) if style == "text" else FORMATS[style](shown)


@pytest.mark.parametrize(
    ("style", "expected"), [("text", TEXT), ("markdown", MARKDOWN), ("latex", LATEX), ("csv", CSV)]
)
def test_each_format_exactly(style: str, expected: str, summary: Any, experiment: Any) -> None:
    shown = render(table(summary, experiment), style)
    assert (squeezed(shown) == squeezed(expected)) if style == "text" else shown == expected


def squeezed(text: str) -> str:
    """Without the widths of columns, which are rich's own affair and differ between its versions."""
    return re.sub(r"─+", "─", re.sub(r" +", " ", text))


def test_a_narrow_terminal_gets_whole_numbers_without_ranges(summary: Any, experiment: Any) -> None:
    shown = on_terminal(table(summary, experiment), 80)
    assert all(number in shown for number in ("11.00 ± 1.41", "21.5 ± 2.1"))
    assert "10.00–12.00" not in shown
    assert "wider terminal" in shown


def test_layout_of_mistakes_grouped_by_budget(summary: Any, experiment: Any) -> None:
    assert render(table(summary, in_layout(experiment, "mistakes")), "markdown") == MISTAKES


def test_without_a_test_error_mistakes_come_first(summary: Any, experiment: Any) -> None:
    online = summary.assign(test_error_mean=float("nan"))
    assert render(table(online, experiment), "markdown").startswith("| Algorithm | Parameters | Runs | Mistakes, %")


def test_groups_in_latex_and_csv(summary: Any, experiment: Any) -> None:
    grouped = table(summary, in_layout(experiment, "mistakes"))
    assert "\\midrule\n\\multicolumn{5}{l}{B = 10} \\\\\nPlain one" in render(grouped, "latex")
    lines = render(grouped, "csv").splitlines()
    assert lines[0].endswith(",group")
    assert lines[2].endswith(",B = 10")


def test_a_learner_is_shown_over_its_budgets_whatever_parameters_were_best(made_up: Any) -> None:
    made = made_up({"name": "budget_perceptron", "budget": [5, 20], "beta": [0, 1], "select": "test_error"})
    errors = {(5, 0): 0.3, (5, 1): 0.2, (20, 0): 0.1, (20, 1): 0.15}
    records = [
        record("budget_perceptron", {"budget": budget, "beta": beta}, 0, test_error=errors[budget, beta])
        for beta in (0, 1)
        for budget in (20, 5)
    ]
    summary = summarise(assigned(trials_frame(records), made), made)
    rows = table(summary.iloc[::-1], made).groups[0].rows
    assert [row[2].text for row in rows] == ["5", "20"]
    assert table(summary, made).groups[0].rows == rows


def test_failures_show_only_when_there_are_some(summary: Any, experiment: Any) -> None:
    assert "Failed" not in render(table(summary, experiment), "markdown")
    broken = summary.assign(failed=[2, 0, 0])
    assert "| Failed |" in render(table(broken, experiment), "markdown")


def test_special_characters_are_escaped(summary: Any, experiment: Any) -> None:
    odd = table(summary.iloc[:1].assign(algorithm="50%|{x}"), experiment)
    assert "50%\\|{x}" in render(odd, "markdown")
    assert "50\\%|\\{x\\}" in render(odd, "latex")


ORABONA = {"paper": "orabona2008", "item": "Table 1"}
PUBLISHED = [
    {"name": "forgetron", "budget": [1500, 1600]},
    {"name": "projectron_plus_plus", "bound_budget": 1500, "progress": ["fixed_cost", "printed"]},
]


def reproduction(made_up: Any, reproduces: Any) -> list[str]:
    experiment = made_up(*PUBLISHED, reproduces=reproduces, table={"layout": "mistakes"})
    records = [
        {"key": f"{i}", "algorithm": algorithm.name, "params": params, "run": 0, "online_error": 0.2, "support_size": 7}
        for i, (algorithm, params) in enumerate(experiment.parameter_sets)
    ]
    summary = summarise(assigned(trials_frame(records), experiment), experiment)
    return render(table(summary, experiment), "markdown").splitlines()


def test_what_reproduces_a_table_has_the_published_rows_beside_its_own(made_up: Any) -> None:
    assert reproduction(made_up, ORABONA)[2:] == [
        "| **B = 1500** |  |  |  |  |  |  |",
        "| Forgetron |  | 1 | 20.00 | 21.90 ± 0.23 | 7 | 1500 |",
        "| Projectron++ | progress: fixed cost | 1 | 20.00 | 20.04 ± 0.14 | 7 | 992.8 ± 9.73 |",
        "| Projectron++ | progress: printed | 1 | 20.00 | 20.04 ± 0.14 | 7 | 992.8 ± 9.73 |",
        "| **B = 1600** |  |  |  |  |  |  |",
        "| Forgetron |  | 1 | 20.00 |  | 7 |  |",
    ]


@pytest.mark.parametrize("reproduces", [None, {"paper": "orabona2008", "item": "Table 9"}, {"paper": "unknown1999"}])
def test_what_reproduces_nothing_has_no_column_for_it(reproduces: Any, made_up: Any) -> None:
    assert "Paper" not in reproduction(made_up, reproduces)[0]


def test_layout_of_caches_has_what_came_and_went(summary: Any, experiment: Any) -> None:
    counted = summary.assign(insertions_mean=12.0, insertions_std=0.0, removals_mean=2.5, removals_std=0.5)
    header, _, first, _ = render(table(counted, in_layout(experiment, "cache")), "markdown").splitlines()
    assert header.endswith("| Test error, % | Online error, % | Support size | Insertions | Removals |")
    assert first.endswith("| 11.00 ± 1.41 | 21.00 ± 1.41 | 10 | 12 | 2.5 ± 0.5 |")


def test_several_experiments_make_one_table_that_names_them(summary: Any, experiment: Any) -> None:
    accuracy, cache = table(summary, experiment), table(summary, in_layout(experiment, "cache"))
    both = joined({"one": accuracy, "other": cache})
    header, *rows = csv.reader(io.StringIO(FORMATS["csv"](both)))
    assert header[0] == "experiment"
    assert len(header) == len(set(header))
    assert {len(row) for row in rows} == {len(header)}
    assert [row[0] for row in rows] == ["one"] * 2 + ["other"] * 2
    names = [column.header for column in both.columns]
    assert len(names) == len(set(names))
    assert {"Test error, %", "Budget"} <= set(names)
    place = header.index("test_error_percent_mean")
    assert rows[0][place] == rows[2][place] != ""
