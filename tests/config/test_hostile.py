"""Configurations that are meant to do harm, or were written by a cat: each gets one short answer, and gets it soon."""

from __future__ import annotations

import copy
import itertools
import os
import resource
import string
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetbench import document as documents
from budgetbench.config import load
from budgetbench.config.algorithms import MOST_SETS
from budgetbench.config.loading import interpret
from budgetbench.document import MOST_VALUES, Document, dump, parse, read
from budgetbench.errors import MOST_SHOWN, ConfigError, Problems, RequestError
from budgetbench.experiment import Experiment
from budgetbench.learners import learners

Refused = Callable[..., str]

BASE = """\
name: example
dataset: {name: gaussian, n: 160, train_size: 100, test_size: 60}
kernel: {name: rbf, gamma: 1}
permutations: 2
algorithms:
  - {name: perceptron}
"""
POSITIVE = "a number of at least 1e-30 and at most 1e+30"


@pytest.fixture
def known() -> None:
    """The real learners and datasets, unlike in the other tests of this folder."""


def with_line(line: str) -> str:
    return BASE + line + "\n"


def with_kernel(kernel: str) -> str:
    return BASE.replace("{name: rbf, gamma: 1}", kernel)


def with_learner(entry: str) -> str:
    return BASE.replace("{name: perceptron}", entry)


def bomb(tag: str = "") -> str:
    """Twenty lists, each of nine times the one before."""
    first = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    letters = string.ascii_lowercase[:21]
    return first + "".join(
        f"{new}: &{new} {tag}[{', '.join([f'*{old}'] * 9)}]\n" for old, new in itertools.pairwise(letters)
    )


LONG_LIST = f"[{', '.join(map(str, range(1, 201)))}]"
LARGE_GRID = (
    f"{{name: tighter_budget_perceptron, budget: {LONG_LIST}, beta: {LONG_LIST}, C: {LONG_LIST}, "
    f"candidates: {LONG_LIST}}}"
)
#: What does not fit into a line of `hostile.txt`.
LONG = [
    (BASE.replace("permutations: 2", "permutations: " + "9" * 2000), "permutations: found tag", "a number"),
    (with_learner("{name: svm, C: 1%s}" % ("0" * 400)), "algorithms[0].C: found 1000", POSITIVE),
    (with_learner("{name: %s}" % ("x" * 5000)), "(5002 characters)", "perceptron"),
    (with_line(f"{'k' * 1000}: 1"), "(1002 characters)", "permutations"),
    (with_line(bomb()), f"more than {MOST_VALUES} values", "those of an alias counted each time"),
    (with_line(bomb("!!set ")), "found the tag tag:yaml.org,2002:set", "a list or a mapping without one"),
    (with_line("? &a [1, 2]\n: 1\n? [*a, *a]\n: 2"), "found a list or mapping", "a text as a key"),
    (with_line("a: " + "{a: " * 60 + "1" + "}" * 60), "lists or mappings more than 50 deep", "at most 50 deep"),
    (with_line("- " * 100), "valid YAML", "c.yaml:7"),
    ("- " * 100, "lists or mappings more than 50 deep", "at most 50 deep"),
    ("[" * 200_000, "lists or mappings more than 50 deep", "at most 50 deep"),
    (with_line("a: [" + "1," * 100_000 + "]"), f"more than {MOST_VALUES} values", "at most"),
    (with_line("%YAML 9.9\n---\nname: x"), "found", "valid YAML"),
    (with_line("---\nname: y"), "valid YAML", "another document"),
    (with_line("\ttitle: x"), "found", "valid YAML"),
    ("\0" * 100, "a forbidden character", "valid YAML"),
    ("x" * 100_000, "found a single value", "a mapping that starts with"),
    ("!" * 100_000, "(100019 characters)", "a text, a number"),
    (with_learner(LARGE_GRID), "algorithms[0]: found 1600000000 parameter sets", f"at most {MOST_SETS}"),
    (
        with_line("".join([f"  - {{name: svm, C: {LONG_LIST}, epochs: {LONG_LIST}}}\n"] * 2)),
        "algorithms[1]: found 80001 parameter sets",
        f"at most {MOST_SETS}",
    ),
]


def corpus() -> Iterator[tuple[str, str, str]]:
    """A configuration, what is found in it, and what is accepted, for each line of `hostile.txt`."""
    replaced = ""
    for line in Path(__file__).with_name("hostile.txt").read_text(encoding="utf-8").splitlines()[2:]:
        if line.startswith("== "):
            replaced = line.removeprefix("== ").removeprefix("a line more").removeprefix("in place of ")
            assert replaced in BASE
        elif line:
            text, found, accepted = line.split(" | ")
            yield BASE.replace(replaced, text) if replaced else with_line(text), found, accepted


