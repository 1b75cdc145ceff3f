"""What `list` tells of one learner, dataset, kernel, figure or configuration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from budgetbench.datasets import datasets
from budgetbench.kernels import kernels
from budgetbench.learners import learners
from budgetbench.plots import figures

Call = Callable[..., Any]


@pytest.mark.parametrize(
    ("kind", "names"),
    [("algorithms", learners), ("datasets", datasets), ("kernels", kernels), ("plots", figures)],
    ids=["algorithms", "datasets", "kernels", "plots"],
)
def test_each_is_explained_key_by_key(call: Call, kind: str, names: Any) -> None:
    for name in names:
        answer = call("list", kind, name)
        assert (answer.code, answer.err) == (0, "")
        assert answer.out.startswith(name)
        own = names[name].own_parameters() if kind == "algorithms" else names[name].parameters()
        told = {line.split()[0]: line for line in answer.out.partition("Keys beside")[2].splitlines() if line.strip()}
        assert set(own) <= set(told)
        assert all(parameter.meaning.split()[0] in told[key] for key, parameter in own.items())


def test_a_learner_has_its_rule_its_source_and_the_defaults_that_follow(call: Call) -> None:
    text = call("list", "algorithms", "budget_perceptron").out
    for words in (
        "Crammer, Kandola, Singer 2003, Figures 1 to 3",
        "Cost of an example",
        "Keys beside name: budget_perceptron; a list of values tries each of them",
    ):
        assert words in text
    row = next(line for line in text.splitlines() if line.startswith("budget "))
    assert "an integer of at least 1" in row
    assert " 100 " in row  # which its class makes of nothing
    assert call("list", "algorithms", "rbp").out.startswith("randomized_budget_perceptron, or rbp: Randomized Budget")


def test_what_must_be_given_and_the_terms_of_data(call: Call) -> None:
    rows = call("list", "datasets", "csv").out.splitlines()
    assert "must be given" in next(row for row in rows if row.startswith("path "))
    text = call("list", "datasets", "usps").out
    for words in ("licence: ", "citation: J. J. Hull", "examples: 7291 + 2007; inputs: 256", "smoothed, raw"):
        assert words in text


def test_a_configuration_is_shown(call: Call, config: str) -> None:
    assert call("list", "configs", "c").out == f"# c.yaml\n{config}"
    assert "reproduces: {paper: weston2005, item: Figure 10}" in call("list", "configs", "usps_noise10").out


def test_figures_are_listed(call: Call) -> None:
    assert set(figures) <= {line.split()[0] for line in call("list", "plots").out.splitlines() if line.strip()}


def test_one_that_there_is_not(call: Call) -> None:
    answer = call("list", "kernels", "rfb")
    assert (answer.code, answer.short) == (2, True)
    assert "unknown kernel 'rfb'" in answer.err
    assert "Did you mean 'rbf'?" in answer.err
