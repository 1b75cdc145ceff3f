"""Get one file from one place: a URL, a member of a zip archive at a URL, or a folder."""

from __future__ import annotations

import lzma
import shutil
import ssl
import threading
import zipfile
import zlib
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag, urlsplit
from urllib.request import url2pathname

from budgetbench.datasets import limits
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    import certifi
    import pooch
    import requests
    import urllib3
else:
    certifi, pooch, requests, urllib3 = map(lazy, ("certifi", "pooch", "requests", "urllib3"))

CONNECT_SECONDS = 10
READ_SECONDS = 60
CHUNK = 1 << 18
ATTEMPTS = 3

#: Hosts whose certificate chain ends in a root without a Subject Key Identifier. Python 3.13 refuses such chains.
LENIENT_HOSTS = ("www.csie.ntu.edu.tw",)


class UnusableError(Exception):
    """A place that does not have the file, or not the right one; the message is a reason of a few words."""


@dataclass(frozen=True)
class Allowance:
    """What a download may take.

    Attributes
    ----------
    size : bytes of the largest file that is accepted.
    seconds : for the whole, all attempts together.
    auth : user and password, for the mirror that asks for them.
    """

    size: int
    seconds: float
    auth: tuple[str, str] | None = None

    def check(self, size: int) -> None:
        if size > self.size:
            raise UnusableError(f"too large (more than {self.size} bytes) for this file")

    def unpacked(self) -> Allowance:
        """The same for a file that servers may unpack on the way."""
        return replace(self, size=max(limits.ALWAYS, 4 * self.size))


def download(url: str, folder: Path, name: str, checksum: str | None, allowance: Allowance) -> Path:
    """Put the file at `url` into `folder` under `name`; with a fragment, that member of the zip archive there.

    `checksum` is of the form ``md5:…`` or ``sha256:…``. Raises `UnusableError`.
    """

    def downloader(url: str, output_file: str, _: Any) -> None:
        address, member = urldefrag(url)
        archive = output_file + ".zip"
        try:
            _get(address, archive if member else output_file, allowance)
            if member:
                _extract(archive, unquote(member), output_file, allowance)
        finally:
            Path(archive).unlink(missing_ok=True)

    pooch.get_logger().setLevel("WARNING")  # it would print each step, and the checksum of files that have none
    try:
        return Path(pooch.retrieve(url, checksum, fname=name, path=folder, downloader=downloader))
    except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError) as error:
        raise UnusableError(_reason(error)) from error
    except ValueError as error:  # how pooch reports another checksum
        raise UnusableError("not the published file (its checksum differs)") from error
    except OSError as error:
        raise UnusableError(error.strerror or str(error)) from error


def _get(address: str, output_file: str, allowance: Allowance) -> None:
    """Fetch a URL or copy a local file."""
    if is_local(address):
        copied = local_path(address)
        if not copied.is_file():
            raise UnusableError("not an ordinary file")
        allowance.unpacked().check(copied.stat().st_size)
        shutil.copyfile(copied, output_file)
    else:
        _in_time(lambda given_up: _attempts(address, output_file, allowance, given_up), allowance.seconds)


def _in_time(work: Callable[[threading.Event], None], seconds: float) -> None:
    """Do work in a thread that is left to itself when the time is up: a server that sends a byte now and then would
    never let a read time out.
    """
    given_up, outcome = threading.Event(), Future[None]()

    def job() -> None:
        try:
            work(given_up)
            outcome.set_result(None)
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=job, daemon=True).start()
    try:
        wait([outcome], seconds)
    finally:
        given_up.set()
    if not outcome.done():
        raise UnusableError(f"not complete after {seconds:.0f} seconds")
    outcome.result()


def _attempts(address: str, output_file: str, allowance: Allowance, given_up: threading.Event) -> None:
    """Fetch a URL; a connection that drops is tried again from the start."""
    with session() as http:
        http.auth = allowance.auth
        for attempt in range(ATTEMPTS):
            try:
                return _stream(http, address, output_file, allowance, given_up)
            except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError) as error:
                if attempt == ATTEMPTS - 1 or not _dropped(error) or given_up.is_set():
                    raise
            except ValueError as error:  # an address or an answer that cannot be taken apart
                raise UnusableError("an answer that makes no sense") from error


def is_local(address: str) -> bool:
    return urlsplit(address).scheme == "file"


