"""The span of the stored examples: what the projecting learners need of the inverse of their kernel matrix.

Orabona, Keshet, Caputo 2008 keep K⁻¹ and solve d = K⁻¹k (Eq. 8) for each example on which f may change. Here K is kept
as L Lᵀ, with L lower triangular: Eq. 11 then says that a stored example adds the row (vᵀ, ‖δ‖) to L, where v = L⁻¹k.
The rows of L are the coordinates of the stored examples in an orthonormal basis of their span, and v those of
P k(x, ·), the projection of x. All that the learners ask for is a product of coordinates:

    f(x) = c·v    ‖P k(x, ·)‖² = v·v    ‖δ‖² = K(x, x) - v·v    f + τ P k(x, ·) has coordinates c + τ v

and the coefficients of f are a = L⁻ᵀc. A projection takes |S| operations and leaves L alone, so v is computed for a
batch of upcoming examples at once by products of matrices. An example stored meanwhile adds one coordinate to those
that are left of the batch. L is better conditioned than K: its condition number is the square root.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from budgetbench.engine.compiled import compiled
from budgetbench.engine.expansion import Block, Expansion

Matrix = NDArray[np.float64]

#: Columns of L that go into one product; the triangles on its diagonal are inverted.
PANEL = 256

#: Kernel values are rounded to 2⁻²⁴. In ‖δ‖² that makes an error of about this share of K(x, x) + Σ dⱼ² K(xⱼ, xⱼ): what
#: lies no farther from the span lies in it. For an example that is stored, (1 + ‖d‖²) / ‖δ‖² is what it adds to the
#: trace of K⁻¹ (Eq. 11), so that the rule keeps the inverse from growing without bound.
ROUNDING = 2.0**-20

#: Where no stored example lies nearer to the others' span, as a share of K(x, x), that is no matter of rounding.
FAR = 2.0**-10

#: |f(x)| of at most this share of ‖f‖ ‖P k(x, ·)‖ is 0, with the largest ‖f‖ so far: what is left of larger sums that
#: cancel out is rounding.
ZERO = 1e-12


class Batch(NamedTuple):
    """Coordinates while a batch of examples passes.

    V : row t belongs to the t-th example of the batch; as many columns as examples may be stored.
    L : with a row for each stored example, and room for the batch.
    c : the coordinates of f.
    timed : Σₛ s Δₛ over the changes Δₛ of c in rounds s, for the mean of all hypotheses.
    extremes : the largest ‖f‖² so far, and the smallest ‖δ‖² / K(x, x) of a stored example.
    first : which arrival of the block the batch begins with, and how many rounds there were before it.
    """

    V: Matrix
    L: Matrix
    c: Matrix
    timed: Matrix
    extremes: Matrix
    first: NDArray[np.int64]


class Span:
    """L, in panels; and the coordinates of f."""

    def __init__(self) -> None:
        self.size = 0
        self.c = np.zeros(0)
        self.timed = np.zeros(0)
        self._extremes = np.array([0.0, 1.0])
        self._L: Matrix = np.zeros((0, 0))
        self._triangles: list[Matrix] = []  # inverses of the triangles on the diagonal

    @property
    def factor(self) -> Matrix:
        """L"""
        return self._L[: self.size, : self.size]

    def coordinates(self, K: Matrix, room: int = 0) -> Matrix:
        """V = K L⁻ᵀ for kernel values K (m, size) against the stored examples; `room` columns of zeros come after."""
        V = np.zeros((len(K), self.size + room))
        for inverse, start in zip(self._triangles, range(0, self.size, PANEL), strict=True):
            panel = slice(start, start + len(inverse))
            rest = K[:, panel] - V[:, :start] @ self._L[panel, :start].T if start else K[:, panel]
            V[:, panel] = rest @ inverse.T
        return V

    def coefficients(self, c: Matrix) -> Matrix:
        """a = L⁻ᵀc"""
        a = c[: self.size].copy()
        for number in reversed(range(len(self._triangles))):
            start, inverse = number * PANEL, self._triangles[number]
            panel = slice(start, start + len(inverse))
            a[panel] = inverse.T @ a[panel]
            a[:start] -= self._L[panel, :start].T @ a[panel]
        return a

    def solve(self, k: Matrix) -> Matrix:
        """d = K⁻¹k (Eq. 8)"""
        return self.coefficients(self.coordinates(k[None])[0])

    def open(self, K: Matrix, first: int, rounds: int) -> Batch:
        """A batch of examples with kernel values K (m, size) against the stored ones."""
        most = self.size + len(K)
        if most > len(self._L):
            L = np.zeros((2 * most, 2 * most))
            L[: self.size, : self.size] = self.factor
            self._L = L
        room = np.zeros(len(K))
        return Batch(
            self.coordinates(K, len(K)),
            self._L,
            np.concatenate([self.c, room]),
            np.concatenate([self.timed, room]),
            self._extremes,
            np.array([first, rounds]),
        )

    def take(self, batch: Batch, size: int) -> None:
        """Take over what a batch has made of L and c; `size` examples are stored now."""
        before, self.size = self.size, size
        self.c, self.timed = batch.c[:size].copy(), batch.timed[:size].copy()
        if size == before:
            return
        del self._triangles[before // PANEL :]
        for start in range(len(self._triangles) * PANEL, size, PANEL):
            panel = slice(start, min(start + PANEL, size))
            self._triangles.append(np.ascontiguousarray(dtrtri(self._L[panel, panel], lower=1)[0]))


@compiled
def value(batch: Batch, v: Matrix) -> float:
    """f(x) = c·v, 0 where it is 0 within rounding."""
    f = np.dot(batch.c[: len(v)], v)
    if f * f <= ZERO**2 * batch.extremes[0] * np.dot(v, v):
        return 0.0
    return f


@compiled
def distance(v: Matrix, own: float) -> float:
    """‖δ‖, ‖δ‖² = K(x, x) - ‖P k(x, ·)‖² (Eq. 9); `own` is K(x, x)."""
    return np.sqrt(max(0.0, own - np.dot(v, v)))


@compiled
def lies_within(f: Expansion, block: Block, batch: Batch, i: int, v: Matrix, delta: float) -> bool:
    """Whether example i, at the distance delta, lies in the span as far as rounding lets one tell."""
    own = block.diagonal[i]
    if min(delta**2, batch.extremes[1] * own) > FAR * own:
        return False
    return delta == 0.0 or delta**2 <= ROUNDING * (own + weight(f, block, batch, v))


@compiled
def weight(f: Expansion, block: Block, batch: Batch, v: Matrix) -> float:
    """Σ dⱼ² K(xⱼ, xⱼ) with d = L⁻ᵀv (Eq. 8)"""
    d, total = v.copy(), 0.0
    for s in range(len(v) - 1, -1, -1):
        d[s] /= batch.L[s, s]
        row = batch.L[s]
        for j in range(s):
            d[j] -= d[s] * row[j]
        total += d[s] ** 2 * block.diagonal[f.members[s]]
    return total


@compiled
def project(batch: Batch, t: int, v: Matrix, tau: float) -> None:
    """f ← f + τ P k(x, ·) in round t of the block (Eq. 10, Eq. 14)."""
    time = batch.first[1] + t - batch.first[0] + 1
    for s in range(len(v)):
        batch.c[s] += tau * v[s]
        batch.timed[s] += time * (tau * v[s])
    remember_norm(batch, len(v))


@compiled
def remember_norm(batch: Batch, size: int) -> None:
    c = batch.c[:size]
    batch.extremes[0] = max(batch.extremes[0], np.dot(c, c))


@compiled
def extend(f: Expansion, block: Block, batch: Batch, t: int, v: Matrix, delta: float, tau: float) -> None:
    """Store the example of round t, whose distance from the span is delta, and f ← f + τ k(x, ·).

    The span gets one more dimension, along δ, in which the examples to come have the coordinate
    (K(x, xⱼ) - v·vⱼ) / ‖δ‖.
    """
    project(batch, t, v, tau)
    size, here, i = len(v), t - batch.first[0], block.order[t]
    batch.c[size] = tau * delta
    batch.timed[size] = (batch.first[1] + here + 1) * (tau * delta)
    remember_norm(batch, size + 1)
    batch.L[size, :size] = v
    batch.L[size, size] = delta
    batch.extremes[1] = min(batch.extremes[1], delta**2 / block.diagonal[i])
    row = block.K[i]
    for j in range(here + 1, len(batch.V)):
        batch.V[j, size] = (row[block.order[t - here + j]] - np.dot(v, batch.V[j, :size])) / delta
    f.members[size] = i
    f.stored[i] = True
    f.counts[0] += 1
    f.counts[1] += 1
