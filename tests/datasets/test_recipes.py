"""The forms of published datasets that the real files at hand do not cover, on small files written here."""

from __future__ import annotations

import bz2
import io
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from budgetbench.datasets import Cache, banana, datasets, mnist, raetsch, vehicle, waveform
from budgetbench.datasets.fingerprint import fingerprint
from budgetbench.datasets.parse import read_table, unpack
from budgetbench.datasets.published import Recipe
from budgetbench.errors import DataError

X = np.random.default_rng(7).standard_normal((12, 2))
T = np.where(np.arange(12) % 3 == 0, 1, -1)


def test_raetsch_s_collection_and_its_text_split_are_the_same() -> None:
    buffer = io.BytesIO()
    indices = np.arange(1, 13)[None]
    content = {"banana": {"x": X, "t": T[:, None].astype(float), "train": indices, "test": indices}}
    savemat(buffer, content, do_compression=True)
    from_mat, from_text = banana.RECIPES
    mat = from_mat.combine(from_mat.read(buffer.getvalue()))["train"]
    order = np.random.default_rng(8).permutation(12)
    tables = (X[order[:4]], X[order[4:]], T[order[:4], None], T[order[4:], None])
    texts = ["\n".join("  ".join(f"{v:.7e}" for v in row) for row in table).encode() + b"\n" for table in tables]
    split = from_text.combine(*(from_text.read(text) for text in texts))["train"]
    np.testing.assert_allclose(mat.X, X, rtol=1e-6)
    np.testing.assert_array_equal(mat.y, T == 1)
    assert not fingerprint(mat, 2).difference(fingerprint(split, 2))
    assert [file.name for file in from_text.files][:2] == ["banana_train_data_1.asc", "banana_test_data_1.asc"]


@pytest.mark.parametrize("content", [b"", b"text", b"MATLAB 5.0" + bytes(200)])
def test_other_files_as_raetsch_s_collection(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        banana.RECIPES[0].read(content)


def test_a_bomb_as_raetsch_s_collection() -> None:
    for kind, packed, words in ((15, zlib.compress(bytes(80_000_000)), "too large"), (15, b"no zlib", "damaged")):
        content = b"MATLAB 5.0".ljust(124) + b"\0\1IM" + struct.pack("<II", kind, len(packed)) + packed
        with pytest.raises(ValueError, match=words):
            banana.RECIPES[0].read(content)


def test_waveform_in_binary_form_is_class_1_standardised() -> None:
    rows = np.column_stack([X * 3 + 1, np.arange(12) % 3])
    text = "\n".join(",".join(f"{v}" for v in row) for row in rows).encode()
    table = read_table(text, ",")
    binary = waveform.standardised(table)
    np.testing.assert_array_equal(binary.y, np.arange(12) % 3 == 1)
    np.testing.assert_allclose(binary.X, (X - X.mean(axis=0)) / X.std(axis=0, ddof=1), atol=1e-6)
    assert waveform.three_classes(table).y.tolist() == [0, 1, 2] * 4
    assert waveform.RECIPES[0].files == (raetsch.MAT_FILE,)


def test_keras_file_of_mnist() -> None:
    images, labels = np.arange(8, dtype=np.uint8).reshape(2, 2, 2), np.array([4, 9], dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, x_train=images, y_train=labels, x_test=images[:1], y_test=labels[:1])
    parts = mnist.pair_up(*mnist.read_keras_file(buffer.getvalue()))
    np.testing.assert_allclose(parts["train"].X, images.reshape(2, 4) / 255, rtol=1e-6)
    assert parts["test"].y.tolist() == [4]
    for content in (b"", b"text"):
        with pytest.raises(ValueError, match=r"\w"):
            mnist.read_keras_file(content)


def test_vehicle_s_format() -> None:
    packed = bz2.compress(b"1 1:-0.5 100:2\n3 2:1e-3\n2 50:1\n")
    examples = vehicle.read_file(unpack(packed))
    assert examples.X.shape == (3, 100)
    assert examples.X[0, [0, 99]].tolist() == [-0.5, 2]
    assert examples.y.tolist() == [0, 2, 1]
    with pytest.raises(ValueError, match="label 4"):
        vehicle.read_file(b"4 1:1\n")


def test_without_its_files_vehicle_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = tuple(replace(file, sources=("http://127.0.0.1:9/",)) for file in vehicle.FILES)
    form = replace(vehicle.Vehicle.forms[0], recipes=(Recipe(files, vehicle.read_file),))
    monkeypatch.setattr(vehicle.Vehicle, "forms", (form,))
    with pytest.raises(DataError) as caught:
        datasets["vehicle"].load(Cache(tmp_path, quiet=True))
    for words in ("combined.bz2 and combined.t.bz2", str(tmp_path / "vehicle"), "vehicle/<file>", "--mirror"):
        assert words in str(caught.value)
