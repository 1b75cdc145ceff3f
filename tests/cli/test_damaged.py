"""Damaged folders of results: what can be read is shown, what is lost is done again, and nothing dies of it."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from budgetbench.config import load
from budgetbench.datasets import Cache
from budgetbench.runner import run_experiment

NAME = "usps_noise10"  # so that `check` looks into it
CONFIG = f"""\
name: {NAME}
reproduces: {{paper: weston2005, item: Figure 10}}
dataset: {{name: gaussian, n: 160, train_size: 100, test_size: 60}}
kernel: {{name: rbf, gamma: 1}}
permutations: 1
checkpoints: 4
algorithms: [{{name: perceptron}}, {{name: budget_perceptron, budget: [5, 9]}}]
"""
FOLDER = Path("results", NAME)

Lines = list[bytes]
Damage = Callable[[Lines], bytes]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three runs of the experiment, as they should be."""
    root = tmp_path_factory.mktemp("sound")
    (root / "c.yaml").write_text(CONFIG, encoding="utf-8")
    cache = Cache(root / "data", quiet=True)
    run_experiment(load(root / "c.yaml"), cache, root / "results", jobs=1, backend="threading", quiet=True)
    return root


@pytest.fixture(autouse=True)
def copied(sound: Path, folder: Path) -> None:
    shutil.copytree(sound, folder, dirs_exist_ok=True)


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(Path("results").rglob("*")) if path.is_file()}


def outcomes() -> list[str]:
    """The records that count, without what may differ."""
    lines = [json.loads(line) for line in (FOLDER / "trials.jsonl").read_bytes().split(b"\n") if line]
    lines.sort(key=lambda line: line["status"] == "ok")
    kept = {line["key"]: {name: line[name] for name in line if "seconds" not in name} for line in lines}
    return sorted(json.dumps(record, sort_keys=True) for record in kept.values())


def once(text: str) -> bool:
    """One short message."""
    return text.count("budgetbench: ") == 1 and "Traceback" not in text and len(text) < 600


# -- lines of trials.jsonl --------------------------------------------------------------------------------------------


def with_second(change: Callable[[dict[str, Any]], Any]) -> Damage:
    """The second record changed, or replaced by what `change` returns."""

    def damage(lines: Lines) -> bytes:
        record = json.loads(lines[1])
        text = change(record)
        second = text if isinstance(text, bytes) else json.dumps(record).encode()
        return b"".join(line + b"\n" for line in (lines[0], second, lines[2]))

    return damage


def having(**values: Any) -> Damage:
    return with_second(lambda record: record.update(values))


def lacking(name: str) -> Damage:
    return with_second(lambda record: record.pop(name) and None)


def reading(old: str, new: str) -> Damage:
    """The second line with another text in it."""
    return with_second(lambda record: json.dumps(record).replace(old, new, 1).encode("utf-8", "surrogatepass"))


def curve(**values: Any) -> Damage:
    return with_second(lambda record: record["curve"].update(values))


def beside(extra: bytes) -> Damage:
    """All that was there, and a line more."""
    return lambda lines: b"".join(line + b"\n" for line in (lines[0], extra, *lines[1:]))


def joined(lines: Lines, end: bytes = b"\n") -> bytes:
    return b"".join(line + end for line in lines)


def failed(line: bytes) -> bytes:
    return json.dumps(json.loads(line) | {"status": "failed", "error": "no memory", "test_error": None}).encode()


DEEP = "[" * 10_000 + "]" * 10_000

