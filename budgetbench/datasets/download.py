"""Get one file from one place: a URL, a member of a zip archive at a URL, or a folder."""

from __future__ import annotations

import shutil
import ssl
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag, urlsplit
from urllib.request import url2pathname

if TYPE_CHECKING:
    import requests

#: Called with the bytes received so far and the total, None where the server does not say.
Progress = Callable[[int, int | None], None]

CONNECT_SECONDS = 10
READ_SECONDS = 60
CHUNK = 1 << 18
ATTEMPTS = 3

#: Hosts whose certificate chain ends in a root without a Subject Key Identifier. Python 3.13 refuses such chains.
LENIENT_HOSTS = ("www.csie.ntu.edu.tw",)


class UnusableError(Exception):
    """A place that does not have the file, or not the right one; the message is a reason of a few words."""


def download(url: str, folder: Path, name: str, checksum: str | None, progress: Progress | None = None) -> Path:
    """Put the file at `url` into `folder` under `name`; with a fragment, that member of the zip archive there.

    `checksum` is of the form ``md5:…`` or ``sha256:…``. Raises `UnusableError`.
    """
    import pooch
    import requests

    def downloader(url: str, output_file: str, _: Any) -> None:
        address, member = urldefrag(url)
        if not member:
            _get(address, output_file, progress)
            return
        archive = output_file + ".zip"
        try:
            _get(address, archive, progress)
            _extract(archive, unquote(member), output_file)
        finally:
            Path(archive).unlink(missing_ok=True)

    pooch.get_logger().setLevel("WARNING")  # it would print each step, and the checksum of files that have none
    try:
        return Path(pooch.retrieve(url, checksum, fname=name, path=folder, downloader=downloader))
    except requests.exceptions.RequestException as error:
        raise UnusableError(_reason(error)) from error
    except ValueError as error:  # how pooch reports another checksum
        raise UnusableError("not the published file (its checksum differs)") from error
    except OSError as error:
        raise UnusableError(error.strerror or str(error)) from error


def _get(address: str, output_file: str, progress: Progress | None) -> None:
    """Fetch a URL or copy a local file; a connection that drops is tried again from the start."""
    if is_local(address):
        shutil.copyfile(local_path(address), output_file)
        return
    import requests

    with session() as http:
        for attempt in range(ATTEMPTS):
            try:
                return _stream(http, address, output_file, progress)
            except requests.exceptions.RequestException as error:
                if attempt == ATTEMPTS - 1 or not _dropped(error):
                    raise


def is_local(address: str) -> bool:
    return urlsplit(address).scheme == "file"


def local_path(address: str) -> Path:
    """The path that a `file:` URL names."""
    return Path(url2pathname(urlsplit(address).path))


def _stream(http: requests.Session, address: str, output_file: str, progress: Progress | None) -> None:
    # "identity": some servers would otherwise send a .gz file as a compressed transfer of its content
    headers = {"Accept-Encoding": "identity", "User-Agent": "budgetbench"}
    timeout = (CONNECT_SECONDS, READ_SECONDS)
    with http.get(address, headers=headers, stream=True, timeout=timeout) as response:
        response.raise_for_status()
        size = response.headers.get("Content-Length", "")
        total = int(size) if size.isdigit() else None
        received = 0
        with open(output_file, "wb") as output:
            for chunk in response.iter_content(CHUNK):
                output.write(chunk)
                received += len(chunk)
                if progress:
                    progress(received, total)


def session() -> requests.Session:
    """A session that makes its one exception of certificate checking for `LENIENT_HOSTS` only."""
    import requests
    from requests.adapters import HTTPAdapter

    class LenientAdapter(HTTPAdapter):
        """Checks certificates and host names as ever, but not that each certificate has every extension."""

        def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
            import certifi

            context = ssl.create_default_context(cafile=certifi.where())
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            super().init_poolmanager(*args, ssl_context=context, **kwargs)

    http = requests.Session()
    if ssl.create_default_context().verify_flags & ssl.VERIFY_X509_STRICT:
        for host in LENIENT_HOSTS:
            http.mount(f"https://{host}/", LenientAdapter())
    return http


def _extract(archive: str, member: str, output_file: str) -> None:
    """Copy the member of that name, in whichever folder of the archive it lies."""
    try:
        with zipfile.ZipFile(archive) as opened:
            names = [name for name in opened.namelist() if name.rsplit("/", 1)[-1] == member]
            if not names:
                raise UnusableError(f"the archive there has no {member}")
            with opened.open(names[0]) as source, open(output_file, "wb") as output:
                shutil.copyfileobj(source, output)
    except zipfile.BadZipFile as error:
        raise UnusableError("not a zip archive") from error


def _dropped(error: requests.exceptions.RequestException) -> bool:
    """A connection that was made and then lost, which is worth another attempt; a refused one is not."""
    import requests
    from urllib3.exceptions import ProtocolError

    lost = isinstance(error, requests.exceptions.ConnectionError) and any(
        isinstance(cause, ProtocolError) for cause in error.args
    )
    return lost or isinstance(error, requests.exceptions.ChunkedEncodingError)


def _reason(error: requests.exceptions.RequestException) -> str:
    """The failure in a few words; the exceptions' own texts run to several lines."""
    from requests import exceptions

    if isinstance(error, exceptions.HTTPError) and error.response is not None:
        return f"the server answers {error.response.status_code} {error.response.reason}".rstrip()
    if isinstance(error, exceptions.SSLError):
        return "its certificate is not trusted"
    if isinstance(error, exceptions.Timeout):
        return "no answer in time"
    if _dropped(error):
        return "the connection breaks off"
    if isinstance(error, exceptions.ConnectionError):
        return "cannot connect"
    return type(error).__name__
