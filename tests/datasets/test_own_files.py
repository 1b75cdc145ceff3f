"""The user's own files, and what is said about bad ones."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetbench.datasets import Cache, Data, datasets
from budgetbench.errors import DataError, ParameterError


def load(name: str, path: Path, **options: Any) -> Data:
    return datasets[name].load(Cache(path.parent / "cache"), path=str(path), **options)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_libsvm(tmp_path: Path) -> None:
    train = written(tmp_path, "train", "+1 1:0.5 3:2\n\n-1 2:1 # note\n")
    test = written(tmp_path, "test", "-1 4:1\n")
    data = load("libsvm", train, test_path=str(test))
    assert data.classes == (-1, 1)
    assert data.test is not None
    np.testing.assert_array_equal(data.train.X, [[0.5, 0, 2, 0], [0, 1, 0, 0]])
    np.testing.assert_array_equal(data.test.X, [[0, 0, 0, 1]])
    assert data.train.y.tolist() == [1, 0]
    assert data.test.y.tolist() == [0]
    assert data.files == (train, test)
    assert load("libsvm", train, n_features=6).train.X.shape == (2, 6)
    zero = written(tmp_path, "zero", "1 0:7\n2 1:8\n")
    np.testing.assert_array_equal(load("libsvm", zero, zero_based=True).train.X, [[7, 0], [0, 8]])


def test_packed_files_are_the_same_data(tmp_path: Path) -> None:
    plain = written(tmp_path, "plain", "1 1:1\n2 1:2\n")
    packed = tmp_path / "packed.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert load("libsvm", plain).identity == load("libsvm", packed).identity


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("1 1:1\none 1:2\n", {}, ("line 2", "'one'", "expected a number")),
        ("1 1:1\n\n2 1=2\n", {}, ("line 3", "'1=2'", "index:value")),
        ("1 1:1\n2 1:x\n", {}, ("line 2", "'1:x'", "index:value")),
        ("1 1:1\n2 3:1 2:1\n", {}, ("line 2", "index 2 after 3", "rise")),
        ("1 0:1\n2 1:1\n", {}, ("line 1", "index 0", "zero_based")),
        ("1 1:1\n2 9:1\n", {"n_features": 4}, ("line 2", "index 9", "at most 4")),
        ("1 1:1\n1 1:2\n", {}, ("label 1", "two classes")),
        ("1 1:1\n2 1:inf\n", {}, ("example 2", "inf", "finite")),
        ("1.5 1:1\n2 1:1\n", {}, ("example 1", "1.5", "whole number")),
        (" \n", {}, ("empty",)),
    ],
)
def test_bad_libsvm_files(tmp_path: Path, text: str, options: dict[str, Any], words: tuple[str, ...]) -> None:
    path = written(tmp_path, "bad", text)
    with pytest.raises(DataError) as caught:
        load("libsvm", path, **options)
    for word in (str(path), *words):
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,b,class\n1,2,x\n3,4,y\n", {}),
        ("1,2,x\n3,4,y\n", {}),
        ("1;2;x\n3;4;y\n", {}),
        ("1\t2\tx\n3\t4\ty\n", {}),
        ("1 2 x\n 3  4 y\n\n", {}),
        ("class,a,b\nx,1,2\ny,3,4\n", {"label": "class"}),
        ("x,1,2\ny,3,4\n", {"label": 0}),
        ('"a", "b", "class"\n1, 2, x\n3, 4, "y"\n', {"label": "class"}),
        ("7,8,class\n1,2,x\n3,4,y\n", {"header": True}),
        ("\ufeffa,b,class\n1,2,x\n3,4,y\n", {}),
    ],
)
def test_csv(tmp_path: Path, text: str, options: dict[str, Any]) -> None:
    data = load("csv", written(tmp_path, "table.csv", text), **options)
    assert data.classes == ("x", "y")
    np.testing.assert_array_equal(data.train.X, [[1, 2], [3, 4]])
    assert data.train.y.tolist() == [0, 1]


def test_csv_with_numbers_for_classes_and_a_test_file(tmp_path: Path) -> None:
    train = written(tmp_path, "train.csv", "a,label\n0.5,-1\n1.5,1\n2.5,1\n")
    test = written(tmp_path, "test.csv", "a,label\n3.5,1.0\n")
    data = load("csv", train, test_path=str(test), label="label")
    assert data.classes == (-1, 1)
    assert data.test is not None
    assert data.test.y.tolist() == [1]


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("a,b\n1,x\n\nbad,y\n", {}, ("line 4", "column a", "'bad'", "expected a number")),
        ("1,x\n,y\n", {}, ("line 2", "column 1", "found nothing")),
        ("1,2,x\n3,4\n", {}, ("line 2",)),
        ("1,2,x\n3,4,5,y\n", {}, ("line 2",)),
        ("a,b,kind\n1,2,x\n", {"label": "kinds"}, ("'kinds'", "found: a, b, kind", "'kind'")),
        ("1,2\n1,3\n", {"label": 5}, ("column 5", "0 to 1")),
        ("1\n2\n", {}, ("one column",)),
        ("a,b\n", {"header": True}, ("no examples",)),
        ("1,x\n2,\n", {}, ("line 2", "no label")),
        ("1,2\n1,3\n", {"label": "a", "header": False}, ("header is false",)),
    ],
)
def test_bad_csv_files(tmp_path: Path, text: str, options: dict[str, Any], words: tuple[str, ...]) -> None:
    path = written(tmp_path, "bad.csv", text)
    with pytest.raises(DataError) as caught:
        load("csv", path, **options)
    for word in (str(path), *words):
        assert word in str(caught.value)


def test_npz(tmp_path: Path) -> None:
    X, y = np.arange(6.0).reshape(3, 2), np.array(["b", "a", "b"])
    np.savez(tmp_path / "one.npz", X=X, y=y)
    np.savez(tmp_path / "both.npz", X_train=X, y_train=y, X_test=X[:1], y_test=y[:1])
    one, both = load("npz", tmp_path / "one.npz"), load("npz", tmp_path / "both.npz")
    pair = load("npz", tmp_path / "one.npz", test_path=tmp_path / "one.npz")
    assert one.classes == ("a", "b")
    assert one.test is None
    assert both.test is not None
    assert both.test.y.tolist() == [1]
    assert pair.test is not None
    assert len({one.identity, both.identity, pair.identity}) == 3


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"data": np.ones((2, 2)), "y": np.arange(2)}, ("no array X", "data, y")),
        ({"X": np.ones((2, 2)), "y": np.arange(3)}, ("(2, 2)", "(3,)")),
        ({"X": np.ones(2), "y": np.arange(2)}, ("(2,)",)),
        ({"X": np.array([["a"], ["b"]]), "y": np.arange(2)}, ("expected numbers",)),
        ({"X": np.array([[1.0], [np.nan]]), "y": np.arange(2)}, ("example 2", "nan")),
        ({"X": np.ones((2, 1)), "y": np.arange(2), "X_test": np.ones((1, 1))}, ("no array y_test",)),
        ({"X": np.ones((2, 1)), "y": np.arange(2), "X_test": np.ones((1, 2)), "y_test": np.ones(1)}, ("2 inputs",)),
        ({"X": np.ones((2, 1)), "y": np.arange(2), "X_test": np.ones((1, 1)), "y_test": np.full(1, 9)}, ("label 9",)),
    ],
)
def test_bad_npz_files(tmp_path: Path, arrays: dict[str, np.ndarray], words: tuple[str, ...]) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, **arrays)  # type: ignore[arg-type]
    with pytest.raises(DataError) as caught:
        load("npz", path)
    for word in (str(path), *words):
        assert word in str(caught.value)


def test_other_files_as_npz(tmp_path: Path) -> None:
    for content in (b"", b"text", b"PK\x03\x04broken"):
        (tmp_path / "bad.npz").write_bytes(content)
        with pytest.raises(DataError, match=r"not an \.npz"):
            load("npz", tmp_path / "bad.npz")
    np.save(tmp_path / "single.npy", np.ones(3))
    with pytest.raises(DataError, match="single array"):
        load("npz", tmp_path / "single.npy")


@pytest.mark.parametrize("name", ["libsvm", "csv", "npz"])
def test_a_file_that_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"absent: No such file"):
        load(name, tmp_path / "absent")


def test_the_identity_is_of_the_content(tmp_path: Path) -> None:
    texts = ("1,x\n2,y\n", "a,b\n1.0,x\n2,y\n", "1,x\n3,y\n", "1,y\n2,x\n", "1,x\n2,z\n")
    identities = [load("csv", written(tmp_path, f"{i}.csv", text)).identity for i, text in enumerate(texts)]
    assert identities[0] == identities[1]
    assert len(set(identities)) == 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ("path", "the path of a file")),
        ({"path": 3}, ("path", "the path of a file")),
        ({"path": "x", "labels": 1}, ("labels", "path, test_path, label, header", "'label'")),
        ({"path": "x", "header": "yes"}, ("header", "true or false")),
        ({"path": "x", "label": 1.5}, ("label", "position")),
    ],
)
def test_options_are_checked_before_anything_is_read(options: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(ParameterError) as caught:
        datasets["csv"].load(Cache(Path("nowhere")), **options)
    for word in words:
        assert word in str(caught.value)
