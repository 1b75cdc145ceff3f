"""Named things that users choose from."""

from __future__ import annotations

import pytest

from budgetbench.errors import RequestError
from budgetbench.registry import Registry


@pytest.fixture
def fruit() -> Registry[str]:
    registry: Registry[str] = Registry("fruit")
    registry.add("pear", "green", aliases=("birne", "poire"))
    registry.add("apple", "red")
    return registry


def test_items_by_name_and_alias_in_the_order_of_registration(fruit: Registry[str]) -> None:
    assert list(fruit) == ["pear", "apple"]
    assert len(fruit) == 2
    assert fruit["poire"] == fruit["pear"] == "green"
    assert fruit.canonical("birne") == "pear"
    assert fruit.canonical("apple") == "apple"
    assert "birne" in fruit
    assert 3 not in fruit


def test_an_unknown_name_lists_the_known_ones_and_names_the_nearest(fruit: Registry[str]) -> None:
    with pytest.raises(RequestError) as caught:
        fruit["aple"]
    assert str(caught.value) == "unknown fruit 'aple'; accepted: pear, apple. Did you mean 'apple'?"
    with pytest.raises(RequestError, match=r"accepted: pear, apple\.$"):
        fruit["xyz"]


@pytest.mark.parametrize(("name", "aliases"), [("pear", ()), ("birne", ()), ("plum", ("apple",)), ("plum", ("poire",))])
def test_a_name_is_taken_once(fruit: Registry[str], name: str, aliases: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="registered twice"):
        fruit.add(name, "blue", aliases)


def test_register_decorates(fruit: Registry[str]) -> None:
    assert fruit.register("plum")("blue") == "blue"
    assert fruit["plum"] == "blue"
