"""The exponential function that Gaussian kernels need: the same on every processor, right to float32's last place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.compiled import compiled

Floats = NDArray[np.float32]
Values = NDArray[np.float64]

#: exp(r) ≈ 1 + r (…(EXP[6] r + EXP[5]) r … + EXP[0]) for |r| ≤ log(2)/2, with a relative error below 2⁻³³.
EXP = (
    1.0, 0.5000000047146066, 0.1666666671902445, 0.041666352771096406, 0.008333298470937313, 0.0013941118895435597,
    0.00019899284862059724,
)  # fmt: skip
#: log(2) in two parts, the first of few enough bits that a whole number times it is exact.
LOG2_HIGH, LOG2_LOW = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
PER_LOG2 = 1 / math.log(2)
#: Added to a number and taken away again, it rounds it to a whole one, which stands in the last bits of the sum.
WHOLE = 1.5 * 2.0**52
#: exp(-LEAST) is 0 in float32.
LEAST = 200.0


@compiled
def _exp(u: float) -> float:
    """exp(u) for u from -LEAST to 0, with half a last place of float32 in mind; exp(0) = 1.

    Our own, as np.exp differs between processors. No branches: loops over it are compiled to vector instructions.
    """
    shifted = u * PER_LOG2 + WHOLE
    n = shifted - WHOLE
    r = u - n * LOG2_HIGH - n * LOG2_LOW
    tail = ((EXP[6] * r + EXP[5]) * r + EXP[4]) * r + EXP[3]
    tail = ((tail * r + EXP[2]) * r + EXP[1]) * r + EXP[0]
    power = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    return (1.0 + r * tail) * power


@compiled
def exponentials(values: Floats, products: NDArray[Any], norms_x: Values, norms_z: Values, gamma: float) -> None:
    """exp(-gamma ‖x - z‖²) from x·z. The norms are added to each other first: K(x, z) and K(z, x) are rounded alike."""
    for i in range(len(values)):
        row, target, norm = products[i], values[i], norms_x[i]
        for j in range(len(norms_z)):
            squared_distance = (norm + norms_z[j]) - 2.0 * row[j]
            target[j] = _exp(-min(max(squared_distance, 0.0) * gamma, LEAST))


@compiled
def exponentials_beyond(
    farthest: float, values: Floats, distances: Values, norms_x: Values, norms_z: Values, gamma: float
) -> None:
    """exp(-gamma ‖x - z‖²) from ‖x - z‖² for pairs of ‖x‖² + ‖z‖² above `farthest`, in place; others are left alone."""
    for i in range(len(values)):
        row, target, norm = distances[i], values[i], norms_x[i]
        for j in range(len(norms_z)):
            value = np.float32(_exp(-min(row[j] * gamma, LEAST)))
            target[j] = value if norm + norms_z[j] > farthest else target[j]
