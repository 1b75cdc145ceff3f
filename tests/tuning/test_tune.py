"""Tuning: what is tried, what is never looked at, and what comes out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetbench import cli
from budgetbench.archive import read_results
from budgetbench.cli.options import memory_of
from budgetbench.config import load
from budgetbench.datasets import Cache
from budgetbench.errors import RequestError
from budgetbench.kernels import RBF, Linear
from budgetbench.learners import learners
from budgetbench.results.formats import markdown
from budgetbench.runner import Crew, run_experiment
from budgetbench.tuning import Tuned, question, search, tune
from budgetbench.tuning.candidates import candidates, size_parameter, widths
from budgetbench.tuning.telling import shown, write_config

NAMES = ("stoptron", "forgetron", "fogd")
MEMORY = 800
HERE = Crew(jobs=1, backend="threading")


def write_csv(path: Path, n: int, seed: int, flip: bool = False) -> Path:
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    X = random.normal(size=(n, 3)) + y[:, None]
    labels = 1 - y if flip else y
    path.write_text("".join(f"{','.join(map(str, x))},{label}\n" for x, label in zip(X, labels, strict=True)))
    return path


@pytest.fixture
def train(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "train.csv", 400, 0)


def tuned(asked: Path | str, tmp_path: Path, *overrides: str, crew: Crew = HERE, memory: int = MEMORY) -> Tuned:
    return tune(question(str(asked), overrides), memory, Cache(tmp_path, quiet=True), crew, NAMES, quiet=True)


# -- what is asked ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"), [("100kB", 100_000), ("1.5 MB", 1_500_000), ("64KiB", 65536), ("512", 512), ("2gb", 2 * 10**9)]
)
def test_memories(text: str, size: int) -> None:
    assert memory_of(text) == size


@pytest.mark.parametrize("text", ["", "kB", "-1kB", "0", "1e3", "100 parrots", "1TB", "99999999999999GB"])
def test_no_memories(text: str) -> None:
    with pytest.raises(RequestError, match=r"--memory: found .*; accepted: a number with one of the units B, kB"):
        memory_of(text)


def test_a_name_a_file_and_a_configuration_are_asked_alike(train: Path, tmp_path: Path) -> None:
    assert question("gaussian").dataset.name == "gaussian"
    assert question(str(train), ["dataset.scale=standard"]).dataset.scale == ("standard",)
    config = tmp_path / "c.yaml"
    config.write_text("name: c\ndataset: {name: gaussian}\nkernel: {name: linear}\nalgorithms: [{name: perceptron}]\n")
    assert question(str(config)).kernel == Linear()


def test_what_is_neither_is_told_with_the_nearest_name() -> None:
    with pytest.raises(RequestError, match=r"gausian: found neither a file nor a dataset.*Did you mean 'gaussian'\?"):
        question("gausian")


# -- what is tried ----------------------------------------------------------------------------------------------------


def test_widths_about_the_one_given_or_those_given() -> None:
    assert [kernel.plain["gamma"] for kernel in widths([RBF(0.8)])] == [0.05, 0.2, 0.8, 3.2]
    assert widths([RBF(1.0), RBF(2.0)]) == (RBF(1.0), RBF(2.0))
    assert widths([Linear()]) == (Linear(),)


@pytest.mark.parametrize("memory", [3_000, 10_000])
def test_each_candidate_is_as_large_as_the_memory_allows(memory: int) -> None:
    found = candidates(memory, 6, 2, 10_000, RBF(1.0))
    assert {"stoptron", "forgetron", "randomized_budget_perceptron", "budget_perceptron", "fogd"} <= {
        one.name for one in found
    }
    for one in found:
        cls = learners[one.name]
        size = size_parameter(cls)
        assert size
        assert not cls.batch
        assert {type(params[size]) for params in one.trials} == {int}
    (stoptron,) = (one for one in found if one.name == "stoptron")
    assert stoptron.trials[0]["budget"] == memory // (4 * 6 + 8)


def test_no_candidate_has_room_for_more_examples_than_there_are() -> None:
    (stoptron,) = candidates(10**9, 6, 2, 500, RBF(1.0), ["stoptron"])
    assert stoptron.trials[0]["budget"] == 500


def test_of_several_classes_learners_of_two_are_tried_in_several_sizes(tmp_path: Path) -> None:
    (stoptron,) = candidates(10_000, 6, 3, 500, RBF(1.0), ["stoptron"])
    largest, half, quarter = (params["budget"] for params in stoptron.trials)
    assert (half, quarter) == (largest // 2, largest // 4)
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 300)
    X = random.normal(size=(300, 2)) + 3 * np.stack([y == 1, y == 2], axis=1)
    rows = "".join(f"{a},{b},{'xyz'[label]}\n" for (a, b), label in zip(X, y, strict=True))
    (tmp_path / "three.csv").write_text(rows)
    found = tuned(tmp_path / "three.csv", tmp_path)
    assert found.experiment.dataset.multiclass == "one_vs_rest"
    assert found.finalists[0].error.mean < 0.2
    assert all(one.model_bytes <= MEMORY for one in found.finalists)
    write_config(found, MEMORY, tmp_path / "found.yaml")
    assert load(tmp_path / "found.yaml").algorithms[0].trials == found.experiment.algorithms[0].trials


def test_learners_that_have_no_rule_for_the_kernel_are_left_out() -> None:
    assert "fogd" not in {one.name for one in candidates(10_000, 6, 2, 500, Linear())}


def test_a_memory_in_which_nothing_fits(train: Path, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="--memory: no learner has a model of 10 bytes for 3 inputs"):
        tuned(train, tmp_path, memory=10)


# -- what comes out ---------------------------------------------------------------------------------------------------


def test_the_configuration_found_gives_the_same_validation_error(train: Path, tmp_path: Path) -> None:
    found = tuned(train, tmp_path, f"dataset.test_path={write_csv(tmp_path / 'test.csv', 100, 1)}")
    write_config(found, MEMORY, tmp_path / "found.yaml")
    experiment = load(tmp_path / "found.yaml")
    outcome = run_experiment(experiment, Cache(tmp_path, quiet=True), tmp_path / "results", HERE, quiet=True)
    (row,) = read_results(outcome.folder).summary.to_dict("records")
    assert row["algorithm"] == found.finalists[0].algorithm
    assert row["validation_error_mean"] == pytest.approx(found.finalists[0].error.mean)
    assert row["model_bytes_max"] == found.finalists[0].model_bytes <= MEMORY
    assert 0 < row["test_error_mean"] < 0.4


def test_runners_up_come_after_the_best(train: Path, tmp_path: Path) -> None:
    found = tuned(train, tmp_path)
    errors = [one.error.mean for one in found.finalists]
    assert errors == sorted(errors)
    assert 1 < len(errors) <= search.FINALISTS
    assert found.tried > len(errors)
    text = markdown(shown(found, MEMORY))
    assert text.count("gamma = ") == len(errors)
    assert "–" in text


def test_test_labels_change_nothing(train: Path, tmp_path: Path) -> None:
    tests = [write_csv(tmp_path / f"{flip}.csv", 100, 1, flip) for flip in (False, True)]
    one, two = (tuned(train, tmp_path, f"dataset.test_path={test}") for test in tests)
    assert one.finalists == two.finalists


def test_of_data_split_anew_only_the_training_rows_of_the_first_split_are_seen(
    train: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    part = search.training_part
    monkeypatch.setattr(search, "training_part", lambda *given: seen.append((given[0], part(*given))) or seen[-1][1])
    found = tuned(train, tmp_path, "dataset.train_size=300", "dataset.test_size=100")
    ((whole, training),) = seen
    assert (len(whole.X), len(training.X), training.n_train) == (400, 300, 300)
    assert found.experiment.permutations == 1
    write_config(found, MEMORY, tmp_path / "found.yaml")
    outcome = run_experiment(
        load(tmp_path / "found.yaml"), Cache(tmp_path, quiet=True), tmp_path / "results", HERE, quiet=True
    )
    (trial,) = read_results(outcome.folder).trials.to_dict("records")
    assert trial["validation_error"] == found.finalists[0].errors[0]


def test_any_number_of_workers_finds_the_same(train: Path, tmp_path: Path) -> None:
    one, two = tuned(train, tmp_path), tuned(train, tmp_path, crew=Crew(jobs=2))
    assert one.finalists == two.finalists


def test_the_command(train: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["tune", "train.csv", "--memory", "800B", "--only", "stoptron", "--jobs", "1"]
    with pytest.raises(SystemExit) as first:
        cli.main(command)
    assert first.value.code == 0
    assert "Stoptron" in capsys.readouterr().out
    assert load("train-tuned.yaml").algorithms[0].name == "stoptron"
    with pytest.raises(SystemExit) as second:
        cli.main(command)
    assert second.value.code == 2
    assert "train-tuned.yaml: found it there already" in capsys.readouterr().err
