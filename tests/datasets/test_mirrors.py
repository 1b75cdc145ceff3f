"""Mirrors that misbehave: each is given up in bounded time and space, in one line of the message, without a trace."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from support.processes import heed

from budgetbench.cli import main
from budgetbench.datasets import Cache, Data
from budgetbench.datasets.base import labelled
from budgetbench.datasets.cache import LOCK, PREFIX, UNLOCKED_SECONDS, File, Incoming, sweep
from budgetbench.datasets.fingerprint import Fingerprint
from budgetbench.datasets.parse import read_table
from budgetbench.datasets.published import Form, Published, Recipe
from budgetbench.errors import DataError, RequestError

CONTENT = b"".join(b"%d %d\n" % (i, i % 2) for i in range(200))
SECRET = "hunter2"


class Rows(Published):
    """Two hundred rows in a file that may have 1 MB and a little."""

    name, title, summary, classes = "rows", "Rows", "for tests", (0, 1)

    def __init__(self, *sources: str) -> None:
        self.file = File("rows", "rows.txt", sources, size=2000)
        self.forms = (Form("", (Recipe((self.file,), read),), {"train": Fingerprint(200, 1, (100, 100))}),)


def read(content: bytes) -> object:
    table = read_table(content)
    return labelled(table[:, :1], table[:, 1], (0, 1))


#: What a server does with a connection, once it has read the request.
Manner = Callable[[socket.socket, bytes], None]


class Rogue:
    """A server that answers each connection in its own manner."""

    def __init__(self, manner: Manner) -> None:
        self.over = threading.Event()
        self.requests: list[bytes] = []
        rogue = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    request = b""
                    while b"\r\n\r\n" not in request:
                        request += self.request.recv(4096) or b"\r\n\r\n"
                    rogue.requests.append(request)
                    manner(self.request, request)

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def rogue(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Manner], Rogue]]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    servers: list[Rogue] = []

    def start(manner: Manner) -> Rogue:
        servers.append(Rogue(manner))
        return servers[-1]

    yield start
    for started in servers:
        started.server.shutdown()
        started.server.server_close()


def says(head: str, body: bytes = b"") -> Manner:
    return lambda connection, _: connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)


def endless(connection: socket.socket, _: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while True:
        connection.sendall(b"1 0\n" * 10_000)


def endless_chunks(connection: socket.socket, _: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"9c40\r\n" + b"1 0\n" * 10_000 + b"\r\n")


def dripping(head: bytes, drop: bytes) -> Manner:
    def drip(connection: socket.socket, _: bytes) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(drop)
            time.sleep(0.05)

    return drip


def silent(connection: socket.socket, _: bytes) -> None:
    connection.recv(1)


def turning(connection: socket.socket, request: bytes) -> None:
    place = request.split()[1].decode() + "x"
    says(f"HTTP/1.1 302 Found\nLocation: {place}\nConnection: close\nContent-Length: 0")(connection, request)


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


OK = "HTTP/1.1 200 OK\nConnection: close"
BOMB = gzip.compress(bytes(80_000_000))
MANNERS: dict[str, tuple[Manner, str]] = {
    "endless": (endless, "too large"),
    "endless in chunks": (endless_chunks, "too large"),
    "a length of terabytes": (says(f"{OK}\nContent-Length: 9999999999999", b"1 0\n"), "too large"),
    "a length of many digits": (says(f"{OK}\nContent-Length: {'9' * 5000}", b"1 0\n"), ""),
    "a byte now and then": (dripping(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"1"), "not complete after"),
    "headers now and then": (dripping(b"HTTP/1.1 200 OK\r\n", b"X: 1\r\n"), ""),
    "headers without end": (says("HTTP/1.1 200 OK\n" + "X: 1\n" * 1000), ""),
    "a header of megabytes": (says("HTTP/1.1 200 OK\nX: " + "1" * 2_000_000), ""),
    "nothing": (silent, ""),
    "a closed door": (lambda connection, _: connection.close(), "breaks off"),
    "half of it": (says(f"{OK}\nContent-Length: 5000", CONTENT), "breaks off"),
    "a broken chunk": (says("HTTP/1.1 200 OK\nTransfer-Encoding: chunked", b"zz\r\n1 0\r\n"), "breaks off"),
    "another protocol": (says("SSH-2.0-OpenSSH_9.6"), "breaks off"),
    "two lengths": (says(f"{OK}\nContent-Length: 5\nContent-Length: 7", b"1 0\n2"), "makes no sense"),
    "from place to place": (turning, "from place to place"),
    "to a place that is none": (says("HTTP/1.1 302 Found\nLocation: http://[::1\nContent-Length: 0"), "makes no sense"),
    "to a file of ours": (
        says("HTTP/1.1 302 Found\nLocation: file:///etc/passwd\nContent-Length: 0"),
        "makes no sense",
    ),
    "forbidden": (says("HTTP/1.1 403 Forbidden\nContent-Length: 0"), "403 Forbidden"),
    "an error of megabytes": (says(f"{OK.replace('200 OK', '500 Oh')}", b"x" * 3_000_000), "500 Oh"),
    "a page in place of the file": (says(OK, b"<html>sorry</html>"), "cannot be read"),
    "an empty file": (says(f"{OK}\nContent-Length: 0"), "cannot be read"),
    "a bomb": (says(OK, BOMB), "grows too large"),
    "a bomb as a compressed transfer": (says(f"{OK}\nContent-Encoding: gzip", BOMB), "too large"),
    "a damaged compressed transfer": (says(f"{OK}\nContent-Encoding: gzip", CONTENT), "damaged transfer"),
    "a transfer of another kind": (says(f"{OK}\nContent-Encoding: br", CONTENT), "not asked for"),
}


def fetch(dataset: Rows, folder: Path, mirror: str | None = None, patience: float = 0.7) -> Data:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("budgetbench.datasets.cache.PATIENCE", patience)
        return dataset.load(Cache(folder, mirror, quiet=True))


def traces(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.name.startswith(PREFIX)]


@pytest.mark.parametrize("name", MANNERS)
def test_a_mirror_that_misbehaves(rogue: Callable[[Manner], Rogue], tmp_path: Path, name: str) -> None:
    manner, words = MANNERS[name]
    # Only those that would never end are measured against the clock.
    waits = name in ("a byte now and then", "headers now and then", "nothing")
    tracemalloc.start()
    try:
        with pytest.raises(DataError) as caught:
            fetch(Rows(), tmp_path, rogue(manner).url, 0.7 if waits else 60)
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    assert words in message
    assert len(message.splitlines()) == 4
    assert "rows.txt: 127.0.0.1" in message
    assert not traces(tmp_path)
    assert not (tmp_path / "rows").exists()


def test_the_next_place_is_asked_after_one_that_never_ends(rogue: Callable[[Manner], Rogue], tmp_path: Path) -> None:
    never = rogue(dripping(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"1"))
    good = rogue(says(OK, CONTENT))
    data = fetch(Rows(f"{good.url}/rows.txt"), tmp_path, never.url, 2.0)  # which the good one has as well
    np.testing.assert_array_equal(data.train.X[:, 0], np.arange(200))
    assert not traces(tmp_path)


@pytest.mark.parametrize("packed", [gzip.compress(CONTENT), CONTENT], ids=["packed", "plain"])
@pytest.mark.parametrize("encoding", ["", "gzip", "x-gzip"])
def test_a_compressed_transfer_is_undone(
    rogue: Callable[[Manner], Rogue], tmp_path: Path, encoding: str, packed: bytes
) -> None:
    body = gzip.compress(packed) if encoding else packed
    server = rogue(says(f"{OK}\nContent-Encoding: {encoding}" if encoding else OK, body))
    assert len(fetch(Rows(), tmp_path, server.url, 60).train) == 200


@pytest.mark.parametrize(
    ("archive", "words"),
    [
        (zipped("rows.txt", bytes(80_000_000)), "too large"),
        (zipped("rows.txt", CONTENT)[:-40], "zip archive"),
        (zipped("rows.txt", CONTENT).replace(b"\x08\x00", b"\x63\x00"), "zip archive"),
        (zipped("rows.txt", CONTENT).replace(b"\x14\x00\x00\x00", b"\x14\x00\x01\x00"), "zip archive"),
    ],
    ids=["bomb", "cut", "an unknown packing", "encrypted"],
)
def test_archives_that_misbehave(rogue: Callable[[Manner], Rogue], tmp_path: Path, archive: bytes, words: str) -> None:
    server = rogue(says(OK, archive))
    with pytest.raises(DataError, match=words):
        fetch(Rows(f"{server.url}/rows.zip#rows.txt"), tmp_path, None, 60)
    assert not traces(tmp_path)


def test_a_folder_as_mirror_with_other_things_than_files(tmp_path: Path) -> None:
    place = tmp_path / "mirror" / "rows" / "rows.txt"
    place.parent.mkdir(parents=True)
    os.mkfifo(place)
    with pytest.raises(DataError, match="not an ordinary file"):
        fetch(Rows(), tmp_path / "data", str(tmp_path / "mirror"))
    place.unlink()
    with place.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(DataError, match="too large"):
        fetch(Rows(), tmp_path / "data", str(tmp_path / "mirror"))


def test_a_cached_file_that_is_too_large_or_none_is_not_read(tmp_path: Path) -> None:
    place = tmp_path / "rows" / "rows.txt"
    place.parent.mkdir()
    with place.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(DataError, match="too large"):
        fetch(Rows(), tmp_path)
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(DataError, match="ordinary"):
        fetch(Rows(), tmp_path)
    place.unlink()
    place.mkdir()
    with pytest.raises(DataError, match="directory"):
        fetch(Rows(), tmp_path)


@pytest.mark.parametrize(
    "mirror",
    [
        "http://[::1",
        "http://u:hunter2@[::1",
        "http://host:port/",
        "http://host:99999",
        "ftp://u:hunter2@h/x",
        "s3://b",
        "http:///x",
    ],
)
def test_a_mirror_that_is_no_place(
    mirror: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RequestError, match="accepted: a folder, or a URL"):
        Cache(tmp_path, mirror)
    for flags in ([], ["--debug"]):
        with pytest.raises((SystemExit, RequestError)) as caught:
            main(["fetch", "banana", "--data", str(tmp_path), "--mirror", mirror, *flags])
        assert SECRET not in f"{caught.value} {capsys.readouterr()}"
        if not flags:
            assert isinstance(caught.value, SystemExit)
            assert caught.value.code == 2


def test_a_password_is_sent_to_the_mirror_and_shown_to_nobody(
    rogue: Callable[[Manner], Rogue], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server, public = rogue(says(OK, CONTENT)), rogue(says("HTTP/1.1 404 None\nContent-Length: 0"))
    mirror = server.url.replace("//", f"//user:{SECRET}%21@")
    cache = Cache(tmp_path / "good", mirror)
    data = Rows().load(cache)
    assert b"Authorization: Basic dXNlcjpodW50ZXIyIQ==" in server.requests[0]  # user:hunter2!
    with pytest.raises(DataError) as caught:
        Rows(f"{public.url}/rows.txt").load(Cache(tmp_path / "bad", public.url.replace("//", f"//user:{SECRET}@")))
    assert b"Authorization" in public.requests[0]
    assert b"Authorization" not in public.requests[1]
    shown = f"{capsys.readouterr()} {caught.value!r} {cache.mirror} {data.identity} {data.files}"
    assert "127.0.0.1" in shown
    assert SECRET not in shown
    assert "user" not in shown


PROGRAM = """
import sys
from budgetbench.datasets import Cache
from budgetbench.datasets.cache import File
from budgetbench.datasets.published import Form, Published, Recipe

