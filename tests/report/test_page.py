"""The page: complete in itself, well-formed, accessible, the same each time, and safe whatever results are called."""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from budgetbench.archive import experiment_folders
from budgetbench.errors import Notice, RequestError
from budgetbench.report import render, write_report
from budgetbench.verdicts.model import Verdict
from budgetbench.verdicts.words import RULE

VOID = {"meta", "link", "input", "br", "img", "hr", "col"}
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


class Element:
    def __init__(self, tag: str, attributes: dict[str, str | None], parent: Element | None) -> None:
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.parts: list[Element | str] = []

    @property
    def children(self) -> list[Element]:
        return [part for part in self.parts if isinstance(part, Element)]

    def get(self, name: str) -> str | None:
        return self.attributes.get(name)

    @property
    def text(self) -> str:
        """What a reader sees, each element apart from the next."""
        return " ".join(" ".join(part if isinstance(part, str) else part.text for part in self.parts).split())

    def all(self, tag: str, **attributes: str) -> list[Element]:
        own = [self] if tag in (self.tag, "*") and attributes.items() <= self.attributes.items() else []
        return own + [found for child in self.children for found in child.all(tag, **attributes)]


class Tree(HTMLParser):
    """Builds the tree and refuses tags that are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.top = self.at = Element("", {}, None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"{tag} has an attribute twice"
        element = Element(tag, dict(attrs), self.at)
        self.at.parts.append(element)
        if tag not in VOID:
            self.at = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.at.parts.append(Element(tag, dict(attrs), self.at))

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.at.tag, f"</{tag}> inside of <{self.at.tag}> at {self.getpos()}"
        assert self.at.parent is not None
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.parts.append(data)


def parsed(page: str) -> Element:
    tree = Tree()
    tree.feed(page)
    tree.close()
    assert tree.at is tree.top, f"<{tree.at.tag}> is not closed"
    return tree.top


@pytest.fixture(scope="session")
def tree(page: str) -> Element:
    return parsed(page)


def test_the_page_needs_nothing_from_outside(page: str, tree: Element) -> None:
    for element in tree.all("*"):
        for name in ("src", "href", "srcset", "action", "data", "xlink:href"):
            value = element.get(name)
            assert value is None or value.startswith(("#", "data:")), f"{element.tag} {name}={value}"
    assert "@import" not in page
    assert "url(" not in page.replace("url(#", "")
    (policy,) = (one for one in tree.all("meta") if one.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in (policy.get("content") or "")
    assert len(page) < 500_000


def test_ids_are_unique_and_references_lead_somewhere(tree: Element) -> None:
    ids = [value for element in tree.all("*") if (value := element.get("id")) is not None]
    assert len(ids) == len(set(ids))
    for element in tree.all("*"):
        for name in ("aria-labelledby", "aria-controls", "for"):
            assert element.get(name) is None or element.get(name) in ids, f"{name}={element.get(name)}"
        link = element.get("href") or ""
        assert not link.startswith("#") or link[1:] in ids, link
        clip = element.get("clip-path") or ""
        assert not clip or clip.removeprefix("url(#").removesuffix(")") in ids


def test_headings_are_in_order_and_say_something(tree: Element) -> None:
    headings = [element for element in tree.all("*") if element.tag in HEADINGS]
    levels = [int(heading.tag[1]) for heading in headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all(heading.text for heading in headings)


def test_images_have_alternatives_tables_headers_and_controls_labels(tree: Element) -> None:
    (html,) = tree.all("html")
    assert html.get("lang") == "en"
    assert tree.all("title")[0].text
    images = tree.all("svg")
    assert len(images) == 2 + 3 + 2  # figures of two experiments; bars of a paper and of all
    for image in images:
        assert image.get("role") == "img"
        assert len(image.get("aria-label") or "") > 10
    for table in tree.all("table"):
        assert table.all("caption")[0].text
        assert all(header.get("scope") for header in table.all("th"))
    for control in [*tree.all("select"), *tree.all("input")]:
        assert control.parent is not None
        assert control.parent.tag == "label"
        assert str(control.parent.parts[0]).strip()
    assert all(button.text or button.get("aria-label") for button in tree.all("button"))
    assert all(scrolled.get("tabindex") == "0" for scrolled in tree.all("div", **{"class": "scroll"}))


def test_a_figure_says_what_it_shows(tree: Element) -> None:
    labels = [image.get("aria-label") or "" for image in tree.all("svg")]
    assert any(
        label.startswith("Chart of test error (%) against number of support vectors. Perceptron: 11 at 300. Budget")
        for label in labels
    )


def test_names_are_text_never_markup(page: str, tree: Element, hostile: str) -> None:
    assert "<script>alert" not in page
    scripts = [script for script in tree.all("script") if script.get("type") != "application/json"]
    assert len(scripts) == 2
    assert hostile in [heading.text for heading in tree.all("h4")]
    assert any("ValueError: <b>no</b>" in notice.text for notice in tree.all("li"))
    assert "On <knowing>" in [heading.text for heading in tree.all("h2")]


def test_verdicts_are_counted_by_state_and_paper(tree: Element) -> None:
    (counts,) = tree.all("table", **{"class": "counts"})
    rows = [[cell.text for cell in row.children] for row in counts.all("tr")]
    assert rows[0][:6] == ["Paper", "Holds", "Explained", "Fails", "Undecided", "Not run"]
    assert rows[1][:6] == ["First et al. 2001", "1", "1", "1", "0", "1"]
    assert rows[-1][:6] == ["All", "1", "1", "1", "0", "1"]
    assert tree.all("p", **{"class": "headline"})[0].text == (
        "1 of 3 measured numbers and claims hold. 1 fails and is explained, "
        "1 fails unexplained, 0 are undecided. 1 was not run."
    )


def verdict_rows(tree: Element) -> dict[str, Element]:
    """A number's rows; of a claim the cell of each experiment."""
    return {str(element.get("id")): element for element in tree.all("*") if element.get("data-outcome")}