#: What is lost: these are done again, and it is said which line it was.
LOST: dict[str, tuple[Damage, int]] = {
    "two records in one line": (lambda lines: lines[0] + joined(lines[1:]), 2),
    "half a line before another": (lambda lines: lines[0][:50] + joined(lines[1:]), 2),
    "zeros in the middle": (with_second(lambda record: b"\0" * 300), 1),
    "UTF-16": (lambda lines: joined(lines).decode().encode("utf-16"), 3),
    "an empty object": (with_second(lambda record: b"{}"), 1),
    "nested ten thousand deep": (reading('"params": {', f'"params": {{"x": {DEEP}, '), 1),
    "only brackets": (with_second(lambda record: DEEP.encode()), 1),
    "a number of ten thousand digits": (reading('"run": 0', '"run": ' + "9" * 10_000), 1),
    "not UTF-8": (with_second(lambda record: json.dumps(record).encode().replace(b"gauss", b"g\xffuss")), 1),
    "half a surrogate pair": (reading('"gaussian"', '"\\ud800"'), 1),
    "single quotes": (with_second(lambda record: str(record).encode()), 1),
    "a trailing comma": (reading("}", ",}"), 1),
    "no key": (lacking("key"), 1),
    "an empty key": (having(key=""), 1),
    "a list as key": (having(key=["a", "b"]), 1),
    "a number as key": (having(key=7), 1),
    "no status": (lacking("status"), 1),
    "an unknown status": (having(status="fine"), 1),
    "no algorithm": (lacking("algorithm"), 1),
    "a mapping as algorithm": (having(algorithm={"name": "perceptron"}), 1),
    "no parameters": (lacking("params"), 1),
    "a list as parameters": (having(params=[1]), 1),
    "NaN as parameter": (having(params={"epochs": math.nan}), 1),
    "Infinity as parameter": (having(params={"epochs": math.inf}), 1),
    "2^63 as parameter": (having(params={"epochs": 2**63}), 1),
    "a text as parameter's budget": (having(params={"budget": "five"}), 1),
    "no run": (lacking("run"), 1),
    "a text as run": (having(run="0"), 1),
    "half a run": (having(run=0.5), 1),
    "true as run": (having(run=True), 1),
    "a run below 0": (having(run=-1), 1),
    "a seed of 2^63": (having(seed=2**63), 1),
    "a seed of 10^40": (having(seed=10**40), 1),
    "a text as seed": (having(seed="zero"), 1),
    "a budget of 2^63": (having(budget=2**63), 1),
    "a text as budget": (having(budget="5"), 1),
    "a text as error": (having(test_error="small"), 1),
    "a list as error": (having(test_error=[0.1]), 1),
    "an error of NaN": (having(test_error=math.nan), 1),
    "an error of Infinity": (having(test_error=math.inf), 1),
    "an error of 1e999": (reading('"online_error": 0.', '"online_error": 1e999, "x": 0.'), 1),
    "an error below 0": (having(test_error=-0.1), 1),
    "an error above 1": (having(test_error=17), 1),
    "seconds of NaN": (having(train_seconds=math.nan), 1),
    "half a support vector": (having(support_size=3.5), 1),
    "a list as curve": (having(curve=[1, 2]), 1),
    "a curve without what was seen": (having(curve={"online_error": [0.1], "support_size": [1]}), 1),
    "a curve of nothing": (curve(seen=[], online_error=[], support_size=[]), 1),
    "a curve of unequal lengths": (curve(seen=[1]), 1),
    "a curve of texts": (curve(online_error=["a", "b", "c", "d"]), 1),
    "a mapping as title": (having(experiment={"a": 1}), 1),
    "an unknown value of NaN": (having(model_bytes=math.nan), 1),
    "another line: a list": (beside(b"[]"), 0),
    "another line: a number": (beside(b"17"), 0),
    "another line: null": (beside(b"null"), 0),
    "another line: text": (beside("naïve ☃".encode()), 0),
    "another line: binary": (beside(bytes(set(range(256)) - {10})), 0),
    "another line: NaN": (beside(b"NaN"), 0),
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
        beside(b'{"key": "k", "status": "ok", "algorithm": "x", "params": {}, "run": 9}'),
        0,
    ),
}


def damage_lines(damage: Damage) -> None:
    path = FOLDER / "trials.jsonl"
    path.write_bytes(damage(path.read_bytes().splitlines()))


@pytest.mark.parametrize("case", LOST)
def test_lines_that_are_no_records_are_set_aside_and_done_again(call: Any, run: Any, case: str) -> None:
    whole, (damage, lost) = outcomes(), LOST[case]
    damage_lines(damage)
    before = contents()
    answer = call("table")
    assert answer.code == 0, answer.err
    assert once(answer.err)
    assert re.search(r"trials\.jsonl:\d: \d lines? (is|are) no record of a run \(.+\)\. Left out", answer.err)
    assert contents() == before
    answer = run("c.yaml")
    assert answer.code == 0
    assert once(re.sub(r".*runs, \d+ s\n", "", answer.err))
    assert "Set aside in trials.rejected.jsonl; those runs are done again" in answer.err
    assert f"{lost} runs done now, {3 - lost} before" in answer.out
    assert outcomes() == whole
    rejected = (FOLDER / "trials.rejected.jsonl").read_bytes()
    assert rejected
    assert all(line in before[str(FOLDER / "trials.jsonl")] for line in rejected.splitlines())
    assert run("c.yaml", "--dry-run") == (0, f"{NAME}: 3 runs done, 0 to run\n", "")
    assert call("table").err == ""


