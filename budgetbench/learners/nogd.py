"""Nyström online gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.engine.arrivals import Arrivals
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.certain import margin_against
from budgetbench.engine.expanding import ExpansionLearner
from budgetbench.engine.expansion import Block, Expansion, note, store
from budgetbench.engine.kernel_access import KernelAccess
from budgetbench.engine.linear import BELOW_ONE, descend, inner_products, transformed
from budgetbench.kernels import Values
from budgetbench.lazy import lazy, one_thread
from budgetbench.parameters import Budget, Count, Positive

linalg = lazy("scipy.linalg")

#: Rounding of a kernel value, as a share of the largest: eigenvalues below it times the budget are nothing else.
ROUNDING = 2.0**-24


@learner("nogd", title="NOGD", color="#9A80D0", marker="H", references=("lu2016",))
class NOGD(ExpansionLearner):
    """Kernel gradient descent until B examples are stored, from then on gradient descent in an embedding they span.

    While fewer than B examples are stored, on ℓ = max(0, 1 - yₜ f(xₜ)) > 0:  f ← f + η yₜ K(xₜ, ·). When there are B,
    let λ = λ₁, …, λ_k be the largest eigenvalues of their Gram matrix and V the eigenvectors. Then
    z(x) = diag(λ)^(-1/2) Vᵀ k(x), with the kernel values k(x) of x and the stored examples, and f is projected:
    w = Σᵢ aᵢ z(xᵢ). From then on f(x) = w·z(x), and on ℓ > 0:  w ← w + η yₜ z(xₜ). The inner products z(xᵢ)·z(xⱼ) are
    the best approximation of rank k of the Gram matrix.

    Lu, Hoi, Wang, Zhao, Liu 2016 (JMLR 17), section 3.3. As w·z(x) is an expansion over the stored examples too, with
    the coefficients V diag(λ)^(-1/2) w, a model is these B examples and their coefficients. Eigenvalues that are
    rounding are left out, so that the rank is less where the examples have no more.
    Cost of an example: B kernel values, and B k products.
    When to use: with very little memory and inputs that few directions describe. More memory gains little, as the first
    B examples alone span its features; they should be like the rest of the stream.

    Parameters
    ----------
    budget : the number B of examples that span the embedding.
    rank : the rank k of the embedding, at most B.
    eta : the learning rate η.
    """

    discards = False
    changeable = frozenset({"eta"})
    margin_threshold = BELOW_ONE

    budget: Budget = 100
    rank: Count = 20
    eta: Positive = 0.2

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._map: Values | None = None  # V diag(λ)^(-1/2), of shape (B, k)
        self._w = np.empty(0)

    def _see(self, arrivals: Arrivals) -> Rounds:
        n = len(arrivals.rows)
        if self._map is not None:
            rounds = Rounds(np.empty(n), np.empty(n, dtype=np.int64))
            self._descend(arrivals.source.between(arrivals.rows, self.kept()), arrivals, rounds, 0)
            return rounds
        rounds = super()._see(arrivals)
        if self._size() == self.budget:
            self._embed(arrivals.access)
            values = arrivals.source.between(arrivals.rows, self.kept())
            self._descend(values[self._reached :], arrivals, rounds, self._reached)
        return rounds

    def _visit(self, block: Block, f: Expansion, rounds: Rounds) -> None:
        self._reached = fill(block, f, rounds, self.eta, self.budget)

    def _embed(self, access: KernelAccess) -> None:
        """Go over from the expansion to the embedding."""
        stored = self.kept()
        gram, B = access.between(stored, stored).astype(np.float64), len(stored)
        with one_thread():  # for the same bits however many there are
            values, vectors = linalg.eigh(gram, subset_by_index=(max(0, B - self.rank), B - 1))
            real = values > ROUNDING * B * values[-1]
            roots, vectors = np.sqrt(values[real]), vectors[:, real]
            self._map = np.ascontiguousarray(vectors / roots)
            self._w = roots * (vectors.T @ self._pool.coefficients)

    def _descend(self, K: NDArray[np.float32], arrivals: Arrivals, rounds: Rounds, first: int) -> None:
        """Let the arrivals from number `first` on pass, whose kernel values with the stored examples are K."""
        assert self._map is not None
        y = np.where(arrivals.labels[first:] == 1, 1.0, -1.0)
        descend(transformed(K, self._map), y, self._w, rounds.margins[first:], self.eta)
        rounds.sizes[first:] = self._size()
        self._check_finite(arrivals, rounds)
        self._pool.coefficients[:] = inner_products(self._map, self._w)


@compiled
def fill(block: Block, f: Expansion, rounds: Rounds, eta: float, budget: int) -> int:
    """Kernel gradient descent until the budget is reached; returns the round that comes next."""
    rounds.margins[:] = 0.0
    for t in range(len(block.order)):
        if f.counts.members == budget:
            return t
        i = block.order[t]
        margin = margin_against(f, block, i, BELOW_ONE)
        if margin <= BELOW_ONE:
            store(f, block, i, eta * block.y[i])
        note(rounds, t, margin, f)
    return len(block.order)
