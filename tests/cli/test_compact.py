"""A folder with the compact runs alone, as in a fresh clone, shows what the full one shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

FOLDER = Path("results", "usps_noise10")
pytestmark = pytest.mark.usefixtures("sound")

SHOWN = (
    ("table", "--format", "text"),
    ("table", "--format", "markdown"),
    ("table", "--format", "csv"),
    ("check", "--format", "csv"),
    ("check", "--write", "--force"),
    ("plot",),
    ("report",),
)


@pytest.fixture
def everything(call: Any, contents: Any) -> Any:
    """All that is shown of the results, and all that is written beside them."""

    def everything() -> tuple[list[Any], dict[str, bytes]]:
        answers = [call(*command) for command in SHOWN]
        return answers, {name: content for name, content in contents().items() if "trials" not in name}

    return everything


def test_everything_is_shown_of_the_compact_runs_as_of_the_full_ones(everything: Any) -> None:
    full = everything()
    (FOLDER / "trials.jsonl").unlink()
    assert everything() == full
    assert not (FOLDER / "trials.jsonl").exists()
    assert str(FOLDER / "figures" / "error_vs_support.png") in full[1]


def test_the_folder_itself_is_found_by_its_compact_runs(call: Any) -> None:
    full = call("table", FOLDER).out
    (FOLDER / "trials.jsonl").unlink()
    assert call("table", FOLDER).out == full


def test_the_full_runs_count_where_both_are_there(call: Any) -> None:
    before = call("table").out
    path = FOLDER / "trials.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert call("table").out != before


def test_run_goes_on_from_the_compact_runs(run: Any, contents: Any) -> None:
    before = contents()
    (FOLDER / "trials.jsonl").unlink()
    assert "3 runs done, 0 to run" in run("c.yaml", "--dry-run").out
    assert "0 runs done now, 3 before" in run("c.yaml").out
    after = contents()
    assert {name: after[name] for name in after if "trials" in name} == {
        name: before[name] for name in before if "trials" in name
    }


def test_new_runs_join_those_that_are_kept(run: Any) -> None:
    (FOLDER / "trials.jsonl").unlink()
    kept = (FOLDER / "trials.jsonl.xz").read_bytes()
    assert "3 runs done now, 3 before" in run("c.yaml", "--permutations", 2).out
    assert (FOLDER / "trials.jsonl.xz").read_bytes() != kept
    (FOLDER / "trials.jsonl").unlink()
    assert "0 runs done now, 6 before" in run("c.yaml", "--permutations", 2).out


def test_a_damaged_compact_file_is_made_again(run: Any) -> None:
    path = FOLDER / "trials.jsonl.xz"
    kept = path.read_bytes()
    path.write_bytes(kept[:-9])
    assert "0 runs done now, 3 before" in run("c.yaml").out
    assert path.read_bytes() == kept