@pytest.mark.parametrize("case", HARMLESS)
def test_what_harms_nothing_is_not_spoken_of(call: Any, run: Any, case: str) -> None:
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
    damage_lines(having(seed=2**63))
    damaged = path.read_bytes()
    for command in ("check", "plot", "report"):
        answer = call(command)
        assert answer.code == 0
        assert once(answer.err)
    assert path.read_bytes() == damaged
    assert "Unfinished: 2 of 3 runs are done" in Path("results/report.html").read_text(encoding="utf-8")


def test_a_dry_run_and_fresh(run: Any) -> None:
    damage_lines(having(seed=2**63))
    before = contents()
    answer = run("c.yaml", "--dry-run")
    assert answer.out.startswith(f"{NAME}: 2 runs done, 1 to run")
    assert once(answer.err)
    assert contents() == before
    answer = run("c.yaml", "--fresh")
    assert "3 runs done now, 0 before" in answer.out
    assert once(answer.err)


# -- other files ------------------------------------------------------------------------------------------------------


def write(name: str, content: str | bytes) -> Callable[[], None]:
    data = content.encode() if isinstance(content, str) else content
    return lambda: (FOLDER / name).write_bytes(data) and None


def changed(old: str, new: str, name: str = "experiment.yaml") -> Callable[[], None]:
    def change() -> None:
        text = (FOLDER / name).read_text(encoding="utf-8")
        assert old in text
        (FOLDER / name).write_text(text.replace(old, new), encoding="utf-8")

    return change


def folder_as(name: str) -> Callable[[], None]:
    def make() -> None:
        (FOLDER / name).unlink()
        (FOLDER / name).mkdir()

    return make


def loop_as(name: str) -> Callable[[], None]:
    def make() -> None:
        (FOLDER / name).unlink()
        (FOLDER / name).symlink_to(name)

    return make


EXPERIMENTS: dict[str, tuple[Callable[[], None], str]] = {
    "missing": (lambda: (FOLDER / "experiment.yaml").unlink(), "holds no experiment.yaml"),
    "a link to itself": (loop_as("experiment.yaml"), "holds no experiment.yaml"),
    "empty": (write("experiment.yaml", ""), "found NoneType; accepted: a mapping"),
    "a list": (write("experiment.yaml", "- 1\n"), "found list; accepted: a mapping"),
    "binary": (write("experiment.yaml", bytes(range(256))), "not readable as YAML"),
    "cut off": (write("experiment.yaml", "name: a\nalgorithms: [{name: per"), "not readable as YAML"),
    "nested deep": (write("experiment.yaml", f"name: a\nkernel: {'[' * 500}{']' * 500}\n"), "not readable as YAML"),
    "a tag of Python": (write("experiment.yaml", "!!python/object/apply:os.getcwd []"), "not readable as YAML"),
    "permutations x": (changed("permutations: 1", "permutations: x"), "permutations: found 'x'; accepted"),
    "permutations 0": (changed("permutations: 1", "permutations: 0"), "permutations: found 0; accepted"),
    "permutations null": (changed("permutations: 1", "permutations: null"), "permutations: found None; accepted"),
    "a seed of 2^64": (changed("seed: 0", f"seed: {2**64}"), "seed: found 18446744073709551616; accepted"),
    "a seed of many digits": (changed("seed: 0", f"seed: {'9' * 5000}"), "not readable as YAML"),
    "a hexadecimal seed of many digits": (changed("seed: 0", f"seed: 0x{'9' * 5000}"), "seed: found an endless"),
    "a day that never was": (changed("seed: 0", "seed: 2001-02-31"), "not readable as YAML"),
    "a number as title": (changed(f"title: {NAME}", "title: 5"), "title: found 5; accepted: a valid string"),
    "a text as kernel": (changed("kernel: {name: rbf, gamma: 1.0}", "kernel: rbf"), "kernel: found 'rbf'; accepted"),
    "a kernel in itself": (changed("kernel: {name: rbf", "kernel: &k {again: *k, name: rbf"), "nested at most 8 deep"),
    "a bomb": (
        changed(
            "kernel: {",
            "kernel: {a: &a [1,1,1,1,1,1,1,1,1,1], "
            + "".join(
                f"{new}: &{new} [{', '.join(['*' + old] * 10)}], " for old, new in zip("abcdef", "bcdefg", strict=True)
            ),
        ),
        "kernel.e: found [[[",
    ),
    "algorithms 5": (changed("algorithms:\n", "algorithms: 5\nothers:\n"), "algorithms: found 5; accepted"),
    "an algorithm without name": (changed("- {name: perceptron", "- {nam: perceptron"), "algorithms[0]"),
    "a text as budget": (changed("budget: [5, 9]", "budget: [5, nine]"), "budget an integer of at least 0"),
    "selected by nothing known": (
        changed("budget: [5, 9]", "budget: [5, 9]\n  select: luck"),
        "found 'luck'; accepted",
    ),
    "a date": (changed("budget: [5, 9]", "budget: [5, 9]\n  born: 2001-02-03"), "a text, a number"),
    "a grid without end": (
        changed("budget: [5, 9]", "budget: [5, 9]\n" + "".join(f"  p{i}: {list(range(99))}\n" for i in range(5))),
        "at most 100000 parameter sets",
    ),
    "a list as table": (changed("table: null", "table: [1]"), "table: found [1]; accepted: a text"),
}


