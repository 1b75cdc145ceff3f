"""A browser to open pages in."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class Browser:
    """Chromium, driven over the WebDriver protocol, which is JSON over HTTP."""

    ARGUMENTS = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        "--disable-component-update --disable-sync --window-size=1280,900"
    )

    def __init__(self, chromium: str, driver: str, profile: Path) -> None:
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self._driver = subprocess.Popen([driver, "--port=0"], **quiet)
        assert self._driver.stdout is not None
        ports = (re.search(r"started successfully on port (\d+)", line) for line in self._driver.stdout)
        self._url = f"http://127.0.0.1:{next(found[1] for found in ports if found)}"
        options = {"binary": chromium, "args": [*self.ARGUMENTS.split(), f"--user-data-dir={profile}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        except BaseException:
            self._driver.terminate()
            raise
        self._url += f"/session/{session['sessionId']}"

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, url: str) -> None:
        self._call("POST", "/url", {"url": url})

    def do(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript in the page; what it returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def command(self, name: str, **parameters: Any) -> Any:
        """A command of the DevTools protocol."""
        return self._call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def console(self) -> list[str]:
        """What the page has said since the last time."""
        return [entry["message"] for entry in self._call("POST", "/se/log", {"type": "browser"})]

    def close(self) -> None:
        try:
            self._call("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.wait(timeout=30)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs chromium and chromedriver: apt-get install chromium chromium-driver")
    found = Browser(chromium, driver, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()