def test_each_is_answered_by_one_short_message(refused: Refused) -> None:
    cases = [*corpus(), *LONG]
    assert len(cases) > 130
    said = [refused(text) for text, _, _ in cases]
    assert not [
        f"{text[-300:]}\n→ {message[:2000]}"
        for (text, found, accepted), message in zip(cases, said, strict=True)
        if found not in message or accepted not in message
    ]
    assert max(len(message) for message in said) < 6000
    assert max(message.count("\n") for message in said) <= MOST_SHOWN


ACCEPTED: list[tuple[str, Callable[[Experiment], Any], Any]] = [
    (with_line("seed: 9007199254740992"), lambda e: e.seed, 2**53),
    (with_line("seed: +07"), lambda e: e.seed, 7),
    (BASE.replace("permutations: 2", "permutations: 2147483647"), lambda e: e.permutations, 2**31 - 1),
    (with_line("checkpoints: 100000"), lambda e: e.checkpoints, 100_000),
    (with_line("title: on"), lambda e: e.title, "on"),
    (with_line("title: 1_000"), lambda e: e.title, "1_000"),
    (with_line('title: "σ² ☃ \\U0001F600"'), lambda e: e.title, "σ² ☃ 😀"),
    (with_line("label_noise: {rate: 1}"), lambda e: e.label_noise.rate, 1.0),
    (with_line("label_noise: null"), lambda e: e.label_noise.rate, 0.0),
    (with_kernel("{name: rbf, sigma: 1e-14}"), lambda e: e.kernel.gamma, 1 / (2 * 1e-14**2)),
    (with_kernel("{name: rbf, gamma: 1e30}"), lambda e: e.kernel.gamma, 1e30),
    (with_kernel("{name: polynomial, degree: 100, coef0: -0.0}"), lambda e: repr(e.kernel.coef0), "0.0"),
    (
        BASE.replace("train_size: 100, test_size: 60", "scale: standard, scale_on: all"),
        lambda e: e.dataset.scale_on,
        "all",
    ),
    (with_learner("{name: svm, C: [1, 10, 1e2]}"), lambda e: repr(e.algorithms[0].grid["C"]), "(1.0, 10.0, 100.0)"),
    (with_learner("{name: stoptron, budget: 2147483647}"), lambda e: e.algorithms[0].trials[0]["budget"], 2**31 - 1),
    (with_learner("{name: mira, beta: 1}"), lambda e: repr(e.algorithms[0].trials[0]["beta"]), "1.0"),
]


@pytest.mark.parametrize(("text", "look", "expected"), ACCEPTED)
def test_accepted_with_its_exact_meaning(
    read: Callable[..., Experiment], text: str, look: Callable[[Experiment], Any], expected: Any
) -> None:
    experiment = read(text)
    assert look(experiment) == expected
    assert look(read(dump(experiment.resolved()))) == expected


def test_problems_beyond_some_are_counted(refused: Refused) -> None:
    lines = refused(BASE + "".join(f"unknown_{n}: 1\n" for n in range(3000))).splitlines()
    assert len(lines) == MOST_SHOWN + 1
    assert lines[0].startswith("c.yaml:7: unknown_0: found 'unknown_0'")
    assert lines[-1] == f"and {3000 - MOST_SHOWN} more problems"


