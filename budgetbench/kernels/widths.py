"""Rules by which the training rows tell a kernel's gamma, and the kernel that waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from budgetbench.errors import DataError
from budgetbench.kernels.base import Kernel
from budgetbench.kernels.products import Floats, Values
from budgetbench.lazy import lazy
from budgetbench.parameters import Accepted, Positive, describe
from budgetbench.seeds import Role, generator
from budgetbench.sparse import Inputs, SparseRows

spatial = lazy("scipy.spatial.distance")

#: Rows among which distances are taken, where there are more: half a million pairs.
SAMPLE = 1000
#: Digits that are kept of a gamma, so that the last bits of a sum make no other kernel on another machine.
DIGITS = 6
#: A squared distance that is a smaller share of ‖x‖² + ‖z‖² is what rounding has left of 0.
CANCELLED = 1e-12

#: Gamma itself, or how the training rows tell it; a width by distances is for kernels that are functions of them.
GammaOrScale = Annotated[Positive | Literal["scale"], Accepted(f"{describe(Positive)}, or scale")]
GammaOrRule = Annotated[Positive | Literal["median", "scale"], Accepted(f"{describe(Positive)}, median or scale")]


def scale(X: NDArray[np.float64] | SparseRows) -> float:
    """1 / (d Var(X)), the variance over all values of X (n, d): scikit-learn's ``gamma="scale"``."""
    if not isinstance(X, SparseRows):
        return 1 / (X.shape[1] * _positive(float(X.var())))
    n, values = len(X) * X.shape[1], X.values.astype(np.float64)
    mean = values.sum() / n
    return 1 / (X.shape[1] * _positive(float(np.square(values - mean).sum() / n + (1 - len(values) / n) * mean**2)))


def median(X: NDArray[np.float64] | SparseRows) -> float:
    """1 / the median of ‖x - z‖² over the pairs of `SAMPLE` rows of X (n, d); of those that differ, if most do not.

    The rows are drawn with a seed of their own: the width depends on the training rows alone.
    """
    if len(X) > SAMPLE:
        X = X[np.sort(generator(0, Role.WIDTH).choice(len(X), SAMPLE, replace=False))]
    distances = _squared_distances(X)
    typical = float(np.median(distances)) if len(distances) else 0.0
    return 1 / (typical or float(np.median(distances[distances > 0])) if distances.any() else _positive(0.0))


def _squared_distances(X: NDArray[np.float64] | SparseRows) -> NDArray[np.float64]:
    """Of each pair of rows."""
    if not isinstance(X, SparseRows):
        return spatial.pdist(X, "sqeuclidean")
    csr = X.csr.astype(np.float64)
    products = (csr @ csr.T).toarray()
    norms = np.diagonal(products)
    first, second = np.triu_indices(len(X), 1)
    sums = norms[first] + norms[second]
    distances = sums - 2 * products[first, second]
    return np.where(distances > CANCELLED * sums, distances, 0.0)


RULES: dict[str, Callable[[Any], float]] = {"median": median, "scale": scale}


def _positive(spread: float) -> float:
    if not spread > 0:
        raise DataError("all inputs are equal, which tells no width: give kernel.gamma a number")
    return spread


@dataclass(frozen=True)
class ByRule(Kernel):
    """A kernel whose gamma the training rows tell: it has values once they did (`told_by`).

    Attributes
    ----------
    kernel : with all its other parameters.
    rule : one of `RULES`.
    """

    name: ClassVar[str] = "by_rule"
    summary: ClassVar[str] = "a kernel whose gamma the data tells"
    kernel: Kernel
    rule: str

    def __post_init__(self) -> None:
        """Nothing to check: the kernel's own `made` does."""

    @property
    def plain(self) -> dict[str, Any]:
        return self.kernel.plain | {"gamma": self.rule}

    @property
    def kind(self) -> Kernel:
        return self.kernel

    def told_by(self, X: Inputs) -> Kernel:
        gamma = RULES[self.rule](X if isinstance(X, SparseRows) else np.asarray(X, dtype=np.float64))
        return replace(self.kernel, gamma=float(f"{gamma:.{DIGITS}g}"))  # type: ignore[call-arg]

    def fitted_to(self, X: Inputs) -> Kernel:
        return self._not_yet()

    def row(self, x: Floats, Z: Floats) -> Values:
        return self._not_yet()

    def diagonal(self, X: Inputs) -> Floats:
        return self._not_yet()

    def by_tile(self, X: Inputs, Z: Inputs) -> Iterator[tuple[slice, slice, Floats]]:
        return self._not_yet()

    def _not_yet(self) -> NoReturn:
        raise TypeError(f"gamma: {self.rule} is no number before the training rows are known")