def test_a_verdict_shows_the_comparison_and_its_evidence(tree: Element) -> None:
    rows = verdict_rows(tree)
    main = rows["verdict-known2001-a"].children[0]
    assert [cell.text for cell in main.children[1:]] == [
        "20.0 ± 0.1 %",
        "20.10 ± 0.20 %",
        "+0.10 [−0.40, +0.60] points",
        "+1.0",
        "✓ holds",
    ]
    assert "−50.2" in rows["verdict-known2001-b"].text
    (table,) = tree.all("table", **{"class": "claims"})
    assert [header.text for header in table.all("thead")[0].all("th")] == ["Claim", "USPS"]
    assert rows["verdict-known2001-d-complete"].text == "≈ explained 0.50 times"
    claim = table.children[-1]
    assert "Explained: The <paper> errs. This explains deviations of 0 to 1. See readings/readings_mis" in claim.text
    assert "The SVM takes part." in claim.text
    assert "SVM & more − Perceptron 5 −1.50 percentage points −2.00 to −1.00 0.020 0.060 shown" in claim.text
    assert "wide 5 +0.0012 – 0.980 open" in claim.text
    assert "largest over smallest 5 0.50 times –" in claim.text


def test_the_rule_is_that_of_the_verdicts(tree: Element) -> None:
    (reading,) = tree.all("details", **{"class": "reading"})
    assert all(sentence in reading.text for sentence in RULE.values())


def test_the_filter_knows_what_a_verdict_is_about(tree: Element) -> None:
    about = {
        name.split("-")[2]: (row.get("data-learners"), row.get("data-datasets"), row.get("data-outcome"))
        for name, row in verdict_rows(tree).items()
    }
    assert about == {
        "a": ("perceptron", "usps", "holds"),
        "b": ("budget_perceptron", "usps", "fails"),
        "c": ("projectron_plus_plus", "waveform", "not-run"),
        "d": ("perceptron svm", "usps", "explained"),
    }
    choices = {select.get("name"): [one.text for one in select.all("option")] for select in tree.all("select")}
    assert "Stoptron" in choices["learner"]
    assert choices["dataset"] == ["all", "Banana", "USPS", "Waveform"]


