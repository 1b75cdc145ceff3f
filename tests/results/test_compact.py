"""The compact form of trials.jsonl: what comes out is what went in, to the last byte."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetbench.errors import RequestError
from budgetbench.results import read_trials
from budgetbench.results.compact import FILE, packed, unpacked
from budgetbench.results.records import parsed

RUN: dict[str, Any] = {"key": "k", "status": "ok", "algorithm": "perceptron", "params": {"C": 1.0}, "run": 0}


def line(**values: Any) -> bytes:
    return json.dumps(RUN | values, ensure_ascii=False).encode()


def stored(lines: list[bytes]) -> bytes:
    """What is compressed."""
    return lzma.decompress(packed(lines))


@st.composite
def curves(draw: st.DrawFn) -> dict[str, Any]:
    """Curves as runs tell them, and others that the schema allows."""
    seen = draw(st.lists(st.integers(0, 10**6), min_size=1, max_size=6))
    mistakes = [draw(st.integers(0, n)) for n in seen]
    shares = [round(m / n, draw(st.sampled_from([6, 17]))) if n else 0.0 for m, n in zip(mistakes, seen, strict=True)]
    sizes = draw(st.none() | st.lists(st.integers(0, 10**4), min_size=len(seen), max_size=len(seen)))
    known = {"seen": seen, "online_error": shares, "support_size": sizes}
    return known | draw(st.sampled_from([{}, {"mistakes": [1]}, {"more": "ü"}]))


@given(st.lists(st.builds(line, curve=st.none() | curves(), seed=st.integers(0, 9), note=st.text()), max_size=4))
def test_every_line_comes_back_byte_for_byte(lines: list[bytes]) -> None:
    for one in lines:
        parsed(one)  # a record, as all that is packed
    assert unpacked(packed(lines)) == b"".join(one + b"\n" for one in lines)


def test_a_curve_of_shares_is_kept_as_counts_of_mistakes() -> None:
    curve = {"seen": [3, 7, 9], "online_error": [0.333333, 0.428571, 0.444444], "support_size": [1, 3, 2]}
    expected = {"seen": [3, 7, 9], "mistakes": [1, 2, 1], "support_change": [1, 2, -1]}
    assert json.loads(stored([line(curve=curve)]))["curve"] == expected


@pytest.mark.parametrize(
    "curve",
    [
        {"seen": [3], "online_error": [1 / 3], "support_size": [1]},
        {"seen": [0, 3], "online_error": [0.0, 0.333333], "support_size": [0, 1]},
        {"seen": [3], "online_error": [0.333333], "support_size": [1], "margin": [0.5]},
    ],
    ids=["more digits", "nothing seen", "another list"],
)
def test_a_curve_that_counts_do_not_tell_is_kept_as_it_is(curve: dict[str, Any]) -> None:
    assert stored([line(curve=curve)]) == line(curve=curve) + b"\n"


def test_the_same_lines_are_the_same_bytes() -> None:
    lines = [line(run=run, curve={"seen": [9], "online_error": [0.111111], "support_size": None}) for run in range(3)]
    assert packed(lines) == packed(lines)


@pytest.mark.parametrize(
    "damage", [lambda whole: whole[:-9], lambda whole: whole[:20] + b"\0" + whole[21:]], ids=["cut off", "a byte"]
)
def test_a_damaged_file_is_refused_with_a_remedy(tmp_path: Path, damage: Any) -> None:
    (tmp_path / FILE).write_bytes(damage(packed([line()])))
    with pytest.raises(RequestError, match=r"trials\.jsonl\.xz cannot be read \(.*\)\. .* remove it and run again"):
        read_trials(tmp_path)
