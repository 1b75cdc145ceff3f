"""The span of the stored examples: what the projecting learners need of the inverse of their kernel matrix.

Orabona, Keshet, Caputo 2008 keep K⁻¹ and solve d = K⁻¹k (Eq. 8) for each example on which f may change. Here K is kept
as L Lᵀ, with L lower triangular: Eq. 11 then says that a stored example adds the row (vᵀ, ‖δ‖) to L, where v = L⁻¹k.
The rows of L are the coordinates of the stored examples in an orthonormal basis of their span, and v those of
P k(x, ·), the projection of x. All that the learners ask for is a product of coordinates:

    f(x) = c·v    ‖P k(x, ·)‖² = v·v    ‖δ‖² = K(x, x) - v·v    f + τ P k(x, ·) has coordinates c + τ v

and the coefficients of f are a = L⁻ᵀc. A projection takes |S| operations and leaves L alone, so v is computed for a
batch of upcoming examples at once by products of matrices. An example stored meanwhile adds one coordinate to those
that are left of the batch. L is better conditioned than K: its condition number is the square root.

Which products are made depends on the number of a round alone, not on how the stream is cut into blocks: a batch
begins at a multiple of BATCH, each example has its row in it, and rows that are not there yet, or no longer, are 0. So
BLAS takes the same path to each value.

As long as every stored example is FAR from the others' span, float32 kernel values are good enough. The first example
that comes nearer makes L anew from float64 ones, and from then on all kernel values are float64 ones: coefficients that
cancel each other out make the rounding of float32 count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from budgetbench.compiled import compiled, record
from budgetbench.engine.expansion import Block, Expansion, enter
from budgetbench.engine.size import nbytes
from budgetbench.learners.projecting.substitution import (
    Matrix,
    Values,
    catch_up,
    substitute,
    substitute_back,
    substitute_panel,
)

#: Rounds whose examples are projected in one product of matrices.
BATCH = 128

#: Columns of L that go into one product.
PANEL = 128

#: ‖δ‖² as a share of K(x, x) down to which float32 kernel values tell it well enough: they are rounded to 2⁻²⁴.
FAR = 2.0**-10

#: Rounding of float64 makes an error of about this share of K(x, x) + Σ dⱼ² K(xⱼ, xⱼ) in ‖δ‖²: what lies no farther
#: from the span lies in it. For an example that is stored, (1 + ‖d‖²) / ‖δ‖² is what it adds to the trace of K⁻¹
#: (Eq. 11), so that the rule keeps the inverse from growing without bound.
ROUNDING = 2.0**-47

#: Where neither x nor a stored example lies nearer to the others' span, as a share of K(x, x), that is no matter of
#: rounding.
CLEAR = 2.0**-27

#: |f(x)| of at most this share of ‖f‖ ‖P k(x, ·)‖ is 0, with the largest ‖f‖ so far: what is left of larger sums that
#: cancel out is rounding.
ZERO = 1e-12


class Extremes:
    """What was met so far.

    largest : the largest ‖f‖².
    nearest : the smallest ‖δ‖² / K(x, x) of a stored example, FAR at most where L comes of float64 kernel values.
    """

    largest: float
    nearest: float


class Batch(NamedTuple):
    """Coordinates while a batch of examples passes.

    V : row r belongs to round `first` + r of the block; as many columns as examples may be stored.
    own : K(x, x) of each row's example.
    among : kernel values among the batch's examples, where float32 ones will not do; else empty.
    L : with a row for each stored example, and room for the batch.
    c : the coordinates of f.
    timed : Σₛ s Δₛ over the changes Δₛ of c in rounds s, for the mean of all hypotheses.
    extremes : see there.
    first : the round of the block to which row 0 belongs, below 0 if that was in an earlier block.
    before : how many rounds there were before that one.
    """

    V: Matrix
    own: Matrix
    among: Matrix
    L: Matrix
    c: Matrix
    timed: Matrix
    extremes: Extremes
    first: int
    before: int


class Span:
    """L, in panels; and the coordinates of f."""

    def __init__(self) -> None:
        self.size = 0
        self.c = np.zeros(0)
        self.timed = np.zeros(0)
        self._extremes = record(Extremes)
        self._extremes.nearest = 1.0
        self._L: Matrix = np.zeros((0, 0))
        self._settled = 0  # so many columns go into products
        self._triangles: list[Matrix] = []  # those on the diagonal

    @property
    def factor(self) -> Matrix:
        """L"""
        return self._L[: self.size, : self.size]

    @property
    def nbytes(self) -> int:
        """Of L and the coordinates of f, and of what is held ready for products."""
        return nbytes([self.factor, self.c, self.timed, self._triangles])

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_L": self.factor.copy()}  # without the room to spare

    @property
    def precise(self) -> bool:
        """Whether L comes of float64 kernel values."""
        return bool(self._extremes.nearest <= FAR)

    def until_batch_ends(self, rounds: int) -> int:
        """How many examples one batch takes after so many rounds; where one begins, all columns go into products."""
        if rounds % BATCH == 0:
            self._settle()
        return BATCH - rounds % BATCH

    def _settle(self) -> None:
        del self._triangles[self._settled // PANEL :]
        for start in range(len(self._triangles) * PANEL, self.size, PANEL):
            panel = slice(start, min(start + PANEL, self.size))
            self._triangles.append(np.ascontiguousarray(self._L[panel, panel]))
        self._settled = self.size

    def coordinates(self, K: Values, first: int = 0, room: int = 0) -> Matrix:
        """V = K L⁻ᵀ for kernel values K (m, size) against the stored examples.

        The rows of K get the rows from `first` on of V (BATCH, size + room); all else is 0.
        """
        V = np.zeros((BATCH, self.size + room))
        for triangle, start in zip(self._triangles, range(0, self._settled, PANEL), strict=True):
            known = V[:, :start] @ self._L[start : start + len(triangle), :start].T
            substitute_panel(triangle, K, known, V, first, start)
        catch_up(self._L, K, V[first:], self._settled)
        return V

    def coefficients(self, c: Matrix) -> Matrix:
        """a = L⁻ᵀc"""
        a = c[: self.size].copy()
        substitute_back(self._L, a)
        return a

    def open(self, K: Values, own: Values, among: Matrix, first: int, rounds: int) -> Batch:
        """A batch of examples that arrive from round `first` of a block on, after so many rounds in all.

        K (m, size) are their kernel values against the stored examples, own (m,) those with themselves, among (m, m)
        those with each other, or empty.
        """
        most, passed = self.size + len(K), rounds % BATCH
        if most > len(self._L):
            L = np.zeros((2 * most, 2 * most))
            L[: self.size, : self.size] = self.factor
            self._L = L
        room = np.zeros(len(K))
        return Batch(
            self.coordinates(K, passed, len(K))[: passed + len(K)],
            np.concatenate([np.zeros(passed), own]),
            np.pad(among, (passed, 0)) if len(among) else among,
            self._L,
            np.concatenate([self.c, room]),
            np.concatenate([self.timed, room]),
            self._extremes,
            first - passed,
            rounds - passed,
        )

    def take(self, batch: Batch, size: int) -> None:
        """Take over what a batch has made of L and c; `size` examples are stored now."""
        self.size = size
        self.c, self.timed = batch.c[:size].copy(), batch.timed[:size].copy()

    def refine(self, values: Callable[[int], Matrix]) -> None:
        """Make L anew from float64 kernel values, and leave the coefficients of f as they are.

        `values(s)` gives those (s + 1,) of the stored example s with the ones before it and with itself.
        """
        a, timed = self.coefficients(self.c), self.coefficients(self.timed)
        for s in range(self.size):
            k, v = values(s), self._L[s, :s]
            substitute(self._L, k[:s], v, 0)
            self._L[s, s] = max(distance(v, k[s]), np.sqrt(ROUNDING * k[s]))
        self.c, self.timed = self.factor.T @ a, self.factor.T @ timed
        self._extremes.nearest = FAR
        self._settled = 0
        self._triangles.clear()


@compiled
def value(batch: Batch, v: Matrix) -> float:
    """f(x) = c·v, 0 where it is 0 within rounding."""
    f = np.dot(batch.c[: len(v)], v)
    if f * f <= ZERO**2 * batch.extremes.largest * np.dot(v, v):
        return 0.0
    return f


@compiled
def distance(v: Matrix, own: float) -> float:
    """‖δ‖, ‖δ‖² = K(x, x) - ‖P k(x, ·)‖² (Eq. 9); `own` is K(x, x)."""
    return np.sqrt(max(0.0, own - np.dot(v, v)))


@compiled
def is_vague(batch: Batch, t: int, delta: float, eta: float) -> bool:
    """Whether float32 kernel values do not tell how far the example of round t lies from the span.

    ‖δ‖ ≤ η is not stored, so that it is enough if one of them is large.
    """
    own = batch.own[t - batch.first]
    return batch.extremes.nearest > FAR and own > 0.0 and max(delta, eta) ** 2 <= FAR * own


@compiled
def lies_within(f: Expansion, block: Block, batch: Batch, t: int, v: Matrix, delta: float) -> bool:
    """Whether the example of round t, at the distance delta, lies in the span but for rounding; it is not vague."""
    own = batch.own[t - batch.first]
    if delta == 0.0:
        return True
    if min(delta**2, batch.extremes.nearest * own) > CLEAR * own:
        return False
    d, weight = v.copy(), own
    substitute_back(batch.L, d)
    for s in range(len(d)):
        weight += d[s] ** 2 * block.diagonal[f.members[s]]
    return delta**2 <= ROUNDING * weight


@compiled
def project(batch: Batch, t: int, v: Matrix, tau: float) -> None:
    """f ← f + τ P k(x, ·) in round t of the block (Eq. 10, Eq. 14)."""
    time = batch.before + t - batch.first + 1
    for s in range(len(v)):
        batch.c[s] += tau * v[s]
        batch.timed[s] += time * (tau * v[s])
    remember_norm(batch, len(v))


@compiled
def remember_norm(batch: Batch, size: int) -> None:
    c = batch.c[:size]
    batch.extremes.largest = max(batch.extremes.largest, np.dot(c, c))


@compiled
def extend(f: Expansion, block: Block, batch: Batch, t: int, v: Matrix, delta: float, tau: float) -> None:
    """Store the example of round t, whose distance from the span is delta, and f ← f + τ k(x, ·).

    The span gets one more dimension, along δ, in which the examples to come have the coordinate
    (K(x, xⱼ) - v·vⱼ) / ‖δ‖.
    """
    size, row, i = len(v), t - batch.first, block.order[t]
    assert size < min(len(f.members), len(batch.c))
    project(batch, t, v, tau)
    batch.c[size] = tau * delta
    batch.timed[size] = (batch.before + row + 1) * (tau * delta)
    remember_norm(batch, size + 1)
    batch.L[size, :size] = v
    batch.L[size, size] = delta
    batch.extremes.nearest = min(batch.extremes.nearest, delta**2 / batch.own[row])
    values = block.K[i]
    for j in range(row + 1, len(batch.V)):
        k = batch.among[row, j] if len(batch.among) else values[block.order[batch.first + j]]
        batch.V[j, size] = (k - np.dot(batch.L[size, :size], batch.V[j, :size])) / delta
    enter(f, i, 0.0)  # coefficients are computed when the block has passed
