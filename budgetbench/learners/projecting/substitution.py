"""Solving with the triangle L: v = L⁻¹k for one example or for a batch of them, and d = L⁻ᵀc.

What a batch has before a triangle on the diagonal of L is taken away by one product of matrices. The triangle itself is
solved in lanes: row s of W is coordinate s of all examples, so that loops need no sum across a vector. BLAS has a
routine for it (`dtrsm`), which takes two to three times as long where triangles are small; the order of sums is the
same, and so is each bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled, contracted

Matrix = NDArray[np.float64]
Values = NDArray[np.floating[Any]]

#: Coordinates that a group of lanes gets at once: what those before contribute is added up first.
GROUP = 16


@contracted
def substitute_triangle(triangle: Matrix, W: Matrix, P: Matrix) -> None:
    """W ← T⁻¹W for a triangle T, lane by lane; P is room for as many rows as a group has."""
    start = 0
    while start < len(W):
        size = GROUP
        while start + size > len(W):
            size //= 2
        add_products(triangle, W, P, start, size)
        for s in range(start, start + size):
            v, before, inverse = W[s], P[s - start], 1 / triangle[s, s]
            for r in range(len(v)):
                v[r] -= before[r]
            for j in range(start, s):
                u = W[j]
                for r in range(len(v)):
                    v[r] -= triangle[s, j] * u[r]
            for r in range(len(v)):
                v[r] *= inverse
        start += size


@contracted
def add_products(T: Matrix, W: Matrix, P: Matrix, start: int, size: int) -> None:
    """P[i] = Σ T[start + i, j] W[j] over the rows j < start, a multiple of 4 where there is more than one of P."""
    P[:size] = 0.0
    whole = size - size % 4
    for i in range(0, whole, 4):
        s = start + i
        p0, p1, p2, p3 = P[i], P[i + 1], P[i + 2], P[i + 3]
        for j in range(0, start, 4):
            u0, u1, u2, u3 = W[j], W[j + 1], W[j + 2], W[j + 3]
            a0, a1, a2, a3 = T[s, j], T[s, j + 1], T[s, j + 2], T[s, j + 3]
            b0, b1, b2, b3 = T[s + 1, j], T[s + 1, j + 1], T[s + 1, j + 2], T[s + 1, j + 3]
            c0, c1, c2, c3 = T[s + 2, j], T[s + 2, j + 1], T[s + 2, j + 2], T[s + 2, j + 3]
            d0, d1, d2, d3 = T[s + 3, j], T[s + 3, j + 1], T[s + 3, j + 2], T[s + 3, j + 3]
            for r in range(len(p0)):
                e0, e1, e2, e3 = u0[r], u1[r], u2[r], u3[r]
                p0[r] = p0[r] + a0 * e0 + a1 * e1 + a2 * e2 + a3 * e3
                p1[r] = p1[r] + b0 * e0 + b1 * e1 + b2 * e2 + b3 * e3
                p2[r] = p2[r] + c0 * e0 + c1 * e1 + c2 * e2 + c3 * e3
                p3[r] = p3[r] + d0 * e0 + d1 * e1 + d2 * e2 + d3 * e3
    for i in range(whole, size):
        p = P[i]
        for j in range(start):
            u = W[j]
            for r in range(len(p)):
                p[r] += T[start + i, j] * u[r]


@compiled
def substitute_panel(triangle: Matrix, K: Values, known: Matrix, V: Matrix, first: int, start: int) -> None:
    """The coordinates from `start` on, as many as a triangle has rows, of the examples in rows `first`, … of V.

    K are their kernel values (m, size), `known` (BATCH, rows of the triangle) what the coordinates before contribute.
    """
    size, lanes = known.shape[1], len(V)
    W, P = np.zeros((size, lanes)), np.empty((GROUP, lanes))
    stop = first + len(K)
    for r in range(first, stop - 7, 8):
        for s in range(size):
            w = W[s, r : r + 8]
            for i in range(8):
                w[i] = K[r - first + i, start + s] - known[r + i, s]
    for r in range(stop - len(K) % 8, stop):
        for s in range(size):
            W[s, r] = K[r - first, start + s] - known[r, s]
    substitute_triangle(triangle, W, P)
    for s in range(0, size - 7, 8):
        for r in range(lanes):
            v = V[r, start + s : start + s + 8]
            for i in range(8):
                v[i] = W[s + i, r]
    for s in range(size - size % 8, size):
        for r in range(lanes):
            V[r, start + s] = W[s, r]


@compiled
def substitute(L: Matrix, k: Values, v: Matrix, start: int) -> None:
    """The coordinates v = L⁻¹k from `start` on; those before are there."""
    for s in range(start, len(k)):
        v[s] = (k[s] - np.dot(L[s, :s], v[:s])) / L[s, s]


@compiled
def catch_up(L: Matrix, K: Values, V: Matrix, start: int) -> None:
    """`substitute` for each row of K and V."""
    for row in range(len(K)):
        substitute(L, K[row], V[row], start)


@compiled
def substitute_back(L: Matrix, d: Matrix) -> None:
    """d ← L⁻ᵀd"""
    for s in range(len(d) - 1, -1, -1):
        d[s] /= L[s, s]
        row = L[s]
        for j in range(s):
            d[j] -= d[s] * row[j]
