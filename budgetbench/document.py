"""YAML read with the line of every key, and values set from the command line.

Scalars follow YAML 1.2: ``1e-3`` is a number, and ``on``, ``yes`` and ``2005-01-01`` are texts (YAML 1.1, which
PyYAML follows by itself, makes a text of the first, truth values of the next two and a date of the last).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from budgetbench.errors import NOTHING, ConfigError, RequestError, Words, clipped, nearest, refuse

#: Where a value stands in a document.
Key = tuple[str | int, ...]

#: What a configuration holds at most: bytes of the file, values with those of each alias counted, lists in lists.
LARGEST_FILE = 1 << 18
MOST_VALUES = 10_000
DEEPEST = 50
#: Digits of the longest integer that is read: reading one takes time that grows with their square.
MOST_DIGITS = 1000

_CORE = "tag:yaml.org,2002:"
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$|[-+]?\.(inf|Inf|INF)$|\.(nan|NaN|NAN)$")


_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class _TooMuch(yaml.YAMLError):
    """More than a configuration holds, in this line."""

    def __init__(self, found: str, accepted: str, line: int) -> None:
        self.found, self.accepted, self.line = found, accepted, line
        super().__init__(found)


class _Count:
    """Counts values, and refuses one too many."""

    def __init__(self) -> None:
        self.values = 0

    def add(self, line: int) -> None:
        self.values += 1
        if self.values > MOST_VALUES:
            found = f"more than {MOST_VALUES} values, those of an alias counted each time"
            raise _TooMuch(found, f"a configuration of at most {MOST_VALUES} values", line)


class _Loader(yaml.SafeLoader):
    """Composes nodes whose scalars are tagged as YAML 1.2 says."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._count, self._depth = _Count(), 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
        self._count.add(line)
        if self._depth == DEEPEST:
            found = f"lists or mappings more than {DEEPEST} deep"
            raise _TooMuch(found, f"a configuration at most {DEEPEST} deep", line)
        self._depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1


for _tag, _pattern in (
    ("null", re.compile(r"(~|null|Null|NULL|)$")),
    ("bool", re.compile(r"(true|True|TRUE|false|False|FALSE)$")),
    ("int", re.compile(r"[-+]?[0-9]+$")),
    ("float", _FLOAT),
):
    _Loader.add_implicit_resolver(_CORE + _tag, _pattern, None)


class _Dumper(yaml.SafeDumper):
    """Writes what both YAML 1.1 and this reader read back: a text such as ``1e-3`` is quoted."""


_Dumper.add_implicit_resolver(_CORE + "float", _FLOAT, None)


def dump(data: Any) -> str:
    """YAML text of plain data in the order of its keys, innermost lists and mappings on one line."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120)


@dataclass
class Document:
    """A configuration as it was written, before anything is known about its meaning.

    Attributes
    ----------
    file : the path as the user gave it.
    data : plain mappings, lists and scalars.
    lines : key path → line, counted from 1.
    flags : key path → the command-line flag that set the value, which then has no line.
    """

    file: str
    data: Any = None
    lines: dict[Key, int] = field(default_factory=dict)
    flags: dict[Key, str] = field(default_factory=dict)

    def problem(self, key: Key, found: Any, accepted: str, hint: str = "", names: Iterable[str] = ()) -> ConfigError:
        """An error with its place: that of the key or, where nothing was written, of what should hold it."""
        error = ConfigError(key, found, accepted, hint, names)
        for length in range(len(key), -1, -1):
            prefix = key[:length]
            if prefix in self.flags:
                return error.at(self.flags[prefix])
            if prefix in self.lines:
                return error.at(self.file, self.lines[prefix])
        return error.at(self.file)

    def set(self, key: Key, value: Any, flag: str) -> None:
        """Put a value from the command line in place, making the mappings on the way to it."""
        container = self.data
        for depth, part in enumerate(key):
            here = key[: depth + 1]
            part = self._fitting(container, part, here, flag)
            if depth == len(key) - 1:
                container[part] = value
                self.lines = {other: line for other, line in self.lines.items() if other[: len(key)] != key}
                self.flags[key] = flag
            elif isinstance(container, dict) and container.get(part) is None:
                container[part] = {}
                self.flags[here] = flag
            container = container[part]

    @staticmethod
    def _fitting(container: Any, part: str | int, key: Key, flag: str) -> str | int:
        if isinstance(container, dict):
            return str(part)
        if not isinstance(container, list):
            raise ConfigError(key, container, "a mapping or a list, to set a value inside it").at(flag)
        if isinstance(part, int) and part < len(container):
            return part
        entries = f"0 to {len(container) - 1}" if container else "of which there are none"
        raise ConfigError(key, part, f"the number of a list's entry, {entries}").at(flag)

    def override(self, assignment: str) -> None:
        """Apply ``KEY=VALUE``, as ``--set`` has it: a dotted path and a value in YAML."""
        flag = f"--set {assignment}"
        path, equals, text = assignment.partition("=")
        parts = [part for part in re.split(r"[.\[\]]+", path.strip()) if part]
        if not equals or not parts:
            raise ConfigError((), assignment, "KEY=VALUE, such as dataset.limit=500").at("--set")
        if len(parts) > DEEPEST:
            raise ConfigError((), Words(f"a key {len(parts)} deep"), f"a key at most {DEEPEST} deep").at(flag)
        key = tuple(int(part) if re.fullmatch("[0-9]{1,9}", part) else part for part in parts)
        self.set(key, parse(text, flag).data, flag)


def read(path: str | Path) -> Document:
    """The document of a file.

    Raises
    ------
    RequestError
        For a file that is not there or cannot be read.
    ConfigError
        For text that is not YAML, a key given twice, or a file without a mapping.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            message = f"{path}: found more than {LARGEST_FILE} bytes; accepted: a configuration of at most so many"
            raise RequestError(f"{message}. Data goes into a file of its own: dataset.path.")
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        beside = [str(other) for other in sorted(path.parent.glob("*.y*ml"))]
        message = f"{path}: no such file; accepted: the path of a configuration. {nearest(path, beside)}"
        raise RequestError(message.rstrip()) from None
    except UnicodeDecodeError as error:
        raise RequestError(f"{path}: not a text in UTF-8 ({error.reason} at byte {error.start})") from None
    except OSError as error:
        raise RequestError(f"{path}: cannot be read ({error.strerror})") from None
    document = parse(text, str(path))
    if not isinstance(document.data, dict):
        found = NOTHING if document.data is None else Words(f"a {_kind(document.data)}")
        raise ConfigError((), found, "a mapping that starts with name, dataset, kernel, algorithms").at(str(path), 1)
    return document


