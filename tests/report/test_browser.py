"""The page in a real browser, opened from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

COUNT = "return document.querySelector('#filter [role=status]').textContent"
SHOWN = "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()).length"
SET = """
const field = document.querySelector(`#filter [name=${arguments[0]}]`);
field.value = arguments[1];
field.dispatchEvent(new Event("input", {bubbles: true}));
return location.hash;
"""
EXISTS = """
return new Promise(done => {
  const look = () => document.querySelector(arguments[0]) ? done(true) : setTimeout(look, 20);
  look();
});
"""
GO = """
const [hash] = arguments;
return new Promise(done => {
  addEventListener("hashchange", () => done(true), {once: true});
  location.hash = hash;
});
"""
VERDICT, EXPERIMENT = "tbody[data-outcome]", "article.experiment"


@pytest.fixture
def opened(browser: Any, page: str, tmp_path: Path) -> Any:
    file = tmp_path / "report.html"
    file.write_text(page, encoding="utf-8")
    browser.console()
    browser.open(file.as_uri())
    yield browser
    assert browser.console() == []


def test_it_opens_without_a_word_and_asks_for_nothing(opened: Any) -> None:
    assert opened.do("return document.title") == "Kernel learning on a budget, reproduced"
    assert opened.do("return performance.getEntriesByType('resource').length") == 0
    assert opened.do(COUNT) == "Shown: 4 of 4 verdicts, 3 of 3 experiments."
    names = opened.do("return [...document.querySelectorAll('img, svg')].map(e => e.alt || e.ariaLabel || '')")
    assert names
    assert all(names)


def test_figures_are_drawn(opened: Any) -> None:
    boxes = opened.do(
        "return [...document.querySelectorAll('.plot path')].map(e => e.getBoundingClientRect()).map(b => b.width)"
    )
    assert len(boxes) > 50
    assert max(boxes) > 300


def test_the_filter_by_learner(opened: Any) -> None:
    assert opened.do(SET, "learner", "budget_perceptron") == "#learner=budget_perceptron"
    assert opened.do(COUNT) == "Shown: 1 of 4 verdicts, 1 of 3 experiments."
    assert opened.do(SHOWN, VERDICT) == 1
    assert opened.do(SHOWN, EXPERIMENT) == 1
    assert opened.do(SHOWN, "#experiment-complete tr[data-learner=perceptron]") == 0
    assert opened.do(SHOWN, "#experiment-complete tr[data-learner=budget_perceptron]") == 3
    faint = "return getComputedStyle(document.querySelector(`.plot [data-learner=${arguments[0]}]`)).opacity"
    opened.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    assert float(opened.do(faint, "perceptron")) < 0.5
    assert float(opened.do(faint, "budget_perceptron")) == 1


def test_the_filter_by_dataset_state_and_text_and_clearing_it(opened: Any) -> None:
    assert opened.do(SET, "dataset", "usps") == "#dataset=usps"
    assert opened.do(COUNT) == "Shown: 3 of 4 verdicts, 2 of 3 experiments."
    assert opened.do(SET, "outcome", "explained") == "#dataset=usps&outcome=explained"
    assert opened.do(COUNT) == "Shown: 1 of 4 verdicts, 2 of 3 experiments."
    opened.do(SET, "outcome", "")
    opened.do(SET, "text", "PERCEPTRON   budget")
    assert opened.do(COUNT) == "Shown: 1 of 4 verdicts, 2 of 3 experiments."
    opened.do(SET, "text", "no such words")
    assert opened.do(SHOWN, VERDICT) == 0
    opened.do("document.querySelector('#filter [type=reset]').click()")
    assert opened.do(COUNT) == "Shown: 4 of 4 verdicts, 3 of 3 experiments."
    assert opened.do("return location.hash") == ""
    assert opened.do("return document.activeElement.name") == "learner"


def test_a_paper_without_a_match_says_so(opened: Any) -> None:
    opened.do(SET, "dataset", "banana")
    assert opened.do(SHOWN, "#known2001 .nothing") == 1
    assert opened.do(SHOWN, "#known2001 h3") == 0
    assert opened.do(SHOWN, "#others .nothing") == 0


def test_the_address_brings_the_filter_back(opened: Any) -> None:
    opened.do(GO, "learner=stoptron&dataset=banana&text=&other=1")
    assert opened.do("return document.querySelector('[name=learner]').value") == "stoptron"
    assert opened.do(COUNT) == "Shown: 0 of 4 verdicts, 1 of 3 experiments."
    opened.do(GO, "learner=nobody")
    assert opened.do(COUNT) == "Shown: 4 of 4 verdicts, 3 of 3 experiments."


def test_a_link_leads_to_what_the_filter_hides(opened: Any) -> None:
    opened.do(SET, "dataset", "banana")
    opened.do("document.querySelector('nav a[href=\"#known2001\"]').click()")
    assert opened.do("return location.hash") == "#dataset=banana"
    opened.do("document.querySelector('a[href=\"#experiment-complete\"]').click()")
    assert opened.do(COUNT) == "Shown: 4 of 4 verdicts, 3 of 3 experiments."
    assert opened.do("return document.activeElement.id") == "experiment-complete"


def test_a_table_is_sorted_by_any_column_and_back(opened: Any) -> None:
    table = "document.querySelector('#figure-complete-error-vs-support table')"
    cells = f"return [...{table}.tBodies[0].rows].map(row => row.cells[1].textContent)"
    before = opened.do(cells)
    seen = []
    for _ in range(3):
        opened.do(f"{table}.querySelectorAll('.sort')[1].click()")
        seen.append(opened.do(cells))
    assert before == ["", "10", "30", "100"]
    assert seen == [["10", "30", "100", ""], ["100", "30", "10", ""], before]  # what has no value stays last


def test_a_figure_opens_large_and_leaves_series_out(opened: Any) -> None:
    opened.do("document.querySelector('#figure-complete-error-vs-support .enlarge').click()")
    assert opened.do(SHOWN, "dialog .plot") == 1
    labels = opened.do("return [...document.querySelectorAll('dialog label')].map(e => e.textContent.trim())")
    assert sorted(labels) == ["Budget Perceptron", "Perceptron"]
    drawn = """return [...document.querySelectorAll(`dialog .plot [data-series="${arguments[0]}"]`)]
        .filter(e => getComputedStyle(e).display !== "none").length"""
    assert opened.do(drawn, "Perceptron") > 0
    opened.do("[...document.querySelectorAll('dialog label')].find(e => e.textContent === ' Perceptron').click()")
    assert opened.do(drawn, "Perceptron") == 0
    assert opened.do(drawn, "Budget Perceptron") > 0
    opened.do("document.querySelector('dialog .close').click()")
    assert opened.do("return document.querySelectorAll('dialog[open]').length") == 0


def test_the_runs_are_listed_and_each_opens(opened: Any) -> None:
    runs = "#experiment-complete details.runs"
    opened.do(f"document.querySelector('{runs}').open = true")
    opened.do(EXISTS, f"{runs} tbody tr")  # an element that opens tells of it later
    assert opened.do(SHOWN, f"{runs} tbody tr") == 8
    opened.do(f"document.querySelector('{runs} tbody .more').click()")
    told = opened.do(f"return document.querySelector('{runs} .run').textContent")
    assert "Configuration" in told
    assert all(word in told for word in ("Seed", "Key", "Status", "perceptron"))
    opened.do(SET, "learner", "budget_perceptron")
    assert opened.do(SHOWN, f"{runs} tbody tr[data-learner=perceptron]") == 0


def test_evidence_is_folded_and_opens(opened: Any) -> None:
    assert opened.do(SHOWN, "tr.evidence") == 0
    opened.do("document.querySelector('#verdict-known2001-d-complete .more').click()")
    assert opened.do(SHOWN, "tr.evidence") == 1
    assert opened.do("return document.querySelector('#verdict-known2001-d-complete .more').ariaExpanded") == "true"


def test_light_and_dark(opened: Any) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    opened.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    opened.do("document.documentElement.dataset.theme = ''")
    light = opened.do(ground)
    opened.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    dark = opened.do(ground)
    assert light != dark
    opened.do(EXISTS, "#theme[aria-pressed=true]")  # the page hears of it later
    opened.do("document.getElementById('theme').click()")
    assert opened.do(ground) == light
    assert opened.do("return document.getElementById('theme').ariaPressed") == "false"
    opened.do("document.getElementById('theme').click()")
    assert opened.do(ground) == dark
    opened.command("Emulation.setEmulatedMedia", media="print", features=[])
    assert opened.do(ground) == light
    opened.command("Emulation.setEmulatedMedia", media="", features=[])


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_window(opened: Any, width: int) -> None:
    opened.command(
        "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 500
    )
    try:
        opened.do("document.querySelectorAll('details').forEach(e => { e.open = true; })")
        opened.do("document.querySelectorAll('.more').forEach(e => e.click())")
        assert opened.do("return document.documentElement.scrollWidth") <= width
    finally:
        opened.command("Emulation.clearDeviceMetricsOverride")


def test_the_keyboard_reaches_the_skip_link_first_and_sees_where_it_is(opened: Any) -> None:
    key = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
    for kind in ("keyDown", "keyUp"):
        opened.command("Input.dispatchKeyEvent", type=kind, **key)
    assert opened.do("return document.activeElement.className") == "skip"
    assert opened.do("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert opened.do("return document.activeElement.getBoundingClientRect().left") >= 0
