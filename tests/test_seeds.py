"""Random streams by axis."""

from __future__ import annotations

import numpy as np
import pytest

from budgetbench.seeds import Role, generator


def test_the_numbers_of_the_roles_stay() -> None:
    names = "SPLIT NOISE ORDER LEARNER DATA VALIDATION WIDTH BUFFER"
    assert {role.name: int(role) for role in Role} == {name: number for number, name in enumerate(names.split())}


def test_the_same_axis_gives_the_same_numbers() -> None:
    assert generator(7, Role.ORDER, 3).permutation(50).tolist() == generator(7, Role.ORDER, 3).permutation(50).tolist()


def test_the_numbers_themselves_stay() -> None:
    """Published results rest on them: a change here must raise the revision in the runs' keys."""
    assert generator(0, Role.ORDER, 0).permutation(8).tolist() == [2, 6, 7, 0, 1, 5, 3, 4]
    assert generator(0, Role.NOISE, 1).integers(0, 1000, 4).tolist() == [400, 589, 130, 819]


@pytest.mark.parametrize("other", [(1, Role.ORDER, 0), (0, Role.NOISE, 0), (0, Role.ORDER, 1), (2**40, Role.ORDER, 0)])
def test_another_seed_role_or_run_gives_other_numbers(other: tuple[int, Role, int]) -> None:
    assert not np.array_equal(generator(0, Role.ORDER, 0).random(4), generator(*other).random(4))


def test_drawing_from_one_does_not_move_another() -> None:
    first = generator(0, Role.NOISE, 0)
    first.random(1000)
    expected = generator(0, Role.ORDER, 0).random(3)
    generator(0, Role.SPLIT, 0).random(10)
    assert generator(0, Role.ORDER, 0).random(3).tolist() == expected.tolist()
