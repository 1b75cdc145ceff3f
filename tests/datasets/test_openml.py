"""Tables of OpenML: from a mirror in a folder or behind a server into the cache, and from there without either."""

from __future__ import annotations

import functools
import gzip
import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetbench.datasets import Cache, Data, datasets
from budgetbench.errors import DataError, ParameterError

ARFF = """\
% a note
@RELATION flowers
@ATTRIBUTE number INTEGER
@ATTRIBUTE 'petal' REAL
@ATTRIBUTE colour {red,blue,'dark red'}
@ATTRIBUTE kind {a,b,c}
@DATA
1,1.5,red,a
2,?,blue,b
3,2.5,'dark red',c
4,3.5,?,a
"""
FEATURES = (("number", "numeric"), ("petal", "numeric"), ("colour", "nominal"), ("kind", "nominal"))
TAKEN = {"id": 7, "missing": "mean", "categorical": "onehot"}


def features(**flags: dict[str, str]) -> dict[str, Any]:
    told = []
    for place, (name, kind) in enumerate(FEATURES):
        row = {"index": str(place), "name": name, "data_type": kind, "is_row_identifier": "false", "is_ignore": "false"}
        row["number_of_missing_values"] = str(int(name in ("petal", "colour")))
        told.append(row | {"is_target": str(name == "kind").lower()} | flags.get(name, {}))
    return {"data_features": {"feature": told}}


def description(**values: Any) -> dict[str, Any]:
    told = {
        "id": "7",
        "name": "flowers",
        "version": "1",
        "description": "Flowers.",
        "format": "ARFF",
        "status": "active",
        "file_id": "7",
        "url": "https://www.openml.org/data/v1/download/7/flowers.arff",
        "md5_checksum": hashlib.md5(ARFF.encode()).hexdigest(),
    }
    return {"data_set_description": told | values}


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror" / "openml" / "7"
    folder.mkdir(parents=True)
    (folder / "description.json").write_text(json.dumps(description()))
    (folder / "features.json").write_text(json.dumps(features(number={"is_row_identifier": "true"})))
    (folder / "data.arff").write_text(ARFF)
    return tmp_path / "mirror"


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for an address on OpenML has asked for too much."""
    monkeypatch.setattr("budgetbench.datasets.openml.API", "http://127.0.0.1:9/")


def load(folder: Path, mirror: Path | str | None, **options: Any) -> Data:
    return datasets["openml"].load(Cache(folder, str(mirror or "") or None, quiet=True), **(TAKEN | options))


def check(data: Data) -> None:
    assert data.classes == ("a", "b", "c")
    assert data.train.y.tolist() == [0, 1, 2, 0]
    assert data.encoding is not None
    assert data.encoding.words == ((), ("blue", "dark red", "red"))  # the number of the row is ignored
    np.testing.assert_array_equal(data.train.X, [[1.5, 2], [np.nan, 0], [2.5, 1], [3.5, np.nan]])


def test_from_a_folder_into_the_cache(tmp_path: Path, mirror: Path) -> None:
    assert not datasets["openml"].at_hand(Cache(tmp_path / "cache"), {"id": 7})
    first = load(tmp_path / "cache", mirror)
    check(first)
    assert first.files == (tmp_path / "cache" / "openml" / "7" / "data.arff",)
    assert datasets["openml"].at_hand(Cache(tmp_path / "cache"), {"id": 7})
    again = load(tmp_path / "cache", None)
    check(again)
    assert again.identity == first.identity
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == ["openml"]


@pytest.fixture
def server(mirror: Path) -> Iterator[str]:
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(mirror))
    ) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()


def test_from_a_server(tmp_path: Path, server: str) -> None:
    check(load(tmp_path / "cache", server))
    check(load(tmp_path / "cache", None))


def test_a_packed_copy_will_do(tmp_path: Path, mirror: Path) -> None:
    data = mirror / "openml" / "7" / "data.arff"
    data.write_bytes(gzip.compress(data.read_bytes()))
    check(load(tmp_path / "cache", mirror))


def test_options(tmp_path: Path, mirror: Path) -> None:
    data = load(tmp_path / "cache", mirror, limit=3)
    assert len(data.train) == 3
    other = load(tmp_path / "cache", mirror, label="colour", drop="kind", missing="drop")
    assert other.classes == ("dark red", "red")
    with pytest.raises(DataError, match=r"columns? colour: found 'red' \(row 1\)"):
        load(tmp_path / "cache", mirror, categorical=None)
    with pytest.raises(ParameterError, match="id"):
        load(tmp_path / "cache", mirror, id=0)
    with pytest.raises(ParameterError, match="nothing"):
        datasets["openml"].load(Cache(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("data.arff", ARFF.replace("red", "rot"), "checksum"),
        ("data.arff", "", "checksum"),
        ("description.json", "{", "cannot be read"),
        ("description.json", "[]", "not a description"),
        ("description.json", json.dumps(description(url="file:///etc/passwd")), "expected one of https"),
        ("description.json", json.dumps(description(format="Sparse_ARFF")), "only dense tables"),
        ("description.json", json.dumps(description(url="https://x/../../../../outside")), "none of a file"),
        ("features.json", "{}", "cannot be read"),
        ("features.json", json.dumps(features(kind={"is_target": "false"})), "dataset.label"),
    ],
)
def test_what_is_damaged_is_refused(tmp_path: Path, mirror: Path, name: str, content: str, words: str) -> None:
    (mirror / "openml" / "7" / name).write_text(content)
    with pytest.raises(DataError) as caught:
        load(tmp_path / "cache", mirror)
    assert words in str(caught.value)
    if words == "checksum":
        assert not (tmp_path / "cache" / "openml" / "7" / "data.arff").exists()
    assert not (tmp_path / "outside.gz").exists()


def test_what_cannot_be_had_is_told_with_where_to_put_it(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        load(tmp_path / "cache", None)
    message = str(caught.value)
    for words in ("openml/7/description.json", str(tmp_path / "cache"), "cannot connect", "BUDGETBENCH_MIRROR"):
        assert words in message
