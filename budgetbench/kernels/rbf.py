"""The Gaussian kernel, and the exponential function that it needs: the same on every processor, right to float32's
last place."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from budgetbench.compiled import compiled
from budgetbench.errors import NOTHING, ParameterError
from budgetbench.kernels.base import Kernel, Tiled, kernels
from budgetbench.kernels.products import (
    BLOCK,
    GROUP,
    Floats,
    Panel,
    Rows,
    Scratch,
    Values,
    products,
    products_with,
    squared_distances,
    squared_norms,
)
from budgetbench.kernels.widths import ByRule, GammaOrRule
from budgetbench.parameters import Parameter, Positive, check, declared
from budgetbench.sparse import Inputs, SparseRows

#: A width whose square, and one over that, is in the range of gamma.
Width = Annotated[float, Ge(1e-14), Le(1e14)]

#: The other ways to give the width, and gamma as their functions.
WIDTHS: dict[str, tuple[Parameter, Callable[[float], float]]] = {
    "sigma": (Parameter("sigma", Width, None, "the standard deviation."), lambda sigma: 1 / (2 * sigma**2)),
    "variance": (Parameter("variance", Width, None, "its square."), lambda variance: 1 / (2 * variance)),
}

#: Error of gamma ‖x - z‖², and so relative error of a kernel value, that is let pass: a sixteenth of a last place.
ROUNDING = 2.0**-27
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


@kernels.register("rbf")
@dataclass(frozen=True)
class RBF(Tiled):
    """K(x, z) = exp(-gamma ‖x - z‖²)

    Parameters
    ----------
    gamma : 1/(2 sigma²), in place of the width; median: 1 over the median squared distance of the training rows;
        scale: 1/(d Var(X)).
    """

    name: ClassVar[str] = "rbf"
    summary: ClassVar[str] = "exp(-gamma ‖x - z‖²), gamma = 1/(2 sigma²) = 1/(2 variance)"
    non_negative: ClassVar[bool] = True
    gamma: Positive

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        gamma = replace(declared(cls)["gamma"], annotation=GammaOrRule, default=None)
        return {"gamma": gamma} | {name: parameter for name, (parameter, _) in WIDTHS.items()}

    @classmethod
    def guessed(cls, inputs: int) -> dict[str, Any]:
        return {"gamma": 1 / inputs}

    @classmethod
    def made(cls, given: Mapping[str, Any]) -> Kernel:
        """From exactly one width: a default would be a guess about the data."""
        values = check(cls.parameters(), given)
        if len(given) != 1:
            name = next((name for name in reversed(values) if name in given), "gamma")
            raise ParameterError(name, given.get(name, NOTHING), f"exactly one of {', '.join(values)}")
        (name,) = given
        if isinstance(values[name], str):
            return ByRule(cls(1.0), values[name])
        return cls(values[name] if name == "gamma" else WIDTHS[name][1](values[name]))

    def row(self, x: Floats, Z: Floats) -> Values:
        return exponentials_of_distances(x, Z, self.gamma)

    def diagonal(self, X: Inputs) -> Floats:
        return np.ones(len(X), dtype=np.float32)

    def least(self, X: Inputs) -> float:
        """Two rows are no farther apart than twice the largest distance from their mean."""
        if not len(X):
            return 1.0
        value = math.exp(-self.gamma * 4.004 * _squared_radius(X))
        return value if value > 2.0**-120 else 0.0  # below it float32 has fewer bits

    def _fill(self, tile: Floats, rows: Rows, panel: Panel, scratch: Scratch) -> None:
        """By ‖x‖² + ‖z‖² - 2 x·z, and by differences where that is not exact enough: of a pair far from the origin."""
        exponentials(tile, products(rows, panel, scratch), rows.norms, panel.norms, self.gamma)
        farthest = farthest_by_products(rows.X.shape[1], self.gamma)
        if not panel.exact and rows.norms.max() + panel.norms.max() > farthest:
            distances = squared_distances(rows, panel, scratch)
            exponentials_beyond(farthest, tile, distances, rows.norms, panel.norms, self.gamma)


def _squared_radius(X: Inputs) -> float:
    """The largest squared distance of a row from the mean of all, or little more."""
    if isinstance(X, SparseRows):
        mean, norms = X.csr.mean(axis=0, dtype=np.float64), squared_norms(X)
        return float((norms - 2 * (X.csr @ mean) + mean @ mean).max()) + 1e-9 * float(norms.max())
    mean, radius = X.mean(axis=0, dtype=np.float64), 0.0
    for start in range(0, len(X), BLOCK):
        radius = max(radius, float(np.square(X[start : start + BLOCK] - mean).sum(axis=1).max()))
    return radius


@compiled
def exponential(u: float) -> float:
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
            target[j] = exponential(-min(max(squared_distance, 0.0) * gamma, LEAST))


@compiled
def exponentials_beyond(
    farthest: float, values: Floats, distances: Values, norms_x: Values, norms_z: Values, gamma: float
) -> None:
    """exp(-gamma ‖x - z‖²) from ‖x - z‖² for pairs of ‖x‖² + ‖z‖² above `farthest`, in place; others are left alone."""
    for i in range(len(values)):
        row, target, norm = distances[i], values[i], norms_x[i]
        for j in range(len(norms_z)):
            value = np.float32(exponential(-min(row[j] * gamma, LEAST)))
            target[j] = value if norm + norms_z[j] > farthest else target[j]


@compiled
def farthest_by_products(depth: int, gamma: float) -> float:
    """The largest ‖x‖² + ‖z‖² for which the squared distance of inputs so many numbers long is right from x·z: sums
    leave an error of at most (d + 3) (‖x‖² + ‖z‖²) 2⁻⁵² in it."""
    return ROUNDING / gamma / (depth + 3) * 2.0**52


@compiled
def exponents(x: Floats, norm: float, panel: Floats, norms: Values, gamma: float) -> Values:
    """gamma ‖x - z‖², at most LEAST, for an input x (d,) and the columns z of a panel (d, m): of shape (m,).

    From them `exponential` makes the kernel values that `RBF.matrix` gives, to the last bit; ‖x‖² and ‖z‖² must be as
    `column_norms` gives them.
    """
    inner = products_with(x, panel)
    farthest = farthest_by_products(-(-len(x) // GROUP) * GROUP, gamma)
    found = np.empty(len(norms))
    for j in range(len(found)):
        found[j] = min(max((norm + norms[j]) - 2.0 * inner[j], 0.0) * gamma, LEAST)
    for j in range(len(found)):
        if norm + norms[j] > farthest:
            squared_distance = 0.0
            for k in range(len(x)):
                squared_distance += (np.float64(x[k]) - np.float64(panel[k, j])) ** 2
            found[j] = min(squared_distance * gamma, LEAST)
    return found


@compiled
def exponentials_of_distances(x: Floats, Z: Floats, gamma: float) -> Values:
    """exp(-gamma ‖x - z‖²) for each row of Z (m, d): of shape (m,)."""
    values = np.empty(len(Z))
    for i in range(len(Z)):
        squared_distance = 0.0
        for j in range(len(x)):
            squared_distance += (np.float64(x[j]) - np.float64(Z[i, j])) ** 2
        values[i] = np.exp(-gamma * squared_distance)
    return values
