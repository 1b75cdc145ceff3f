"""The one rule for what is wrong."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from budgetbench.engine.base import choose, wrong


def test_what_is_not_decided_is_wrong_and_still_named() -> None:
    values = np.array([1.0, -1.0, 0.0, 0.0, 1.0, -1.0])
    assert wrong(values, np.array([1, 0, 1, 0, 0, 1])).tolist() == [False, False, True, True, True, True]
    assert choose(values).tolist() == [1, 0, 0, 0, 1, 0]


def test_of_more_classes_a_tie_with_the_right_one_is_wrong() -> None:
    values = np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 3.0]])
    assert wrong(values, np.array([0, 1, 2, 2])).tolist() == [False, True, True, False]
    assert wrong(values, np.array([1, 0, 0, 0])).tolist() == [True, True, True, True]
    assert choose(values).tolist() == [0, 0, 0, 2]


def test_learners_are_at_hand_without_what_takes_long_to_import() -> None:
    code = (
        "import sys, budgetbench.learners as found; repr(found.SVM()), found.SVM.checked({});"
        "print({'numba', 'pandas', 'scipy', 'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("set()\n", "")
