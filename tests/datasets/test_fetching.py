"""How the files of a published dataset are had: sources in turn, damage, mirrors, two processes, no network."""

from __future__ import annotations

import gzip
import hashlib
import http.server
import io
import ssl
import subprocess
import sys
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from budgetbench.datasets import Cache, Data
from budgetbench.datasets.base import Examples, labelled
from budgetbench.datasets.cache import File
from budgetbench.datasets.download import LENIENT_HOSTS, session
from budgetbench.datasets.fingerprint import fingerprint
from budgetbench.datasets.parse import read_libsvm, read_table
from budgetbench.datasets.published import Form, Parts, Published, Recipe
from budgetbench.errors import DataError

NOWHERE = "http://127.0.0.1:9"  # the discard port: refused at once


class Web:
    """Serves `pages` (path to content); a status for error pages; `cuts` connections break off half-way.

    A page with a gate is handed out when as many have asked for it at once as the barrier takes.
    """

    def __init__(self) -> None:
        self.pages: dict[str, bytes | int] = {}
        self.cuts: Counter[str] = Counter()
        self.gates: dict[str, threading.Barrier] = {}
        self.asked: Counter[str] = Counter()
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked[self.path] += 1
                if self.path in web.gates:
                    web.gates[self.path].wait(60)
                page = web.pages.get(self.path, 404)
                if isinstance(page, int):
                    self.send_error(page)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                cut = web.cuts[self.path] > 0
                web.cuts[self.path] -= cut
                self.wfile.write(page[: len(page) // 2] if cut else page)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    served = Web()
    yield served
    served.server.shutdown()
    served.server.server_close()


def table_text(X: np.ndarray, y: np.ndarray) -> bytes:
    return "".join(f"{label} {' '.join(map(str, row))}\n" for row, label in zip(X, y, strict=True)).encode()


def libsvm_text(X: np.ndarray, y: np.ndarray) -> bytes:
    rows = (" ".join(f"{j}:{value}" for j, value in enumerate(row, start=1)) for row in X)
    return "".join(f"{label + 1} {row}\n" for row, label in zip(rows, y, strict=True)).encode()


class Small(Published):
    """Thirty rows of four inputs in three classes: train and test as gzipped tables, or both as LIBSVM text."""

    name = "small"
    title = "Small"
    summary = "for tests"
    classes = (0, 1, 2)

    def __init__(self, *bases: str) -> None:
        random = np.random.default_rng(5)
        self.X = random.standard_normal((30, 4)).round(3)
        self.y = np.arange(30) % 3
        self.table = {part: table_text(self.X[rows], self.y[rows]) for part, rows in self.rows().items()}
        self.packed = {f"/small/{part}.gz": gzip.compress(text) for part, text in self.table.items()}
        self.text = libsvm_text(self.X, self.y)
        self.tables = tuple(File("small", f"{p}.gz", tuple(f"{b}/{p}.gz" for b in bases), part=p) for p in self.table)
        sha256 = f"sha256:{hashlib.sha256(self.text).hexdigest()}"
        whole = File("small", "small.txt", tuple(f"{base}/small.txt" for base in bases), checksum=sha256)
        parts = {part: self.read_table(text) for part, text in self.table.items()}
        self.fingerprints = {part: fingerprint(examples, 3) for part, examples in parts.items()}
        self.forms = (self.form(whole),)

    def rows(self) -> dict[str, slice]:
        return {"train": slice(20), "test": slice(20, None)}

    def read_table(self, content: bytes) -> Examples:
        table = read_table(content)
        return labelled(table[:, 1:], table[:, 0], (0, 1, 2))

    def split(self, table: tuple[np.ndarray, np.ndarray]) -> Parts:
        X, labels = table
        return {part: labelled(X[rows], labels[rows] - 1, (0, 1, 2)) for part, rows in self.rows().items()}

    def form(self, whole: File) -> Form:
        recipes = Recipe((whole,), read_libsvm, self.split), Recipe(self.tables, self.read_table)
        return Form("", recipes, self.fingerprints)


def load(dataset: Small, folder: Path, mirror: str | None = None) -> Data:
    return dataset.load(Cache(folder, mirror, quiet=True))


def assert_right(dataset: Small, data: Data) -> None:
    assert data.test is not None
    np.testing.assert_array_equal(np.vstack([data.train.X, data.test.X]), dataset.X.astype(np.float32))
    np.testing.assert_array_equal(np.concatenate([data.train.y, data.test.y]), dataset.y)


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.name.startswith(".")]


def test_the_next_source_is_used_after_a_404(web: Web, tmp_path: Path) -> None:
    dataset = Small(f"{web.url}/none", f"{web.url}/small")
    web.pages["/small/small.txt"] = dataset.text
    assert_right(dataset, load(dataset, tmp_path))
    assert web.asked["/none/small.txt"] == 1
    assert (tmp_path / "small" / "small.txt").read_bytes() == dataset.text
    assert not leftovers(tmp_path)


def test_a_second_load_asks_nobody(web: Web, tmp_path: Path) -> None:
    dataset = Small(f"{web.url}/small")
    web.pages["/small/small.txt"] = dataset.text
    first = load(dataset, tmp_path)
    web.asked.clear()
    assert load(dataset, tmp_path).checksum == first.checksum
    assert not web.asked


def test_wrong_content_is_refused_by_checksum_and_by_fingerprint(web: Web, tmp_path: Path) -> None:
    dataset = Small(f"{web.url}/wrong", f"{web.url}/small")
    web.pages["/wrong/small.txt"] = dataset.text.replace(b"1 1:", b"2 1:", 1)
    web.pages["/wrong/train.gz"] = gzip.compress(dataset.table["train"].replace(b"0 ", b"1 ", 1))
    web.pages["/wrong/test.gz"] = web.pages["/small/train.gz"] = dataset.packed["/small/train.gz"]
    web.pages["/small/test.gz"] = dataset.packed["/small/test.gz"]
    assert_right(dataset, load(dataset, tmp_path))
    assert not (tmp_path / "small" / "small.txt").exists()
    assert gzip.decompress((tmp_path / "small" / "train.gz").read_bytes()) == dataset.table["train"]


def test_each_part_keeps_its_good_source(web: Web, tmp_path: Path) -> None:
    """The first source has a wrong training file, the second a wrong test file."""
    dataset = Small(f"{web.url}/a", f"{web.url}/b")
    wrong = gzip.compress(b"0 1 2 3 4\n1 1 2 3 4\n")
    web.pages |= {"/a/train.gz": wrong, "/a/test.gz": dataset.packed["/small/test.gz"]}
    web.pages |= {"/b/train.gz": dataset.packed["/small/train.gz"], "/b/test.gz": wrong}
    assert_right(dataset, load(dataset, tmp_path))
    assert web.asked["/a/test.gz"] == 1
    assert not web.asked["/b/test.gz"]


def test_a_connection_cut_half_way_is_tried_again(web: Web, tmp_path: Path) -> None:
    dataset = Small(f"{web.url}/small")
    web.pages["/small/small.txt"] = dataset.text
    web.cuts["/small/small.txt"] = 2
    assert_right(dataset, load(dataset, tmp_path))
    assert web.asked["/small/small.txt"] == 3


def test_a_connection_always_cut_gives_way_to_the_next_source(web: Web, tmp_path: Path) -> None:
    dataset = Small(f"{web.url}/cut", f"{web.url}/small")
    web.pages["/cut/small.txt"] = web.pages["/small/small.txt"] = dataset.text
    web.cuts["/cut/small.txt"] = 100
    assert_right(dataset, load(dataset, tmp_path))


@pytest.mark.parametrize(
    "damage",
    [b"", b"\x1f\x8bnot gzip", gzip.compress(b"<html>sorry</html>\n"), None],
    ids=["empty", "damaged", "a page", "cut"],
)
def test_a_damaged_file_in_the_cache_is_fetched_again(web: Web, tmp_path: Path, damage: bytes | None) -> None:
    dataset = Small(f"{web.url}/small")
    web.pages |= dataset.packed
    load(dataset, tmp_path)
    path = tmp_path / "small" / "train.gz"
    path.write_bytes(path.read_bytes()[:-20] if damage is None else damage)
    web.asked.clear()
    assert_right(dataset, load(dataset, tmp_path))
    assert web.asked["/small/train.gz"] == 1
    assert not web.asked["/small/test.gz"]
    assert gzip.decompress(path.read_bytes()) == dataset.table["train"]


def test_a_file_damaged_without_trace_of_its_format_is_told_by_its_checksum(web: Web, tmp_path: Path) -> None:
    dataset = Small(f"{web.url}/small")
    web.pages["/small/small.txt"] = dataset.text
    load(dataset, tmp_path)
    path = tmp_path / "small" / "small.txt"
    path.write_bytes(dataset.text.replace(b"1 1:", b"2 1:", 1))
    assert_right(dataset, load(dataset, tmp_path))
    assert path.read_bytes() == dataset.text


def test_a_mirror_folder_comes_before_public_sources_in_any_form(web: Web, tmp_path: Path) -> None:
    """The mirror has the second form only; the first form's public source must not be asked."""
    dataset = Small(f"{web.url}/small")
    web.pages["/small/small.txt"] = dataset.text
    mirror = tmp_path / "mirror of data"
    (mirror / "small").mkdir(parents=True)
    for place, content in dataset.packed.items():
        (mirror / place[1:]).write_bytes(content)
    assert_right(dataset, load(dataset, tmp_path / "data", str(mirror)))
    assert not web.asked
    assert sorted(path.name for path in (tmp_path / "data" / "small").iterdir()) == ["test.gz", "train.gz"]


def test_a_mirror_url(web: Web, tmp_path: Path) -> None:
    dataset = Small(f"{web.url}/public")
    web.pages |= {f"/mirror{place}": content for place, content in dataset.packed.items()}
    assert_right(dataset, load(dataset, tmp_path, f"{web.url}/mirror/"))
    assert not any(place.startswith("/public") for place in web.asked)


def test_no_place_is_asked_twice_and_the_message_says_what_to_do(web: Web, tmp_path: Path) -> None:
    dataset = Small(f"{web.url}/a", NOWHERE)
    web.pages["/a/small.txt"] = b"something else"
    web.pages["/a/train.gz"] = 503
    with pytest.raises(DataError) as caught:
        load(dataset, tmp_path, str(tmp_path / "mirror"))
    message = str(caught.value)
    assert max(web.asked.values()) == 1
    for words in ("dataset small", "small.txt; or train.gz and test.gz", str(tmp_path / "small"), "small/<file>"):
        assert words in message
    for words in ("--mirror", "BUDGETBENCH_MIRROR", "checksum", "503", "127.0.0.1:9: cannot connect"):
        assert words in message
    assert len(message.splitlines()) < 12
    assert "Traceback" not in message
    assert not list(tmp_path.rglob("*.gz"))


def test_a_damaged_file_is_named_when_there_is_no_other(tmp_path: Path) -> None:
    dataset = Small(NOWHERE)
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "small.txt").write_bytes(b"damaged")
    with pytest.raises(DataError, match=r"small\.txt: damaged"):
        load(dataset, tmp_path)


