"""Where the files of datasets are kept on disk, and the places from which each can be had."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from pathlib import Path
from types import FrameType
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from budgetbench import system
from budgetbench.datasets import limits
from budgetbench.datasets.download import Allowance, UnusableError, download, is_local, local_path
from budgetbench.datasets.parse import unpack
from budgetbench.errors import DataError, RequestError

#: Seconds that any file may take to arrive, and bytes in each second beyond them: what a slow line carries.
PATIENCE = 60.0
SLOWEST = 20_000

PREFIX = ".incoming-"
#: Held while the folder's process lives, in whichever container: a lock tells what a process's number cannot.
LOCK = ".lock"
#: Seconds after which a folder without a lock is no longer one that is just being made.
UNLOCKED_SECONDS = 60


class Reach(IntEnum):
    """How far to go for a file. What is near is used first, also in another form of the same dataset."""

    CACHE = 0
    MIRROR = 1
    PUBLIC = 2


@dataclass(frozen=True)
class File:
    """A published file.

    Attributes
    ----------
    folder, name : its place in the cache and in a mirror.
    sources : public URLs, tried in turn; a fragment names the member of a zip archive. One that ends in / or # goes on
        with the name.
    checksum : ``md5:…`` or ``sha256:…`` of the file as published; empty where none is known.
    content_checksum : the same for the unpacked content, where copies differ in their compression.
    part : which of the dataset's parts it holds (``train`` or ``test``), where it holds one.
    size : bytes as published, roughly where copies differ in their compression.
    """

    folder: str
    name: str
    sources: tuple[str, ...]
    checksum: str = ""
    content_checksum: str = ""
    part: str = ""
    size: int = 10_000_000

    def __post_init__(self) -> None:
        whole = tuple(url + self.name if url.endswith(("/", "#")) else url for url in self.sources)
        object.__setattr__(self, "sources", whole)

    @property
    def place(self) -> str:
        """Its path in the cache and in a mirror."""
        return f"{self.folder}/{self.name}"

    @property
    def at_most(self) -> int:
        """Bytes of the largest file that is accepted for it: also another packing, or an archive around it."""
        return 4 * self.size + 1_000_000

    @property
    def verified(self) -> bool:
        """A copy that passed its checksum is known to be right."""
        return bool(self.checksum or self.content_checksum)

    def content(self, path: Path) -> bytes:
        """The unpacked content of a copy of this file, its checksums confirmed; raises `UnusableError`."""
        try:
            if path.is_file():
                Allowance(self.at_most, 0).unpacked().check(path.stat().st_size)
            stored = limits.read_whole(path)
            if self.checksum and not _matches(stored, self.checksum):
                raise UnusableError("damaged (its checksum differs)")
            content = unpack(stored)
        except OSError as error:
            raise UnusableError(error.strerror or str(error)) from error
        except ValueError as error:
            raise UnusableError(str(error)) from error
        if self.content_checksum and not _matches(content, self.content_checksum):
            raise UnusableError("damaged (the checksum of its content differs)")
        return content


def _matches(content: bytes, checksum: str) -> bool:
    algorithm, expected = checksum.split(":")
    return hashlib.new(algorithm, content, usedforsecurity=False).hexdigest() == expected


class Cache:
    """The folder in which files are kept, and the mirror asked before the public sources.

    Parameters
    ----------
    folder : holds ``<dataset folder>/<file>``; made when the first file arrives.
    mirror : a folder or URL laid out in the same way, or None; RequestError for a URL that is none.
    quiet : do not say on stderr what is fetched from where.

    Several processes may fetch into the same folder at once: each downloads to a temporary folder of its own and
    then moves the complete, checked file into place. A damaged file stays until a good one takes its place, as
    removing it could hit the good one that another process has just put there.
    """

    def __init__(self, folder: Path | str, mirror: str | None = None, quiet: bool = False) -> None:
        self.folder = Path(folder)
        self.mirror, self._auth = _without_user(str(mirror or ""))
        self.quiet = quiet

    def path(self, file: File) -> Path:
        return self.folder / file.place

    def origins(self, file: File, reach: Reach) -> list[str]:
        """Where to look for a file within reach, the nearest first: URLs, the empty one being the cache itself."""
        found = [""]
        if self.mirror and reach >= Reach.MIRROR:
            found.append(self._in_mirror(file))
        if reach >= Reach.PUBLIC:
            found.extend(file.sources)
        return found

    def _in_mirror(self, file: File) -> str:
        base = str(self.mirror)
        if "://" not in base:
            base = Path(base).expanduser().resolve().as_uri()
        return f"{base.rstrip('/')}/{quote(file.place)}"

    def fetch(self, file: File, origin: str) -> Fetched:
        """A checked copy of the file from one of its origins; raises `UnusableError`."""
        kept = self.path(file)
        if not origin:
            if not kept.exists():
                raise UnusableError("not there")
            return Fetched(origin, kept, kept, file.content(kept), None)
        if is_local(origin) and not local_path(origin).exists():
            raise UnusableError("not there")
        in_mirror = self.mirror is not None and origin == self._in_mirror(file)
        allowance = Allowance(file.at_most, PATIENCE + file.size / SLOWEST, self._auth if in_mirror else None)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            incoming = Incoming(self.folder)
        except OSError as error:
            raise not_writable(self.folder, error) from error
        try:
            if not self.quiet:
                print(f"fetching {file.place} from {place(origin)}", file=sys.stderr, flush=True)
            arrived = download(origin, incoming.path, file.name, file.checksum or None, allowance)
            fetched = Fetched(origin, kept, arrived, file.content(arrived), incoming)
            if file.verified:
                fetched.keep()
        except BaseException:
            incoming.remove()
            raise
        return fetched


@dataclass
class Fetched:
    """The content of a file that was had from an origin, and where its copy lies until it is kept or dropped."""

    origin: str
    path: Path
    copy: Path
    content: bytes
    incoming: Incoming | None

    def keep(self) -> None:
        """Move the copy to its place in the cache."""
        if self.incoming is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Downloads are private to their user, as temporary files are; the cache may be shared.
            fresh = self.incoming.path / ".mode"
            fresh.touch()
            self.copy.chmod(fresh.stat().st_mode)
            system.replace(self.copy, self.path)
        except OSError as error:
            raise not_writable(self.path.parent, error) from error
        self.drop()

    def drop(self) -> None:
        if self.incoming is not None:
            self.incoming.remove()
            self.incoming = None


def not_writable(folder: Path, error: OSError) -> DataError:
    advice = "Name another with --data or BUDGETBENCH_DATA."
    return DataError(f"cannot write to the data folder {folder}: {error.strerror or error}. {advice}")


def place(origin: str) -> str:
    """An origin as messages name it: the host of a URL, or the folder."""
    return str(local_path(origin).parent) if is_local(origin) else urlsplit(origin).netloc


def _without_user(mirror: str) -> tuple[str | None, tuple[str, str] | None]:
    """A mirror without user and password, so that no message can show them, and these apart."""
    if "://" not in mirror:
        return mirror or None, None
    try:
        parts = urlsplit(mirror)
        usable = parts.scheme == "file" or (parts.scheme in ("http", "https") and parts.hostname and parts.port != 0)
    except ValueError:
        usable = False
    if not usable:
        shown = re.sub("://.*@", "://", mirror, flags=re.DOTALL)
        raise RequestError(
            f"mirror (--mirror or BUDGETBENCH_MIRROR): found {shown!r}; "
            "accepted: a folder, or a URL such as https://host/path"
        )
    auth = None if parts.username is None else (unquote(parts.username), unquote(parts.password or ""))
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])), auth


class Incoming:
    """A folder of this process alone, beside the final places so that moving a file there is one step."""

    def __init__(self, folder: Path) -> None:
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
            self._lock = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            with suppress(OSError):  # a file system without locks: `sweep` fails in the same way and leaves all
                system.lock(self._lock)
            if (self.path / LOCK).exists():  # else swept before it was locked
                return
            os.close(self._lock)

    def remove(self) -> None:
        with suppress(OSError):
            system.remove_locked(self.path / LOCK, partial(os.close, self._lock))


def sweep(folder: Path) -> None:
    """Remove what processes left here that were killed; those of living ones stay."""
    for left in folder.glob(PREFIX + "*"):
        try:
            lock = os.open(left / LOCK, os.O_RDWR)
        except FileNotFoundError:
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > UNLOCKED_SECONDS:
                    shutil.rmtree(left, ignore_errors=True)
            continue
        except OSError:
            continue
        try:
            system.lock(lock, wait=False)
        except OSError:
            os.close(lock)
        else:
            system.remove_locked(left / LOCK, partial(os.close, lock))


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the program, so that nothing is left behind, unless it handles them itself."""
    ours = []
    if threading.current_thread() is threading.main_thread():
        ours = [number for number in system.ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