def local_path(address: str) -> Path:
    """The path that a `file:` URL names."""
    return Path(url2pathname(urlsplit(address).path))


def _stream(
    http: requests.Session, address: str, output_file: str, allowance: Allowance, given_up: threading.Event
) -> None:
    # "identity": some servers would otherwise send a .gz file as a compressed transfer of its content
    headers = {"Accept-Encoding": "identity", "User-Agent": "budgetbench"}
    timeout = (min(CONNECT_SECONDS, allowance.seconds), min(READ_SECONDS, allowance.seconds))
    with http.get(address, headers=headers, stream=True, timeout=timeout) as response:
        response.raise_for_status()
        length = response.headers.get("Content-Length", "")
        allowance.check(int(length) if length.isdecimal() and len(length) < 20 else 0)
        if encoding := response.headers.get("Content-Encoding", "").strip().lower():
            allowance = allowance.unpacked()
        decoded = _decoder(encoding, allowance)
        with open(output_file, "wb") as output:
            # requests itself would undo a compressed transfer in pieces of any size
            while chunk := response.raw.read(CHUNK, decode_content=False):
                if given_up.is_set():
                    return
                content = decoded(chunk)
                allowance.check(output.tell() + len(content))
                output.write(content)


def _decoder(encoding: str, allowance: Allowance) -> Callable[[bytes], bytes]:
    """What undoes a compressed transfer, of which no more than the allowance is ever made."""
    if encoding in ("", "identity"):
        return lambda chunk: chunk
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise UnusableError("a compressed transfer that was not asked for")
    undo = zlib.decompressobj(wbits=32 + zlib.MAX_WBITS)  # told by the first bytes

    def decoded(chunk: bytes) -> bytes:
        try:
            return undo.decompress(chunk, allowance.size + 1)
        except zlib.error as error:
            raise UnusableError("a damaged transfer") from error

    return decoded


def session() -> requests.Session:
    """A session that makes its one exception of certificate checking for `LENIENT_HOSTS` only."""

    class LenientAdapter(requests.adapters.HTTPAdapter):
        """Checks certificates and host names as ever, but not that each certificate has every extension."""

        def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
            context = ssl.create_default_context(cafile=certifi.where())
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            super().init_poolmanager(*args, ssl_context=context, **kwargs)

    http = requests.Session()
    if ssl.create_default_context().verify_flags & ssl.VERIFY_X509_STRICT:
        for host in LENIENT_HOSTS:
            http.mount(f"https://{host}/", LenientAdapter())
    return http


def _extract(archive: str, member: str, output_file: str, allowance: Allowance) -> None:
    """Copy the member of that name, in whichever folder of the archive it lies."""
    try:
        with zipfile.ZipFile(archive) as opened:
            names = [name for name in opened.namelist() if name.rsplit("/", 1)[-1] == member]
            if not names:
                raise UnusableError(f"the archive there has no {member}")
            with opened.open(names[0]) as source, open(output_file, "wb") as output:
                while piece := source.read(CHUNK):
                    output.write(piece)
                    allowance.check(output.tell())
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError) as error:
        raise UnusableError("not a zip archive, or a damaged one") from error


def _dropped(error: requests.exceptions.RequestException | urllib3.exceptions.HTTPError) -> bool:
    """A connection that was made and then lost, which is worth another attempt; a refused one is not."""
    return any(isinstance(cause, urllib3.exceptions.ProtocolError) for cause in (error, *error.args))


def _reason(error: requests.exceptions.RequestException | urllib3.exceptions.HTTPError) -> str:
    """The failure in a few words; the exceptions' own texts run to several lines."""
    if isinstance(error, requests.exceptions.HTTPError) and error.response is not None:
        return f"the server answers {error.response.status_code} {error.response.reason}".rstrip()
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate is not trusted"
    if isinstance(error, requests.exceptions.Timeout | urllib3.exceptions.ReadTimeoutError):
        return "no answer in time"
    if _dropped(error):
        return "the connection breaks off"
    if isinstance(error, requests.exceptions.TooManyRedirects):
        return "it sends from place to place"
    unparsed = isinstance(error, ValueError)  # an address that cannot be taken apart
    if isinstance(error, requests.exceptions.ConnectionError | urllib3.exceptions.HTTPError) and not unparsed:
        return "cannot connect"
    return f"an answer that makes no sense ({type(error).__name__})"
