"""Copies of published sets whose files have no checksum: another order or rounding is the same set, others are not."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from budgetbench.datasets import Cache, datasets
from budgetbench.datasets.base import Examples
from budgetbench.datasets.fingerprint import DIGEST_DECIMALS, Rounding, confirmed, fingerprint, row_digest
from budgetbench.datasets.parse import UnfitError, unpack
from budgetbench.datasets.published import Form, Published
from budgetbench.errors import DataError

RANDOM = np.random.default_rng(11)
Y = np.arange(3000) % 2
#: Three significant digits of values that have more, as in KEEL's copy of banana.
FINE = RANDOM.standard_normal((3000, 2))
KNOWN = np.array([[float(f"{v:.2e}") for v in row] for row in FINE])


def rounding(X: np.ndarray) -> Rounding:
    full = float(np.mean([len(f"{v:.2e}".split("e")[0].rstrip("0").lstrip("-")) == 4 for v in X.ravel()]))
    held = np.column_stack([X.astype(np.float32).astype(np.float64), Y])
    return Rounding(0.01, float(X.min()), float(X.max()), row_digest(held, DIGEST_DECIMALS), 3, full)


ROUNDING = rounding(KNOWN)


def difference(X: np.ndarray, y: np.ndarray = Y, known: Rounding = ROUNDING) -> str:
    examples, expected = Examples(X, y), fingerprint(Examples(KNOWN, Y), 2)
    return known.difference(examples, expected, fingerprint(examples, 2))


def changed(X: np.ndarray, by: float, at: int = 700) -> np.ndarray:
    X = X.copy()
    X[at, 1] += by
    return X


def test_the_known_copy_in_any_order() -> None:
    order = RANDOM.permutation(3000)
    assert not difference(KNOWN[order], Y[order])


@pytest.mark.parametrize("decimals", [1, 2, 3])
def test_coarser_copies(decimals: int) -> None:
    assert not difference(np.round(KNOWN, decimals))


def test_a_finer_copy() -> None:
    assert not difference(FINE)


@pytest.mark.parametrize("by", [0.1, -0.01, 1.0, 1e38])
def test_one_value_off_in_the_known_rounding(by: float) -> None:
    assert difference(changed(KNOWN, by))


@pytest.mark.parametrize("X", [FINE, np.round(KNOWN, 2)], ids=["finer", "coarser"])
def test_what_another_rounding_does_not_explain(X: np.ndarray) -> None:
    assert "values from" in difference(changed(X, 1e38))
    moved = X.copy()
    moved[:40] += 0.5
    assert "more than rounding explains" in difference(moved)


def test_values_that_are_no_numbers() -> None:
    assert "values from" in difference(changed(KNOWN, np.nan))
    assert row_digest(np.array([[np.nan]]), 1) == row_digest(np.array([[1e30]]), 1) == ""


def test_without_a_digest_the_averages_alone_tell() -> None:
    bare = replace(ROUNDING, digest="", digits=0, unit=1e-6)
    assert not difference(KNOWN + 1e-7, known=bare)
    assert difference(changed(KNOWN, 0.5), known=bare)


def test_a_table_is_confirmed_row_by_row() -> None:
    table = np.round(FINE, 3)
    known = row_digest(table, 3)
    assert confirmed(table[::-1] + 1e-7, 3, [known]) is not None
    for other in (changed(table, 0.001), table[1:], np.vstack([table, table[:1]])):
        with pytest.raises(UnfitError, match="differs"):
            confirmed(other, 3, [known])


Edit = Callable[[list[bytes]], list[bytes]]


def reworded(separator: bytes, form: str, columns: slice) -> Edit:
    def edit(lines: list[bytes]) -> list[bytes]:
        rows = [line.split(separator) for line in lines]
        for row in rows:
            row[columns] = [(form % float(cell)).encode() for cell in row[columns]]
        return [separator.join(row) for row in rows]

    return edit


def one_cell(separator: bytes, line: int, column: int, change: Callable[[float], float]) -> Edit:
    def edit(lines: list[bytes]) -> list[bytes]:
        row = lines[line].split(separator)
        row[column] = f"{change(float(row[column])):.6g}".encode()
        return [*lines[:line], separator.join(row), *lines[line + 1 :]]

    return edit


def mirror_with(mirror: str, folder: Path, name: str, edit: Edit) -> str:
    """A mirror of one dataset, the lines of one of its files edited; a header of lines with @ stays."""
    if "://" in mirror:
        pytest.skip("edits the files of a folder")
    dataset = name.split("/")[0]
    (folder / dataset).mkdir()
    for path in (Path(mirror) / dataset).iterdir():
        (folder / dataset / path.name).write_bytes(path.read_bytes())
    path = folder / name
    lines = unpack(path.read_bytes()).splitlines()
    head = [line for line in lines if line.startswith(b"@")]
    content = b"\n".join([*head, *edit([line.strip() for line in lines if line and not line.startswith(b"@")])]) + b"\n"
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)
    return str(folder)


def without_sources(form: Form) -> Form:
    recipes = (
        replace(recipe, files=tuple(replace(file, sources=()) for file in recipe.files)) for recipe in form.recipes
    )
    return replace(form, recipes=tuple(recipes))


def offline(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The dataset without its public sources."""
    dataset = datasets[name]
    assert isinstance(dataset, Published)
    monkeypatch.setattr(dataset, "forms", tuple(map(without_sources, dataset.forms)))


