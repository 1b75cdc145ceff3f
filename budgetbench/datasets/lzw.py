"""Unpack files of the Unix `compress` program (`.Z`), which Python's library cannot read."""

from __future__ import annotations

from budgetbench.datasets import limits

MAGIC = b"\x1f\x9d"
CLEAR = 256


def decompress(packed: bytes) -> bytes:
    """The content of a `.Z` file; ValueError if it is not one or is damaged.

    The codes are 9 bits wide at first and widen as the table fills. They are written in groups of eight, so each
    change of width, and each clearing of the table, skips to the end of the group.
    """
    if packed[:2] != MAGIC or len(packed) < 3:
        raise ValueError("not a .Z file")
    widest, has_clear = packed[2] & 0x1F, bool(packed[2] & 0x80)
    if not 10 <= widest <= 16:  # with 9, programs disagree on what the file means
        raise ValueError("a .Z file of an unknown kind")
    first = CLEAR + 1 if has_clear else CLEAR
    table = [bytes((i,)) for i in range(256)] + [b""] * (first - 256)
    output: list[bytes] = []
    previous = b""
    group_start, width, taken = 24, 9, 0  # positions in bits
    size = 0
    while True:
        position = group_start + taken * width
        if position + width > 8 * len(packed):
            return b"".join(output)
        word = int.from_bytes(packed[position >> 3 : (position >> 3) + 4], "little")
        code = (word >> (position & 7)) & ((1 << width) - 1)
        taken += 1
        if has_clear and code == CLEAR:
            del table[first:]
            group_start, width, taken, previous = _next_group(group_start, width, taken), 9, 0, b""
            continue
        if code > len(table) or (code == len(table) and not previous):
            raise ValueError("a damaged .Z file")
        entry = table[code] if code < len(table) else previous + previous[:1]
        output.append(entry)
        size += len(entry)
        # This bounds the table, too: its entries are no more than what has been written, and a letter each.
        if size > limits.ALWAYS and size > limits.allowed(position >> 3):
            raise ValueError("a .Z file that grows too large. If it is meant, unpack it and name the unpacked file")
        if previous and len(table) < 1 << widest:
            table.append(previous + entry[:1])
            if len(table) == 1 << width and width < widest:
                group_start, width, taken = _next_group(group_start, width, taken), width + 1, 0
        previous = entry


def _next_group(start: int, width: int, taken: int) -> int:
    return start + -(-taken // 8) * 8 * width
