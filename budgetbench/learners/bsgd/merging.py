"""Two points of an RBF kernel become one between them (Wang, Crammer, Vucetic 2012, section 5.3).

Of z = h x + (1 - h) x′, with κ = K(x, x′), the kernel values are K(x, z) = κ^((1-h)²) and K(x′, z) = κ^(h²). With the
coefficients a and a′ of one sign, a z K(z, ·) comes nearest to a K(x, ·) + a′ K(x′, ·) for

    a_z = a κ^((1-h)²) + a′ κ^(h²)        leaving ‖·‖² = a² + a′² + 2 a a′ κ - a_z²

and for the h at which |a_z| is largest: a function of κ and m = a / (a + a′) alone. It is looked up in a table, between
whose entries it is interpolated in both directions (Glasmachers, Qaadan 2018). Here |a| ≤ |a′|, so that the table ends
at m = ½, where for small κ the best h jumps from one point's side to the other's.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from budgetbench.compiled import compiled
from budgetbench.kernels import Values
from budgetbench.kernels.rbf import exponential, exponents
from budgetbench.learners.bsgd.points import Passing, Points, leave, move, smallest

#: Steps of the table over m from 0 to ½, and over κ from 0 to 1.
STEPS = 128, 256


class Merging(NamedTuple):
    """What merging needs to know: the kernel's gamma, and the best h over m and κ."""

    gamma: float
    table: Values


@cache
def table_of_h() -> Values:
    """The best h for m = 0 … ½ and κ = 0 … 1: of shape (STEPS[0] + 1, STEPS[1] + 1)."""
    return filled_table(*STEPS)


@compiled
def filled_table(rows: int, columns: int) -> Values:
    table = np.zeros((rows + 1, columns + 1))
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            table[i, j] = best_h(0.5 * i / rows, j / columns)
    return table


@compiled
def best_h(m: float, kappa: float) -> float:
    """The h in [0, ½] at which m κ^((1-h)²) + (1 - m) κ^(h²) is largest, for 0 < m ≤ ½ and 0 < κ ≤ 1.

    The derivative is 0 where h / (1 - h) = m / (1 - m) κ^(1-2h). Between 0 and ½, and if κ < e⁻² between 0 and where
    h (1 - h) = -½ / log κ, the left side catches up with the right one once: at the maximum.
    """
    low, high = 0.0, 0.5
    if kappa < np.exp(-2.0):
        high = 0.5 - np.sqrt(0.25 + 0.5 / np.log(kappa))
    for _ in range(60):
        h = 0.5 * (low + high)
        if h * (1 - m) < (1 - h) * m * kappa ** (1 - 2 * h):
            low = h
        else:
            high = h
    return 0.5 * (low + high)


@compiled
def interpolated(table: Values, m: float, kappa: float) -> float:
    """The best h for m in [0, ½] and κ in [0, 1], from the four entries around."""
    row, column = 2.0 * m * (len(table) - 1), kappa * (table.shape[1] - 1)
    i, j = min(int(row), len(table) - 2), min(int(column), table.shape[1] - 2)
    s, t = row - i, column - j
    upper = (1 - t) * table[i, j] + t * table[i, j + 1]
    lower = (1 - t) * table[i + 1, j] + t * table[i + 1, j + 1]
    return (1 - s) * upper + s * lower


@compiled
def merge(points: Points, passing: Passing, merging: Merging) -> None:
    """Merge the smallest point with the one with which it loses least; where no other has its sign, let it go."""
    x = smallest(points)
    gamma, a = merging.gamma, points.coefficients
    u = exponents(points.inputs[:, x].copy(), points.norms[x], points.inputs, points.norms, gamma)
    other, h = partner(points, x, u, merging.table)
    if other >= 0:
        a[other] = merged(a[x], a[other], u[other], h)
        z = (h * points.inputs[:, x] + (1 - h) * points.inputs[:, other]).astype(np.float32)
        move(points, other, z)
        u = exponents(z, points.norms[other], passing.inputs, passing.norms, gamma)
        for i in range(len(u)):
            passing.K[i, other] = exponential(-u[i])
    leave(points, x)


@compiled
def partner(points: Points, x: int, u: Values, table: Values) -> tuple[int, float]:
    """The place of the point with which the one in place x is to be merged, the older of equals, and h; u = -log κ."""
    a, best, best_h, least = points.coefficients, -1, 0.0, np.inf
    for p in range(len(u)):
        if p != x and points.taken[p] and a[p] * a[x] > 0.0:
            kappa = exponential(-u[p])
            h = interpolated(table, a[x] / (a[x] + a[p]), kappa)
            lost = a[x] ** 2 + a[p] ** 2 + 2 * a[x] * a[p] * kappa - merged(a[x], a[p], u[p], h) ** 2
            if lost < least or (lost == least and points.ages[p] < points.ages[best]):
                best, best_h, least = p, h, lost
    return best, best_h


@compiled
def merged(a: float, other: float, u: float, h: float) -> float:
    """a_z"""
    return a * exponential(-u * (1 - h) ** 2) + other * exponential(-u * h**2)
