"""The frame of the commands, and `run`: what they print, what they write, and how they exit."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.results import read_records

import budgetbench
from budgetbench.cli import main
from budgetbench.errors import RequestError
from budgetbench.runner.store import Store

PROJECT = Path(budgetbench.__file__).resolve().parents[1]

Call = Callable[..., Any]


def trials(folder: str = "results/tiny") -> list[dict[str, Any]]:
    return read_records(Path(folder))


# -- the frame --------------------------------------------------------------------------------------------------------


def test_help_names_every_command_and_option(call: Call) -> None:
    answer = call("--help")
    assert answer.code == 0
    for command in ("run", "plot", "table", "fetch", "list", "validate"):
        assert re.search(rf"^\s*{command}\s+\S", answer.out, re.MULTILINE), f"{command} has no help"
    text = call("run", "--help").out
    options = "jobs results data mirror permutations set only fresh dry-run backend scheduler timeout quiet"
    assert all(f"--{name}" in text for name in options.split())
    assert call("run", "-h").out == text


def test_the_version(call: Call) -> None:
    assert call("--version") == (0, f"budgetbench {budgetbench.__version__}\n", "")


@pytest.mark.parametrize(("command", "also"), [("--help", ["numpy", "pydantic"]), ("validate configs/usps.yaml", [])])
def test_what_answers_at_once_loads_nothing_heavy(command: str, also: list[str]) -> None:
    heavy = {"numba", "pandas", "matplotlib", "sklearn", "scipy", "joblib", "requests", "rich", *also}
    code = f"""
import sys
from budgetbench.cli import main
try:
    main({command.split()})
