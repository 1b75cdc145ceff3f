"""Compiled loops are kept where that is possible, never trusted when damaged, and done without where it is not."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import budgetbench
from budgetbench import compiled as compiled_module
from budgetbench import private
from budgetbench.compiled import UNUSED, compiled, loops_folder, sweep

PROJECT = Path(budgetbench.__file__).resolve().parents[1]
jitted = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")


def doubled(x: Any) -> Any:
    return x + x


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder where compiled loops are kept."""
    monkeypatch.setattr(compiled_module, "private_folder", lambda: tmp_path)
    loops_folder.cache_clear()
    yield tmp_path / "compiled"
    loops_folder.cache_clear()


def hits(loop: Any) -> int:
    return sum(loop.dispatcher.stats.cache_hits.values())


# -- keeping ----------------------------------------------------------------------------------------------------------


@jitted
def test_a_loop_is_compiled_once_for_each_type(place: Path) -> None:
    first: Any = compiled(doubled)
    second: Any = compiled(doubled)
    assert (first(2), hits(first)) == (4, 0)
    (file,) = place.glob("*/*")
    assert (second(3), hits(second)) == (6, 1)
    assert second(np.ones(2)).tolist() == [2, 2]
    assert hits(second) == 1
    assert len(list(place.glob("*/*"))) == 2
    assert second.dispatcher.stats.cache_path == str(file.parent)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "a hundred bytes": lambda content: content[:100],
    "half": lambda content: content[: len(content) // 2],
    "the last byte missing": lambda content: content[:-1],
    "zeros": lambda content: bytes(len(content)),
    "one bit": lambda content: content[:500] + bytes([content[500] ^ 1]) + content[501:],
    "text": lambda content: b"not a loop",
}


@jitted
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_made_anew(place: Path, damage: str) -> None:
    compiled(doubled)(2)
    (file,) = place.glob("*/*")
    whole = file.read_bytes()
    file.write_bytes(DAMAGES[damage](whole))
    loop = compiled(doubled)
    assert (loop(2), hits(loop)) == (4, 0)
    again = compiled(doubled)
    assert (again(2), hits(again)) == (4, 1)


@jitted
def test_a_folder_in_a_files_place_is_done_without(place: Path) -> None:
    compiled(doubled)(2)
    (file,) = place.glob("*/*")
    file.unlink()
    (file / "inner").mkdir(parents=True)
    assert compiled(doubled)(2) == 4
    assert list(file.parent.iterdir()) == [file]


@jitted
def test_a_full_disk_is_done_without(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, content: bytes) -> None:
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_bytes", full)
    assert compiled(doubled)(2) == 4
    assert not list(place.glob("*/*"))


@jitted
@pytest.mark.parametrize("nowhere", [True, False], ids=["no folder", "a file in its place"])
def test_without_a_folder_loops_are_compiled_in_memory(
    place: Path, monkeypatch: pytest.MonkeyPatch, nowhere: bool
) -> None:
    if nowhere:
        monkeypatch.setattr(compiled_module, "private_folder", lambda: None)
    else:
        place.write_text("")
    loop: Any = compiled(doubled)
    assert loop(2) == 4
    assert loop.dispatcher.stats.cache_path is None
    assert not place.is_dir()


@jitted
def test_a_loop_of_somebody_elses_file_is_compiled_anew_when_that_changes(place: Path, tmp_path: Path) -> None:
    found = []
    for factor in (2, 3):
        (tmp_path / f"{factor}").mkdir()
        file = tmp_path / f"{factor}" / "theirs.py"
        file.write_text(f"def times(x):\n    return {factor} * x\n")
        space: dict[str, Any] = {"__name__": "theirs"}
        exec(compile(file.read_text(), str(file), "exec"), space)
        found.append(compiled(space["times"])(5))
    assert found == [10, 15]


@jitted
def test_recompiling_by_hand(place: Path) -> None:
    loop: Any = compiled(doubled)
    loop(2)
    loop.dispatcher.recompile()
    assert loop(2) == 4


