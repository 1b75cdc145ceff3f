"""Measures: what is declared once is read by the schema, the summary, figures and published claims."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from support.results import records, write_results

from budgetbench.results.measures import EXAMPLES, MEASURES, POINTS

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("mean", "spread", "text"),
    [
        (12.0, None, "12"),
        (12.0, 0.0, "12"),
        (12.0, 0.04, "12.0 ± 0.0"),
        (12.25, None, "12.2"),
        (12345.6, 7.8, "12346 ± 7.8"),
    ],
)
def test_examples_are_whole_where_they_can_be(mean: float, spread: float | None, text: str) -> None:
    assert EXAMPLES.text(mean, spread) == text


def test_points_have_two_decimals() -> None:
    assert [POINTS.text(3.0), POINTS.text(3.0, 0.0), POINTS.text(3.0, float("nan"))] == ["3.00", "3.00 ± 0.00", "3.00"]


def test_headings_and_labels_name_the_unit_where_there_is_one() -> None:
    error, size = MEASURES["test_error"], MEASURES["support_size"]
    assert (error.heading, error.label, error.said) == ("Test error, %", "Test error (%)", "test error")
    assert (size.heading, size.label, size.said) == ("Support size", "Number of support vectors", "support set")


def test_the_example_of_contributing_is_all_that_a_new_measure_takes(tmp_path: Path) -> None:
    """In a copy of the package with this one entry more, the summary has the measure and a figure shows it."""
    text = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (entry,) = re.findall(
        r"```python\n# an entry of MEASURES in budgetbench/results/measures.py\n(.*?)```", text, re.DOTALL
    )
    name = entry.split('"')[1]
    shutil.copytree(PROJECT / "budgetbench", tmp_path / "budgetbench", ignore=shutil.ignore_patterns("__pycache__"))
    module = tmp_path / "budgetbench" / "results" / "measures.py"
    first, _, rest = module.read_text(encoding="utf-8").partition("    for measure in (\n")
    module.write_text(f"{first}    for measure in (\n{entry}{rest}", encoding="utf-8")

    folder = write_results(
        tmp_path / "results" / "example",
        records("stoptron", {"budget": 5}, insertions=[5, 7], support_size=[5, 5]),
        permutations=2,
        dataset={"name": "gaussian"},
        kernel={"name": "rbf", "gamma": 1.0},
        algorithms=[{"name": "stoptron", "budget": 5}],
        plots=[{"kind": "error_vs_support", "measure": name}],
    )
    done = subprocess.run(
        [sys.executable, "-m", "budgetbench", "plot", "results"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    drawn = pd.read_csv(folder / "figures" / "error_vs_support.csv")
    assert drawn["y"].tolist() == pytest.approx([6.0])  # 5 and 7 of 100
