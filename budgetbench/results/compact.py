"""`trials.jsonl` in a thirtieth of the room: the form in which runs are kept and published, without loss.

An xz file of the same lines. Most of a line is its curve, and a share of mistakes has more digits than news in it, so
that a curve tells the mistakes, and the change of the support size, since the checkpoint before; the shares are made of
them again, to the last digit. A line of which that is not so is kept as it is.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import accumulate, pairwise
from typing import Any

from budgetbench.datasets.parse import unpack

FILE = "trials.jsonl.xz"
PRESET = 6 | lzma.PRESET_EXTREME
MISTAKES, CHANGE = "mistakes", "support_change"
"""What stands in a packed curve, one value for each checkpoint, in the place of `online_error` and `support_size`."""


def packed(lines: Iterable[bytes]) -> bytes:
    """Lines of a `trials.jsonl` that are records, without their ends, in the compact form; always the same bytes."""
    return lzma.compress(b"".join(_shorter(line) + b"\n" for line in lines), preset=PRESET)


def unpacked(content: bytes) -> bytes:
    """The lines that were packed, each with its end.

    Raises
    ------
    ValueError : the file is damaged, or unpacks to more than any runs.
    """
    return b"\n".join(_original(line) for line in unpack(content).split(b"\n"))


def _shorter(line: bytes) -> bytes:
    """A record's line as it is packed; itself where a shorter one does not say the same."""
    record = json.loads(line)
    curve = record.get("curve")
    if not curve or not all(curve["seen"]):
        return line
    seen, sizes = curve["seen"], curve.get("support_size")
    mistakes = [round(share * n) for share, n in zip(curve["online_error"], seen, strict=True)]
    record["curve"] = {"seen": seen, MISTAKES: _changes(mistakes), CHANGE: sizes and _changes(sizes)}
    shorter = _dumped(record)
    return shorter if _original(shorter) == line else line


def _original(line: bytes) -> bytes:
    """The line of which a packed line was made; itself where it was not packed."""
    if f'"{MISTAKES}": ['.encode() not in line:
        return line
    with suppress(ValueError, TypeError, KeyError, ZeroDivisionError):
        record = json.loads(line)
        seen, change = record["curve"]["seen"], record["curve"][CHANGE]
        made = zip(accumulate(record["curve"][MISTAKES]), seen, strict=True)
        shares = [round(mistakes / n, 6) for mistakes, n in made]
        sizes = change and list(accumulate(change))
        record["curve"] = {"seen": seen, "online_error": shares, "support_size": sizes}
        return _dumped(record)
    return line


def _changes(values: list[int]) -> list[int]:
    return [after - before for before, after in pairwise([0, *values])]


def _dumped(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode()
