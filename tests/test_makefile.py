"""What `make` would do, without doing it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
@pytest.mark.parametrize(("target", "under"), [("reproduce-all", ""), ("beyond", "beyond"), ("readings", "readings")])
def test_all_runs_are_made_but_those_that_were_made_here(tmp_path: Path, target: str, under: str) -> None:
    for name, files in (("cloned", ["trials.jsonl.xz"]), ("begun", ["trials.jsonl", "trials.jsonl.xz"])):
        folder = tmp_path / under / name
        folder.mkdir(parents=True)
        for file in files:
            (folder / file).touch()
    told = subprocess.run(
        ["make", "-n", target, f"RESULTS={tmp_path}"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    taken = [line for line in told.splitlines() if line.startswith("rm -f")]
    assert taken == [f"rm -f {tmp_path / under / 'cloned' / 'trials.jsonl.xz'}"]
