"""Mutation tests: does a small change to the numerical code make a test fail?

A random sample of cosmic-ray's mutants, spread over the files by their lines. Each is put into a copy of the sources
and runs against the quick tests that pass through its statement, with compilation off. `make mutants` calls it:

    NUMBA_DISABLE_JIT=1 OMP_NUM_THREADS=1 python tests/mutants.py [how many] [seed] [only files with this in their path]

`compiled.py` is left out: nothing of it is at work where compilation is off.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import coverage
import hypothesis
import pytest

if TYPE_CHECKING:
    from cosmic_ray.work_item import MutationSpec

PROJECT = Path(__file__).resolve().parents[1]
SOURCES = ("kernels", "streams", "engine", "learners")
TESTS = ("tests/engine", "tests/learners", "tests/*kernels*", "tests/*streams*")
ONCE = ("numba", "pandas", "pydantic", "scipy.stats", "sklearn.svm", "sklearn.utils.estimator_checks")

#: Seconds of the processor that one test may take to be among the quick ones, that those of a file of tests may take
#: together, and that those of a mutant may take; with twice that and MORE, a mutant is killed by the clock.
ONE, FILE, MUTANT, MORE = 0.7, 6.0, 10.0, 10.0


class Quick:
    """A plugin of pytest: properties try few examples, always the same; the time of each test that passes is noted.

    only : the tests to run, in this order; without, all in any order, as long as they are quick.
    """

    def __init__(self, only: list[str] | None = None) -> None:
        self.only = only
        self.times: dict[str, float] = {}
        self.spent: dict[Path, float] = defaultdict(float)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        random.Random(0).shuffle(items)
        if self.only is not None:
            place = {name: number for number, name in enumerate(self.only)}
            items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])
        few = {"max_examples": 4, "derandomize": True, "database": None, "deadline": None}
        phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
        for test in (item.obj for item in items if hasattr(getattr(item, "obj", None), "hypothesis")):
            usual = test._hypothesis_internal_use_settings
            test._hypothesis_internal_use_settings = hypothesis.settings(usual, **few, phases=phases)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        if self.only is not None:
            return (yield)
        if self.spent[item.path] > FILE:
            pytest.skip("enough quick tests of this file")
        begin = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, ONE)
        signal.setitimer(signal.ITIMER_REAL, 30 * ONE)  # for one that waits, for another process or thread
        try:
            outcome = yield
            self.times[item.nodeid] = time.process_time() - begin
            return outcome
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.spent[item.path] += time.process_time() - begin


def stop(*_: Any) -> None:
    raise TimeoutError


def in_child(plugin: Quick, seconds: float, *arguments: str) -> str:
    """Run tests in a process of their own, in so much of the processor's time; says how they ended."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + seconds), resource.RLIM_INFINITY))
        sys.path.insert(0, str(Path.cwd()))
        signal.signal(signal.SIGPROF, stop), signal.signal(signal.SIGALRM, stop)
        log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1), os.dup2(log, 2)
        code = pytest.main(["-q", "-p", "no:cacheprovider", "--tb=line", *arguments], plugins=[plugin])
        Path("times.json").write_text(json.dumps(plugin.times))
        os._exit(int(code))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return "survived" if code == 0 else "clock" if code == -signal.SIGXCPU else "killed"


class Tests:
    """The tests that are quick without a mutant, and the lines that each of them passes through."""

    def __init__(self) -> None:
        found = [str(path) for pattern in TESTS for path in Path().glob(pattern)]
        in_child(Quick(), 3600, *found)
        self.times: dict[str, float] = json.loads(Path("times.json").read_text())
        # once more with coverage, whose lock a time limit could leave locked
        seen = ("--cov=budgetbench", "--cov-branch", "--cov-context=test", "--cov-report=")
        in_child(Quick(list(self.times)), 3600, *{name.partition("::")[0] for name in self.times}, *seen)
        print(f"{len(self.times)} quick tests: {sum(self.times.values()):.0f} s", flush=True)
        passed = coverage.Coverage(".coverage", config_file="pyproject.toml")
        passed.load()
        passed.report([str(path) for path in sources()], show_missing=True)
        self._data = passed.get_data()

    def through(self, path: Path, line: int) -> list[str]:
        """The tests to try, the quickest first: of a statement, or of the whole file where it runs at import."""
        found = self._data.contexts_by_lineno(str(path))
        passed = {at: {name.rpartition("|")[0] for name in names} for at, names in found.items()}
        statements = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.stmt)]
        spans = [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in statements]
        around = min((span for span in spans if line in span), key=len, default=range(line, line + 1))  # a decorator
        names = set().union(*(passed.get(at, set()) for at in around)) & self.times.keys()
        names = names or set().union(*passed.values()) & self.times.keys()
        chosen, spent = [], 0.0
        for name in sorted(names, key=self.times.__getitem__):
            spent += self.times[name]
            if spent < MUTANT:
                chosen.append(name)
        return chosen


