"""The site: every page that there is to be, and every example on it, run as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import catalogue
import pytest
from support.examples import blocks, follow

from budgetbench.cli.app import COMMANDS
from budgetbench.datasets import datasets
from budgetbench.kernels import kernels
from budgetbench.learners import learners
from budgetbench.plots import figures
from budgetbench.shipped import shipped

SITE = Path(__file__).parents[1] / "docs" / "site"
PAGES = {str(path.relative_to(SITE)): path.read_text(encoding="utf-8") for path in sorted(SITE.glob("*.md"))}
PAGES |= {str(path.relative_to(SITE)): path.read_text(encoding="utf-8") for path in sorted(SITE.glob("howto/*.md"))}
RUN = [
    name for name, page in PAGES.items() if any(one.language in ("console", "python", "yaml") for one in blocks(page))
]
#: Commands in blocks that are not run: they install, or need a network or several machines.
APART = ("python3 -m venv ", ". .venv/", "pip ", "budgetbench fetch ", "budgetbench run ")


@pytest.fixture(scope="module")
def made() -> catalogue.Pages:
    return catalogue.pages()


@pytest.mark.parametrize("page", RUN)
def test_what_a_page_says_can_be_done(page: str, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    assert follow(PAGES[page], folder) == []


def test_blocks_that_are_not_run_are_few() -> None:
    lines = [
        line
        for page in PAGES.values()
        for one in blocks(page)
        if one.language == "sh"
        for line in one.text.splitlines()
    ]
    assert [line for line in lines if not line.startswith(APART)] == []


def test_there_is_a_page_for_each(made: catalogue.Pages) -> None:
    kinds = {"learners": learners, "datasets": datasets, "kernels": kernels, "figures": figures}
    wanted = {f"{folder}/{name}" for folder, registry in kinds.items() for name in registry.registered}
    assert wanted | {f"commands/{name}" for name in COMMANDS} <= set(made)


def test_an_option_of_a_command_is_told(made: catalogue.Pages) -> None:
    assert "`--shard I/N`" in made["commands/run"]
    assert "part" in made["commands/run"]


@pytest.mark.parametrize("name", learners.registered)
def test_a_learner_has_its_rule_use_and_parameters(name: str, made: catalogue.Pages) -> None:
    page = made[f"learners/{name}"]
    assert page.startswith(f"# {learners[name].title}\n")
    assert "\n## When to use it\n" in page, "say it in a paragraph of the docstring: When to use: …"
    assert all(f"| `{key}` |" in page for key in learners[name].own_parameters())
    assert "\nParameters\n---" not in page


def test_pages_list_what_there_is(made: catalogue.Pages) -> None:
    assert all(f"| `{name}` |" in made["configurations"] for name in shipped())


def test_each_page_is_in_a_table_of_contents(made: catalogue.Pages) -> None:
    """Of ours; those that are made are in that of their folder."""
    listed = {
        name
        for page in PAGES.values()
        for tree in re.findall(r"```{toctree}\n(.*?)```", page, re.DOTALL)
        for name in tree.split("\n")
    }
    assert {name.removesuffix(".md") for name in PAGES} - listed == {"index"}
    assert {f"reference/{name}" for name in made if "/" not in name or name.endswith("/index")} - listed == {
        "reference/rule"
    }