except SystemExit as end:
    sys.exit(end.code or ", ".join({heavy} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, timeout=120)
    assert done.stderr.strip() == ""


def test_it_runs_as_a_module(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "budgetbench", "--version"], cwd=PROJECT, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, f"budgetbench {budgetbench.__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rum"], r"No such command 'rum'"),
        (["run", "c.yaml", "--job", "2"], r"--job\b"),
        (["run"], r"CONFIG: found nothing; accepted: configurations, or --from PACK"),
        (["run", "c.yaml", "--permutations", "0"], r"--permutations"),
        (["run", "c.yaml", "--jobs", "many"], r"--jobs"),
        (["run", "c.yaml", "--backend", "spark"], r"'spark' is not one of 'loky', 'threading', 'dask'"),
        (["table", "--format", "xml"], r"'xml' is not one of"),
        (["list", "things"], r"'things' is not one of"),
        (["run", "c.yaml", "--gram-limit", "-1"], r"--gram-limit"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_call_exits_with_2(call: Call, arguments: list[str], message: str) -> None:
    answer = call(*arguments)
    assert answer.code == 2
    assert re.search(message, answer.err)
    assert "Traceback" not in answer.err


# -- run --------------------------------------------------------------------------------------------------------------


def test_run_ends_with_the_table_and_the_paths(run: Call) -> None:
    answer = run("c.yaml")
    assert answer.code == 0
    for shown in ("A tiny experiment", "Perceptron", "Budget Perceptron", "SVM", "8 runs done now, 0 before"):
        assert shown in answer.out
    assert str(Path("results/tiny")) in answer.out
    assert "budgetbench plot" in answer.out
    assert "8/8 runs" in answer.err
    assert len(trials()) == 8
    again = run("c.yaml")
    assert "0 runs done now, 8 before" in again.out
    assert len(trials()) == 8


def test_quiet_says_nothing(run: Call) -> None:
    assert run("c.yaml", "--quiet") == (0, "", "")
    assert len(trials()) == 8


def test_a_dry_run_says_what_is_done_and_what_is_to_run(run: Call) -> None:
    assert run("c.yaml", "--dry-run").out.splitlines() == [
        "tiny: 0 runs done, 8 to run",
        "  perceptron: 2",
        "  budget_perceptron: 4",
        "  svm: 2",
    ]
    assert not Path("results").exists()
    run("c.yaml", "--only", "perceptron", "-q")
    assert run("c.yaml", "--dry-run").out.startswith("tiny: 2 runs done, 6 to run\n")


def test_options_take_the_place_of_the_configuration(run: Call) -> None:
    answer = run(
        "c.yaml", "-q", "--permutations", 1, "--only", "budget_perceptron", "--only", "svm", "--results", "elsewhere",
        "--set", "seed=7", "--set", "algorithms.1.budget=[3]",
    )  # fmt: skip
    assert answer.code == 0
    found = trials("elsewhere/tiny")
    assert sorted((t["algorithm"], t["budget"], t["run"], t["seed"]) for t in found) == [
        ("budget_perceptron", 3, 0, 7),
        ("svm", None, 0, 7),
    ]
    assert not Path("results").exists()


def test_flags_win_over_the_environment(run: Call, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUDGETBENCH_RESULTS", "env")
    run("c.yaml", "-q", "--only", "svm")
    assert Path("env/tiny/trials.jsonl").exists()
    assert "SVM" in call("table").out
    run("c.yaml", "-q", "--only", "svm", "--results", "flag")
    assert Path("flag/tiny/trials.jsonl").exists()


def test_fresh_starts_again(run: Call) -> None:
    run("c.yaml", "-q")
    assert "8 runs done now, 0 before" in run("c.yaml", "--fresh").out
    assert len(trials()) == 8


def test_a_missing_configuration(call: Call) -> None:
    for command in ("run", "validate"):
        answer = call(command, "nowhere.yaml")
        assert answer.code == 2
        assert answer.short
        assert "nowhere.yaml" in answer.err


@pytest.mark.parametrize(
    ("wrong", "messages"),
    [
        (("permutations: 2", "permutation: 2"), ["c.yaml:5", "permutation", "Did you mean 'permutations'?"]),
        (("name: svm", "name: svn"), ["c.yaml:9", "'svn'", "Did you mean 'svm'?"]),
        (("budget: [5, 9]", "bugdet: 5"), ["c.yaml:8", "Did you mean 'budget'?"]),
        (("budget: [5, 9]", "budget: [5, 0]"), ["c.yaml:8", "found 0", "an integer of at least 1"]),
        (("gamma: 1", "gamma: 1, sigma: 2"), ["c.yaml:4", "sigma"]),
        (("name: gaussian", "name: gausian"), ["c.yaml:3", "Did you mean 'gaussian'?"]),
        (("name: gaussian", "name: gaussian, positive: 3"), ["c.yaml:3", "found 3", "-1, 1"]),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else "",
)
@pytest.mark.parametrize("command", [["validate", "c.yaml"], ["run", "c.yaml", "--dry-run"], ["run", "c.yaml"]])
def test_a_wrong_configuration_is_answered_with_its_place(
    call: Call, command: list[str], wrong: tuple[str, str], messages: list[str], config: str
) -> None:
    assert wrong[0] in config
    Path("c.yaml").write_text(config.replace(*wrong), encoding="utf-8")
    answer = call(*command)
    assert answer.code == 2
    assert answer.short
    assert all(message in answer.err for message in messages), answer.err
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "perceptorn"], "Did you mean 'perceptron'?"),
        (["--only", "stoptron"], "accepted: perceptron, budget_perceptron, svm"),
        (["--set", "permutation=3"], "permutation"),
        (["--set", "seed"], "seed"),
        (["--backend", "dask"], "--scheduler: found nothing; accepted: with --backend dask the address"),
        (["--scheduler", "tcp://127.0.0.1:8786"], "--scheduler: found 'tcp://127.0.0.1:8786' with --backend loky"),
        (["--jobs", "0"], "--jobs: found 0"),
        (["--timeout", "0"], "--timeout: found 0; accepted: seconds, more than 0"),
        (["--shard", "4/3"], "--shard: found '4/3'; accepted: I/N with I from 1 to N, such as 3/20"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_request_is_one_short_message(call: Call, arguments: list[str], message: str) -> None:
    answer = call("run", "c.yaml", *arguments)
    assert answer.code == 2
    assert answer.short
    assert message in answer.err


def test_parts_are_run_and_put_together(run: Call, call: Call) -> None:
    for number in (1, 2):
        assert run("c.yaml", "--shard", f"{number}/2", "--results", f"part{number}", "--quiet").code == 0
    answer = call("merge", "part1", "part2", "--into", "results")
    assert (answer.code, answer.out) == (0, f"tiny: 8 of 8 runs done; written to {Path('results', 'tiny')}\n")
    assert call("merge", "part1", "nowhere", "--into", "results").code == 2
    assert call("run", "c.yaml", "--dry-run").out.startswith("tiny: 8 runs done, 0 to run")


def test_a_failed_run_exits_with_1_and_keeps_the_others(run: Call, broken: None, config: str) -> None:
    Path("c.yaml").write_text(config + "  - {name: broken}\n", encoding="utf-8")
    answer = run("c.yaml")
    assert answer.code == 1
    assert "tiny: 2 of 10 runs failed" in answer.err
    assert "FloatingPointError: nothing adds up" in answer.err
    assert "Traceback" not in answer.err
    assert "Perceptron" in answer.out
    statuses = [(trial["algorithm"], trial["status"]) for trial in trials()]
    assert statuses.count(("broken", "failed")) == 2
    assert [status for name, status in statuses if name != "broken"] == ["ok"] * 8


def test_one_experiment_that_fails_does_not_stop_the_others(run: Call, broken: None, config: str) -> None:
    for name, learner_name in (("a", "perceptron"), ("b", "broken"), ("d", "svm")):
        text = f"name: {name}\n" + config.partition("\n")[2].partition("algorithms")[0]
        Path(f"{name}.yaml").write_text(f"{text}algorithms: [{{name: {learner_name}}}]\n", encoding="utf-8")
    answer = run("a.yaml", "b.yaml", "d.yaml", "--quiet")
    assert answer.code == 1
    assert "b: 2 of 2 runs failed" in answer.err
    assert {Path("results", name, "trials.jsonl").exists() for name in "abd"} == {True}


def test_data_that_cannot_be_had_stops_only_its_own_experiment(run: Call, config: str) -> None:
    own = config.replace("name: tiny", "name: own").replace(
        "{name: gaussian, n: 160, train_size: 100, test_size: 60}", "{name: npz, path: nowhere.npz}"
    )
    Path("own.yaml").write_text(own, encoding="utf-8")
    answer = run("own.yaml", "c.yaml", "--quiet")
    assert answer.code == 1
    assert answer.short
    assert "nowhere.npz" in answer.err
    assert len(trials()) == 8


def test_all_configurations_are_checked_before_the_first_is_run(run: Call, config: str) -> None:
    Path("wrong.yaml").write_text(config.replace("rbf", "rfb"), encoding="utf-8")
    answer = run("c.yaml", "wrong.yaml")
    assert answer.code == 2
    assert "wrong.yaml:4" in answer.err
    assert not Path("results").exists()


def test_a_results_folder_that_cannot_be_made(run: Call) -> None:
    Path("results").write_text("a file")
    answer = run("c.yaml")
    assert answer.code == 2
    assert answer.short
    assert "cannot write results to" in answer.err
    assert "--results or BUDGETBENCH_RESULTS" in answer.err


def test_a_results_folder_that_cannot_be_written_to(run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        if target.name == "experiment.yaml":
            raise PermissionError(13, "Permission denied", str(self))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    answer = run("c.yaml")
    assert answer.code in (1, 2)
    assert answer.short
    assert "experiment.yaml: Permission denied" in answer.err


def test_a_second_run_on_a_folder_is_refused_and_reading_is_not(
    run: Call, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("budgetbench.runner.store.PATIENCE", 0.05)
    run("c.yaml", "-q")
    with Store(Path("results/tiny")):
        answer = run("c.yaml", "--fresh")
        assert answer.code == 1
        assert answer.short
        assert re.match(
            r"budgetbench: results/tiny: process \d+ on \S+ since .* is running this experiment", answer.err
        )
        assert [call(command).code for command in ("table", "check")] == [0, 0]
        assert run("c.yaml", "--dry-run").code == 0
    assert len(trials()) == 8


def test_an_interruption_is_one_line(run: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("budgetbench.runner.store.Store.append", interrupted)
    answer = run("c.yaml", "-q")
    assert answer.code == 130
    assert answer.err == (
        "budgetbench: interrupted; every finished run is kept, and the same command goes on from there\n"
    )


def test_only_runs_are_said_to_go_on(run: Call, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    run("c.yaml", "-q")
    monkeypatch.setattr("budgetbench.results.summary.summarise", interrupted)
    monkeypatch.setattr("budgetbench.archive.read_results", interrupted)
    answer = call("table")
    assert (answer.code, answer.err) == (130, "budgetbench: interrupted\n")


def test_the_traceback_on_request() -> None:
    for arguments in (["--debug", "validate", "nowhere.yaml"], ["validate", "nowhere.yaml", "--debug"]):
        with pytest.raises(RequestError, match=r"nowhere\.yaml"):
            main(arguments)


# -- what asks for too much -------------------------------------------------------------------------------------------


def test_a_million_runs_are_counted(call: Call, config: str) -> None:
    Path("c.yaml").write_text(config.replace("permutations: 2", "permutations: 1000000"), encoding="utf-8")
    assert call("validate", "c.yaml").out == "c.yaml: ok, 4000000 trials in 1000000 runs\n"
    assert call("run", "c.yaml", "--dry-run").out.splitlines() == [
        "tiny: 0 runs done, 4000000 to run",
        "  perceptron: 1000000",
        "  budget_perceptron: 2000000",
        "  svm: 1000000",
    ]
    answer = call("run", "c.yaml")
    assert answer.code == 2
    assert answer.short
    assert "tiny: found 4000000 trials, 4 parameter sets in 1000000 runs; accepted: at most 100000" in answer.err
    assert not Path("results").exists()


@pytest.mark.parametrize("name", ["tiny", "TINY"])
def test_two_configurations_of_one_name(call: Call, config: str, name: str) -> None:
    Path("d.yaml").write_text(config.replace("name: tiny", f"name: {name}"), encoding="utf-8")
    for files in (["c.yaml", "d.yaml"], ["c.yaml", "c.yaml"] if name == "tiny" else ["d.yaml", "c.yaml"]):
        answer = call("run", *files)
        assert answer.code == 2
        assert answer.short
        assert all(file in answer.err for file in files)
        assert "accepted: a name of its own for each" in answer.err
        assert not Path("results").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--permutations", 2**31], ["--permutations 2147483648", "at most 2147483647"]),
        (["--permutations", 10**30], [f"--permutations {10**30}", "at most 2147483647"]),
        (["--permutations", 0], ["--permutations"]),
        (["--permutations", "1e6"], ["--permutations"]),
        (["--set", f"seed={2**63}"], ["found 9223372036854775808", "at most 9007199254740992"]),
        (["--set", "algorithms.1.budget=1000000000000000000"], ["budget: found 1000000000000000000"]),
        (["--set", f"algorithms.{'9' * 5000}.budget=1"], ["the number of a list's entry, 0 to 2"]),
        (["--set", "x" * 100_000 + "=1"], ["(100000 characters)"]),
        (["--set", "kernel.gamma=1e-99"], ["kernel.gamma", "at least 1e-30"]),
        (["--set", "dataset.scale_on=tests"], ["dataset.scale_on", "train, all"]),
        (["--only", "x" * 100_000], ["no such algorithm"]),
        (["--skip", "x" * 100_000], ["unknown dataset"]),
    ],
    ids=lambda value: " ".join(map(str, value))[:40],
)
def test_requests_beyond_all_measure(call: Call, arguments: list[Any], words: list[str]) -> None:
    answer = call("run", "c.yaml", *arguments)
    assert answer.code == 2
    assert "Traceback" not in answer.err
    assert len(answer.err) < 2000
    assert all(word in answer.err for word in words), answer.err
    assert not Path("results").exists()