def test_a_member_of_an_archive(web: Web, tmp_path: Path) -> None:
    dataset = Small()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("folder/other.txt", "no")
        packed.writestr("folder/small.txt", dataset.text)
    web.pages = {"/set.zip": archive.getvalue(), "/broken.zip": b"PK nothing"}
    places = (f"{web.url}/broken.zip#small.txt", f"{web.url}/set.zip#absent", f"{web.url}/set.zip#small.txt")
    whole = dataset.forms[0].recipes[0].files[0]
    dataset.forms = (dataset.form(replace(whole, sources=places)),)
    assert_right(dataset, load(dataset, tmp_path))
    assert not leftovers(tmp_path)


PROGRAM = """
import sys
from budgetbench.datasets import Cache
from budgetbench.datasets.base import labelled
from budgetbench.datasets.cache import File
from budgetbench.datasets.fingerprint import Fingerprint
from budgetbench.datasets.parse import read_table
from budgetbench.datasets.published import Form, Published, Recipe

def read(content):
    return labelled(read_table(content), read_table(content)[:, 0] % 2, (0, 1))

class Small(Published):
    name, classes = "small", (0, 1)
    file = File("small", "rows.txt", (sys.argv[1],))
    forms = (Form("", (Recipe((file,), read),), {"train": Fingerprint(1000, 1, (500, 500))}),)

print(Small().load(Cache(sys.argv[2], quiet=True)).checksum)
"""


