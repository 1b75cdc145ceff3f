"""Output on any terminal, file or pipe: characters may be lost, nothing else."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import pytest
from support.results import records, write_results

import budgetbench
from budgetbench.cli import main
from budgetbench.errors import Notice

PROJECT = Path(budgetbench.__file__).resolve().parents[1]
COMMANDS = [["table"], ["table", "--format", "markdown"], ["check"], ["list", "algorithms"], ["list", "kernels"]]


@pytest.fixture(autouse=True)
def results(folder: Path) -> None:
    runs = records("budget_perceptron", {"budget": 5}, test_error=[0.25, 0.25])
    algorithms = [{"name": "budget_perceptron", "budget": 5}]
    write_results(Path("results/größer"), runs, title="Größer als ☃", permutations=2, algorithms=algorithms)


@pytest.fixture
def into(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """A command whose output goes somewhere else; gives its exit code."""

    def into(stream: TextIO | None, *arguments: str) -> int:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", stream)
            with pytest.raises(SystemExit) as caught:
                main(list(arguments))
        return int(caught.value.code or 0)

    return into


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_any_encoding(into: Any, command: list[str], encoding: str) -> None:
    written = io.BytesIO()
    assert into(io.TextIOWrapper(written, encoding=encoding), *command) == 0
    # what is not printed by rich takes a stream in ASCII for a mistake and writes UTF-8
    encoding = "utf-8" if "--format" in command and encoding == "ascii" else encoding
    text = written.getvalue().decode(encoding)
    assert len(text) > 50
    if command[0] == "table":
        found = {"ascii": "Gr??er als ?", "utf-8": "Größer als ☃"}.get(encoding, "Größer als ?")
        assert found in text
        assert "25.00" in text


@pytest.mark.parametrize("width", ["1", "20", "40"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_any_width(call: Any, monkeypatch: pytest.MonkeyPatch, command: list[str], width: str) -> None:
    monkeypatch.setenv("COLUMNS", width)
    answer = call(*command)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.strip() or width == "1"


def test_without_colours(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[3" not in call("check").out


@pytest.mark.parametrize("command", [*COMMANDS, ["--help"]], ids=" ".join)
def test_a_reader_that_has_enough(into: Any, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert into(os.fdopen(writer, "w"), *command) in (0, 1)
    assert capsys.readouterr().err == ""


def test_a_reader_that_has_enough_of_the_whole_program() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code = "from budgetbench.cli import main; main(['list', 'kernels'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, stdout=writer, stderr=subprocess.PIPE, timeout=120)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", [["table"], ["--help"]], ids=" ".join)
def test_a_full_disk(into: Any, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert into(os.fdopen(os.open("/dev/full", os.O_WRONLY), "w"), *command) == 1
    assert capsys.readouterr().err.startswith("budgetbench: No space left on device. Make room")
    with pytest.raises(OSError, match="No space left"):
        into(os.fdopen(os.open("/dev/full", os.O_WRONLY), "w"), "--debug", "--help")


def test_no_output_at_all(into: Any) -> None:
    assert into(None, "table") == 0


def test_notices_are_said_once_and_other_warnings_as_ever(
    call: Any, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    def folders(*_: object) -> list[Path]:
        for _ in range(3):
            warnings.warn("two runs are missing", Notice, stacklevel=1)
        warnings.warn("something old", DeprecationWarning, stacklevel=1)
        return []

    monkeypatch.setattr("budgetbench.archive.experiment_folders", folders)
    assert call("table").err == "budgetbench: two runs are missing\n"
    old = [str(warning.message) for warning in recwarn if warning.category is DeprecationWarning]
    assert old == ["something old"]