INPUTS = slice(0, -1)
SAME = {
    "banana in another order": ("banana/banana.dat", lambda lines: lines[::-1]),
    "banana to two decimals": ("banana/banana.dat", reworded(b",", "%.2f", INPUTS)),
    "banana to one decimal": ("banana/banana.dat", reworded(b",", "%.1f", INPUTS)),
    "banana with more digits": ("banana/banana.dat", reworded(b",", "%.9f", INPUTS)),
    "usps in another order": ("usps/zip.test.gz", lambda lines: lines[::-1]),
    "usps in single precision": ("usps/zip.test.gz", reworded(b" ", "%.8e", slice(1, None))),
    "usps to three decimals": ("usps/zip.test.gz", reworded(b" ", "%.3f", slice(0, None))),
    "waveform in another order": ("waveform/waveform.data", lambda lines: lines[::-1]),
    "waveform with more digits": ("waveform/waveform.data", reworded(b",", "%.6f", INPUTS)),
}
OTHER = {
    "banana with 1e38": ("banana/banana.dat", one_cell(b",", 7, 0, lambda v: 1e38)),
    "banana with two of 1e38": (
        "banana/banana.dat",
        lambda lines: one_cell(b",", 9, 1, lambda v: 1e38)(one_cell(b",", 7, 0, lambda v: 1e38)(lines)),
    ),
    "banana off by 0.1": ("banana/banana.dat", one_cell(b",", 7, 0, lambda v: v + 0.1)),
    "banana's labels": (
        "banana/banana.dat",
        lambda lines: one_cell(b",", 0, -1, lambda v: -v)(one_cell(b",", 1, -1, lambda v: -v)(lines)),
    ),
    "usps off by 0.1": ("usps/zip.train.gz", one_cell(b" ", 5, 100, lambda v: v - 0.1 if v > 0 else v + 0.1)),
    "usps off by 0.001": ("usps/zip.test.gz", one_cell(b" ", 5, 100, lambda v: v - 0.001 if v > 0 else v + 0.001)),
    "waveform off by 0.01": ("waveform/waveform.data", one_cell(b",", 5, 3, lambda v: v + 0.01)),
}


@pytest.mark.parametrize("case", SAME)
def test_copies_that_are_the_same_set(mirror: str, tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file, edit = SAME[case]
    name = file.split("/")[0]
    offline(name, monkeypatch)
    for variant in datasets[name].variants[-1:] or (None,):
        (tmp_path / f"{variant}").mkdir()
        place = mirror_with(mirror, tmp_path / f"{variant}", file, edit)
        assert (
            len(datasets[name].load(Cache(tmp_path / f"{variant}" / "data", place, quiet=True), variant).train) >= 5000
        )


@pytest.mark.parametrize("case", OTHER)
def test_copies_that_are_another_set(mirror: str, tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file, edit = OTHER[case]
    name = file.split("/")[0]
    offline(name, monkeypatch)
    for variant in datasets[name].variants[-1:] or (None,):
        (tmp_path / f"{variant}").mkdir()
        place = mirror_with(mirror, tmp_path / f"{variant}", file, edit)
        with pytest.raises(DataError, match=r"differs|values from"):
            datasets[name].load(Cache(tmp_path / f"{variant}" / "data", place, quiet=True), variant)
