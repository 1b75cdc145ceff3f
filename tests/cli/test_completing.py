"""What a shell is offered when Tab is pressed, by the protocol of its scripts and in a real one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from budgetbench.learners import learners
from budgetbench.shipped import shipped

Call = Callable[..., Any]
Offered = Callable[[str], list[str]]


@pytest.fixture
def offered(call: Call, monkeypatch: pytest.MonkeyPatch) -> Offered:
    def offered(line: str) -> list[str]:
        words = f"budgetbench {line}"
        monkeypatch.setenv("_BUDGETBENCH_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(f"{words}|".split()) - 1))
        answer = call()
        assert (answer.code, answer.err) == (0, "")
        return list(answer.out.split())

    return offered


def test_commands_and_what_they_take(offered: Offered) -> None:
    assert offered("va") == ["validate"]
    assert "--permutations" in offered("run quickstart --perm")
    assert offered("list al") == ["algorithms"]
    assert offered("run --backend th") == ["threading"]


@pytest.mark.parametrize("command", ["run", "validate", "run quickstart", "new mine --from", "tune"])
def test_names_of_configurations_shipped_and_of_this_folder(offered: Offered, command: str) -> None:
    Path("usps_mine.yaml").touch()
    names = [name for name in shipped() if name.startswith("usps_")]
    assert offered(f"{command} usps_") == ["usps_mine", *names]
    assert offered(f"{command} configs/") == []  # the shell offers files


def test_algorithms_and_datasets(offered: Offered) -> None:
    assert offered("run c.yaml --only ") == list(learners)
    assert offered("tune banana --only forg") == ["forgetron"]
    assert offered("fetch banana us") == offered("run c.yaml --skip us") == ["usps"]
    assert "waveform" in offered("tune wave")


def test_what_can_be_told_more_of(offered: Offered) -> None:
    assert offered("list algorithms forg") == ["forgetron"]
    assert offered("list datasets us") == ["usps"]
    assert offered("list kernels r") == ["rbf"]
    assert offered("list plots error_vs_s") == ["error_vs_support"]
    assert offered("list configs usps_n") == ["usps_noise10", "usps_noise10_runs"]


def test_folders_of_results(offered: Offered, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("results/a", "results/more/b", "elsewhere/c", "results/empty"):
        Path(folder).mkdir(parents=True)
        if "empty" not in folder:
            Path(folder, "experiment.yaml").touch()
    assert offered("table re") == ["results", "results/a", "results/more", "results/more/b"]
    assert offered("plot results/m") == ["results/more", "results/more/b"]
    assert offered("report elsewhere/") == ["elsewhere/c"]
    monkeypatch.setenv("BUDGETBENCH_RESULTS", "elsewhere")
    assert offered("check ") == ["elsewhere", "elsewhere/c"]


def test_it_answers_without_anything_heavy(tmp_path: Path) -> None:
    code = """
import sys
from budgetbench.cli import main
try:
    main([])
finally:
    heavy = {"numba", "pandas", "matplotlib", "sklearn", "scipy", "joblib", "requests"} & set(sys.modules)
    assert not heavy, heavy
"""
    wanted = {"_BUDGETBENCH_COMPLETE": "complete_bash", "COMP_WORDS": "budgetbench run --only forg", "COMP_CWORD": "3"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | wanted, capture_output=True, text=True, timeout=120
    )
    assert (done.stdout.strip(), done.stderr) == ("forgetron", "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_in_a_real_bash(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = tmp_path / "bin" / "budgetbench"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m budgetbench "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("_BUDGETBENCH_COMPLETE", "source_bash")
    script = call().out
    assert "complete -o default" in script
    monkeypatch.delenv("_BUDGETBENCH_COMPLETE")
    pressed = """
COMP_WORDS=(budgetbench run usps_no) COMP_CWORD=2
_budgetbench_completion budgetbench usps_no run
echo "${COMPREPLY[@]}"
"""
    done = subprocess.run(["bash", "-c", script + pressed], capture_output=True, text=True, timeout=120)
    assert (done.stdout.split(), done.stderr) == (["usps_noise10", "usps_noise10_runs"], "")
