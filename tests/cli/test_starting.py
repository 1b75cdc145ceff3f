"""Configurations by name: which file is meant, what is listed, and new ones."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from budgetbench import shipped
from budgetbench.config import load
from budgetbench.document import read

Call = Callable[..., Any]


def test_a_name_means_the_configuration_that_comes_with_the_program(call: Call) -> None:
    assert load("usps_noise10") == load(shipped.folder() / "usps_noise10.yaml")
    assert call("run", "beyond_digits", "--dry-run").out.startswith("beyond_digits: 0 runs done, 2600 to run")
    assert call("validate", "quickstart").out.startswith("quickstart: ok")


def test_a_file_of_that_name_wins_with_its_ending_or_without(config: str) -> None:
    Path("usps.yaml").write_text(config, encoding="utf-8")
    assert load("usps").name == "tiny"
    Path("usps").write_text(config.replace("tiny", "plain"), encoding="utf-8")
    assert load("usps").name == "plain"
    assert load("usps.yaml").name == "tiny"


def test_a_folder_hides_no_name() -> None:
    Path("usps").mkdir()
    assert load("usps").name == "usps"


def test_names_and_paths_that_nothing_has(call: Call) -> None:
    for asked, told in (
        ("usps_nois10", "no configuration of this name comes with the program; accepted: the path of a configuration"),
        ("usps_nois10", "Did you mean 'usps_noise10'?"),
        ("zzzzzz", "See: budgetbench list configs"),
        ("configs/usps.yaml", "'usps' alone is the one that comes with the program"),
        ("a/b", "no such file"),
    ):
        answer = call("run", asked, "--dry-run")
        assert (answer.code, answer.short) == (2, True)
        assert told in answer.err


def test_lists_say_where_a_configuration_comes_from(call: Call, config: str) -> None:
    Path("usps.yaml").write_text(config, encoding="utf-8")
    Path("other.yaml").write_text("services: {}\n", encoding="utf-8")
    Path("broken.yaml").write_text("name: [\n", encoding="utf-8")
    rows = [row.rstrip() for row in call("list", "configs").out.splitlines()]
    told = [row.split(maxsplit=1) for row in rows]
    assert [name for name, _ in told[:4]] == ["name", "broken", "c", "usps"]
    assert "budgetbench validate broken.yaml" in rows[1]
    assert rows[3].split(maxsplit=3)[1:] == ["this", "folder", "A tiny experiment"]
    assert set(shipped.shipped()) <= {name for name, _ in told}
    assert ["usps", "shipped,"] in [row.split()[:2] for row in rows[4:]]
    assert "weston2005, Figure 10" in next(row for row in rows if row.startswith("usps_noise10 "))


@pytest.mark.parametrize("source", sorted(shipped.shipped()))
def test_a_new_configuration_runs_as_it_is_and_explains_its_keys(call: Call, source: str) -> None:
    assert call("new", "mine", "--from", source) == (0, "written to mine.yaml; to run it: budgetbench run mine\n", "")
    made, model = load("mine").resolved(), load(source).resolved()
    assert (made.pop("name"), made.pop("title"), made.pop("reproduces")) == ("mine", "mine", None)
    del model["name"], model["title"], model["reproduces"]
    assert made == model
    text = Path("mine.yaml").read_text(encoding="utf-8")
    assert all(f"# {key}: " in text for key in read("mine.yaml").data)
    assert "#   epochs: " in text
    assert max(map(len, text.splitlines())) <= 130


def test_a_new_one_is_made_from_a_file_too_and_from_one_that_is_new(call: Call, config: str) -> None:
    several = config.replace(
        "title: A tiny experiment\n", "title:\n  A tiny\n  experiment\n\n# A comment on the data.\n"
    )
    Path("c.yaml").write_text(several, encoding="utf-8")
    call("new", "first", "--from", "c.yaml")
    assert load("first").dataset == load("c.yaml").dataset
    assert "# A comment on the data." in Path("first.yaml").read_text(encoding="utf-8")
    call("new", "second", "--from", "first")
    assert load("second").name == "second"
    assert load("second").algorithms == load("c.yaml").algorithms


def test_nothing_is_written_over_and_names_are_names(call: Call) -> None:
    before = Path("c.yaml").read_bytes()
    for name, told in (("c", "c.yaml: found it there already"), ("a/b", "name: found 'a/b'; accepted: a folder name")):
        answer = call("new", name)
        assert (answer.code, answer.short) == (2, True)
        assert told in answer.err
    assert Path("c.yaml").read_bytes() == before
    assert call("new", "d", "--from", "quikstart").code == 2
    assert not Path("d.yaml").exists()


def test_an_installed_package_has_them_inside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "budgetbench"
    shutil.copytree(shipped.folder(), package / "configs")
    monkeypatch.setattr(shipped, "__file__", str(package / "shipped.py"))
    assert shipped.folder.__wrapped__() == package / "configs"