def test_the_loops_of_former_sources_are_removed_after_a_while(place: Path, tmp_path: Path) -> None:
    for name, age in (("old", UNUSED + 1e5), ("used", 1e5)):
        (place / name).mkdir(parents=True)
        (place / name / "a.loop").write_text("")
        past = (place / name).stat().st_mtime - age
        os.utime(place / name, (past, past))
    (tmp_path / "precious").mkdir()
    (place / "link").symlink_to(tmp_path / "precious")
    (place / "file").write_text("")
    present = loops_folder()
    assert present is not None
    assert sorted(path.name for path in place.iterdir()) == sorted(["file", "link", "used", present.name])
    sweep(tmp_path / "nowhere")


# -- where ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """A home's cache folder and the one among temporary files, neither of them made yet."""
    home, temporary = tmp_path / "home" / "cache", tmp_path / "tmp" / "cache"
    monkeypatch.setattr(private, "home_folder", lambda: home)
    monkeypatch.setattr(private, "temporary_folder", lambda: temporary)
    private.private_folder.cache_clear()
    yield home, temporary
    private.private_folder.cache_clear()


def test_the_home_is_taken_where_it_can_be_written(homes: tuple[Path, Path]) -> None:
    assert private.private_folder() == homes[0]
    assert homes[0].stat().st_mode & 0o777 == 0o700
    assert not homes[1].exists()


def others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(parents=True)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)


def open_to_all(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)


def a_link(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.parent / "real").mkdir(parents=True)
    folder.symlink_to(folder.parent / "real")


def a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("")


def under_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.parent.parent.mkdir(exist_ok=True)
    folder.parent.write_text("")


@pytest.mark.parametrize("spoil", [open_to_all, a_link, a_file, under_a_file])
def test_else_a_folder_among_temporary_files(
    homes: tuple[Path, Path], spoil: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(homes[0], monkeypatch)
    assert private.private_folder() == homes[1]
    assert homes[1].stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("spoil", [others, open_to_all, a_link, a_file, under_a_file])
def test_a_folder_that_somebody_else_can_write_to_is_never_trusted(
    homes: tuple[Path, Path], spoil: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_a_file(homes[0], monkeypatch)
    spoil(homes[1], monkeypatch)
    assert private.private_folder() is None


def test_a_user_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pooch.os_cache", lambda name: Path("~/.cache") / name)
    assert private.home_folder() is None
    folder = private.temporary_folder()
    assert folder is not None
    assert folder.name == f"budgetbench-cache-{os.getuid()}"

    def none() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", none)
    assert private.temporary_folder() is None


def test_matplotlib_is_given_a_place_where_it_has_none(
    homes: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    private.spare_matplotlib_its_home()
    assert "MPLCONFIGDIR" not in os.environ
    homes[0].chmod(0o777)
    private.private_folder.cache_clear()
    private.spare_matplotlib_its_home()
    assert os.environ["MPLCONFIGDIR"] == str(homes[1] / "matplotlib")
    monkeypatch.setenv("MPLCONFIGDIR", "mine")
    private.spare_matplotlib_its_home()
    assert os.environ["MPLCONFIGDIR"] == "mine"
    monkeypatch.delenv("MPLCONFIGDIR")


def test_a_command_without_a_home(tmp_path: Path) -> None:
    """Also matplotlib, which would complain."""
    (tmp_path / "file").write_text("")
    code = (
        "import os; from budgetbench.compiled import loops_folder;"
        "print(str(loops_folder()).startswith(os.environ['TMPDIR']));"
        "from budgetbench.plots.style import styled; styled().__enter__();"
        "import matplotlib; print(matplotlib.get_configdir().startswith(os.environ['TMPDIR']))"
    )
    gone = {name: str(tmp_path / "file" / "home") for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
    environment = {name: value for name, value in os.environ.items() if name != "MPLCONFIGDIR"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, timeout=300,
        env=environment | gone | {"TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\nTrue\n", "")
