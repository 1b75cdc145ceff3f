"""The pages that state results are what the committed results make of their templates."""

from __future__ import annotations

from pathlib import Path

import facts
import pages
import pytest
from facts import Experiment, FactError, Learner, above

PROJECT = Path(__file__).parents[1]


@pytest.mark.parametrize(("page", "target"), pages.PAGES.items())
def test_pages_say_what_the_results_say(page: str, target: str) -> None:
    committed = (PROJECT / target).read_text(encoding="utf-8")
    assert committed == pages.render(page), f"{target} is not what docs/pages/{page} and the results make: make pages"


def test_pdf_is_of_the_committed_article() -> None:
    article = (PROJECT / pages.PAGES[pages.ARTICLE]).read_text(encoding="utf-8")
    assert pages.digest(article).encode() in pages.PDF.read_bytes(), "docs/replication.pdf is out of date: make pages"


def test_figures_of_the_article_are_there() -> None:
    article = (PROJECT / pages.PAGES[pages.ARTICLE]).read_text(encoding="utf-8")
    found = pages.FIGURE.findall(article)
    assert found
    assert len(found) == article.count("![")
    assert all((PROJECT / f"{figure}.{kind}").is_file() for figure in found for kind in ("png", "pdf"))


def test_the_same_article_is_the_same_pdf() -> None:
    pytest.importorskip("pypandoc")
    pytest.importorskip("typst")
    markdown = "# Title\n\n*Authors*\n\n**Table 1.** What it shows, 10 %.\n\n| a | b |\n|---|--:|\n| x | 1 |\n"
    first, second = pages.typeset(markdown), pages.typeset(markdown)
    assert first == second
    assert pages.digest(markdown).encode() in first


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pages, "TEMPLATES", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        ("{% do given(1 > 2) %}\n{{ 1 > 2 }}", "no longer so"),
        ("{{ experiment('nowhere') }}", "no results of nowhere"),
        ("{{ verdict('nobody2001.nothing') }}", "0 verdicts nobody2001.nothing"),
        ("{{ nothing }}", "'nothing' is undefined"),
        ("{{ 1 +", "unexpected"),
    ],
)
def test_what_is_no_longer_so_is_told_with_its_line(templates: Path, sentence: str, problem: str) -> None:
    (templates / "page.md").write_text(f"# Title\n\n{sentence}\n", encoding="utf-8")
    with pytest.raises(pages.PageError, match=rf"docs/pages/page.md, line 3: .*{problem}"):
        pages.render("page.md")


def test_what_is_given_leaves_no_trace(templates: Path) -> None:
    (templates / "page.md").write_text("a\n{% do given(1 < 2) %}\n{{ -0.25 | places(1) }}\n", encoding="utf-8")
    assert pages.render("page.md") == "a\n−0.2\n"


def test_several_are_said_in_words() -> None:
    assert [pages.listed(one) for one in ([25], [25, 70], [25, 70, 100])] == ["25", "25 and 70", "25, 70 and 100"]


def learner(budget: int, error: float, **params: object) -> Learner:
    row = {"algorithm": "perceptron", "selected": True, "runs": 5, "test_error_mean": error, "test_error_max": 0.5}
    return Learner(row, {"budget": budget, **params})


def test_a_learner_has_its_parameters_and_measures() -> None:
    one = learner(10, 0.021, beta=0.5)
    assert (one.budget, one.beta, one.runs) == (10, 0.5, 5)
    assert one.test_error == pytest.approx(2.1)
    assert one.test_error_max == pytest.approx(50)
    with pytest.raises(AttributeError, match="neither a parameter nor a measure accuracy"):
        _ = one.accuracy


def test_a_learner_is_asked_for_by_what_only_it_has() -> None:
    found = Experiment("example", (learner(10, 0.1, beta=0), learner(20, 0.2, beta=0), learner(20, 0.3, beta=1)))
    assert found.learner("perceptron", budget=20, beta=1).test_error == pytest.approx(30)
    assert len(found.learners("perceptron", budget=[10, 20], beta=0)) == 2
    with pytest.raises(FactError, match="example: 2 lines of perceptron"):
        found.learner("perceptron", budget=20)


def test_sizes_at_which_one_is_worse() -> None:
    some = [learner(10, 0.2), learner(20, 0.2), learner(30, 0.2)]
    assert above(some, [learner(10, 0.1), learner(20, 0.2), learner(30, 0.3)]) == [10]
    assert above(some, learner(5, 0.1)) == [10, 20, 30]
    with pytest.raises(FactError, match="share no size"):
        above(some, [learner(40, 0.1)])


def test_every_verdict_is_counted_once() -> None:
    counted = sum(len(facts.verdicts(state=state)) for state in facts.STATES)
    assert counted == len(facts.verdicts())
