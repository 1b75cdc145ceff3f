"""What counts as a budget is asked from what learners declare."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from annotated_types import Ge

from budgetbench.engine.base import KernelClassifier, learner, learners
from budgetbench.parameters import Size
from budgetbench.results.sizes import budget_of, budgets, kept, signs, sizes_of


def test_what_the_learners_declare() -> None:
    assert kept("projectron") == ("bound_budget", "U", "eta", "budget")
    assert kept("kernel_gradient_descent") == ()  # whose η is a learning rate
    assert set(kept("gone")) >= {"budget", "bound_budget", "U", "eta"}
    assert budgets() == ("budget", "bound_budget")
    assert signs() == {"budget": "B", "evaluation_size": "q"}


@pytest.mark.parametrize(
    ("params", "sizes"),
    [
        ({"budget": 5, "beta": 1.0}, (5, None)),
        ({"budget": None, "bound_budget": 7, "evaluation_size": None}, (7, None)),
        ({"budget": 5, "bound_budget": 7, "evaluation_size": 3}, (5, 3)),
        ({"U": 1.0}, (None, None)),
    ],
)
def test_the_sizes_of_a_parameter_set(params: dict[str, Any], sizes: tuple[int | None, int | None]) -> None:
    assert tuple(sizes_of(params).values()) == sizes
    assert budget_of(params) == sizes[0]


def test_a_learner_may_call_its_budget_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "_items", dict(learners._items))

    @learner("cells", title="Cells", color="k", marker="o")
    class Cells(KernelClassifier):
        cells: Annotated[int, Ge(1), Size("B")] = 3

    assert budgets() == ("budget", "bound_budget", "cells")
    assert budget_of({"cells": 9}) == 9
    assert signs() == {"budget": "B", "evaluation_size": "q"}
