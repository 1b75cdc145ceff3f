"""The papers' files: every entry refers to what exists, and the numbers are those in print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from budgetbench.config import load
from budgetbench.document import parse
from budgetbench.errors import ConfigError, RequestError
from budgetbench.experiment import Parameters
from budgetbench.published import rows_of
from budgetbench.results.measures import MEASURES
from budgetbench.results.sizes import budget_of
from budgetbench.verdicts import papers, published
from budgetbench.verdicts.model import Claim, Number
from budgetbench.verdicts.published import PAPERS, interpret, selectors
from budgetbench.verdicts.selection import SELECTOR
from budgetbench.verdicts.words import READINGS, reading

CONFIGS, RESULTS = (Path(__file__).parents[2] / name for name in ("configs", "results"))


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
    found = [params for algorithm, params in grid(experiment) if algorithm in names]
    if not found:
        yield ", ".join(names)
    for parameter, value in selector.items():
        if parameter not in SELECTOR:
            have = [budget_of(params) if parameter == "budget" else params.get(parameter) for params in found]
            wanted = value if isinstance(value, list) else [value]
            yield from (f"{parameter}: {one}" for one in wanted if one not in have)


@cache
def grid(experiment: str) -> list[tuple[str, Parameters]]:
    return [(algorithm.name, params) for algorithm, params in load(CONFIGS / f"{experiment}.yaml").parameter_sets]


@pytest.mark.parametrize("key", PAPERS)
def test_every_selector_means_something_in_its_experiment(key: str) -> None:
    assert not [(*use, *wrong) for use in uses(key) if (wrong := list(unknown(*use[1:])))]
    assert len(list(uses(key))) > 50


@pytest.mark.parametrize("key", PAPERS)
def test_experiments_are_on_the_datasets_that_the_paper_names(key: str) -> None:
    for name, dataset in published(key).datasets.items():
        assert load(CONFIGS / f"{name}.yaml").resolved()["dataset"]["name"] == dataset


@pytest.mark.parametrize("key", PAPERS)
def test_entries_are_complete(key: str) -> None:
    source = published(key)
    entries: list[Number | Claim] = [*source.numbers, *source.claims]
    assert all(entry.quote and entry.item in source.items for entry in entries)
    for claim in source.claims:
        assert claim.text.endswith(".")
        measures = [claim.arguments[name] for name in ("measure", "other") if name in claim.arguments]
        measures += [one["by"] for one in selectors(claim.arguments) if "by" in one]
        assert set(measures) <= set(MEASURES)
        assert len(claim.quote) < 100
    assert all(entry.reason.endswith(".") for entry in source.left_out)


def test_there_are_many() -> None:
    claims = [
        (claim, experiment) for key in PAPERS for claim in published(key).claims for experiment in claim.experiments
    ]
    assert len(claims) >= 100
    assert [paper.key for paper in papers()] == list(PAPERS)


def orabona(item: str) -> dict[tuple[str, Any], dict[str, str]]:
    rows = [row for row in rows_of("orabona2008", item) if "progress" not in row[0]]
    return {(of["algorithm"], of.get("budget")): {name: one.text for name, one in row.items()} for of, row in rows}


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
        for one in (one for said in (*source.numbers, *source.claims) for one in said.explained.values()):
            assert len(one.reason) > 40
            assert re.match(r"[A-Zσ].*\.$", one.reason)
            assert one.low <= one.high


def test_a_reading_is_an_experiment_whose_table_is_kept() -> None:
    tried = {path.stem for path in (CONFIGS / "readings").glob("*.yaml")}
    for key in PAPERS:
        source = published(key)
        for one in (one for said in (*source.numbers, *source.claims) for one in said.explained.values()):
            assert set(one.readings) <= tried
            assert all((RESULTS / reading(name)).is_file() for name in one.readings)
    page = (RESULTS / "readings" / "README.md").read_text(encoding="utf-8")
    assert not [name for name in tried if f"]({READINGS}{name}/table.md)" not in page]


def test_inputs_and_what_is_true_by_construction() -> None:
    basis = {said.id: said.basis for key in PAPERS for said in (*published(key).numbers, *published(key).claims)}
    assert basis["weston2005.table-1.usps.inputs"] == "input"
    assert basis["orabona2008.table-1.forgetron-1500.support_size"] == "construction"
    assert basis["orabona2008.table-1.projectron-1500.support_size"] == "measured"
    assert basis["orabona2008.table-1.projectron_plus_plus-1500.support_size"] == "measured"
    assert basis["orabona2008.table-1.projectron_plus_plus-1500-printed.support_size"] == "variant"
    assert basis["crammer2003.limit_never_exceeded"] == "construction"


def test_a_claim_about_a_variant_stands_beside_the_one_that_names_it() -> None:
    variant = "{text: by the figure, of: {algorithm: budget_perceptron, update: mira}}"
    several = "[{algorithm: budget_perceptron, holding: {algorithm: budget_perceptron, budget: 2}}]"
    text = MINIMAL.replace("{mira: It stands in.}", f"{{}}, variants: {{figure: {variant}}}")
    text = text.replace("{algorithm: perceptron}", several).replace("measure:", "variants: [figure]\n    measure:")
    plain, other = interpret("made_up", parse(text, "p.yaml")).claims
    assert (plain.id, plain.basis, other.id, other.basis) == ("made_up.c", "measured", "made_up.c.figure", "variant")
    assert other.text == "A claim (by the figure)."
    assert not [one for one in selectors(plain.arguments) if "update" in one]
    assert [one.get("update") for one in selectors(other.arguments)] == ["mira", "mira", None]
    with pytest.raises(ConfigError, match=r"claims\[0\].variants.figur: found 'figur'; accepted: figure"):
        interpret("made_up", parse(text.replace("[figure]", "[figur]"), "p.yaml"))
    with pytest.raises(ConfigError, match=r"paper.variants.figure.of.updat: found 'updat'; accepted: algorithm"):
        interpret("made_up", parse(text.replace("update", "updat"), "p.yaml"))


MINIMAL = """
paper: {title: t, authors: [a], venue: v, year: 2000, datasets: {usps: usps}, substitutes: {mira: It stands in.}}
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
        ("statement: below", "statement: belo", "9: claims[0].statement: found 'belo'; accepted: below, "),
        ("    measure: test_error\n", "", "4: claims[0].measure: found nothing; accepted: online_error, "),
        ("measure: test_error", "measure: tst_error", "12: claims[0].measure: found 'tst_error'; accepted: online_"),
        ("measure: test_error", "measure: test_error\n    tolerance: 1", "13: claims[0].tolerance: found 'tolerance'"),
        ("[usps]", "[uspss]", "8: claims[0].experiments.uspss: found 'uspss'; accepted: usps. Did you mean 'usps'?"),
        ("{algorithm: svm}", "{algorithm: svm, experiment: a}", "8: claims[0].experiments.a: found 'a'; accepted"),
        ("measure:", "basis: guess\n    measure:", "12: claims[0].basis: found 'guess'; accepted: measured, input, "),
        ("measure:", "explained: {a: {}}\n    measure:", "12: claims[0].explained.a: found 'a'; accepted: usps, all"),
        ("measure:", "explained: {all: {reason: r}}\n    measure:", "claims[0].explained.all.bound: found nothing"),
        ("measure:", "explained: {all: {reason: r, bound: [0, 1], reading: a/b}}\n    measure:",
            "claims[0].explained.all.reading: found 'a/b'; accepted: the name of an experiment of configs/readings"),
        ("{algorithm: svm}", "{algorithm: [mira, svm]}", "claims[0]: found 'svm'; accepted: a learner that the "),
        ("claims:", "claimed:", "3: claimed: found 'claimed'; accepted: paper, numbers, claims, left_out"),
    ],
)  # fmt: skip
def test_a_file_is_read_strictly(old: str, new: str, message: str) -> None:
    assert interpret("made_up", parse(MINIMAL, "p.yaml")).claims[0].id == "made_up.c"
    with pytest.raises(ConfigError) as caught:
        interpret("made_up", parse(MINIMAL.replace(old, new), "p.yaml"))
    assert message in str(caught.value)
    assert str(caught.value).startswith("p.yaml:")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("{algorithm: svn}", ".algorithm: found 'svn'; accepted: "),
        ("{algoritm: svm}", ": found {'algoritm': 'svm'}; accepted: one mapping with the key algorithm, or a list of"),
        ("[svm]", "[0]: found 'svm'; accepted: one mapping with the key algorithm, or a list of such"),
        (
            "{algorithm: svm, att: best}",
            ".att: found 'att'; accepted: algorithm, experiment, at, by, holding, short_of, C.",
        ),
        ("{algorithm: svm, at: bst}", ".at: found 'bst'; accepted: each, smallest, largest, best"),
        ("{algorithm: svm, by: x}", ".by: found 'x'; accepted: online_error, "),
        ("{algorithm: svm, c: 1}", ".c: found 'c'; accepted: algorithm, experiment, at, by, holding, short_of, C"),
        ("{algorithm: svm, C: [1, -1]}", ".C: found -1; accepted: a number of at least"),
        ("{algorithm: [svm, mira], beta: 1}", ".beta: found 'beta'; accepted: algorithm, "),
        ("{algorithm: svm, holding: {algorithm: mira, x: 1}}", ".holding.x: found 'x'; accepted: algorithm, "),
    ],
)
def test_selectors_are_read_strictly(selector: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        interpret("made_up", parse(MINIMAL.replace("{algorithm: svm}", selector), "p.yaml"))
    assert f"p.yaml:11: claims[0].upper{message}" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


NUMBERS = """
paper: {title: t, authors: [a], venue: v, year: 2000, datasets: {usps: usps}}
numbers:
  - item: Table 1
    quote: Table 1
    experiment: usps
    rows:
      - {of: {algorithm: svm, C: 1}, test_error: 1 %}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1 %", "one", "8: numbers[0].rows[0].test_error: found 'one'; accepted: a number, such as 20.99 ± 0.06 %"),
        ("quote:", "basis: b\n    quote:", "5: numbers[0].basis: found 'b'; accepted: measured, input, construction, "),
        ("test_error:", "tst_error:", "8: numbers[0].rows[0].tst_error: found 'tst_error'; accepted: online_error, "),
        (
            "C: 1",
            "D: 1",
            "8: numbers[0].rows[0].of.D: found 'D'; accepted: algorithm, experiment, at, by, holding, short_of, C",
        ),
    ],
)
def test_numbers_are_read_strictly(old: str, new: str, message: str) -> None:
    assert interpret("made_up", parse(NUMBERS, "p.yaml")).numbers[0].id == "made_up.table-1.svm-1.test_error"
    with pytest.raises(ConfigError) as caught:
        interpret("made_up", parse(NUMBERS.replace(old, new), "p.yaml"))
    assert f"p.yaml:{message}" in str(caught.value)


def test_a_difference_is_of_two_printed_numbers() -> None:
    less = "- {of: {algorithm: mira}, less: {test_error: {algorithm: svm, C: 1}}, test_error: 3.50 ± 0.1 %}"
    given = f"{NUMBERS}      {less}"
    second = interpret("made_up", parse(given, "p.yaml")).numbers[1]
    assert (second.value.mean, second.value.spread, second.value.text) == (2.5, None, "3.50 − 1 %")
    assert second.learners == ("mira", "svm")
    with pytest.raises(ConfigError) as caught:
        interpret("made_up", parse(given.replace("C: 1}}", "C: 2}}"), "p.yaml"))
    wrong = "found {'algorithm': 'svm', 'C': 2}; accepted: a learner whose test_error stands in another row"
    assert f"p.yaml:9: numbers[0].rows[1].less.test_error: {wrong}" in str(caught.value)
    with pytest.raises(ConfigError, match=r"rows\[1\]\.less\.online_error: found 'online_error'; accepted: test_error"):
        interpret("made_up", parse(given.replace("less: {test_error", "less: {online_error"), "p.yaml"))


def test_names_are_unique() -> None:
    document = parse(MINIMAL, "p.yaml")
    document.data["claims"] *= 2
    with pytest.raises(ConfigError, match=r"claims\[1\]: found 'made_up\.c'; accepted: each name once"):
        interpret("made_up", document)


def test_an_unknown_paper() -> None:
    with pytest.raises(RequestError, match="Did you mean 'orabona2008'"):
        published("orabona")


def test_every_picture_is_a_figure_that_its_experiment_draws() -> None:
    pictures = [picture for paper in papers() for shown in paper.pictures.values() for picture in shown]
    assert len(pictures) == len(set(pictures)) > 20
    for picture in pictures:
        experiment, figure = picture.split("/")
        plots = load(CONFIGS / f"{experiment}.yaml").plots
        assert plots is None or figure in [plot["name"] or plot["kind"] for plot in plots], picture
