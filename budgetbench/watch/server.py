"""The server: on loopback, for reading alone, with the standard library."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qs, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from budgetbench.errors import RequestError
from budgetbench.report.palette import DARK, LIGHT, variables
from budgetbench.version import __version__
from budgetbench.watch.follow import Experiments

HOST = "127.0.0.1"
#: Seconds after which results are looked at again, however many pages ask.
APART = 0.5


def serve(root: Path, port: int, ready: Callable[[str], None]) -> None:
    """Show the results in a folder, which need not be there yet, until this is interrupted.

    Parameters
    ----------
    port : 0 for any that is free.
    ready : is told the page's address once it answers.

    Raises
    ------
    RequestError : the port is taken, or not ours to take.
    """
    try:
        server = ThreadingHTTPServer((HOST, port), handler(root))
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise RequestError(f"--port: {port} cannot be had ({why}). Name another, or 0 for any that is free.") from None
    with server:
        server.daemon_threads = True
        ready(f"http://{HOST}:{server.server_address[1]}/")
        server.serve_forever()


def handler(root: Path) -> Callable[..., BaseHTTPRequestHandler]:
    """What answers a request about the results in a folder."""
    return partial(Handler, Watched(root))


class Watched:
    """Results that several pages may ask for at once."""

    def __init__(self, root: Path) -> None:
        self._experiments, self._lock, self._looked = Experiments(root), Lock(), 0.0
        self.page = _page(root)

    def state(self, known: int) -> bytes | None:
        """What there is to show as JSON; None where it is as old as the version that is known."""
        with self._lock:
            if time.monotonic() >= self._looked + APART:
                self._experiments.look()
                self._looked = time.monotonic()
            if self._experiments.version == known:
                return None
            return json.dumps(self._experiments.state()).encode()


class Handler(BaseHTTPRequestHandler):
    """Answers with the page or with the state, to who asks this machine by its own name."""

    server_version = f"budgetbench/{__version__}"

    def __init__(self, watched: Watched, *arguments: object) -> None:
        self._watched = watched
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        # A page from elsewhere may have its own name lead here, and would read what is answered.
        if self.headers.get("Host", "").rsplit(":", 1)[0] not in (HOST, "localhost"):
            self.send_error(HTTPStatus.FORBIDDEN)
        elif asked.path == "/":
            self._answer(self._watched.page, "text/html; charset=utf-8")
        elif asked.path == "/state.json":
            known = parse_qs(asked.query).get("version", ["-1"])[0]
            state = self._watched.state(int(known) if known.isdigit() else -1)
            if state is None:
                self.send_response(HTTPStatus.NO_CONTENT)
                self.end_headers()
            else:
                self._answer(state, "application/json")
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _answer(self, content: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""


def _page(root: Path) -> bytes:
    loader = PackageLoader("budgetbench.watch")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    page = environment.get_template("watch.html.j2").render(
        root=str(root), light=Markup(variables(LIGHT, ())), dark=Markup(variables(DARK, ()))
    )
    return page.encode()