def test_hints_are_looked_for_as_long_as_they_are_shown(refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[object] = []
    monkeypatch.setattr("budgetbench.errors.nearest", lambda found, names: looked.append(found) or "")
    refused(BASE + "".join(f"unknown_{n}: 1\n" for n in range(500)))
    assert len(looked) == MOST_SHOWN


def test_a_grid_too_large_is_not_gone_through(refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    checked = learners["svm"].checked
    monkeypatch.setattr(learners["svm"], "checked", lambda values: made.append(values) or checked(values))
    values = ", ".join(map(str, range(1, 102)))
    refused(with_learner(f"{{name: svm, C: [{values}], epochs: [{values}]}}"))
    assert not made


def test_composing_stops_at_the_first_value_too_many(refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    composed: list[Any] = []
    compose = documents._Loader.compose_node
    monkeypatch.setattr(documents._Loader, "compose_node", lambda *given: composed.append(0) or compose(*given))
    refused(with_line("a: [" + "1," * 100_000 + "]"))
    assert len(composed) == MOST_VALUES + 1


def test_a_file_too_large(write: Callable[[str], Path]) -> None:
    with pytest.raises(RequestError, match=r"c\.yaml: found more than 262144 bytes; accepted: .*dataset\.path"):
        load(write("#" + "σ" * 150_000))


def test_a_file_without_end() -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("needs /dev/zero")
    with pytest.raises(RequestError, match="found more than 262144 bytes"):
        load("/dev/zero")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space hold on Linux alone")
def test_the_worst_fit_in_little_memory(tmp_path: Path) -> None:
    worst = [BASE + bomb(), with_line("checkpoints: 100000000"), with_line("a: [" + "1," * 100_000 + "]")]
    worst.append(with_learner(f"{{name: svm, C: {LONG_LIST}, a: {LONG_LIST}, b: {LONG_LIST}, c: {LONG_LIST}}}"))
    for number, text in enumerate(worst):
        (tmp_path / f"{number}.yaml").write_text(text)
    limited = subprocess.run(
        [sys.executable, "-m", "budgetbench", "validate", *(f"{n}.yaml" for n in range(len(worst)))],
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)),
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert limited.returncode == 2, limited.stderr
    assert len(limited.stderr.splitlines()) == len(worst)
    assert "Traceback" not in limited.stderr


# -- command lines ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("algorithms.99999999999999999999.epochs=1", "the number of a list's entry, 0 to 0"),
        ("algorithms.²=1", "the number of a list's entry, 0 to 0"),
        ("algorithms.-1.epochs=1", "the number of a list's entry, 0 to 0"),
        ("algorithms." + "9" * 5000 + "=1", "the number of a list's entry, 0 to 0"),
        (".".join("a" * 60) + "=1", "a key at most 50 deep"),
        ("x" * 300_000 + "=1", "(300000 characters)"),
        ("title=" + "[" * 5000, "more than 50 deep"),
        ("seed=" + "9" * 5000, "a number, true, false or null"),
        ("seed=9223372036854775808", "at most 9007199254740992"),
        ("dataset=&a [*a]", "an alias of itself"),
        ("=", "KEY=VALUE"),
        ("", "KEY=VALUE"),
        ("...", "KEY=VALUE"),
        ("seed=!!python/name:os.system x", "python/name:os.system"),
        ("seed=\udc80", "found"),
        ("kernel.gamma=1e-400", POSITIVE),
        ("algorithms=[]", "at least one"),
        ("algorithms=", "at least one"),
        ("dataset=", "a mapping"),
    ],
    ids=lambda value: value[:40].encode("ascii", "replace").decode(),
)
def test_assignments(refused: Refused, assignment: str, words: str) -> None:
    said = refused(BASE, overrides=[assignment])
    assert words in said
    assert len(said) < 1000


def test_an_empty_list_has_no_entries(refused: Refused) -> None:
    said = refused(BASE, overrides=["plots=[]", "plots.0.kind=x"])
    assert said.endswith("plots[0]: found 0; accepted: the number of a list's entry, of which there are none")


# -- anything at all ----------------------------------------------------------------------------------------------

SHIPPED = [read(path).data for path in sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from([*learners, "rbf", "all", "train", "standard", "fixed", 1, 5, 2**63, 10**18, 10**400, 1e-320]),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)


def paths(data: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        yield (*here, key)
        yield from paths(value, (*here, key))


NAMES = sorted({key for data in SHIPPED for path in paths(data) for key in path if isinstance(key, str)})


@st.composite
def damaged(draw: Any) -> Any:
    """A shipped configuration in which something is replaced, added or gone."""
    data = copy.deepcopy(draw(st.sampled_from(SHIPPED)))
    for _ in range(draw(st.integers(0, 2))):
        *where, last = draw(st.sampled_from(list(paths(data))))
        place = data
        for key in where:
            place = place[key]
        how = draw(st.sampled_from(["replace", "add", "remove"]))
        if how == "add" and isinstance(place, dict):
            place[draw(st.sampled_from(NAMES))] = draw(values)
        elif how == "remove" and len(data) > 1:
            del place[last]
        else:
            place[last] = draw(values)
    return data


def judged(text: str) -> None:
    """An experiment that reads back as itself, or a refusal of bounded length."""
    try:
        document = parse(text, "c.yaml")
        experiment = interpret(document if isinstance(document.data, dict) else Document("c.yaml", {}))
    except ConfigError as error:
        said = str(error)
    else:
        said = ""
        assert interpret(parse(dump(experiment.resolved()), "again")) == experiment
    assert len(said) < 20_000


@given(damaged())
def test_any_structure_is_an_experiment_or_refused(data: Any) -> None:
    judged(dump(data))


@given(st.text() | st.text(alphabet="ab:-[]{},&*!?|>'\"%@`#\n \t0.e~<"))
def test_any_text_is_a_document_or_refused(text: str) -> None:
    judged(text)


def test_several_problems_hold_all_of_them(write: Callable[[str], Path]) -> None:
    with pytest.raises(Problems) as caught:
        load(write(BASE + "".join(f"unknown_{n}: 1\n" for n in range(50))))
    assert len(caught.value.problems) == 50