def test_processes_that_fetch_at_once_all_succeed(web: Web, tmp_path: Path) -> None:
    """Each finds a damaged file and is in the middle of fetching it when the others do so, too."""
    content = "".join(f"{i}\n" for i in range(1000)).encode()
    web.pages["/rows.txt"] = content
    web.gates["/rows.txt"] = threading.Barrier(3)
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "rows.txt").write_bytes(b"damaged")
    command = [sys.executable, "-c", PROGRAM, f"{web.url}/rows.txt", str(tmp_path)]
    programs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = [program.communicate(timeout=120)[0] for program in programs]
    assert [program.returncode for program in programs] == [0, 0, 0]
    assert len(set(said)) == 1
    assert len(said[0].strip()) == 64
    assert web.asked["/rows.txt"] == 3
    assert (tmp_path / "small" / "rows.txt").read_bytes() == content
    assert not leftovers(tmp_path)


def test_files_are_readable_as_the_user_s_other_files_are(web: Web, tmp_path: Path) -> None:
    dataset = Small(f"{web.url}/small")
    web.pages["/small/small.txt"] = dataset.text
    load(dataset, tmp_path)
    (tmp_path / "ordinary").touch()
    assert (tmp_path / "small" / "small.txt").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def test_a_data_folder_that_cannot_be_written(web: Web, tmp_path: Path) -> None:
    dataset = Small(f"{web.url}/small")
    web.pages["/small/small.txt"] = dataset.text
    (tmp_path / "data").write_text("a file where the folder should be")
    with pytest.raises(DataError, match="BUDGETBENCH_DATA"):
        load(dataset, tmp_path / "data")


def test_what_is_fetched_is_said_unless_quiet(web: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = Small(f"{web.url}/small")
    web.pages["/small/small.txt"] = dataset.text
    dataset.load(Cache(tmp_path / "said"))
    assert "fetching small/small.txt from 127.0.0.1" in capsys.readouterr().err
    load(dataset, tmp_path / "quiet")
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_certificates_are_checked_less_strictly_for_one_host_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Python 3.13, whose default contexts are strict."""
    original = ssl.create_default_context

    def strict(*args: object, **kwargs: object) -> ssl.SSLContext:
        context = original(*args, **kwargs)  # type: ignore[arg-type]
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", strict)
    http = session()
    lenient, usual = http.get_adapter(f"https://{LENIENT_HOSTS[0]}/file"), http.get_adapter("https://example.org/")
    context = lenient.poolmanager.connection_pool_kw["ssl_context"]  # type: ignore[attr-defined]
    assert not context.verify_flags & ssl.VERIFY_X509_STRICT
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
    assert "ssl_context" not in usual.poolmanager.connection_pool_kw  # type: ignore[attr-defined]
    assert type(http.get_adapter(f"https://{LENIENT_HOSTS[0]}.example.org/")) is type(usual)