def mutants_of(path: Path) -> list[MutationSpec]:
    """All mutants of a file but those that compilation off and unread annotations make equivalent."""
    from cosmic_ray.commands.init import init
    from cosmic_ray.work_db import WorkDB, use_db

    with use_db(":memory:", WorkDB.Mode.create) as db:
        init([path], db, {})
        found = [item.mutations[0] for item in db.work_items]
    lines = path.read_text().splitlines()
    inert = ("@compiled", "@contracted", "@cache", "@abstractmethod")
    live = [m for m in found if "BitOr" not in m.operator_name]
    return [m for m in live if not lines[m.start_pos[0] - 1].lstrip().startswith(inert)]


def sources() -> list[Path]:
    patterns = [name for source in SOURCES for name in (f"{source}.py", f"{source}/**/*.py")]
    found = {path for pattern in patterns for path in Path("budgetbench").resolve().glob(pattern)}
    return sorted(path for path in found if path.name not in ("compiled.py", "__init__.py"))


def sampled(number: int, seed: int, part: str) -> list[MutationSpec]:
    paths = [path for path in sources() if part in str(path.relative_to(Path.cwd()))]
    chance, chosen = random.Random(seed), []
    lines = [len(path.read_text().splitlines()) for path in paths]
    for path, many in Counter(chance.choices(paths, lines, k=number)).items():
        specs = sorted(mutants_of(path), key=lambda m: (m.operator_name, m.occurrence))
        chosen += chance.sample(specs, min(many, len(specs)))
    chance.shuffle(chosen)
    return chosen


def difference(source: str, mutated: str) -> str:
    changes = difflib.unified_diff(source.splitlines(), mutated.splitlines(), n=0, lineterm="")
    return "".join(f"    {line}\n" for line in changes if not line.startswith(("---", "+++", "@@")))


def main(number: int = 120, seed: int = 1, part: str = "") -> None:
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        raise SystemExit("compilation is on: set NUMBA_DISABLE_JIT=1")
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    for name in ONCE:  # in the children these are there at once
        importlib.import_module(name)
    sys.dont_write_bytecode = True  # two mutants of a file may come in one second
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve()
        for name in ("budgetbench", "tests"):
            shutil.copytree(PROJECT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / "configs").symlink_to(PROJECT / "configs")
        shutil.copy(PROJECT / "pyproject.toml", copy)
        os.chdir(copy)
        tests = Tests()
        for spec in sampled(number, seed, part):
            path, line = spec.module_path, spec.start_pos[0]
            names = tests.through(path, line)
            source = path.read_text()
            mutated = mutate_code(source, get_operator(spec.operator_name)(), spec.occurrence)
            path.write_text(mutated)
            files = {name.partition("::")[0] for name in names}
            end = in_child(Quick(names), 2 * MUTANT + MORE, "-x", *files) if names else "survived"
            path.write_text(source)
            ends[end] += 1
            operator = spec.operator_name.removeprefix("core/")
            print(f"{end:9}{path.relative_to(copy)}:{line} {operator} {spec.occurrence} ({len(names)} tests)")
            print("" if end == "killed" else difference(source, mutated), end="", flush=True)
    print(f"{ends['killed']} killed, {ends['clock']} killed by the clock, {ends['survived']} survived")


if __name__ == "__main__":
    main(*(kind(value) for kind, value in zip((int, int, str), sys.argv[1:], strict=False)))
