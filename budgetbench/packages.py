"""Where code comes from that is not ours: the package and its version, which enter keys and provenance."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from functools import cache
from importlib.metadata import Distribution, distribution, distributions, packages_distributions
from pathlib import Path
from typing import NamedTuple

OURS = __name__.partition(".")[0]


class Package(NamedTuple):
    """A package and its version; of code that is not installed, or installed to be edited, a digest of its sources."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}".rstrip()


def package_of(module: str) -> Package | None:
    """The package that a module belongs to; None for our own."""
    top = module.partition(".")[0]
    return None if top == OURS else _package(top)


def packages_of(*modules: str) -> tuple[str, ...]:
    """The packages that some modules belong to, each with its version; nothing for our own."""
    found = set(map(package_of, modules))
    return tuple(sorted(str(package) for package in found if package))


@cache
def _package(top: str) -> Package:
    names = packages_distributions().get(top)
    found = distribution(names[0]) if names else _holder(top)
    if found is None:
        return Package(top, _digest(top))
    version = found.version
    return Package(found.name, f"{version}+{_digest(top)}" if _is_edited(found) else version)


def _holder(top: str) -> Distribution | None:
    """The distribution whose files hold a module: Python 3.10 knows only of those that list their modules by name."""
    holds = (one for one in distributions() if any(file.parts[0] in (top, f"{top}.py") for file in one.files or ()))
    return next(holds, None)


def _is_edited(found: Distribution) -> bool:
    """Whether it was installed with `pip install --editable`, so that its version says little."""
    told = json.loads(found.read_text("direct_url.json") or "{}")
    return bool(told.get("dir_info", {}).get("editable"))


def _digest(top: str) -> str:
    """12 hexadecimal digits for the Python files of a module or package; nothing where there are none to be read."""
    module = sys.modules.get(top)
    spec = getattr(module, "__spec__", None) or (None if module else importlib.util.find_spec(top))
    files = [Path(spec.origin)] if spec and spec.origin and spec.has_location else []
    for folder in (spec and spec.submodule_search_locations) or ():
        files += Path(folder).rglob("*.py")
    digest = hashlib.sha256()
    for file in sorted({file for file in files if file.is_file()}):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12] if files else ""
