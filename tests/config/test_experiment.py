"""What a right configuration means."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from budgetbench.config import load
from budgetbench.document import dump
from budgetbench.experiment import Experiment
from budgetbench.kernels import RBF, Polynomial

Read = Callable[..., Experiment]

FULL = """\
name: full.1-a_b
title: "1e-3"
reproduces: {paper: weston2005, item: Figure 10}
dataset: {name: images, positive: [2, 0], scale: [standard, unit], train_size: 60, test_size: 60, limit: 50}
label_noise: {rate: 1e-1, mode: bernoulli, on: all}
kernel: {name: rbf, sigma: 3.16}
order: given
permutations: 3
epochs: 2
seed: 11
algorithms:
  - {name: sm, mode: [fast, slow], budget: [20, 10], select: test_error}
  - {name: small, budget: 30, epochs: 5, beta: 1}
  - {name: many, C: [1, 1e2, 10]}
plots:
  - {kind: error_vs_support, error_bars: std}
  - {kind: online_error_vs_seen, x_limits: [0, 50], name: seen}
table: {layout: mistakes}
"""


def test_defaults(read: Read) -> None:
    assert read().resolved() == {
        "name": "example",
        "title": "example",
        "reproduces": None,
        "dataset": {
            "name": "images",
            "positive": 0,
            "multiclass": None,
            "scale": "none",
            "scale_on": "train",
            "variant": "smooth",
            "train_size": None,
            "test_size": None,
            "validation_size": None,
            "limit": None,
            "redraw": False,
        },
        "label_noise": {"rate": 0.0, "mode": "exact", "on": "train"},
        "kernel": {"name": "rbf", "gamma": 0.5},
        "order": "shuffled",
        "permutations": 1,
        "epochs": 1,
        "seed": 0,
        "checkpoints": 200,
        "algorithms": [{"name": "plain", "epochs": 1}],
        "plots": None,
        "table": None,
    }


def test_grid(read: Read) -> None:
    experiment = read(FULL)
    small, fixed, many = experiment.algorithms
    assert (small.name, small.select) == ("small", "test_error")
    assert small.trials == tuple(
        {"epochs": 2, "budget": budget, "mode": mode, "beta": beta, "queue": None}
        for budget, (mode, beta) in itertools.product([20, 10], [("fast", 1.0), ("slow", 0.0)])
    )
    assert fixed.trials == ({"epochs": 5, "budget": 30, "mode": "slow", "beta": 1.0, "queue": None},)
    assert [trial["C"] for trial in many.trials] == [1.0, 100.0, 10.0]
    assert all(isinstance(trial["C"], float) for trial in many.trials)


DATASETS = ["{name: drawn, redraw: true, n: 20}", "{name: own, path: a.csv}", "{name: pooled, positive: 'yes'}"]


@pytest.mark.parametrize("text", [FULL, *(FULL.replace(FULL.splitlines()[3], f"dataset: {d}") for d in DATASETS)])
def test_resolved_reads_back_as_the_same_experiment(read: Read, text: str) -> None:
    text = text.replace(", select: test_error", "")
    experiment = read(text)
    again = read(dump(experiment.resolved()))
    assert again == experiment
    assert dump(again.resolved()) == dump(experiment.resolved())


def test_resolved_reads_the_same_with_yaml_1_1(read: Read) -> None:
    experiment = read(FULL)
    assert yaml.safe_load(dump(experiment.resolved())) == experiment.resolved()


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(item) for item in value] if isinstance(value, list) else value


def test_the_order_of_keys_does_not_matter(read: Read) -> None:
    written = {**read(FULL).resolved(), "kernel": {"name": "rbf", "sigma": 3.16}}
    assert list(reversed_keys(written)) == list(written)[::-1]
    assert read(dump(reversed_keys(written))) == read(FULL)


@pytest.mark.parametrize("width", ["gamma: 0.125", "sigma: 2", "variance: 4", "gamma: 1.25e-1"])
def test_the_width_of_an_rbf_in_each_way(read: Read, width: str) -> None:
    text = f"name: x\ndataset: {{name: pooled}}\nkernel: {{name: rbf, {width}}}\nalgorithms: [{{name: plain}}]"
    assert read(text).kernel == RBF(gamma=0.125)


GRID = "kernel={name: rbf, sigma: [1, 2], select: validation_error}"
MANY = "algorithms=[{name: many, C: [1, 10], select: validation_error}, {name: plain}]"


def test_a_grid_of_kernels_multiplies_the_parameter_sets(read: Read) -> None:
    experiment = read(overrides=[GRID, MANY])
    many, plain = experiment.algorithms
    assert experiment.kernels == (RBF(gamma=0.5), RBF(gamma=0.125))
    assert [params["kernel.gamma"] for params in many.trials] == [0.5, 0.125] * 2
    assert [params["C"] for params in many.trials] == [1.0, 1.0, 10.0, 10.0]
    assert many.searched == {"C": (1.0, 10.0), "kernel.gamma": (0.5, 0.125)}
    assert (plain.select, plain.chosen_by) == (None, "validation_error")
    assert experiment.kernel_of(many.trials[1]) == RBF(gamma=0.125)


def test_a_grid_of_kernels_read_again_is_the_same(read: Read) -> None:
    written = read(overrides=[GRID, MANY]).resolved()
    assert written["kernel"] == {"name": "rbf", "gamma": [0.5, 0.125], "select": "validation_error"}
    assert read(dump(written)) == read(overrides=[GRID, MANY])


@pytest.mark.parametrize("asked", [[], [MANY], [GRID]])
def test_what_is_chosen_by_validation_holds_out_a_fifth(read: Read, asked: list[str]) -> None:
    assert read(overrides=asked).dataset.validation_size == (0.2 if asked else None)
    assert read(overrides=[*asked, "dataset.validation_size=30"]).dataset.validation_size == 30


def test_a_width_that_the_data_tells(read: Read) -> None:
    experiment = read(overrides=["kernel={name: rbf, gamma: [median, 2]}"])
    assert experiment.resolved()["kernel"] == {"name": "rbf", "gamma": ["median", 2.0]}
    told = experiment.told_by(np.array([[0.0], [2.0]], dtype=np.float32))
    assert told.kernels == (RBF(gamma=0.25), RBF(gamma=2.0))
    assert [params["kernel.gamma"] for params in told.algorithms[0].trials] == [0.25, 2.0]


def test_polynomial_kernel(read: Read) -> None:
    experiment = read(overrides=["kernel={name: polynomial, degree: 9, coef0: 1}"])
    assert experiment.kernel == Polynomial(degree=9, gamma=1.0, coef0=1.0)
    assert experiment.resolved()["kernel"] == {"name": "polynomial", "degree": 9, "gamma": 1.0, "coef0": 1.0}


def test_scalars_follow_yaml_1_2(read: Read) -> None:
    experiment = read(overrides=["label_noise={rate: 1E-1, on: all}", "title=yes", "seed=010"])
    assert (experiment.label_noise.rate, experiment.label_noise.on) == (0.1, "all")
    assert (experiment.title, experiment.seed) == ("yes", 10)


def test_anchors_are_shared_lists(read: Read) -> None:
    text = """\
name: x
dataset: {name: pooled}
kernel: {name: linear}
algorithms:
  - {name: small, budget: &sizes [1, 2]}
  - {name: small, budget: *sizes, mode: fast}
"""
    assert [len(algorithm.trials) for algorithm in read(text).algorithms] == [2, 2]


def test_a_byte_order_mark_and_windows_lines(tmp_path: Path) -> None:
    text = "name: x\r\ndataset: {name: pooled}\r\nkernel: {name: linear}\r\nalgorithms:\r\n- name: plain\r\n"
    (tmp_path / "c.yaml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load(tmp_path / "c.yaml").name == "x"


def test_nothing_is_loaded(read: Read) -> None:
    assert read(overrides=["dataset={name: own, path: nowhere.csv}"]).dataset.options["path"] == "nowhere.csv"


def test_an_experiment_cannot_be_changed(read: Read) -> None:
    experiment = read()
    with pytest.raises(AttributeError):
        experiment.seed = 1  # type: ignore[misc]
    with pytest.raises(AttributeError):
        experiment.dataset.limit = 1