def _kind(value: Any) -> str:
    return "list" if isinstance(value, list) else "single value"


def parse(text: str, file: str) -> Document:
    """The document of a text; `file` is what errors name."""
    document = Document(file)
    composed = _Composed(document)
    try:
        node = _Loader(text).get_single_node()
        if node is not None:
            document.data = composed.value(node, ())
    except _TooMuch as error:
        raise ConfigError((), Words(error.found), error.accepted).at(file, error.line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        rows = text.splitlines()
        found = rows[line - 1].strip() if line <= len(rows) else Words("the end of the file")
        said = clipped(" ".join(part for part in (error.context, error.problem) if part))
        raise ConfigError((), found, "valid YAML", f"The YAML reader says: {said}.").at(file, line) from None
    except yaml.YAMLError as error:  # a character that YAML forbids has no line of its own
        raise ConfigError((), Words("a forbidden character"), "valid YAML", str(error)).at(file, 1) from None
    refuse(composed.problems)
    return document


class _Composed:
    """Plain data out of composed nodes, noting lines and refusing what plain data cannot hold."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[ConfigError] = []
        self._open: list[yaml.Node] = []
        self._count = _Count()

    def value(self, node: yaml.Node, key: Key) -> Any:
        self._count.add(node.start_mark.line + 1)
        self.document.lines.setdefault(key, node.start_mark.line + 1)
        if node in self._open:  # an alias to what it stands in would never end
            return self._problem(node, key, "an alias of itself", "a value")
        self._open.append(node)
        try:
            if isinstance(node, yaml.MappingNode) and node.tag == _CORE + "map":
                return self._mapping(node, key)
            if isinstance(node, yaml.SequenceNode) and node.tag == _CORE + "seq":
                return [self.value(child, (*key, number)) for number, child in enumerate(node.value)]
            return self._scalar(node, key)
        finally:
            self._open.pop()

    def _mapping(self, node: yaml.MappingNode, key: Key) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for name_node, value_node in node.value:
            before = len(self.problems)
            name = self.value(name_node, (*key, "")) if isinstance(name_node, yaml.ScalarNode) else None
            if not isinstance(name, str):
                text = f"the key {name_node.value!r}" if isinstance(name_node, yaml.ScalarNode) else "a list or mapping"
                if len(self.problems) == before:
                    self._problem(name_node, key, text, "a text as a key")
                continue
            here = (*key, name)
            line = name_node.start_mark.line + 1
            if name in data:
                first = self.document.lines[here]
                self._problem(name_node, here, "the key once more", "each key once", f"It is in line {first} already.")
                continue
            self.document.lines[here] = line
            data[name] = self.value(value_node, here)
        self.document.lines.pop((*key, ""), None)
        return data

    def _scalar(self, node: yaml.Node, key: Key) -> Any:
        if not isinstance(node, yaml.ScalarNode):  # its value holds nodes, and an alias in them other nodes
            return self._problem(node, key, f"the tag {node.tag}", "a list or a mapping without one")
        text = node.value
        kind = node.tag.removeprefix(_CORE)
        try:
            if _UNPRINTABLE.search(text):
                return self._problem(node, key, repr(text), "a text without control characters")
            if kind == "str":
                return text
            if kind == "null":
                return None
            if kind == "bool":
                return {"true": True, "false": False}[text.lower()]
            if kind == "int" and len(text) <= MOST_DIGITS:
                return int(text)
            if kind == "float":
                return float(re.sub(r"\.(?=[iInN])", "", text))
        except (KeyError, TypeError, ValueError):
            pass
        return self._problem(node, key, f"{node.tag} {text!r}", "a text, a number, true, false or null")

    def _problem(self, node: yaml.Node, key: Key, found: str, accepted: str, hint: str = "") -> None:
        line = node.start_mark.line + 1
        self.problems.append(ConfigError(key, Words(found), accepted, hint).at(self.document.file, line))
