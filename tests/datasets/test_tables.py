"""Tables with words, gaps, dates and identifiers: what becomes of each column, and what is said of it."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from budgetbench.config.dataset import SECTION
from budgetbench.datasets import Cache, Data, datasets
from budgetbench.datasets.columns import of_text
from budgetbench.errors import DataError, Notice, RequestError
from budgetbench.parameters import check
from budgetbench.sections import DatasetSection
from budgetbench.streams import prepare

FLOWERS = """\
id,"petal, cm",colour,height,seen,kind
1,1.5,red,10,2007-01-01,a
2,,blue,20,2007-01-02,b
3,2.5,red,NA,2007-01-03,c
4,3.5,?,40,2007-01-04,a
5,1.5,green,50,2007-01-05,b
"""
TAKEN = {"drop": ["id", "seen"], "categorical": "onehot"}


def load(path: Path, kind: str = "csv", limit: int | None = None, **options: Any) -> Data:
    return datasets[kind].load(Cache(path.parent / "cache"), limit=limit, path=str(path), **options)


def written(folder: Path, text: str = FLOWERS, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def prepared(data: Data, run: int = 0, **section: Any) -> np.ndarray:
    return prepare(data, DatasetSection(**check(SECTION, {"name": "csv"} | section)), 0, run).X


def refusal(path: Path, kind: str = "csv", **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        load(path, kind, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# -- what is made of columns --------------------------------------------------------------------------------------


def test_means_stand_for_gaps_and_words_become_inputs(tmp_path: Path) -> None:
    X = prepared(load(written(tmp_path), missing="mean", **TAKEN))
    np.testing.assert_allclose(X[:, 0], [1.5, 2.25, 2.5, 3.5, 1.5])
    np.testing.assert_allclose(X[:, 1], [10, 20, 30, 40, 50])
    # blue, green, red; the most frequent stands for the one that is not known
    assert X[:, 2:].tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 1, 0]]


def test_the_most_frequent_value_stands_for_gaps(tmp_path: Path) -> None:
    X = prepared(load(written(tmp_path), missing="most_frequent", **TAKEN))
    assert X[1, 0] == 1.5


def test_rows_with_gaps_are_dropped_and_counted(tmp_path: Path) -> None:
    with pytest.warns(Notice, match="3 of 5 rows have missing values and are left out"):
        data = load(written(tmp_path), missing="drop", **TAKEN)
    assert prepared(data).tolist() == [[1.5, 10, 0, 1], [1.5, 50, 1, 0]]
    assert data.classes == ("a", "b")


def test_a_row_without_a_label_is_dropped_with_the_others_or_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "a,w,k\n1,u,x\n2,v,\n3,u,y\n")
    assert "line 3: found no label" in refusal(path, missing="mean", categorical="onehot")
    with pytest.warns(Notice, match="1 of 3 rows"):
        assert len(load(path, missing="drop", categorical="onehot").train) == 2


def test_numbers_without_gaps_are_the_same_data_whatever_is_said_of_gaps_and_words(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,k\n1,2,x\n3,4,y\n")
    plain, said = load(path), load(path, missing="mean", categorical="onehot")
    assert plain.identity == said.identity
    assert said.encoding is None
    assert np.array_equal(plain.train.X, said.train.X)


def test_what_is_done_to_columns_is_part_of_the_identity(tmp_path: Path) -> None:
    path, other = written(tmp_path), written(tmp_path, FLOWERS.replace("red", "rot"), "other.csv")
    loaded = [
        load(path, missing="mean", **TAKEN),
        load(path, missing="most_frequent", **TAKEN),
        load(path, missing="mean", categorical="onehot", drop="seen"),
        load(other, missing="mean", **TAKEN),
        load(path, missing="mean", **TAKEN),
    ]
    identities = [data.identity for data in loaded]
    assert len(set(identities)) == 4
    assert identities[4] == identities[0]


def test_only_training_rows_teach_what_fills_gaps_and_which_words_there_are(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    lines = [f"{random.normal():.3f},w{i},{'xy'[i % 2]}" for i in range(30)]
    lines[3] = ",w3,y"
    data = load(written(tmp_path, "a,w,k\n" + "\n".join(lines) + "\n"), missing="mean", categorical="onehot")
    sizes = {"train_size": 20, "test_size": 10}
    section = DatasetSection(name="csv", options={"missing": "mean", "categorical": "onehot"}, **sizes)
    assert section.inputs_differ
    seen = set()
    for run in range(3):
        X = prepared(data, run, **sizes)
        assert X.shape == (30, 21)  # a number, and the words of 20 rows
        trained = np.flatnonzero(X[:, 1:].any(axis=1))
        assert len(trained) == 20  # a word that only test rows have is nowhere
        known = trained[trained != 3]
        assert X[3, 0] == pytest.approx(data.train.X[known, 0].mean(), abs=1e-6)
        seen.add(tuple(trained))
    assert len(seen) == 3


def test_scaling_is_for_numbers_and_leaves_words_as_they_are(tmp_path: Path) -> None:
    data = load(written(tmp_path), missing="mean", **TAKEN)
    for scale in ("standard", "minmax", "range"):
        X = prepared(data, scale=scale)
        assert set(X[:, 2:].ravel()) == {0, 1}
        assert not np.allclose(X[:, :2], prepared(data)[:, :2])
    np.testing.assert_allclose(prepared(data, scale="standard")[:, :2].mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(prepared(data, scale=["standard", "unit"]), axis=1), 1, atol=1e-6)


def test_a_test_file_has_its_own_words_and_order_of_columns(tmp_path: Path) -> None:
    train = written(tmp_path, "a,w,k\n1,u,x\n2,v,y\n3,u,x\n")
    test = written(tmp_path, "id,w,k,a\n9,t,y,\n8,v,x,5\n", "test.csv")
    with pytest.raises(DataError, match="'id' too many"):
        load(train, test_path=str(test), missing="mean", categorical="onehot")
    test.write_text("w,k,a\nt,y,\nv,x,5\n")
    X = prepared(load(train, test_path=str(test), missing="mean", categorical="onehot"))
    assert X[3:].tolist() == [[2, 0, 0], [5, 0, 1]]
    test.write_text("w,k,a\n7,y,1\n8,x,5\n")
    assert "column w: numbers where" in refusal(train, test_path=str(test), categorical="onehot")


def test_columns_are_dropped_by_name_or_position(tmp_path: Path) -> None:
    path = written(tmp_path, "id,a,b,k\n7,1,2,x\n9,3,4,y\n")
    assert load(path, drop="id").train.X.tolist() == [[1, 2], [3, 4]]
    assert load(path, drop=["b", 0]).train.X.tolist() == [[1], [3]]
    bare = written(tmp_path, "7,1,2,x\n9,3,4,y\n", "bare.csv")
    assert load(bare, drop=[0, 2]).train.X.tolist() == [[1], [3]]
    test = written(tmp_path, "k,b,a\nx,6,5\n", "test.csv")  # which has no id
    data = load(path, drop="id", test_path=str(test))
    assert data.test is not None
    assert data.test.X.tolist() == [[5, 6]]
    for drop, words in ((["ix"], "no column 'ix'"), (["k"], "column of the label"), (["id", "a", "b"], "no column is")):
        assert words in refusal(path, drop=drop)
    assert "drop 'a' is the name" in refusal(bare, drop=["a"])


# -- what is said of them -----------------------------------------------------------------------------------------


def test_one_message_sums_up_all_columns(tmp_path: Path) -> None:
    message = refusal(written(tmp_path))
    for words in (
        "column colour: found 'red' (line 2)",
        "columns 'petal, cm', colour, height: found nothing (line 3)",
        "column seen: found '2007-01-01' (line 2), a date",
        "missing: drop, mean or most_frequent; categorical: onehot; drop: [seen]",
    ):
        assert words in message
    message = refusal(written(tmp_path), missing="mean", categorical="onehot")
    assert "colour" not in message
    assert message.endswith("See dataset.drop: [seen]")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2.5", "-1e3", ""], "number"),
        (["1", "x", "2"], "words"),
        (["NA", "?", ""], "nothing"),
        (["2001-01-01", "2001-02-03 10:00", "-"], "date"),
        (["31.12.1999", "1/2/2000"], "date"),
        (["1-2", "3-4"], "words"),
        ([*map(str, range(30)), "1.o"], "numbers and words"),
        ([f"text {i}" for i in range(1001)], "long text"),
        (["x" * 201, "y"], "long text"),
    ],
)
def test_kinds_of_columns(cells: list[str], kind: str) -> None:
    assert of_text("a", "a", cells)[0].kind == kind


def test_identifiers_are_pointed_out_and_kept(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i * 7 + 100},{i % 5},u{i},{'xy'[i % 2]}\n" for i in range(25))
    path = written(tmp_path, f"row,customer_id,a,name,k\n{rows}")
    with pytest.warns(Notice, match=r"own row, customer_id, name.*drop: \[row, customer_id, name\]"):
        data = load(path, categorical="onehot")
    assert data.train.X.shape == (25, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(path, drop=["row", "customer_id", "name"])


# -- a limit stops the reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_limit_stops_the_reading(tmp_path: Path, end: str, pack: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("budgetbench.datasets.parse.PIECE", 16)
    rows = [f"{i},{'xyz'[i % 3]}" for i in range(40)]
    text = end.join(['"a', 'm",k', "", *rows, "no,number,here"])
    path = tmp_path / "long.csv"
    path.write_bytes(pack(text.encode()))
    assert load(path, limit=10).train.X[:, 0].tolist() == list(range(10))
    assert "line" in refusal(path)
    lines = end.join(["# a note", *(f"{i % 3} 1:{i} # note" for i in range(40)), "no number"])
    path.write_bytes(pack(lines.encode()))
    assert load(path, "libsvm", limit=10).train.X[:, 0].tolist() == list(range(10))


def test_a_file_beyond_what_is_read_whole_is_read_to_its_limit(tmp_path: Path) -> None:
    with (tmp_path / "huge.csv").open("wb") as file:
        file.write(b"a,k\n" + b"".join(b"%d,%d\n" % (i, i % 2) for i in range(1_000_000)))
        file.truncate(9_000_000_000)  # takes no room on the disk
    assert len(load(tmp_path / "huge.csv", limit=1000).train) == 1000


def test_a_class_that_first_comes_beyond_the_limit_may_be_tested(tmp_path: Path) -> None:
    train, test = written(tmp_path, "1,x\n2,y\n3,z\n"), written(tmp_path, "4,z\n", "test.csv")
    data = load(train, limit=2, test_path=str(test))
    assert data.classes == ("x", "y", "z")
    with pytest.raises(DataError, match=r"raise or drop dataset\.limit"):
        load(train, limit=1)


# -- parquet ------------------------------------------------------------------------------------------------------


def test_a_parquet_file_is_the_same_as_the_csv(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = written(tmp_path)
    frame = pd.read_csv(path, na_values=["?"])
    frame["seen"] = pd.to_datetime(frame["seen"])
    frame["colour"] = frame["colour"].astype("category")
    frame["height"] = frame["height"].astype("Int64")
    frame.to_parquet(tmp_path / "table.parquet")
    message = refusal(tmp_path / "table.parquet", "parquet")
    for words in ("colour: found 'red' (row 1)", "seen: found '2007-01-01", "a date", "found nothing (row 2)"):
        assert words in message
    one = load(path, missing="mean", **TAKEN)
    other = load(tmp_path / "table.parquet", "parquet", missing="mean", **TAKEN)
    assert np.array_equal(one.train.X, other.train.X, equal_nan=True)
    assert one.classes == other.classes
    assert np.array_equal(prepared(one), prepared(other))
    short = load(tmp_path / "table.parquet", "parquet", limit=2, missing="mean", **TAKEN)
    assert len(short.train) == 2
    both = load(path=tmp_path / "table.parquet", kind="parquet", test_path=str(tmp_path / "table.parquet"),
                missing="mean", **TAKEN)  # fmt: skip
    assert both.test is not None
    assert np.array_equal(both.test.X, both.train.X, equal_nan=True)


def test_parquet_files_that_are_none(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1.0, 2.0], "list": [[1], [2]], "k": [True, False]})
    frame.to_parquet(tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    assert "list: found" in refusal(tmp_path / "whole.parquet", "parquet")
    assert load(tmp_path / "whole.parquet", "parquet", drop="list").classes == (0, 1)
    for content in (b"", b"text", whole[:-20], b"PAR1" + whole[4:].replace(b"list", b"lisp", 1)[:60] + b"PAR1"):
        (tmp_path / "bad.parquet").write_bytes(content)
        assert "Parquet" in refusal(tmp_path / "bad.parquet", "parquet")
    assert "No such file" in refusal(tmp_path / "absent.parquet", "parquet")


def test_without_pyarrow_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(RequestError, match=r"pip install 'budgetbench\[parquet\]'"):
        load(tmp_path / "x.parquet", "parquet")
