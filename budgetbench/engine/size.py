"""How many bytes a model takes, and how many the state that learning goes on from.

`model_bytes` is what prediction needs: stored inputs, coefficients, weights, frequencies, projection matrices.
`state_bytes` is what has to be held between two examples for learning to go on: the model or what it is made of, the
inputs and labels of all examples that are kept (evaluation sets among them), kernel values among them, scores,
factors, sums. A batch learner goes on from its whole training set.

Arrays count, as many of their rows as are in use, and each once. Not counted are single numbers, the numbers by which
stored examples are told apart, room to spare, the block of examples that is passing, a Gram matrix, which is shared by
all, and what is only told of the past, such as the margin of each round. Inputs count as dense ones, also where they
are held sparse. So neither size depends on how the examples came or were held. A foreign learner of which nothing
better is known has the size of its pickle for both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np


def bytes_of_example(n_features: int) -> int:
    """Of an example that is kept: float32 inputs and an int64 label."""
    return 4 * n_features + 8


def bytes_of_member(n_features: int, n_classes: int) -> int:
    """Of an example in a model: float32 inputs, and a float64 coefficient for each class, or one for two of them."""
    return 4 * n_features + 8 * (1 if n_classes == 2 else n_classes)


def nbytes(held: Any) -> int:
    """Bytes of the arrays in a value, in what containers hold and in the attributes of objects.

    Whatever has an attribute `nbytes` is believed: an array, or an object that knows which part of its own is in use.
    """
    ahead, seen, total = [held], set[int](), 0
    while ahead:
        one = ahead.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, np.generic):  # a number, or a record of some
            continue
        if hasattr(one, "nbytes"):
            total += int(one.nbytes)
        elif isinstance(one, Mapping):
            ahead += one.values()
        elif isinstance(one, list | tuple | set | frozenset | deque):
            ahead += one
        elif not isinstance(one, type):
            ahead += getattr(one, "__dict__", {}).values()
    return total