@pytest.mark.parametrize("case", EXPERIMENTS)
def test_a_damaged_experiment_file_is_one_message_and_written_anew(call: Any, run: Any, case: str) -> None:
    sound = (FOLDER / "experiment.yaml").read_bytes()
    damage, message = EXPERIMENTS[case]
    damage()
    before = contents()
    answer = call("table")
    assert answer.code == 2
    assert once(answer.err)
    assert message in answer.err
    assert "Running the experiment again writes it anew and keeps the finished runs" in answer.err
    answer = call("check")
    assert answer.code == 0
    assert once(answer.err)
    assert f"{NAME} is left out" in answer.err
    assert contents() == before
    answer = run("c.yaml")
    assert (answer.code, answer.err) == (0, "")
    assert "0 runs done now, 3 before" in answer.out
    assert (FOLDER / "experiment.yaml").read_bytes() == sound


HELPFUL = {
    "missing": lambda: (FOLDER / "provenance.json").unlink(),
    "binary": write("provenance.json", bytes(range(256))),
    "cut off": write("provenance.json", '{"keys": ["a'),
    "a list": write("provenance.json", "[1, 2]"),
    "nested deep": write("provenance.json", DEEP),
    "keys that are none": changed('"keys": [', '"keys": [1, ', "provenance.json"),
    "keys a text": write("provenance.json", '{"keys": "all", "platform": ["a", {"b": null}], "python": 3}'),
}


@pytest.mark.parametrize("case", HELPFUL)
def test_provenance_is_a_help_and_no_condition(call: Any, case: str) -> None:
    sound = call("table").out
    HELPFUL[case]()
    assert call("table") == (0, sound, "")
    assert case not in ("nested deep", "keys a text") or call("report").code == 0


@pytest.mark.parametrize("damage", [folder_as, loop_as])
@pytest.mark.parametrize("name", ["trials.jsonl", "experiment.yaml", "provenance.json", "summary.csv"])
def test_what_is_no_file_where_one_belongs(call: Any, run: Any, name: str, damage: Any) -> None:
    records = (FOLDER / "trials.jsonl").read_bytes()
    damage(name)()
    for answer in (call("table"), run("c.yaml", "-q")):
        assert answer.code in (0, 1, 2)
        assert answer.code == 0 or (once(answer.err) and (name in answer.err or "no results in" in answer.err))
    if name != "trials.jsonl":
        assert (FOLDER / "trials.jsonl").read_bytes() == records


def test_a_damaged_folder_does_not_hide_the_others(call: Any) -> None:
    shutil.copytree(FOLDER, "results/another")
    (FOLDER / "experiment.yaml").write_text("permutations: x")
    for command in ("table", "plot", "report"):
        answer = call(command)
        assert answer.code == 0
        assert answer.err.count(f"results/{NAME} is left out: results/{NAME}/experiment.yaml: permutations") == 1
    assert "another" in Path("results/report.html").read_text(encoding="utf-8")
    assert Path("results/another/figures").is_dir()
    (Path("results/another") / "experiment.yaml").unlink()
    answer = call("table")
    assert answer.code == 2
    assert "another holds no experiment.yaml" in answer.err


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
            assert once(answer.err)
            assert "trials.jsonl cannot be read (Permission denied). Make it a readable file" in answer.err
    assert "0 runs done now, 3 before" in run("c.yaml").out


def test_a_link_to_the_records_stays_one(run: Any, folder: Path) -> None:
    (FOLDER / "trials.jsonl").rename(folder / "elsewhere.jsonl")
    (FOLDER / "trials.jsonl").symlink_to(folder / "elsewhere.jsonl")
    damage_lines(having(run="x"))
    assert "1 runs done now, 2 before" in run("c.yaml").out
    assert (FOLDER / "trials.jsonl").is_symlink()
    assert len((folder / "elsewhere.jsonl").read_bytes().splitlines()) == 3


def test_there_are_many() -> None:
    assert len(LOST) + len(HARMLESS) + len(EXPERIMENTS) + len(HELPFUL) > 90
