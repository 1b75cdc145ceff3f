"""The papers' numbers and claims, read strictly from `budgetbench.published`.

A file has `paper` (what it is, and the datasets of the experiments that it needs), `numbers` (blocks of rows, each row
a learner and its published values, or facts of the experiment), `claims` (entries with a `statement` and its keys) and
`left_out` (what is not checked, and why).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from budgetbench.errors import RequestError, nearest
from budgetbench.published import PAPERS, read, value
from budgetbench.results.names import canonical_name
from budgetbench.verdicts.facts import FACTS
from budgetbench.verdicts.measures import MEASURES
from budgetbench.verdicts.model import Claim, LeftOut, Number, Paper
from budgetbench.verdicts.statements import statements

CLAIM_KEYS = ("id", "text", "item", "quote", "experiments", "statement", "deviations")
BLOCK_KEYS = ("item", "quote", "experiment", "draws", "rows")


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
    facts = data["paper"]
    numbers = [number for block in data.get("numbers") or [] for number in _numbers(key, block)]
    claims = [_claim(key, entry) for entry in data.get("claims") or []]
    entries: list[Number | Claim] = [*numbers, *claims]
    names = [entry.id for entry in entries]
    for entry in entries:
        if names.count(entry.id) > 1:
            raise RequestError(f"{entry.id}: found twice; accepted: each name once")
        _known(f"{entry.id}, experiments", dict.fromkeys((*entry.experiments, *entry.needed)), facts["datasets"])
    paper = Paper(
        key,
        facts["title"],
        tuple(facts["authors"]),
        facts["venue"],
        facts["year"],
        items=tuple(dict.fromkeys([*facts.get("items", []), *(entry.item for entry in entries)])),
        datasets=facts["datasets"],
        left_out=tuple(LeftOut(**entry) for entry in data.get("left_out") or []),
    )
    return Published(paper, tuple(numbers), tuple(claims))


def _numbers(key: str, block: Mapping[str, Any]) -> list[Number]:
    place = f"{key}, {block.get('item')}"
    _known(place, block, BLOCK_KEYS)
    found = []
    for row in block["rows"]:
        row = dict(row)
        of, deviations = row.pop("of", None), row.pop("deviations", {})
        _known(place, row, MEASURES if of else FACTS)
        _known(f"{place}, deviations", deviations, row)
        slug = _slug("-".join(str(value) for value in (of or {"": block["experiment"]}).values()))
        found += [
            Number(
                id=f"{key}.{_slug(block['item'])}.{slug}.{name}",
                paper=key,
                item=block["item"],
                quote=block["quote"],
                experiments=(block["experiment"],),
                learners=_learners([of] if of else []),
                deviations={"all": deviations[name]} if name in deviations else {},
                of=of,
                name=name,
                value=value(place, printed),
                draws=bool(block.get("draws")),
            )
            for name, printed in row.items()
        ]
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
    selected = list(selectors(arguments))
    return Claim(
        id=place,
        paper=key,
        item=entry["item"],
        quote=entry["quote"],
        experiments=tuple(entry["experiments"]),
        needed=tuple(dict.fromkeys(one["experiment"] for one in selected if "experiment" in one)),
        learners=_learners(selected),
        deviations={name: " ".join(reason.split()) for name, reason in deviations.items()},
        text=" ".join(entry["text"].split()),
        statement=entry["statement"],
        arguments=arguments,
    )


def selectors(value: Any) -> Iterator[Mapping[str, Any]]:
    """All selectors in the arguments of a claim, those inside of others too."""
    if isinstance(value, Mapping):
        if "algorithm" in value:
            yield value
        value = list(value.values())
    for inner in value if isinstance(value, list) else []:
        yield from selectors(inner)


def _learners(selected: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Names of the learners that selectors name, each once."""
    named = [one["algorithm"] if isinstance(one["algorithm"], list) else [one["algorithm"]] for one in selected]
    return tuple(dict.fromkeys(canonical_name(name) for names in named for name in names))


def _known(place: str, found: Mapping[str, Any], accepted: Any) -> None:
    for name in found:
        if name not in accepted:
            raise RequestError(f"{place}: found {name!r}; accepted: {', '.join(accepted)}. {nearest(name, accepted)}")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9_+]+", "-", text.lower()).strip("-")
