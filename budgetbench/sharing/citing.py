"""References as BibTeX: of the learners and datasets of some results, the papers that they reproduce, the program."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from budgetbench.archive import each, experiment_folders, read_provenance
from budgetbench.config import recorded
from budgetbench.datasets import datasets
from budgetbench.errors import Notice
from budgetbench.experiment import Algorithm, Experiment
from budgetbench.learners import learners
from budgetbench.packages import package_of
from budgetbench.version import __version__

PROGRAM = "budgetbench"
#: An entry begins and ends at the margin.
ENTRY = re.compile(r"^@\w+\{(?P<key>[^,\s]+),\n.*?^\}$", re.MULTILINE | re.DOTALL)
#: What means something else to TeX, or begins an entry.
SPECIAL = re.compile(r"[@#$%&_{}~^\\]")


@cache
def references() -> dict[str, str]:
    """The entries that come with the program, by key."""
    text = (files(__package__) / "references.bib").read_text(encoding="utf-8")
    return {entry["key"]: entry[0] for entry in ENTRY.finditer(text)}


def cite(root: Path | str) -> str:
    """The BibTeX of what every experiment under `root`, or the one whose folder it is, makes use of.

    Each entry is there once, under the names of those that it is for; entries are in the order of their keys.

    Raises
    ------
    RequestError : no results there, or none that can be read.
    """
    known = references()
    entries: dict[str, str] = {}
    users: dict[str, dict[str, None]] = {}
    programs: set[str] = set()
    for experiment, provenance in each(experiment_folders(root), _read):
        versions = provenance.get("packages")
        versions = versions if isinstance(versions, dict) else {}
        programs.add(str(provenance.get("budgetbench") or __version__))
        for user, keys, packages in _used(experiment):
            for key in keys:
                entries[key] = known[key]
            for package in packages:
                entries[package] = known.get(package) or _package(package, versions.get(package))
            for key in (*keys, *packages):
                users.setdefault(key, {})[user] = None
            if not keys and not packages:
                warnings.warn(f"no reference is known for {user}", Notice, stacklevel=2)
    entries[PROGRAM] = _program(sorted(programs))
    users[PROGRAM] = {"the program": None}
    return "\n".join(f"{_line(users[key])}{entries[key]}\n" for key in sorted(entries, key=str.casefold))


def _read(folder: Path) -> tuple[Experiment, dict[str, Any]]:
    return recorded(folder / "experiment.yaml"), read_provenance(folder)


def _used(experiment: Experiment) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """What an experiment makes use of: its name, keys of entries, and packages that have none of their own."""
    for algorithm in experiment.algorithms:
        yield _method(algorithm)
    name = experiment.dataset.name
    if name not in datasets:
        yield f"the dataset {name}", (), ()
    else:
        dataset = datasets[name]
        keys, package = _known(dataset.references), package_of(type(dataset).__module__)
        if keys or package:  # else the user's own data
            yield dataset.title, keys, (package.name,) if package and not keys else ()
    if experiment.reproduces and experiment.reproduces.paper in references():
        yield "reproduced here", (experiment.reproduces.paper,), ()


def _method(algorithm: Algorithm) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """A learner, by its references, or else by the packages that it comes from."""
    title, keys = algorithm.title or algorithm.name, tuple[str, ...]()
    if algorithm.name in learners:
        learner = learners[algorithm.name]
        title, keys = learner.title, _known(getattr(learner, "references", ()))
    module, _, written = algorithm.name.partition(":")
    foreign = [package.partition(" ")[0] for package in algorithm.packages]
    if written and not foreign:  # not installed here
        foreign = [module.partition(".")[0]]
    return title, keys, () if keys else tuple(foreign)


def _known(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(key for key in keys if key in references())


def _package(name: str, version: str | None) -> str:
    note = f"Python package, version {version}" if version else "Python package"
    return _misc(name, title=f"{{{_plain(name)}}}", note=_plain(note))


def _program(versions: list[str]) -> str:
    return _misc(
        PROGRAM,
        author="{The budgetbench developers}",
        title="{budgetbench}: Reproducible Benchmarks of Kernel Learning under a Memory Budget",
        note=f"Version {' and '.join(versions)}",
    )


def _misc(key: str, **fields: str) -> str:
    told = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{key},\n{told}\n}}"


def _plain(text: str) -> str:
    return SPECIAL.sub(lambda found: f"\\{found[0]}" if found[0] in "#$%&_{}" else " ", text)


def _line(users: Iterable[str]) -> str:
    """Who an entry is for; BibTeX passes over what stands between entries."""
    return f"% {', '.join(SPECIAL.sub(' ', user) for user in users)}\n"
