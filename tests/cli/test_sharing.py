"""`pack`, `cite`, and `run --from`, which tells what is not as it was packed."""

from __future__ import annotations

import json
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetbench.results import compact

Call = Callable[..., Any]


@pytest.fixture
def packed(call: Call, sound: Path) -> Path:
    """The pack of an experiment of three runs, in the current folder, whose results are not there."""
    assert call("pack", sound, "--quiet") == (0, "", "")
    return Path("usps_noise10.zip").rename("p.zip")


def changed(path: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """Write a pack anew with other parts."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def records(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, bytes]], None]:
    """Change each record of a pack."""

    def write(parts: dict[str, bytes]) -> None:
        found = [json.loads(line) for line in compact.unpacked(parts[compact.FILE]).splitlines()]
        for record in found:
            change(record)
        parts[compact.FILE] = compact.packed([json.dumps(record).encode() for record in found])

    return write


def provenance(**values: Any) -> Callable[[dict[str, bytes]], None]:
    def write(parts: dict[str, bytes]) -> None:
        parts["provenance.json"] = json.dumps(json.loads(parts["provenance.json"]) | values).encode()

    return write


def test_a_pack_is_reproduced_number_by_number(run: Call, packed: Path) -> None:
    answer = run("--from", packed, "--results", "again")
    assert answer.code == 0
    assert "3 runs compared: 3 with the same numbers, 0 not." in answer.out
    assert "the same, as far as they are told.\n" in answer.out
    again = run("--from", packed, "--results", "again")
    assert again.code == 0
    assert "3 runs were in again/usps_noise10 before; --fresh makes them again." in again.out
    assert run("--from", packed, "--results", "again", "--quiet") == (0, "", "")


def test_the_same_results_give_the_same_bytes_which_tell_nothing_of_this_machine(
    call: Call, packed: Path, sound: Path, tmp_path: Path
) -> None:
    assert call("pack", sound, "--out", "other.zip").code == 0
    content = packed.read_bytes()
    assert Path("other.zip").read_bytes() == content
    with zipfile.ZipFile(packed) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        told = b"".join(archive.read(name) for name in archive.namelist() if not name.endswith(".xz"))
        told += compact.unpacked(archive.read(compact.FILE))
        assert json.loads(archive.read("provenance.json"))["data"]["checksum"]
        assert b"@article{rosenblatt1958" in archive.read("references.bib")
    assert str(tmp_path).encode() not in told
    assert str(Path.home()).encode() not in told


def test_an_altered_number_is_told_with_both_values(run: Call, packed: Path) -> None:
    def alter(record: dict[str, Any]) -> None:
        if record["algorithm"] == "perceptron":
            record |= {"test_error": 0.125, "train_seconds": 9.0}
            record["curve"]["support_size"][1:] = [n + 1 for n in record["curve"]["support_size"][1:]]

    changed(packed, records(alter))
    answer = run("--from", packed, "--results", "again")
    assert answer.code == 1
    assert "3 runs compared: 2 with the same numbers, 1 not." in answer.out
    line = next(line for line in answer.out.splitlines() if line.startswith("  perceptron "))
    assert "run 0: test_error 0.125 in the pack, 0." in line
    assert "support_size after 50 examples" in line
    assert "seconds" not in line
    assert "neither data, versions nor machine explain the numbers" in answer.out
    assert "usps_noise10: 1 of 3 runs have other numbers than in p.zip" in answer.err


def test_what_may_be_why_stands_side_by_side(run: Call, packed: Path) -> None:
    def other(parts: dict[str, bytes]) -> None:
        records(lambda record: record.update(support_size=1))(parts)
        provenance(blas=["[red]mkl 2025"], packages={"numpy": "0.9"})(parts)

    changed(packed, other)
    answer = run("--from", packed, "--results", "again")
    assert answer.code == 1
    said = answer.out.partition("What may be why:")[2]
    assert "[red]mkl 2025" in said
    row = next(line.split() for line in said.splitlines() if line.startswith("numpy "))
    assert row == ["numpy", "0.9", np.__version__]
    assert "scipy" in said  # which the pack does not tell


def test_other_data_are_named_first(run: Call, packed: Path) -> None:
    def other(parts: dict[str, bytes]) -> None:
        records(lambda record: record.update(key=f"{record['run']:016x}"[1:] + record["key"][0], test_error=0.5))(parts)
        provenance(data={"identity": "gaussian/other", "checksum": "0"})(parts)

    changed(packed, other)
    answer = run("--from", packed, "--results", "again")
    assert answer.code == 1
    assert "have other keys; found by algorithm, parameters, run and seed." in answer.out
    assert "The data are not the same, which may explain all:" in answer.out
    assert "gaussian/other" in answer.out


def test_runs_of_another_version_are_found_by_what_they_are(run: Call, packed: Path) -> None:
    def older(record: dict[str, Any]) -> None:
        del record["params"]["epochs"], record["model_bytes"]
        record |= {"key": f"{record['key'][::-1]}", "version": "0.0.1", "measured_then": 4}

    changed(packed, records(older))
    answer = run("--from", packed, "--results", "again")
    assert answer.code == 0
    assert "3 runs compared: 3 with the same numbers, 0 not." in answer.out
    assert "3 have other keys" in answer.out


def test_a_part_of_it_is_compared_with_a_part(run: Call, packed: Path) -> None:
    answer = run("--from", packed, "--results", "again", "--only", "perceptron")
    assert answer.code == 0
    assert "1 runs compared: 1 with the same numbers, 0 not, 2 of the pack were not run here." in answer.out


def test_own_data_are_looked_for_here_and_must_be_the_same(
    call: Call, run: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{i % 7},{i % 5},{i % 2}" for i in range(60)]
    (folder / "mine.csv").write_text("\n".join(["a,b,c", *rows]), encoding="utf-8")
    dataset = f"{{name: csv, path: '{folder / 'mine.csv'}', label: c, train_size: 40, test_size: 20}}"
    text = f"name: own\ndataset: {dataset}\nkernel: {{name: linear}}\nalgorithms: [{{name: perceptron}}]\n"
    Path("own.yaml").write_text(text, encoding="utf-8")
    assert run("own.yaml", "--quiet").code == 0
    assert call("pack", "results/own").code == 0
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert str(folder).encode() not in (folder / "own.zip").read_bytes()
    missing = run("--from", folder / "own.zip")
    assert missing.code == 1
    assert missing.short
    assert "mine.csv: No such file or directory. The path is taken from the working directory." in missing.err
    (elsewhere / "mine.csv").write_bytes((folder / "mine.csv").read_bytes())
    assert run("--from", folder / "own.zip").code == 0
    (elsewhere / "mine.csv").write_text("\n".join(["a,b,c", *rows[::-1]]), encoding="utf-8")
    other = run("--from", folder / "own.zip", "--results", "other")
    assert "data checksum" in other.out
    assert "1 have other keys" in other.out


def bomb(parts: dict[str, bytes]) -> None:
    parts[compact.FILE] = lzma.compress(bytes(70_000_000), preset=0)


def nonsense(parts: dict[str, bytes]) -> None:
    parts[compact.FILE] = compact.packed([b'{"key": 3}'])


def elsewhere(parts: dict[str, bytes]) -> None:
    parts["experiment.yaml"] = parts["experiment.yaml"].replace(b"name: usps_noise10", b"name: ../usps_noise10", 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda parts: parts.pop("pack.json"), "no item named 'pack.json'"),
        (lambda parts: parts.update({"pack.json": b"[]"}), "no mapping where one belongs"),
        (lambda parts: parts.update({"pack.json": b'{"format": 2}'}), "found format 2; accepted: 1"),
        (lambda parts: parts.update({"experiment.yaml": b"#" * 300_000}), "experiment.yaml unpacks to"),
        (lambda parts: parts.update({compact.FILE: b"\xfd7zXZ\x00 and no more"}), "damaged archive"),
        (bomb, "damaged"),
        (nonsense, "key"),
        (elsewhere, "../usps_noise10"),
    ],
)
def test_what_is_no_pack_is_refused_in_short(
    run: Call, packed: Path, folder: Path, change: Callable[[dict[str, bytes]], None], message: str
) -> None:
    changed(packed, change)
    before = sorted(folder.parent.rglob("*"))
    answer = run("--from", packed, "--results", "again")
    assert answer.code == 2
    assert answer.short
    assert message in answer.err
    assert sorted(folder.parent.rglob("*")) == before


def test_a_deflated_bomb_is_refused_before_it_is_unpacked(run: Call, packed: Path) -> None:
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("provenance.json", bytes(70_000_000))
    answer = run("--from", packed)
    assert answer.code == 2
    assert "provenance.json unpacks to 0.07 GB" in answer.err


def test_a_broken_archive_is_refused(run: Call, packed: Path) -> None:
    content = packed.read_bytes()
    for broken in (content[:-30], content[:2000] + b"?" + content[2001:], b"", b"name: tiny\n"):
        packed.write_bytes(broken)
        answer = run("--from", packed)
        assert answer.code == 2
        assert answer.short
        assert "p.zip is no pack, or a damaged one" in answer.err


@pytest.mark.usefixtures("packed")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "CONFIG: found nothing; accepted: configurations, or --from PACK."),
        (["c.yaml", "--from", "p.zip"], "--from: found c.yaml beside it; accepted: the pack alone"),
        (["--set", "seed=1", "--from", "p.zip"], "--from: found --set seed=1 beside it"),
        (["--from", "none.zip"], "none.zip: no such file; accepted: a pack"),
    ],
)
def test_wrong_requests_are_short(run: Call, arguments: list[str], message: str) -> None:
    answer = run(*arguments)
    assert answer.code == 2
    assert answer.short
    assert message in answer.err


def test_one_experiment_is_packed_at_a_time_and_failed_runs_are_not(
    call: Call, run: Call, config: str, broken: None
) -> None:
    Path("d.yaml").write_text(config.replace("name: tiny", "name: other"), encoding="utf-8")
    Path("c.yaml").write_text(config.replace("- {name: svm, C: 1}", "- name: broken"), encoding="utf-8")
    run("c.yaml", "d.yaml", "--quiet")
    answer = call("pack", "results")
    assert (answer.code, answer.short) == (2, True)
    assert "results: found 2 experiments; accepted: the folder of one, such as results/other" in answer.err
    assert "6 runs (2 that failed are left out)" in call("pack", "results/tiny").out
    Path("c.yaml").write_text(config.partition("  - name: perceptron")[0] + "  - name: broken\n", encoding="utf-8")
    run("c.yaml", "--quiet", "--results", "failed")
    assert "found no run that ended well" in call("pack", "failed/tiny").err


def test_citations_are_printed(call: Call, sound: Path) -> None:
    answer = call("cite", sound)
    assert answer.code == 0
    assert "@inproceedings{crammer2003," in answer.out
    assert call("cite", "nowhere").short