def test_what_a_reader_has_to_know_stands_with_the_experiment(tree: Element) -> None:
    experiments = {str(one.get("id")): one for one in tree.all("article")}
    partly = experiments["experiment-partly"]
    assert "Unfinished: 2 of 6 runs are done." in partly.text
    assert "1 run of Forgetron failed: ValueError" in partly.text
    assert "Provenance was not recorded." in partly.text
    assert "Reproduces Table 9 of unknown1999" in partly.text
    nothing = experiments["experiment-nothing"]
    assert "no finished run" in nothing.text
    assert "is not drawn: no finished run has test_error and support_size." in nothing.text
    complete = experiments["experiment-complete"]
    assert "0123abcd" in complete.text
    assert "Unfinished" not in complete.text
    assert "keys" not in [header.text for header in complete.all("th")]
    assert "name: complete" in complete.all("pre")[0].text


def test_a_picture_stands_beside_the_verdicts_on_it(tree: Element) -> None:
    (item,) = tree.all("section", id="known2001-figure-2")
    assert [figure.get("id") for figure in item.all("figure")] == ["figure-complete-error-vs-support"]
    assert item.all("table", **{"class": "claims"})
    (experiment,) = tree.all("article", id="experiment-complete")
    assert [figure.get("id") for figure in experiment.all("figure")] == ["figure-complete-online-error-vs-seen"]
    assert "Figures: Figure 2 ." in experiment.text


def test_claims_have_a_row_each_and_a_column_for_each_dataset(results: Path, made_up: Any) -> None:
    claim = replace(made_up.claim, experiments=("complete", "again", "elsewhere"))
    other = replace(claim, id="known2001.e", text="And the other way round.")
    found = made_up.verdicts[3].found
    verdicts = [Verdict(said, name, found) for said in (claim, other) for name in claim.experiments]
    paper = replace(made_up.papers[0], datasets={"complete": "usps", "again": "usps", "elsewhere": "waveform"})
    page = parsed(render(experiment_folders(results), verdicts, [replace(paper, headings={"elsewhere": "Toy"})]))
    (table,) = page.all("table", **{"class": "claims"})
    assert [header.text for header in table.all("thead")[0].all("th")] == ["Claim", "USPS", "Toy"]
    rows = table.all("tr", **{"class": "main"})
    assert [[len(cell.all("div", **{"class": "cell"})) for cell in row.all("td")] for row in rows] == [[2, 1], [2, 1]]
    (remark,) = table.children[-1].all("p", **{"class": "deviation"})
    assert remark.text.startswith("Explained: The <paper> errs.")


def test_own_experiments_come_first_and_papers_that_were_not_run_are_a_line(results: Path, made_up: Any) -> None:
    waiting = made_up.number("c", None, "elsewhere", algorithm="perceptron")
    folders = [results / "partly", results / "nothing"]
    page = parsed(render(folders, [waiting], made_up.papers))
    assert [heading.text for heading in page.all("h2")] == ["Experiments", "Not run"]
    (line,) = page.all("section", id="not-run")[0].all("li")
    assert line.text.startswith("First et al. 2001, On <knowing> : 1 number and claims")
    assert not page.all("table", **{"class": "verdicts"})
    page = parsed(render([*folders, results / "complete"], made_up.verdicts, made_up.papers))
    assert [heading.text for heading in page.all("h2")] == ["Own experiments", "Verdicts", "On <knowing>"]


def test_the_report_of_one_experiment(results: Path, tmp_path: Path) -> None:
    page = parsed(write_report(results, tmp_path / "page.html", ["partly"]).read_text(encoding="utf-8"))
    assert [one.get("id") for one in page.all("article")] == ["experiment-partly"]
    with pytest.raises(RequestError, match=r"--experiment: found 'partl'; accepted: .*Did you mean 'partly'"):
        write_report(results, tmp_path / "page.html", ["partly", "partl"])


