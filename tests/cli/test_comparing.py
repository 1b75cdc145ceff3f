"""`budgetbench compare` on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]


@pytest.fixture
def two(run: Call, config: str) -> None:
    """Results on two datasets."""
    other = config.replace("gaussian, n: 160", "toy_noisy, n: 160").replace("name: tiny", "name: other")
    Path("d.yaml").write_text(other, encoding="utf-8")
    assert run("c.yaml", "d.yaml", "-q").code == 0


@pytest.mark.usefixtures("two")
def test_a_comparison_is_shown_and_written(call: Call) -> None:
    answer = call("compare", "--memory", "1kB")
    assert answer.code == 0
    assert "Budget Perceptron" in answer.out
    assert "2 datasets are too few" in answer.out
    assert {path.name for path in Path("results/compare").iterdir()} >= {"compare.csv", "critical_difference.pdf"}
    assert r"\label{tab:compare}" in call("compare", "--format", "latex", "--out", "elsewhere").out
    assert Path("elsewhere/compare.tex").is_file()
    assert call("compare", "--quiet") == (0, "", "")
    assert call("table").code == 0  # the folder of comparisons is no experiment


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--measure", "tests_error"], "Did you mean 'test_error'?"),
        (["--memory", "much"], "--memory: found much; accepted: a number with one of the units B, kB"),
        (["--memory", "1"], "no two learners have models of at most 1 B"),
        (["results/tiny"], "compare needs two experiments or more"),
    ],
)
def test_wrong_requests_are_short(call: Call, flags: list[str], message: str) -> None:
    answer = call("compare", *flags)
    assert answer.code == 2
    assert answer.short
    assert message in answer.err
