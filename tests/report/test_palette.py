"""Colours can be told from their ground, in both themes."""

from __future__ import annotations

import pytest

from budgetbench.learners import learners
from budgetbench.report.palette import DARK, LIGHT, VISIBLE, contrast, variables, visible
from budgetbench.report.words import Anchors, number
from budgetbench.verdicts.model import OUTCOMES

TEXT = ("ink", "muted", "accent", *(outcome.slug for outcome in OUTCOMES))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_contrast(theme: dict[str, str]) -> None:
    for ground in ("ground", "raised"):
        for name in TEXT:
            assert contrast(theme[name], theme[ground]) >= 4.5, name
    assert contrast(theme["control"], theme["ground"]) >= 3
    for name in learners:
        assert contrast(visible(learners[name].color.lower(), theme), theme["ground"]) >= VISIBLE, name


def test_the_contrast_of_black_and_white_is_known() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#777777") == pytest.approx(1)


def test_a_colour_that_is_visible_stays_as_it_is() -> None:
    assert visible("#0072b2", LIGHT) == "#0072b2"
    assert "--c-0072b2: #0072b2;" in variables(LIGHT, {"#0072b2", "#000000"})
    assert "--c-000000" not in variables(LIGHT, {"#000000"})


@pytest.mark.parametrize(
    ("value", "text"),
    [(3, "3"), (12000, "12\u2009000"), (3.14159, "3.14"), (-0.00123, "\u22120.0012"), (1234.56, "1234.6"), (None, "")],
)
def test_numbers_are_written_for_reading(value: float | None, text: str) -> None:
    assert number(value) == text


def test_anchors_are_used_once() -> None:
    anchors = Anchors()
    assert [anchors.new("A b", "ü"), anchors.new("a-b", "x"), anchors.new("a b", "?")] == [
        "a-b-x",
        "a-b-x-2",
        "a-b-x-3",
    ]
