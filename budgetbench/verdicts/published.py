"""The papers' numbers and claims, read strictly from `budgetbench.published`.

A file has `paper` (what it is), `numbers` (blocks of rows, each row a learner and its published values, or facts of
the experiment), `claims` (entries with a `statement` and its keys) and `left_out` (what is not checked, and why).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from budgetbench.errors import RequestError, nearest
from budgetbench.published import PAPERS, Value, read, value
from budgetbench.verdicts.facts import FACTS
from budgetbench.verdicts.measures import MEASURES
from budgetbench.verdicts.model import LeftOut, Paper
from budgetbench.verdicts.statements import Statement, statements

CLAIM_KEYS = ("id", "text", "item", "quote", "experiments", "statement", "deviations")
BLOCK_KEYS = ("item", "quote", "experiment", "draws", "rows")


@dataclass(frozen=True)
class Number:
    """One published number.

    Attributes
    ----------
    of : selector of the learner, or None for a fact of the experiment.
    name : measure or fact.
    draws : the paper's data is one random draw, to be looked for among ours.
    """

    id: str
    item: str
    quote: str
    experiment: str
    of: Mapping[str, Any] | None
    name: str
    value: Value
    draws: bool
    deviation: str | None


@dataclass(frozen=True)
class Claim:
    """One claim in words.

    Attributes
    ----------
    experiments : the claim is checked on each of them.
    statement, arguments : kind of statement and its keys.
    deviations : experiment to the reason why it does not hold there; ``all`` for every one.
    """

    id: str
    text: str
    item: str
    quote: str
    experiments: tuple[str, ...]
    statement: str
    arguments: Mapping[str, Any]
    deviations: Mapping[str, str]

    @property
    def function(self) -> Statement:
        return statements[self.statement]


@dataclass(frozen=True)
class Published:
    """What one paper says."""

    paper: Paper
    numbers: tuple[Number, ...]
    claims: tuple[Claim, ...]


def published(key: str) -> Published:
    """What a paper says, by its key.

    Raises
    ------
    RequestError : there is no such paper, or its file says something that cannot be checked.
    """
    return interpret(key, read(key))


def papers() -> list[Paper]:
    """The papers, in the order in which they appeared."""
    return [published(key).paper for key in PAPERS]


def interpret(key: str, data: Mapping[str, Any]) -> Published:
    """What the text of a paper's file means; see `published`."""
    _known(key, data, ("paper", "numbers", "claims", "left_out"))
    numbers = [number for block in data.get("numbers") or [] for number in _numbers(key, block)]
    claims = [_claim(key, entry) for entry in data.get("claims") or []]
    entries: list[Number | Claim] = [*numbers, *claims]
    names = [entry.id for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise RequestError(f"{name}: found twice; accepted: each name once")
    items = dict.fromkeys([*data["paper"].get("items", []), *(entry.item for entry in entries)])
    left_out = tuple(LeftOut(**entry) for entry in data.get("left_out") or [])
    facts = {name: data["paper"][name] for name in ("title", "authors", "venue", "year")}
    return Published(Paper(key, items=tuple(items), left_out=left_out, **facts), tuple(numbers), tuple(claims))


def _numbers(key: str, block: Mapping[str, Any]) -> list[Number]:
    place = f"{key}, {block.get('item')}"
    _known(place, block, BLOCK_KEYS)
    found = []
    for row in block["rows"]:
        row = dict(row)
        of, deviations = row.pop("of", None), row.pop("deviations", {})
        _known(place, row, MEASURES if of else FACTS)
        _known(f"{place}, deviations", deviations, row)
        for name, printed in row.items():
            slug = "-".join(str(value) for value in (of or {"": block["experiment"]}).values())
            found.append(
                Number(
                    id=f"{key}.{_slug(block['item'])}.{_slug(slug)}.{name}",
                    item=block["item"],
                    quote=block["quote"],
                    experiment=block["experiment"],
                    of=of,
                    name=name,
                    value=value(place, printed),
                    draws=bool(block.get("draws")),
                    deviation=deviations.get(name),
                )
            )
    return found


def _claim(key: str, entry: Mapping[str, Any]) -> Claim:
    place = f"{key}.{entry.get('id')}"
    if entry.get("statement") not in statements:
        found, hint = entry.get("statement"), nearest(entry.get("statement"), statements)
        raise RequestError(f"{place}: found statement {found!r}; accepted: {', '.join(statements)}. {hint}")
    signature = inspect.signature(statements[entry["statement"]])
    arguments = {name: value for name, value in entry.items() if name not in CLAIM_KEYS}
    try:
        signature.bind(None, **arguments)
    except TypeError as error:
        raise RequestError(f"{place}: {error}") from None
    deviations = entry.get("deviations") or {}
    _known(f"{place}, deviations", deviations, [*entry["experiments"], "all"])
    return Claim(
        id=place,
        text=" ".join(entry["text"].split()),
        item=entry["item"],
        quote=entry["quote"],
        experiments=tuple(entry["experiments"]),
        statement=entry["statement"],
        arguments=arguments,
        deviations={name: " ".join(reason.split()) for name, reason in deviations.items()},
    )


def _known(place: str, found: Mapping[str, Any], accepted: Any) -> None:
    for name in found:
        if name not in accepted:
            raise RequestError(f"{place}: found {name!r}; accepted: {', '.join(accepted)}. {nearest(name, accepted)}")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9_+]+", "-", text.lower()).strip("-")
