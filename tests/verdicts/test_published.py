"""The papers' files: every entry refers to what exists, and the numbers are those in print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from budgetbench.config import load
from budgetbench.errors import RequestError
from budgetbench.results.grid import Point, points
from budgetbench.results.names import budget_of
from budgetbench.verdicts import papers, published
from budgetbench.verdicts.measures import MEASURES
from budgetbench.verdicts.model import Claim, Number
from budgetbench.verdicts.published import PAPERS, interpret, selectors
from budgetbench.verdicts.selection import NOT_PARAMETERS

CONFIGS = Path(__file__).parents[2] / "configs"


def uses(key: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Every selector of a paper: its entry's id, the experiment and the selector."""
    source = published(key)
    for said in (*source.numbers, *source.claims):
        arguments = said.of if isinstance(said, Number) else said.arguments
        for experiment in said.experiments:
            for selector in selectors(arguments):
                yield said.id, selector.get("experiment", experiment), selector


def unknown(experiment: str, selector: Mapping[str, Any]) -> Iterator[str]:
    """What a selector says that its experiment does not have."""
    names = selector["algorithm"] if isinstance(selector["algorithm"], list) else [selector["algorithm"]]
    found = [point for point in grid(experiment) if point.algorithm in names]
    if not found:
        yield ", ".join(names)
    for parameter, value in selector.items():
        if parameter not in NOT_PARAMETERS:
            have = [budget_of(p.params) if parameter == "budget" else p.params.get(parameter) for p in found]
            wanted = value if isinstance(value, list) else [value]
            yield from (f"{parameter}: {one}" for one in wanted if one not in have)


@cache
def grid(experiment: str) -> list[Point]:
    return points(load(CONFIGS / f"{experiment}.yaml").resolved())


@pytest.mark.parametrize("key", PAPERS)
def test_every_selector_means_something_in_its_experiment(key: str) -> None:
    assert not [(*use, *wrong) for use in uses(key) if (wrong := list(unknown(*use[1:])))]
    assert len(list(uses(key))) > 50


@pytest.mark.parametrize("key", PAPERS)
def test_experiments_are_on_the_datasets_that_the_paper_names(key: str) -> None:
    for name, dataset in published(key).paper.datasets.items():
        assert load(CONFIGS / f"{name}.yaml").resolved()["dataset"]["name"] == dataset


@pytest.mark.parametrize("key", PAPERS)
def test_entries_are_complete(key: str) -> None:
    source = published(key)
    entries: list[Number | Claim] = [*source.numbers, *source.claims]
    assert all(entry.quote and entry.item in source.paper.items for entry in entries)
    for claim in source.claims:
        assert claim.text.endswith(".")
        measures = [claim.arguments[name] for name in ("measure", "other") if name in claim.arguments]
        measures += [one["by"] for one in selectors(claim.arguments) if "by" in one]
        assert set(measures) <= set(MEASURES)
        assert len(claim.quote) < 100
    assert all(entry.reason.endswith(".") for entry in source.paper.left_out)


def test_there_are_many() -> None:
    claims = [
        (claim, experiment) for key in PAPERS for claim in published(key).claims for experiment in claim.experiments
    ]
    assert len(claims) >= 100
    assert [paper.key for paper in papers()] == list(PAPERS)


def orabona(item: str) -> dict[tuple[str, Any], dict[str, str]]:
    rows: dict[tuple[str, Any], dict[str, str]] = {}
    for number in published("orabona2008").numbers:
        if number.item == item and number.of and "progress" not in number.of:
            place = (number.of["algorithm"], number.of.get("budget"))
            rows.setdefault(place, {})[number.name] = number.value.text
    return rows


def test_orabonas_tables_as_printed() -> None:
    tables = {item: orabona(item) for item in ("Table 1", "Table 2", "Table 3")}
    assert [len(rows) for rows in tables.values()] == [12, 12, 12]
    assert all(set(row) == {"online_error", "support_size"} for rows in tables.values() for row in rows.values())
    # The sums of the printed columns, so that a slip in any digit is found.
    sums = {
        item: [
            round(sum(float(row[name].split()[0]) for row in rows.values()), 2)
            for name in ("online_error", "support_size")
        ]
        for item, rows in tables.items()
    }
    assert sums == {
        "Table 1": [251.84, 37823.8],
        "Table 2": [231.2, 97224.6],
        "Table 3": [212.85, 10776.8],
    }
    spreads = {
        item: round(sum(float(row["online_error"].split()[2]) for row in rows.values()), 2)
        for item, rows in tables.items()
    }
    assert spreads == {"Table 1": 5.7, "Table 2": 6.18, "Table 3": 8.24}
    assert tables["Table 1"]["stoptron", 1500]["online_error"] == "22.73 ± 2.82 %"
    assert tables["Table 2"]["projectron_plus_plus", 8000]["support_size"] == "4309.6 ± 28.67"
    assert tables["Table 3"]["passive_aggressive", None]["support_size"] == "3986.8 ± 42.83"


def test_a_reason_says_something() -> None:
    for key in PAPERS:
        source = published(key)
        reasons = [reason for said in (*source.numbers, *source.claims) for reason in said.deviations.values()]
        assert all(len(reason) > 40 and re.match(r"[A-Zσ].*\.$", reason) for reason in reasons)


MINIMAL = """
paper: {title: t, authors: [a], venue: v, year: 2000, datasets: {usps: usps}}
claims:
  - id: c
    text: A claim.
    item: Figure 1
    quote: section 1
    experiments: [usps]
    statement: below
    lower: {algorithm: perceptron}
    upper: {algorithm: svm}
    measure: test_error
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("statement: below", "statement: belo", "found statement 'belo'; accepted: below, .* Did you mean 'below'?"),
        ("    measure: test_error\n", "", "made_up.c: missing a required argument: 'measure'"),
        ("measure: test_error", "measure: test_error\n    tolerance: 1", "unexpected keyword argument 'tolerance'"),
        ("experiments: [usps]", "experiments: [uspss]", "made_up.c, experiments: found 'uspss'; accepted: usps"),
        ("{algorithm: svm}", "{algorithm: svm, experiment: other}", "made_up.c, experiments: found 'other'"),
        ("claims:", "claimed:", "found 'claimed'; accepted: paper, numbers, claims, left_out"),
    ],
)
def test_a_file_is_read_strictly(old: str, new: str, message: str) -> None:
    assert interpret("made_up", yaml.safe_load(MINIMAL)).claims[0].id == "made_up.c"
    with pytest.raises(RequestError, match=message):
        interpret("made_up", yaml.safe_load(MINIMAL.replace(old, new)))


def test_names_are_unique() -> None:
    data = yaml.safe_load(MINIMAL)
    data["claims"] *= 2
    with pytest.raises(RequestError, match=r"made_up\.c: found twice"):
        interpret("made_up", data)


def test_an_unknown_paper() -> None:
    with pytest.raises(RequestError, match="Did you mean 'orabona2008'"):
        published("orabona")
