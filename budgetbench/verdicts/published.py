"""The papers' numbers and claims, read strictly from `budgetbench.published`.

A file has `paper` (what it is, the datasets of the experiments that it needs, its `substitutes`: what is said of a
learner that takes another's place, `variants` of learners, `headings` of experiments, and the `pictures` that show an
item), `numbers` (blocks of rows, each row a learner and its
published values, or facts of the experiment; `less` names the learner that is subtracted from a value), `claims`
(entries with a `statement` and its keys) and `left_out` (what is not checked, and why). What does not hold may be
`explained`, by a `reason` with the `bound` that it reaches to and the `reading` that shows it. A claim whose `basis` is
an `input` of the experiment, the `construction` of the program or a `theorem` is not counted with what was measured;
neither is one about a variant, which stands beside the claim that names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, get_args

from pydantic import Field

from budgetbench.document import Document, Key
from budgetbench.errors import ParameterError, refuse
from budgetbench.learners import learners
from budgetbench.parameters import DIFFERENT, ONE_OR_SEVERAL, Accepted, FolderName, Parameter, check, declared, keywords
from budgetbench.published import NUMBER, PAPERS, PRINTED, Value, difference, read, value
from budgetbench.reading import Reading
from budgetbench.results.measures import MEASURES
from budgetbench.verdicts.model import Basis, Claim, Explanation, LeftOut, Number, Paper
from budgetbench.verdicts.numbers import FACTS
from budgetbench.verdicts.selection import SELECTOR, Selector
from budgetbench.verdicts.statements import statements

CLAIM_KEYS = ("id", "text", "item", "quote", "experiments", "basis", "statement", "explained", "variants")
BLOCK_KEYS = ("item", "quote", "experiment", "basis", "draws", "rows")
READINGS = Accepted("the name of an experiment of configs/readings, or a list of different ones")


@dataclass(frozen=True)
class _Explanation:
    """Why something does not hold.

    Parameters
    ----------
    reason : in sentences.
    bound : what deviates lies between these two; see `Explanation`.
    reading : one experiment of ``configs/readings`` that shows it, or several.
    """

    reason: str
    bound: Annotated[list[float], Field(min_length=2, max_length=2), Accepted("two numbers")]
    reading: Annotated[tuple[FolderName, ...], ONE_OR_SEVERAL, DIFFERENT, READINGS] = ()


EXPLANATION = declared(_Explanation)


@dataclass(frozen=True)
class _Variant:
    """Another variant of a learner than the one that stands for it.

    Parameters
    ----------
    text : what is said of it beside a claim.
    of : the learner, with the parameters that make the variant.
    """

    text: str
    of: Selector


VARIANT = declared(_Variant)


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
    variants = _variants(reading, data["paper"].get("variants") or {})
    reading.known((), data, ("paper", "numbers", "claims", "left_out"))
    found: list[tuple[Key, Number | Claim]] = []
    for number, block in enumerate(data.get("numbers") or []):
        found += _numbers(reading, ("numbers", number), key, block)
    for number, entry in enumerate(data.get("claims") or []):
        claim = _claim(reading, ("claims", number), key, entry, data["paper"].get("substitutes") or {})
        found += [(("claims", number), claim)] if claim else []
        if claim and entry.get("variants"):
            reading.known(("claims", number, "variants"), dict.fromkeys(entry["variants"]), variants)
            found += [
                (("claims", number), _once_more(claim, name, variants[name]))
                for name in entry["variants"]
                if name in variants
            ]
    facts, names = data["paper"], set()
    for at, entry in found:
        if entry.id in names:
            reading.note(at, entry.id, "each name once")
        names.add(entry.id)
        reading.known((*at, "experiments"), dict.fromkeys((*entry.experiments, *entry.needed)), facts["datasets"])
    items = tuple(dict.fromkeys([*facts.get("items", []), *(entry.item for _, entry in found)]))
    reading.known(("paper", "headings"), facts.get("headings", {}), facts["datasets"])
    reading.known(("paper", "pictures"), facts.get("pictures", {}), items)
    refuse(reading.problems)
    return Paper(
        key,
        facts["title"],
        tuple(facts["authors"]),
        facts["venue"],
        facts["year"],
        items=items,
        datasets=facts["datasets"],
        left_out=tuple(LeftOut(**entry) for entry in data.get("left_out") or []),
        numbers=tuple(entry for _, entry in found if isinstance(entry, Number)),
        claims=tuple(entry for _, entry in found if isinstance(entry, Claim)),
        headings=facts.get("headings", {}),
        pictures={item: tuple(shown) for item, shown in facts.get("pictures", {}).items()},
    )


def _numbers(reading: Reading, at: Key, key: str, block: Mapping[str, Any]) -> list[tuple[Key, Number]]:
    reading.known(at, block, BLOCK_KEYS)
    _judge_basis(reading, at, block)
    found: list[tuple[Key, Number]] = []
    for number, printed in enumerate(block["rows"]):
        here, row = (*at, "rows", number), dict(printed)
        of, explained = row.pop("of", None), row.pop("explained", {})
        less = row.pop("less", {})
        _judge_selectors(reading, (*here, "of"), of)
        _judge_selectors(reading, (*here, "less"), less)
        reading.known(here, row, MEASURES if of else FACTS)
        reading.known((*here, "less"), less, row)
        reasons = _explained(reading, (*here, "explained"), explained, row)
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
                learners=_learners([of, *selectors(less.get(name))] if of else []),
                basis=block.get("basis") or _basis(of, name, text),
                explained={"all": reasons[name]} if name in reasons else {},
                of=of,
                name=name,
                value=_value(reading, here, name, block),
                draws=bool(block.get("draws")),
                less=less.get(name),
            )
            found.append(((*here, name), said))
    return found


def _value(reading: Reading, row: Key, name: str, block: Mapping[str, Any]) -> Value:
    """What a row of a block prints or, where another learner is subtracted, the difference of what both rows print."""
    own = block["rows"][row[-1]]
    less = own.get("less", {}).get(name)
    if less is None:
        return value(own[name])
    others = [row[name] for row in block["rows"] if row.get("of") == less and PRINTED.fullmatch(str(row.get(name)))]
    if not others:
        reading.note((*row, "less", name), less, f"a learner whose {name} stands in another row")
    return difference(value(own[name]), value((others or [own[name]])[0]))


def _judge_basis(reading: Reading, at: Key, entry: Mapping[str, Any]) -> None:
    if entry.get("basis", "measured") not in get_args(Basis):
        reading.note((*at, "basis"), entry["basis"], ", ".join(get_args(Basis)), names=get_args(Basis))


def _basis(of: Mapping[str, Any] | None, name: str, text: Any) -> Basis:
    """Facts of the experiment are its inputs, and a learner that fills its budget stores so many by construction."""
    if of is None:
        return "input"
    return "construction" if name == "support_size" and text == of.get("budget") else "measured"


def _explained(reading: Reading, at: Key, given: Mapping[str, Any], names: Iterable[str]) -> dict[str, Explanation]:
    """The explanations given for some of the names."""
    reading.known(at, given, names)
    found = {}
    for name, one in given.items():
        values = reading.checked((*at, name), one, EXPLANATION) if name in names else None
        if values is not None:
            low, high = sorted(values["bound"])
            found[name] = Explanation(" ".join(values["reason"].split()), low, high, tuple(values["reading"]))
    return found


def _claim(
    reading: Reading, at: Key, key: str, entry: Mapping[str, Any], substitutes: Mapping[str, str]
) -> Claim | None:
    statement = reading.named(at, entry, statements, "statement")
    if statement is None:
        return None
    given = {name: value for name, value in entry.items() if name not in CLAIM_KEYS}
    if reading.checked(at, given, keywords(statements[statement])) is None:
        return None
    _judge_selectors(reading, at, given)
    selected = list(selectors(given))
    for name in {name for one in selected for name in _named(one)[1:]} - substitutes.keys():
        reading.note(at, name, "a learner that the paper's substitutes tell of")
    _judge_basis(reading, at, entry)
    return Claim(
        id=f"{key}.{entry.get('id')}",
        paper=key,
        item=entry["item"],
        quote=entry["quote"],
        experiments=tuple(entry["experiments"]),
        needed=tuple(dict.fromkeys(one["experiment"] for one in selected if "experiment" in one)),
        learners=_learners(selected),
        basis=entry.get("basis", "measured"),
        explained=_explained(reading, (*at, "explained"), entry.get("explained") or {}, [*entry["experiments"], "all"]),
        substitutes={learners.canonical(name): text for name, text in substitutes.items()},
        text=" ".join(entry["text"].split()),
        statement=statement,
        arguments=given,
    )


def _variants(reading: Reading, given: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The variants of learners that are as they should be."""
    found = {}
    for name, variant in given.items():
        if reading.checked(("paper", "variants", name), variant, VARIANT) is not None:
            _judge_selectors(reading, ("paper", "variants", name, "of"), variant["of"])
            found[name] = variant
    return found


def _once_more(claim: Claim, name: str, variant: Mapping[str, Any]) -> Claim:
    """The claim about a variant of the learner, where it is about the learner."""
    text = f"{claim.text.removesuffix('.')} ({variant['text']})."
    arguments = {key: _varied(value, variant["of"]) for key, value in claim.arguments.items()}
    return replace(claim, id=f"{claim.id}.{name}", basis="variant", explained={}, text=text, arguments=arguments)


def _varied(value: Any, of: Mapping[str, Any]) -> Any:
    """A value with the parameters of a variant in all selectors of its learner, those inside of others too."""
    if isinstance(value, list):
        return [_varied(one, of) for one in value]
    if not isinstance(value, Mapping):
        return value
    inner = {key: _varied(one, of) for key, one in value.items()}
    return {**of, **inner} if inner.get("algorithm") == of["algorithm"] else inner


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
