"""The commit that results say they come from."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from budgetbench.runner.provenance import commit

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="asks git")


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    run = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a repository of its own."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    return package


def test_only_a_change_of_the_package_counts_as_one(package: Path) -> None:
    head = git(package, "rev-parse", "--short=12", "HEAD")
    assert commit(package) == head
    (package.parent / "results.md").write_text("new")
    assert commit(package) == head
    (package / "__init__.py").write_text("changed = True")
    assert commit(package) == f"{head}-dirty"


def test_outside_of_a_checkout_there_is_none(package: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    installed = package.parent / ".venv" / "package"  # in a repository that does not know it
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("")
    assert commit(installed) is None
    assert commit(tmp_path_factory.mktemp("nowhere")) is None
