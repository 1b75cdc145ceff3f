"""What the papers print: package data, one YAML file for each paper, and how a file and its numbers are read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from budgetbench.document import Document, parse
from budgetbench.errors import RequestError, nearest

#: Keys of the papers, which end in the year, in the order in which they appeared.
PAPERS = tuple(
    sorted(
        (file.name.removesuffix(".yaml") for file in files(__package__).iterdir() if file.name.endswith(".yaml")),
        key=lambda key: (key[-4:], key),
    )
)

NUMBER = "a number, such as 20.99 ± 0.06 %"
PRINTED = re.compile(r"(?P<mean>[\d.]+)(?: ± (?P<spread>[\d.]+))?(?P<percent> %)?")


@dataclass(frozen=True)
class Value:
    """A number as it was printed: percent for errors, else as it is.

    Attributes
    ----------
    spread : the standard deviation printed with it, or None.
    text : the print.
    """

    mean: float
    spread: float | None
    text: str


@cache
def read(key: str) -> Document:
    """A paper's file.

    Raises
    ------
    RequestError : there is no such paper.
    """
    if key not in PAPERS:
        raise RequestError(f"paper: found {key!r}; accepted: {', '.join(PAPERS)}. {nearest(key, PAPERS)}".rstrip())
    file = files(__package__) / f"{key}.yaml"
    return parse(file.read_text(encoding="utf-8"), str(file))


def difference(first: Value, second: Value) -> Value:
    """The difference of two printed numbers; what spread it has is not printed."""
    text = " − ".join(one.text.split()[0] for one in (first, second))
    return Value(round(first.mean - second.mean, 6), None, f"{text} %" if first.text.endswith("%") else text)


def value(printed: Any) -> Value:
    """What a printed number such as ``20.99 ± 0.06 %`` says; ValueError if it is none."""
    match = PRINTED.fullmatch(str(printed))
    if not match:
        raise ValueError(f"found {printed!r}; accepted: {NUMBER}")
    spread = match["spread"]
    return Value(float(match["mean"]), float(spread) if spread else None, str(printed))


def rows_of(key: str, item: str) -> Iterator[tuple[Mapping[str, Any], dict[str, Value]]]:
    """The rows of a published table: which learner each is about, and its values by measure."""
    for block in read(key).data.get("numbers") or []:
        for row in block["rows"] if block["item"] == item else []:
            if "of" in row:
                names = [name for name in row if name not in ("of", "less", "explained")]
                yield row["of"], {name: value(row[name]) for name in names}


def cited(key: str, item: str) -> str:
    """An item of a paper in words: ``Orabona, Keshet, Caputo 2008, Table 1``."""
    paper = read(key).data["paper"]
    names = [name.split()[-1] for name in paper["authors"]]
    return f"{', '.join(names)} {paper['year']}, {item}"
