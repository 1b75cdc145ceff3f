"""Damaged files beside the records of runs: each is told of in one message, and nothing is lost by it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

NAME = "usps_noise10"
FOLDER = Path("results", NAME)
DEEP = "[" * 10_000 + "]" * 10_000

pytestmark = pytest.mark.usefixtures("sound")


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
    "a hexadecimal seed of many digits": (changed("seed: 0", f"seed: 0x{'9' * 5000}"), "seed: found '0x999"),
    "a day": (changed("seed: 0", "seed: 2001-02-03"), "seed: found '2001-02-03'; accepted"),
    "a number as title": (changed(f"title: {NAME}", "title: 5"), "title: found 5; accepted: a valid string"),
    "a text as kernel": (changed("kernel: {name: rbf, gamma: 1.0}", "kernel: rbf"), "kernel: found 'rbf'; accepted"),
    "a kernel in itself": (changed("kernel: {name: rbf", "kernel: &k {again: *k, name: rbf"), "an alias of itself"),
    "a bomb": (
        changed(
            "kernel: {",
            "kernel: {a: &a [1,1,1,1,1,1,1,1,1,1], "
            + "".join(
                f"{new}: &{new} [{', '.join(['*' + old] * 10)}], " for old, new in zip("abcdef", "bcdefg", strict=True)
            ),
        ),
        "more than 10000 values",
    ),
    "algorithms 5": (changed("algorithms:\n", "algorithms: 5\nothers:\n"), "algorithms: found 5; accepted"),
    "an algorithm without name": (changed("- {name: perceptron", "- {nam: perceptron"), "algorithms[0]"),
    "a text as budget": (changed("budget: [5, 9]", "budget: [5, nine]"), "budget an integer of at least 0"),
    "selected by nothing known": (
        changed("budget: [5, 9]", "budget: [5, 9]\n  select: luck"),
        "found 'luck'; accepted",
    ),
    "a grid without end": (
        changed("budget: [5, 9]", "budget: [5, 9]\n" + "".join(f"  p{i}: {list(range(99))}\n" for i in range(5))),
        "at most 100000 parameter sets",
    ),
}


def test_each_damaged_experiment_file_is_one_message(call: Any) -> None:
    path = FOLDER / "experiment.yaml"
    sound, faults = path.read_bytes(), []
    for case, (damage, message) in EXPERIMENTS.items():
        damage()
        answer = call("table")
        advice = "Running the experiment again writes it anew and keeps the finished runs"
        if answer.code != 2 or not (answer.short and message in answer.err and advice in answer.err):
            faults.append(f"{case}: {answer.err}")
        path.unlink(missing_ok=True)
        path.write_bytes(sound)
    assert not faults


@pytest.mark.parametrize("case", ["missing", "a link to itself", "binary", "permutations x", "a bomb"])
def test_a_damaged_experiment_file_is_written_anew(call: Any, run: Any, case: str, contents: Any) -> None:
    sound = (FOLDER / "experiment.yaml").read_bytes()
    EXPERIMENTS[case][0]()
    before = contents()
    answer = call("check")
    assert answer.code == 0
    assert answer.short
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


def test_provenance_is_a_help_and_no_condition(call: Any) -> None:
    path = FOLDER / "provenance.json"
    sound, shown = path.read_bytes(), call("table")
    for case, damage in HELPFUL.items():
        damage()
        assert call("table") == shown, case
        assert case not in ("nested deep", "keys a text") or call("report").code == 0
        path.write_bytes(sound)


@pytest.mark.parametrize("damage", [folder_as, loop_as])
@pytest.mark.parametrize("name", ["trials.jsonl", "experiment.yaml", "provenance.json", "summary.csv"])
def test_what_is_no_file_where_one_belongs(call: Any, run: Any, name: str, damage: Any) -> None:
    records = (FOLDER / "trials.jsonl").read_bytes()
    damage(name)()
    for answer in (call("table"), run("c.yaml", "-q")):
        assert answer.code in (0, 1, 2)
        assert answer.code == 0 or (answer.short and (name in answer.err or "no results in" in answer.err))
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
