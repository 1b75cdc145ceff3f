"""Damaged records of runs: what can be read is shown, what is lost is done again, and nothing dies of it."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

NAME = "usps_noise10"
FOLDER = Path("results", NAME)

Lines = list[bytes]
Damage = Callable[[Lines], bytes]

pytestmark = pytest.mark.usefixtures("sound")


def outcomes() -> list[str]:
    """The records that count, without what may differ."""
    lines = [json.loads(line) for line in (FOLDER / "trials.jsonl").read_bytes().split(b"\n") if line]
    lines.sort(key=lambda line: line["status"] == "ok")
    kept = {line["key"]: {name: line[name] for name in line if "seconds" not in name} for line in lines}
    return sorted(json.dumps(record, sort_keys=True) for record in kept.values())


# -- lines of trials.jsonl --------------------------------------------------------------------------------------------


def joined(lines: Lines, end: bytes = b"\n") -> bytes:
    return b"".join(line + end for line in lines)


def with_second(change: Callable[[bytes], bytes]) -> Damage:
    return lambda lines: joined([lines[0], change(lines[1]), lines[2]])


def having(line: bytes, **values: Any) -> bytes:
    return json.dumps(json.loads(line) | values).encode()


def failed(line: bytes) -> bytes:
    return having(line, status="failed", error="no memory", test_error=None)


DEEP = "[" * 10_000 + "]" * 10_000

#: Values that no record has; a dot leads into its curve.
WRONG: list[tuple[str, Any]] = [
    ("key", ""), ("key", ["a", "b"]), ("key", 7),
    ("status", "fine"), ("status", None), ("algorithm", {"name": "perceptron"}), ("experiment", {"a": 1}),
    ("params", [1]), ("params", {"epochs": math.nan}), ("params", {"epochs": math.inf}), ("params", {"epochs": 2**63}),
    ("params", {"budget": "five"}),
    ("run", "0"), ("run", 0.5), ("run", True), ("run", -1),
    ("seed", 2**63), ("seed", 10**40), ("seed", "zero"), ("budget", 2**63), ("budget", "5"), ("support_size", 3.5),
    ("test_error", "small"), ("test_error", [0.1]), ("test_error", math.nan), ("test_error", math.inf),
    ("test_error", -0.1), ("test_error", 17), ("train_seconds", math.nan), ("model_bytes", math.nan),
    ("curve", [1, 2]), ("curve", {"online_error": [0.1], "support_size": [1]}),
    ("curve", {"seen": [], "online_error": [], "support_size": []}),
    ("curve.seen", [1]), ("curve.online_error", ["a", "b", "c", "d"]),
]  # fmt: skip
#: Texts within a record that make it none.
MARRED: list[tuple[str, str]] = [
    ('"params": {', f'"params": {{"x": {DEEP}, '),
    ('"run": 0', '"run": ' + "9" * 10_000),
    ('"gaussian"', '"\\ud800"'),
    ('"online_error": 0.', '"online_error": 1e999, "x": 0.'),
    ("}", ",}"),
]


def unfit(line: bytes) -> Iterator[bytes]:
    """Lines that are no record, most of them almost this one."""
    record = json.loads(line)
    for name, value in WRONG:
        *within, last = name.split(".")
        changed = copy.deepcopy(record)
        (changed[within[0]] if within else changed)[last] = value
        yield json.dumps(changed).encode()
    for name in ("key", "status", "algorithm", "params", "run"):
        yield json.dumps({other: record[other] for other in record if other != name}).encode()
    for old, new in MARRED:
        assert old in json.dumps(record)
        yield json.dumps(record).replace(old, new, 1).encode()
    yield line.replace(b"gauss", b"g\xffuss")
    yield str(record).encode()  # single quotes
    yield from (b"{}", b"[]", b"17", b"null", b"NaN", DEEP.encode(), "naïve ☃".encode(), bytes({*range(256)} - {10}))


#: What is lost: these are done again, and it is said which line it was.
LOST: dict[str, tuple[Damage, int]] = {
    "two records in one line": (lambda lines: lines[0] + joined(lines[1:]), 2),
    "half a line before another": (lambda lines: lines[0][:50] + joined(lines[1:]), 2),
    "zeros in the middle": (with_second(lambda line: b"\0" * 300), 1),
    "UTF-16": (lambda lines: joined(lines).decode().encode("utf-16"), 3),
    "a seed of 2^63": (with_second(lambda line: having(line, seed=2**63)), 1),
}

#: What harms nothing, or what a crash leaves behind, and is not spoken of.
HARMLESS: dict[str, tuple[Damage, int]] = {
    "an empty file": (lambda lines: b"", 3),
    "empty lines": (lambda lines: b"\n\n" + joined(lines, b"\n\n\n"), 0),
    "the last line is cut": (lambda lines: joined(lines)[:-40], 1),
    "the last line is cut in a character": (lambda lines: joined(lines) + '{"title": "ü'.encode()[:-1], 0),
    "no newline at the end": (lambda lines: joined(lines)[:-1], 0),
    "zeros at the end": (lambda lines: joined(lines) + b"\0" * 4096, 0),
    "line ends of Windows": (lambda lines: joined(lines, b"\r\n"), 0),
    "a byte order mark": (lambda lines: b"\xef\xbb\xbf" + joined(lines), 0),
    "another order of lines": (lambda lines: joined(lines[::-1]), 0),
    "a run twice": (lambda lines: joined([*lines, lines[1]]), 0),
    "failed, then ok": (lambda lines: joined([failed(lines[1]), *lines]), 0),
    "ok, then failed": (lambda lines: joined([*lines, failed(lines[1])]), 0),
    "failed alone": (lambda lines: joined([lines[0], failed(lines[1]), lines[2]]), 1),
    "a field of another version": (
        lambda lines: joined([*lines, b'{"key": "k", "status": "ok", "algorithm": "x", "params": {}, "run": 9}']),
        0,
    ),
}


def damage_lines(damage: Damage) -> None:
    path = FOLDER / "trials.jsonl"
    path.write_bytes(damage(path.read_bytes().splitlines()))


def test_each_line_that_is_no_record_is_left_out_and_set_aside(call: Any, run: Any) -> None:
    path = FOLDER / "trials.jsonl"
    sound, shown = path.read_bytes().splitlines(), call("table").out
    lines = list(unfit(sound[1]))
    path.write_bytes(joined([sound[0], *lines, *sound[1:]]))
    answer = call("table")
    assert (answer.code, answer.out) == (0, shown)
    assert answer.short
    answer = run("c.yaml")
    assert "0 runs done now, 3 before" in answer.out
    rejected = (FOLDER / "trials.rejected.jsonl").read_bytes().split(b"\n")[:-1]
    assert not [line[:300] for line in lines if line not in rejected], "these were taken for records"
    assert f"trials.jsonl:2: {len(lines)} lines are no record of a run" in answer.err
    assert rejected == lines
    assert path.read_bytes() == joined(sound)


@pytest.mark.parametrize("case", LOST)
def test_lines_that_are_no_records_are_set_aside_and_done_again(call: Any, run: Any, case: str, contents: Any) -> None:
    whole, (damage, lost) = outcomes(), LOST[case]
    damage_lines(damage)
    before = contents()
    answer = call("table")
    assert answer.code == 0, answer.err
    assert answer.short
    assert re.search(r"trials\.jsonl:\d: \d lines? (is|are) no record of a run \(.+\)\. Left out", answer.err)
    assert contents() == before
    answer = run("c.yaml")
    assert answer.code == 0
    assert answer.short
    assert "Set aside in trials.rejected.jsonl; those runs are done again" in answer.err
    assert f"{lost} runs done now, {3 - lost} before" in answer.out
    assert outcomes() == whole
    rejected = (FOLDER / "trials.rejected.jsonl").read_bytes()
    assert rejected
    assert all(line in before[str(FOLDER / "trials.jsonl")] for line in rejected.splitlines())
    assert run("c.yaml", "--dry-run") == (0, f"{NAME}: 3 runs done, 0 to run\n", "")
    assert call("table").err == ""


@pytest.mark.parametrize("case", HARMLESS)
def test_what_harms_nothing_is_not_spoken_of(call: Any, run: Any, case: str, contents: Any) -> None:
    whole, (damage, lost) = outcomes(), HARMLESS[case]
    damage_lines(damage)
    before = contents()
    answer = call("table")
    assert (answer.code, answer.err) == (0, "")
    assert contents() == before
    assert run("c.yaml", "--dry-run") == (0, f"{NAME}: {3 - lost} runs done, {lost} to run\n" + to_run(lost), "")
    answer = run("c.yaml")
    assert (answer.code, re.findall("budgetbench:.*", answer.err)) == (0, [])
    assert f"{lost} runs done now, {3 - lost} before" in answer.out
    assert [line for line in outcomes() if '"status": "ok"' in line and NAME in line] == whole
    assert run("c.yaml", "--dry-run") == (0, f"{NAME}: 3 runs done, 0 to run\n", "")


def to_run(lost: int) -> str:
    """The last of the three are Budget Perceptrons."""
    return ("", "  budget_perceptron: 1\n", "", "  perceptron: 1\n  budget_perceptron: 2\n")[lost]


def test_a_good_run_is_shown_whatever_failed_after_it(call: Any) -> None:
    path = FOLDER / "trials.jsonl"
    sound = call("table").out
    path.write_bytes(joined([*path.read_bytes().splitlines(), *map(failed, path.read_bytes().splitlines())]))
    assert call("table").out == sound
    assert "Failed" not in sound


def test_figures_and_report_pass_over_what_cannot_be_read(call: Any) -> None:
    path = FOLDER / "trials.jsonl"
    damage_lines(LOST["a seed of 2^63"][0])
    damaged = path.read_bytes()
    for command in ("check", "plot", "report"):
        answer = call(command)
        assert answer.code == 0
        assert answer.short
    assert path.read_bytes() == damaged
    assert "Unfinished: 2 of 3 runs are done" in Path("results/report.html").read_text(encoding="utf-8")


def test_a_dry_run_and_fresh(run: Any, contents: Any) -> None:
    damage_lines(LOST["a seed of 2^63"][0])
    before = contents()
    answer = run("c.yaml", "--dry-run")
    assert answer.out.startswith(f"{NAME}: 2 runs done, 1 to run")
    assert answer.short
    assert contents() == before
    answer = run("c.yaml", "--fresh")
    assert "3 runs done now, 0 before" in answer.out
    assert answer.short


def test_a_file_that_may_not_be_read(call: Any, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Path.read_bytes

    def refuse(self: Path) -> bytes:
        if self.name == "trials.jsonl":
            raise PermissionError(13, "Permission denied", str(self))
        return read(self)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse)
        for answer in (call("table"), run("c.yaml")):
            assert answer.code == 2
            assert answer.short
            assert "trials.jsonl cannot be read (Permission denied). Make it a readable file" in answer.err
    assert "0 runs done now, 3 before" in run("c.yaml").out


def test_a_link_to_the_records_stays_one(run: Any, folder: Path) -> None:
    (FOLDER / "trials.jsonl").rename(folder / "elsewhere.jsonl")
    (FOLDER / "trials.jsonl").symlink_to(folder / "elsewhere.jsonl")
    damage_lines(LOST["a seed of 2^63"][0])
    assert "1 runs done now, 2 before" in run("c.yaml").out
    assert (FOLDER / "trials.jsonl").is_symlink()
    assert len((folder / "elsewhere.jsonl").read_bytes().splitlines()) == 3
