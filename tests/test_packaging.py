"""What pyproject.toml, the constraints and the workflows say of each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from budgetbench.shipped import folder

PROJECT = Path(__file__).parents[1]
NAME = re.compile(r'"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=([0-9.]+)[";]')


def declared(section: str) -> dict[str, str]:
    """The lower bounds of one list of dependencies (Python 3.10 has no reader of TOML)."""
    text = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(rf"^{section} = \[(.*?)\]$", text, re.MULTILINE | re.DOTALL)
    assert found
    return {canonicalize_name(name): version for name, version in NAME.findall(found[1])}


def pinned(file: str) -> dict[str, list[Version]]:
    """Each pinned package with its versions, one for each Python."""
    found: dict[str, list[Version]] = {}
    for line in (PROJECT / file).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            (version,) = requirement.specifier
            assert version.operator == "=="
            found.setdefault(requirement.name, []).append(Version(version.version))
    return found


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    needed = declared("dependencies") | declared("parquet")
    assert {name: [Version(version)] for name, version in needed.items()} == pinned("constraints-oldest.txt")


def test_the_newest_versions_are_allowed() -> None:
    newest = pinned("constraints.txt")
    for section in ("dependencies", "parquet", "dev", "docs", "site", "mutants", "release"):
        for name, lower in declared(section).items():
            assert name in newest, f"{name} is not pinned"
            assert all(version >= Version(lower) for version in newest[name]), name


def test_everything_that_a_command_reads_is_in_the_wheel() -> None:
    """Files that are no Python: package data, or configurations, which setup.py takes along."""
    declared_data = re.search(r"^\[tool.setuptools.package-data\]\n((?:.+\n)+)", _text("pyproject.toml"), re.MULTILINE)
    assert declared_data
    patterns = [
        (PROJECT / package.replace(".", "/")).glob(pattern)
        for package, listed in re.findall(r'^"?([\w.]+)"? = \[(.*)\]$', declared_data[1], re.MULTILINE)
        for pattern in re.findall(r'"([^"]+)"', listed)
    ]
    taken = {path for found in patterns for path in found}
    there = {
        path for path in (PROJECT / "budgetbench").rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert there == taken
    assert folder() == PROJECT / "configs"
    assert "graft configs" in _text("MANIFEST.in")


def test_workflows_call_targets_that_there_are() -> None:
    targets = set(re.findall(r"^([a-z-]+):", _text("Makefile"), re.MULTILINE))
    files = sorted((PROJECT / ".github" / "workflows").glob("*.yaml"))
    assert [path.stem for path in files] == ["docs", "tests", "wheels"]
    for path in files:
        jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
        called = [target for job in jobs for step in job["steps"] for target in _called(step)]
        assert called, path
        assert set(called) <= targets


def _called(step: dict[str, Any]) -> list[str]:
    return [word for line in re.findall(r"^make (.*)$", step.get("run", ""), re.MULTILINE)
            for word in line.split() if re.fullmatch("[a-z-]+", word)]  # fmt: skip


def _text(file: str) -> str:
    return (PROJECT / file).read_text(encoding="utf-8")