class Rows(Published):
    name, classes = "rows", (0, 1)
    recipe = Recipe((File("rows", "rows.txt", (sys.argv[1],)),), lambda content: 0)

    def __init__(self):
        self.forms = (Form("", (self.recipe,), {}),)

Rows().load(Cache(sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, -2), (signal.SIGHUP, 129), (signal.SIGKILL, -9)]
)
def test_a_stopped_fetch_leaves_nothing(
    rogue: Callable[[Manner], Rogue], tmp_path: Path, number: signal.Signals, code: int
) -> None:
    server = rogue(dripping(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b"1 0\n"))
    command = [sys.executable, "-c", PROGRAM, f"{server.url}/rows.txt", str(tmp_path)]
    program = subprocess.Popen(command, stderr=subprocess.PIPE, preexec_fn=heed)
    end = time.monotonic() + 60
    while not server.requests and time.monotonic() < end:
        time.sleep(0.02)
    assert traces(tmp_path)
    with pytest.raises(DataError):  # another process, meanwhile, leaves what the living one needs
        fetch(Rows(), tmp_path)
    assert traces(tmp_path)
    program.send_signal(number)
    program.communicate(timeout=60)
    assert program.returncode == code
    if number == signal.SIGKILL:
        assert traces(tmp_path)
        with pytest.raises(DataError):
            fetch(Rows(), tmp_path)
    assert not traces(tmp_path)


def test_a_folder_without_a_lock_is_swept_when_it_is_no_longer_new(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / f"{PREFIX}{name}").mkdir()
    long_ago = time.time() - 2 * UNLOCKED_SECONDS
    os.utime(tmp_path / f"{PREFIX}old", (long_ago, long_ago))
    (tmp_path / f"{PREFIX}file").write_text("not a folder")
    sweep(tmp_path)
    assert sorted(traces(tmp_path)) == [f"{PREFIX}file", f"{PREFIX}new"]


def test_a_folder_swept_before_it_is_locked_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    original, seen = fcntl.flock, []

    def swept_first(lock: int, how: int) -> None:
        if not seen:
            seen.append(lock)
            next(tmp_path.glob(f"{PREFIX}*/{LOCK}")).unlink()
        original(lock, how)

    monkeypatch.setattr(fcntl, "flock", swept_first)
    incoming = Incoming(tmp_path)
    assert (incoming.path / LOCK).exists()
    incoming.remove()
    assert not incoming.path.exists()
