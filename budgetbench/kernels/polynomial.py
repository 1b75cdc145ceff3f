"""The polynomial kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Le
from numpy.typing import NDArray

from budgetbench.kernels.base import kernels
from budgetbench.kernels.of_products import OfProducts, log2, powers, powers_of_products
from budgetbench.kernels.products import Floats, Values
from budgetbench.parameters import NonNegative, Positive

#: A power that float32 can hold for some data.
Degree = Annotated[int, Ge(1), Le(100)]


@kernels.register("polynomial")
@dataclass(frozen=True)
class Polynomial(OfProducts):
    """K(x, z) = (gamma x·z + coef0)^degree

    Parameters
    ----------
    degree : the power.
    gamma : the factor of the inner product.
    coef0 : what is added to it.
    """

    name: ClassVar[str] = "polynomial"
    summary: ClassVar[str] = "(gamma x·z + coef0)^degree"
    degree: Degree = 3
    gamma: Positive = 1.0
    coef0: NonNegative = 0.0

    def _finish(self, values: Floats, products: NDArray[Any], factor: float) -> None:
        powers(values, products, self.gamma, self.coef0, self.degree, factor)

    def row(self, x: Floats, Z: Floats) -> Values:
        return powers_of_products(x, Z, self.gamma, self.coef0, self.degree)

    def _magnitude(self, product: float) -> float:
        return self.degree * log2(self.gamma * product + self.coef0)
