"""The linear kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from budgetbench.kernels.base import kernels
from budgetbench.kernels.of_products import OfProducts, log2, powers, powers_of_products
from budgetbench.kernels.products import Floats, Values


@kernels.register("linear")
@dataclass(frozen=True)
class Linear(OfProducts):
    """K(x, z) = x·z"""

    name: ClassVar[str] = "linear"
    summary: ClassVar[str] = "x·z"

    def row(self, x: Floats, Z: Floats) -> Values:
        return powers_of_products(x, Z, 1.0, 0.0, 1)

    def _finish(self, values: Floats, products: NDArray[Any], factor: float) -> None:
        powers(values, products, 1.0, 0.0, 1, factor)

    def _magnitude(self, product: float) -> float:
        return log2(product)
