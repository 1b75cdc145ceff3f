"""A configuration to edit: another one under a new name, with each of its keys explained."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from budgetbench.config.estimators import SECTION as ESTIMATOR
from budgetbench.config.language import CHOICES, FIXED, KEYS
from budgetbench.config.loading import interpret
from budgetbench.document import read
from budgetbench.parameters import Parameter, Parameters

WIDTH = 120
#: What `budgetbench list` calls the items that a key chooses among.
LISTED = {"dataset": "datasets", "kernel": "kernels", "algorithms": "algorithms", "plots": "plots"}
SCHEMA = "# yaml-language-server: $schema="


def started(source: Path, name: str, schema: str = "") -> str:
    """The text of a configuration `name` made from the file `source`, whose own comments stay.

    Parameters
    ----------
    schema : where an editor finds the schema of configurations.
    """
    document = read(source)
    interpret(document)
    data, lines = document.data, source.read_text(encoding="utf-8-sig").splitlines()
    at = {document.lines[(key,)] - 1: key for key in data}
    taken = {key: _length(lines, at, line) for line, key in at.items()}
    written = [SCHEMA + schema] if schema else []
    skipped = 0
    for number, line in enumerate(lines):
        key = at.get(number)
        if key in ("name", "title", "reproduces"):
            skipped = number + taken[key]
        if key == "name":
            written += [*_explained("name", data), f"name: {name}", *_explained("title", data), f"title: {name}"]
        elif key and key not in ("title", "reproduces"):
            written += _explained(key, data)
        if number >= skipped and not line.startswith(SCHEMA):
            written.append(line)
    rest = [key for key in KEYS if key not in data and key not in ("title", "reproduces")]
    written += [
        "",
        "# What else a configuration can say:",
        *(line for key in rest for line in _comment(f"  {_told(key)}")),
    ]
    return "\n".join(written) + "\n"


def _length(lines: list[str], at: Mapping[int, str], first: int) -> int:
    """How many lines a key and its value take, without comments that stand before the next key."""
    last = min((line for line in at if line > first), default=len(lines))
    while last > first + 1 and (not lines[last - 1].strip() or lines[last - 1].startswith("#")):
        last -= 1
    return last - first


def _explained(key: str, data: Mapping[str, Any]) -> list[str]:
    """Comments on a key of the configuration, and on those that stand under it."""
    told = ["", *_comment(_told(key))]
    for name, words in _under(key, data.get(key)):
        told += _comment(f"  {name}: {words}")
    return told


def _told(key: str) -> str:
    """What a key of the configuration means; what a mapping or a list holds, those under it tell."""
    judged = key in CHOICES or key in FIXED
    listed = f" (budgetbench list {LISTED[key]})" if key in LISTED else ""
    return f"{key}: {KEYS[key].meaning.rstrip('.')}{listed}" if judged else f"{key}: {_words(KEYS[key])}"


def _under(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """What stands under a key, each with its meaning, and once."""
    if key in FIXED:
        yield from ((name, _words(FIXED[key][name])) for name in value)
    elif key in CHOICES:
        choice, told = CHOICES[key], set()
        for entry in value if choice.several else [value]:
            item = entry.get(choice.chosen.name)
            parameters: Parameters = ESTIMATOR if item is None else choice.parameters(item)
            for name in entry:
                what = choice.chosen.name if name == choice.chosen.name else f"{item}.{name}" * choice.several or name
                if name in parameters and what not in told:
                    told.add(what)
                    yield what, parameters[name].meaning if what == choice.chosen.name else _words(parameters[name])


def _words(parameter: Parameter) -> str:
    usual = f"; by default {parameter.usual}" if parameter.usual else ""
    return f"{parameter.meaning.rstrip('.')} ({parameter.accepted}{usual})"


def _comment(text: str) -> list[str]:
    indent = " " * (len(text) - len(text.lstrip()) + 2)
    return textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent=f"# {indent}", break_on_hyphens=False)