def test_the_runs_are_all_there(tree: Element, hostile: str) -> None:
    (experiment,) = tree.all("article", id="experiment-complete")
    (script,) = experiment.all("script")
    data = json.loads(script.text)
    assert [len(data["rows"]), len(data["sets"])] == [8, 4]
    assert data["sets"][1]["params"]["budget"] == 10
    assert data["same"]["status"] == "ok"
    first = dict(zip(["set", "run", *data["columns"]], data["rows"][0], strict=True))
    assert (first["set"], first["run"], first["test_error"], first["support_size"]) == (0, 0, 10, 300)


def test_the_numbers_behind_a_figure(tree: Element) -> None:
    (figure,) = tree.all("figure", id="figure-complete-error-vs-support")
    table = [[cell.text for cell in row.children] for row in figure.all("tr")]
    assert table[0] == ["Series", "Budget", "Runs", "Support size", "Test error (%)", "Bar from", "Bar to"]
    assert table[2] == ["Budget Perceptron", "10", "2", "10", "11", "10", "12"]
    (curves,) = tree.all("figure", id="figure-complete-online-error-vs-seen")
    rows = [[cell.text for cell in row.children] for row in curves.all("tr")]
    assert len(rows) == 1 + 4 * 12
    assert rows[12][:3] == ["Perceptron", "2", "1000"]
    assert "48 of 364 points" in curves.text
    assert "complete/figures/online_error_vs_seen.csv" in curves.text


def test_the_same_results_give_the_same_bytes(results: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    first = write_report(results, tmp_path / "one.html").read_bytes()
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    shutil.copytree(results, tmp_path / results.name)
    assert write_report(tmp_path / results.name, tmp_path / "deep" / "two.html").read_bytes() == first
    parsed(first.decode())


def test_results_of_one_experiment_and_without_verdicts(results: Path) -> None:
    page = render(experiment_folders(results / "partly"), [], [])
    tree = parsed(page)
    assert [heading.text for heading in tree.all("h2")] == ["Experiments"]
    assert not tree.all("input")
    assert write_report(results / "partly") == results / "partly" / "report.html"
    (results / "partly" / "report.html").unlink()


def test_broken_provenance_and_plots_of_another_version_stay_readable(results: Path, tmp_path: Path) -> None:
    folder = tmp_path / "old"
    shutil.copytree(results / "complete", folder)
    (folder / "provenance.json").write_text("[1]")
    text = (folder / "experiment.yaml").read_text() + "table: gone\n"
    (folder / "experiment.yaml").write_text(text.replace("error_vs_support", "error_vs_fashion"))
    with pytest.warns(Notice) as noticed:
        page = parsed(render([folder], [], []))
    said = [str(notice.message) for notice in noticed]
    assert ["plots[0].kind: found 'error_vs_fashion'" in said[0], "table: found 'gone'" in said[1]] == [True, True]
    assert len(page.all("figure")) == 1
    text = page.text
    assert "Provenance was not recorded." in text


def test_missing_results_and_files_are_said_clearly(results: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"looked for trials\.jsonl.*budgetbench run CONFIG"):
        write_report(tmp_path)
    with pytest.raises(RequestError, match=r"--out: .* cannot be written \(Is a directory\)"):
        write_report(results / "partly", tmp_path)


def test_the_command(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from budgetbench.cli import main

    for arguments, code in ((["report", str(results), "--out", str(tmp_path / "page.html")], 0),
                            (["report", str(tmp_path / "nowhere")], 2)):  # fmt: skip
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == code
    shown = capsys.readouterr()
    assert shown.out.split() == [str(tmp_path / "page.html")]
    assert "no results folder" in shown.err
    assert json.dumps("Kernel learning on a budget")[1:-1] in (tmp_path / "page.html").read_text(encoding="utf-8")
