"""`budgetbench inspect`: what is said of files of all kinds, and that what it proposes runs as it stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Call = Callable[..., Any]


def flowers(rows: int = 40, gaps: bool = True) -> str:
    random = np.random.default_rng(1)
    lines = ['id,"petal, cm",colour,seen,species']
    for i in range(rows):
        petal = "" if gaps and i % 9 == 4 else f"{random.normal(i % 3, 0.3):.2f}"
        colour = "NA" if gaps and i % 11 == 3 else ("red", "blue")[i % 2]
        lines.append(f"{i + 1},{petal},{colour},2007-01-{1 + i % 28:02},{'abc'[i % 3]}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def runs(call: Call, run: Call) -> Callable[[str], str]:
    """Validates and runs the configuration that is at the end of what `inspect` printed; gives its text."""

    def runs(printed: str) -> str:
        text = printed[printed.index("\nname: ") + 1 :]
        Path("copied.yaml").write_text(text, encoding="utf-8")
        assert call("validate", "copied.yaml").code == 0
        answer = run("copied.yaml", "--permutations", 1)
        assert answer.code == 0, answer.err
        for recorded in Path("results").glob("*/experiment.yaml"):
            assert call("validate", recorded).code == 0
        return text

    return runs


def test_a_table_of_all_sorts_from_inspection_to_results(call: Call, runs: Callable[[str], str]) -> None:
    Path("flowers.csv").write_text(flowers(), encoding="utf-8")
    answer = call("inspect", "flowers.csv")
    assert (answer.code, answer.err) == (0, "")
    said = {line.split("  ")[0]: " ".join(line.split()) for line in answer.out.splitlines()}
    assert said["id"] == "id number, an identifier? 40 1 to 40"
    assert said["petal, cm"].startswith("petal, cm number")
    assert said["petal, cm"].split()[4] == "4"  # missing
    assert said["colour"] == "colour words 2 4 blue, red"
    assert said["seen"] == "seen date 2007-01-01"
    assert "3 classes: a 14, b 13, c 13" in answer.out
    text = runs(answer.out)
    for line in ("label: species", "drop: [id, seen]", "missing: mean", "categorical: onehot", "train_size: 32"):
        assert line in text


def test_the_configuration_is_written_where_nothing_is_lost(call: Call, run: Call) -> None:
    Path("flowers.csv").write_text(flowers(), encoding="utf-8")
    assert call("inspect", "flowers.csv", "--out", "mine.yaml").code == 0
    assert run("mine.yaml", "--permutations", 1).code == 0
    again = call("inspect", "flowers.csv", "--out", "mine.yaml")
    assert (again.code, again.short) == (2, True)
    assert "mine.yaml is there already" in again.err


def test_parquet(call: Call, runs: Callable[[str], str]) -> None:
    pytest.importorskip("pyarrow")
    Path("flowers.csv").write_text(flowers(), encoding="utf-8")
    frame = pd.read_csv("flowers.csv", parse_dates=["seen"])
    frame.to_parquet("flowers.parquet")
    answer = call("inspect", "flowers.parquet")
    assert answer.code == 0
    assert "name: parquet" in runs(answer.out)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("x,1,2\ny,3,4\n" * 5, ("label: 0", "budget: [1]")),
        (
            "1 1:0.5 3:2\n-1 2:1\n" * 5,
            ("libsvm, 10 rows with 3 inputs", "2 classes: -1 5, 1 5", "name: svm", "scale: standard"),
        ),
        ("0.5,1,x\n0.25,3,y\n" * 5, ("csv, 10 rows with 2 inputs, and the label 2", "label: 2")),
        ("kind;a;b\nu;1;2.5\nv;3;4.5\n" + "u;1;2\nv;1;3\n" * 4, ("label kind", "label: kind")),
        (flowers(60).replace(",a\n", ",\n"), ("20 rows have no label", "missing: drop")),
    ],
)
def test_other_files(call: Call, runs: Callable[[str], str], content: str, words: tuple[str, ...]) -> None:
    Path("data").write_text(content, encoding="utf-8")
    answer = call("inspect", "data")
    assert answer.code == 0, answer.err
    runs(answer.out)
    assert all(word in answer.out for word in words)


def test_whether_there_is_a_header_can_be_said(call: Call, runs: Callable[[str], str]) -> None:
    Path("data").write_text("1,b,2\n1,0.5,2\n2,1.5,3\n" * 4, encoding="utf-8")
    answer = call("inspect", "data")
    assert (answer.code, answer.short) == (1, True)
    assert "header: true or false" in answer.err
    assert "header: false" in runs(call("inspect", "data", "--no-header").out)


def test_arrays(call: Call, runs: Callable[[str], str]) -> None:
    np.savez("arrays.npz", X=np.random.default_rng(0).normal(size=(20, 3)), y=np.arange(20) % 2)
    runs(call("inspect", "arrays.npz").out)


def test_the_label_can_be_named(call: Call, runs: Callable[[str], str]) -> None:
    Path("flowers.csv").write_text(flowers(gaps=False), encoding="utf-8")
    for label in ("colour", 2):
        answer = call("inspect", "flowers.csv", "--label", label)
        assert "2 classes: blue 20, red 20" in answer.out
        assert "tighter_budget_perceptron" in runs(answer.out)


@pytest.mark.parametrize(
    ("content", "arguments", "code", "words"),
    [
        (b"", [], 1, "empty"),
        (b"\0\1\2", [], 1, "UTF-8"),
        (b"PAR1", [], 1, "Parquet"),
        (b"PK", [], 1, "plain arrays"),
        (b"a,b\n1.5,2.5\n1.25,3.5\n", [], 1, "no column looks like a label"),
        (b"a,b\n1.5,2\n1.25,3\n", [], 2, "five rows or more"),
        (b"a,b\n1.5,2\n1.25,3\n", ["--label", "c"], 1, "no column 'c'"),
        (b"1 1:2\n2 1:3\n", ["--label", "c"], 2, "no columns with names"),
    ],
)
def test_files_of_which_nothing_can_be_made(
    call: Call, content: bytes, arguments: list[str], code: int, words: str
) -> None:
    Path("data").write_bytes(content)
    answer = call("inspect", "data", *arguments)
    assert (answer.code, answer.short) == (code, True), answer.err
    assert words in answer.err
    assert call("inspect", "absent").code == 1
