"""The live page: what it tells as runs end, to whom, and how it looks to a browser."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.results import record, write_results

from budgetbench.errors import RequestError
from budgetbench.watch import serve, server
from budgetbench.watch.follow import Experiments

SETS = [("perceptron", {}), ("budget_perceptron", {"budget": 5}), ("budget_perceptron", {"budget": 10})]
RUNS = [record(name, params, run, test_error=0.1 + 0.1 * run) for run in range(2) for name, params in SETS]


def folder_of(root: Path, runs: list[dict[str, Any]]) -> Path:
    """An experiment of six runs, of which these have ended."""
    write_results(
        root / "tiny",
        runs,
        {"keys": [one["key"] for one in RUNS]},
        permutations=2,
        title="A tiny <experiment>",
        algorithms=[{"name": "perceptron"}, {"name": "budget_perceptron", "budget": [5, 10]}],
    )
    return root / "tiny"


def add(folder: Path, *runs: dict[str, Any], end: str = "\n") -> None:
    with (folder / "trials.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n".join(map(json.dumps, runs)) + end)


def looked(experiments: Experiments) -> dict[str, Any]:
    experiments.look()
    (state,) = experiments.state()["experiments"]
    return dict(state)


def test_runs_are_counted_as_they_end(tmp_path: Path) -> None:
    experiments = Experiments(tmp_path)
    experiments.look()
    assert experiments.state() == {"version": 0, "experiments": []}
    folder = folder_of(tmp_path, RUNS[:1])
    state = looked(experiments)
    assert [state[name] for name in ("name", "total", "done", "failed", "under_way")] == ["tiny", 6, 1, 0, False]
    assert state["last"][0]["at"] is None
    version = experiments.version
    experiments.look()
    assert experiments.version == version
    add(folder, RUNS[1], RUNS[2] | {"status": "failed", "error": "no"})
    state = looked(experiments)
    assert experiments.version > version
    assert [state[name] for name in ("done", "failed", "under_way")] == [3, 1, True]
    assert state["seconds_left"] > 0
    assert [run["words"] for run in state["last"]] == ["budget = 10", "budget = 5", ""]
    assert state["last"][0]["error"] == "no"
    assert [told["runs"] for told in state["sets"]] == [1, 1]


def test_means_are_of_the_runs_so_far_and_a_run_done_again_counts_once(tmp_path: Path) -> None:
    experiments = Experiments(tmp_path)
    folder = folder_of(tmp_path, RUNS[:1])
    add(folder, RUNS[3], RUNS[3] | {"test_error": 0.3})
    state = looked(experiments)
    assert state["done"] == 2
    assert state["sets"] == [
        {"learner": "Perceptron", "words": "", "runs": 2, "test_error": 0.2, "online_error": None, "support_size": None}
    ]


def test_half_a_line_waits_for_the_other_half(tmp_path: Path) -> None:
    experiments = Experiments(tmp_path)
    folder = folder_of(tmp_path, RUNS[:1])
    text = json.dumps(RUNS[1])
    with (folder / "trials.jsonl").open("a", encoding="utf-8") as file:
        file.write(text[:40])
    assert looked(experiments)["done"] == 1
    with (folder / "trials.jsonl").open("a", encoding="utf-8") as file:
        file.write(text[40:] + "\n")
    assert looked(experiments)["done"] == 2


def test_what_is_begun_anew_or_belongs_to_another_plan_is_not_counted(tmp_path: Path) -> None:
    experiments = Experiments(tmp_path)
    folder = folder_of(tmp_path, RUNS[:4])
    add(folder, record("perceptron", {"epochs": 7}, 0))
    assert looked(experiments)["done"] == 4
    (folder / "trials.jsonl").unlink()
    folder_of(tmp_path, RUNS[:2])
    assert looked(experiments)["done"] == 2


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    folder_of(tmp_path, RUNS[:2])
    httpd = ThreadingHTTPServer((server.HOST, 0), server.handler(tmp_path))
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_address[1]}"
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def asked(url: str, **more: Any) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, **more), timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, b""


def test_it_answers_who_asks_this_machine_by_its_own_name_and_takes_nothing(address: str) -> None:
    assert asked(address)[0] == 200
    assert asked(address.replace("127.0.0.1", "localhost"), headers={"Host": "localhost:80"})[0] == 200
    assert asked(address, headers={"Host": "elsewhere.example"})[0] == 403
    assert asked(f"{address}/../../etc/passwd")[0] == 404
    assert asked(address, method="POST", data=b"x")[0] == 501
    status, content = asked(f"{address}/state.json")
    state = json.loads(content)
    assert (status, state["experiments"][0]["done"]) == (200, 2)
    assert asked(f"{address}/state.json?version={state['version']}") == (204, b"")


def test_a_taken_port_is_said(address: str, tmp_path: Path) -> None:
    taken = int(address.rsplit(":", 1)[1])
    with pytest.raises(RequestError, match=rf"--port: {taken} cannot be had .*0 for any that is free"):
        serve(tmp_path, taken, print)


def test_the_page_in_a_browser(browser: Any, address: str, tmp_path: Path) -> None:
    browser.console()
    browser.open(address)
    rows = "return [...document.querySelectorAll('article table')].map(e => e.tBodies[0].rows.length)"
    wait = """return new Promise(done => {
      const there = () => document.querySelectorAll(arguments[0]).length >= arguments[1];
      const look = () => there() ? done(true) : setTimeout(look, 20);
      look();
    });"""
    browser.do(wait, "article .scroll:last-child tbody tr", 2)
    assert browser.do("return document.querySelector('h2').textContent") == "A tiny <experiment>"
    assert browser.do(rows) == [2, 2]
    add(tmp_path / "tiny", *RUNS[2:5])
    browser.do(wait, "article .scroll:last-child tbody tr", 5)
    assert browser.do(rows) == [3, 5]
    assert browser.do("return document.querySelector('progress').value") == 5
    assert browser.do("return performance.getEntriesByType('resource').every(e => e.name.includes('state.json'))")
    assert browser.console() == []
