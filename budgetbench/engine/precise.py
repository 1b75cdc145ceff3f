"""Kernel values in float64, for the few places where float32 cannot tell examples apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.compiled import compiled


@compiled
def powers_of_products(
    x: NDArray[np.float32], Z: NDArray[np.float32], gamma: float, coef0: float, degree: int
) -> NDArray[np.float64]:
    """(gamma x·z + coef0)^degree for each row of Z (m, d): of shape (m,)."""
    values = np.empty(len(Z))
    for i in range(len(Z)):
        total = 0.0
        for j in range(len(x)):
            total += np.float64(x[j]) * np.float64(Z[i, j])
        values[i] = (gamma * total + coef0) ** degree
    return values


@compiled
def exponentials_of_distances(x: NDArray[np.float32], Z: NDArray[np.float32], gamma: float) -> NDArray[np.float64]:
    """exp(-gamma ‖x - z‖²) for each row of Z (m, d): of shape (m,)."""
    values = np.empty(len(Z))
    for i in range(len(Z)):
        squared_distance = 0.0
        for j in range(len(x)):
            squared_distance += (np.float64(x[j]) - np.float64(Z[i, j])) ** 2
        values[i] = np.exp(-gamma * squared_distance)
    return values
