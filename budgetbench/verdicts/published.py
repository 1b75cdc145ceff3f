"""The papers' numbers and claims, read strictly from `budgetbench.published`.

A file has `paper` (what it is, and the datasets of the experiments that it needs), `numbers` (blocks of rows, each row
a learner and its published values, or facts of the experiment), `claims` (entries with a `statement` and its keys) and
`left_out` (what is not checked, and why).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from budgetbench.document import Document, Key
from budgetbench.errors import ParameterError, refuse
from budgetbench.learners import learners
from budgetbench.parameters import Parameter, check, keywords
from budgetbench.published import NUMBER, PAPERS, PRINTED, read, value
from budgetbench.reading import Reading
from budgetbench.results.measures import MEASURES
from budgetbench.verdicts.model import Claim, LeftOut, Number, Paper
from budgetbench.verdicts.numbers import FACTS
from budgetbench.verdicts.selection import SELECTOR
from budgetbench.verdicts.statements import statements

CLAIM_KEYS = ("id", "text", "item", "quote", "experiments", "statement", "deviations")
BLOCK_KEYS = ("item", "quote", "experiment", "draws", "rows")


def published(key: str) -> Paper:
    """A paper and what it says, by its key.

    Raises
    ------
    RequestError : there is no such paper, or its file says something that cannot be checked.
    """
    return interpret(key, read(key))


def papers() -> list[Paper]:
    """The papers, in the order in which they appeared."""
    return [published(key) for key in PAPERS]


def interpret(key: str, document: Document) -> Paper:
    """What a paper's file means; see `published`."""
    reading, data = Reading(document), document.data
    reading.known((), data, ("paper", "numbers", "claims", "left_out"))
    found: list[tuple[Key, Number | Claim]] = []
    for number, block in enumerate(data.get("numbers") or []):
        found += _numbers(reading, ("numbers", number), key, block)
    for number, entry in enumerate(data.get("claims") or []):
        claim = _claim(reading, ("claims", number), key, entry)
        found += [(("claims", number), claim)] if claim else []
    facts, names = data["paper"], set()
    for at, entry in found:
        if entry.id in names:
            reading.note(at, entry.id, "each name once")
        names.add(entry.id)
        reading.known((*at, "experiments"), dict.fromkeys((*entry.experiments, *entry.needed)), facts["datasets"])
    refuse(reading.problems)
    return Paper(
        key,
        facts["title"],
        tuple(facts["authors"]),
        facts["venue"],
        facts["year"],
        items=tuple(dict.fromkeys([*facts.get("items", []), *(entry.item for _, entry in found)])),
        datasets=facts["datasets"],
        left_out=tuple(LeftOut(**entry) for entry in data.get("left_out") or []),
        numbers=tuple(entry for _, entry in found if isinstance(entry, Number)),
        claims=tuple(entry for _, entry in found if isinstance(entry, Claim)),
    )


def _numbers(reading: Reading, at: Key, key: str, block: Mapping[str, Any]) -> list[tuple[Key, Number]]:
    reading.known(at, block, BLOCK_KEYS)
    found: list[tuple[Key, Number]] = []
    for number, printed in enumerate(block["rows"]):
        here, row = (*at, "rows", number), dict(printed)
        of, deviations = row.pop("of", None), row.pop("deviations", {})
        _judge_selectors(reading, (*here, "of"), of)
        reading.known(here, row, MEASURES if of else FACTS)
        reading.known((*here, "deviations"), deviations, row)
        slug = _slug("-".join(str(value) for value in (of or {"": block["experiment"]}).values()))
        for name, text in row.items():
            if not PRINTED.fullmatch(str(text)):
                reading.note((*here, name), text, NUMBER)
                continue
            said = Number(
                id=f"{key}.{_slug(block['item'])}.{slug}.{name}",
                paper=key,
                item=block["item"],
                quote=block["quote"],
                experiments=(block["experiment"],),
                learners=_learners([of] if of else []),
                deviations={"all": deviations[name]} if name in deviations else {},
                of=of,
                name=name,
                value=value(text),
                draws=bool(block.get("draws")),
            )
            found.append(((*here, name), said))
    return found


def _claim(reading: Reading, at: Key, key: str, entry: Mapping[str, Any]) -> Claim | None:
    statement = reading.named(at, entry, statements, "statement")
    if statement is None:
        return None
    given = {name: value for name, value in entry.items() if name not in CLAIM_KEYS}
    if reading.checked(at, given, keywords(statements[statement])) is None:
        return None
    _judge_selectors(reading, at, given)
    deviations = entry.get("deviations") or {}
    reading.known((*at, "deviations"), deviations, [*entry["experiments"], "all"])
    selected = list(selectors(given))
    return Claim(
        id=f"{key}.{entry.get('id')}",
        paper=key,
        item=entry["item"],
        quote=entry["quote"],
        experiments=tuple(entry["experiments"]),
        needed=tuple(dict.fromkeys(one["experiment"] for one in selected if "experiment" in one)),
        learners=_learners(selected),
        deviations={name: " ".join(reason.split()) for name, reason in deviations.items()},
        text=" ".join(entry["text"].split()),
        statement=statement,
        arguments=given,
    )


def _judge_selectors(reading: Reading, at: Key, value: Any) -> None:
    """Note what is wrong with the selectors in a value, which stands at a key: each names learners, and has the keys
    of all selectors and values of parameters that all its learners have."""
    for key, selector in _placed(value, at):
        own: dict[str, Parameter] = {}
        for number, name in enumerate(_named(selector)):
            if name not in learners:
                reading.note((*key, "algorithm"), name, ", ".join(learners), names=learners)
                return
            theirs = learners[name].own_parameters()
            own = {name: theirs[name] for name in own if name in theirs} if number else theirs
        reading.known(key, selector, [*SELECTOR, *own])
        try:
            check(SELECTOR, {name: one for name, one in selector.items() if name in SELECTOR})
            for name in own.keys() & selector:
                for one in selector[name] if isinstance(selector[name], list) else [selector[name]]:
                    own[name].checked(one)
        except ParameterError as error:
            reading.note_all(key, error)


def _placed(value: Any, at: Key) -> Iterator[tuple[Key, Mapping[str, Any]]]:
    """All selectors in a value, those inside of others too, with their places."""
    if isinstance(value, Mapping) and "algorithm" in value:
        yield at, value
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inner:
        yield from _placed(one, (*at, name))


def selectors(value: Any) -> Iterator[Mapping[str, Any]]:
    """All selectors in the arguments of a claim, those inside of others too."""
    return (selector for _, selector in _placed(value, ()))


def _named(selector: Mapping[str, Any]) -> list[str]:
    return selector["algorithm"] if isinstance(selector["algorithm"], list) else [selector["algorithm"]]


def _learners(selected: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Names of the learners that selectors name, each once."""
    return tuple(dict.fromkeys(learners.canonical(name) for one in selected for name in _named(one)))


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9_+]+", "-", text.lower()).strip("-")
