"""The compiled heart of learners with explicit features: a weight vector that goes down the hinge loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.kernels import Values

#: The largest number below 1: a margin of at most this has a loss.
BELOW_ONE = math.nextafter(1.0, 0.0)


@compiled
def descend(Z: NDArray[Any], y: Values, w: Values, margins: Values, eta: float) -> None:
    """On ℓ = max(0, 1 - y w·z) > 0:  w ← w + η y z, for the rows z of Z (n, k) one after the other.

    Parameters
    ----------
    y : labels ±1.
    w : the weights, changed in place.
    margins : y w·z of each row before its step.
    """
    for t in range(len(Z)):
        z = Z[t]
        margin = y[t] * inner_product(w, z)
        if margin <= BELOW_ONE:
            step = eta * y[t]
            for j in range(len(w)):
                w[j] += step * z[j]
        margins[t] = margin


@compiled
def inner_products(Z: NDArray[Any], w: Values) -> Values:
    """w·z for each row of Z (n, k), to the last bit as in `descend`."""
    found = np.empty(len(Z))
    for t in range(len(Z)):
        found[t] = inner_product(w, Z[t])
    return found


@compiled
def inner_product(w: Values, z: NDArray[Any]) -> float:
    """w·z in float64, in one order: four sums, for none to wait for the one before, then their sum."""
    a = b = c = d = 0.0
    whole = len(w) - len(w) % 4
    for j in range(0, whole, 4):
        a += w[j] * z[j]
        b += w[j + 1] * z[j + 1]
        c += w[j + 2] * z[j + 2]
        d += w[j + 3] * z[j + 3]
    for j in range(whole, len(w)):
        a += w[j] * z[j]
    return (a + b) + (c + d)


@compiled
def transformed(K: NDArray[Any], M: Values) -> Values:
    """K M for K (n, b) and M (b, k), each row added up over b in one order, whatever n is."""
    n, b = K.shape
    found = np.zeros((n, M.shape[1]))
    whole = b - b % 4
    for i in range(n):
        row, z = K[i], found[i]
        for s in range(0, whole, 4):
            m0, m1, m2, m3 = M[s], M[s + 1], M[s + 2], M[s + 3]
            k0, k1, k2, k3 = row[s], row[s + 1], row[s + 2], row[s + 3]
            for j in range(len(z)):
                z[j] = z[j] + k0 * m0[j] + k1 * m1[j] + k2 * m2[j] + k3 * m3[j]
        for s in range(whole, b):
            for j in range(len(z)):
                z[j] += row[s] * M[s, j]
    return found
