"""Fourier online gradient descent."""

from __future__ import annotations

from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import NDArray

from budgetbench.engine.arrivals import BLOCK, Arrivals
from budgetbench.engine.base import Rounds, learner
from budgetbench.engine.fourier import FourierFeatures
from budgetbench.engine.kernel_access import KernelAccess
from budgetbench.engine.linear import BELOW_ONE, descend, inner_products
from budgetbench.engine.online import OnlineLearner
from budgetbench.errors import NumericalError, ParameterError
from budgetbench.kernels import RBF, Floats, Kernel, Values
from budgetbench.parameters import Count, Positive, Size, Unit


@learner("fogd", title="FOGD", color="#5B2A86", marker="h", references=("lu2016", "rahimi2007"))
class FOGD(OnlineLearner):
    """Gradient descent on random Fourier features in place of the kernel; no example is stored.

    With the features z(x) = (cos ω₁·x, …, cos ω_D·x, sin ω₁·x, …, sin ω_D·x) / √D of D random frequencies,
    f(x) = w·z(x) and the loss ℓ = max(0, 1 - yₜ f(xₜ)), on ℓ > 0:  w ← w + η yₜ z(xₜ).

    Lu, Hoi, Wang, Zhao, Liu 2016 (JMLR 17), section 3.2, with the features of Rahimi and Recht 2007. Implementations
    that leave out 1/√D take steps that are D times as long: their η is ours times 1/D.
    Cost of an example: D products ω·x and their waves, and one inner product of 2D numbers.
    When to use: where no example may be kept, or the cost of an example has to be the same from the first on; for RBF
    kernels. It takes more bytes than BSGD for the same error.

    Parameters
    ----------
    n_components : the number D of random frequencies; each gives two features, its cosine and its sine.
    eta : the learning rate η.
    """

    changeable = frozenset({"eta"})
    margin_threshold = BELOW_ONE

    n_components: Annotated[Count, Unit("frequencies"), Size(None)] = 400
    eta: Positive = 0.2

    @classmethod
    def check_kernel(cls, kernel: Kernel, values: dict[str, Any]) -> None:
        if not isinstance(kernel, RBF):
            hint = f"{cls.title} draws its frequencies from the spectrum of the Gaussian kernel; nogd takes any kernel."
            raise ParameterError("kernel", kernel.name, RBF.name, hint)

    def start(self, classes: NDArray[Any], n_features: int) -> None:
        super().start(classes, n_features)
        self._features: FourierFeatures | None = None  # until the kernel has a width
        self._w = np.zeros(2 * self.n_components)

    def open(self, access: KernelAccess, labels: NDArray[np.int64]) -> None:
        super().open(access, labels)
        if self._features is None:
            rbf = cast(RBF, self._kernel)
            self._features = FourierFeatures.drawn(rbf, self.n_components, self.n_features_in_, self._random)

    def _see(self, arrivals: Arrivals) -> Rounds:
        assert self._features is not None
        n = len(arrivals.rows)
        rounds = Rounds(np.empty(n), np.zeros(n, dtype=np.int64))
        y = np.where(arrivals.labels == 1, 1.0, -1.0)
        descend(self._features.of(arrivals.inputs), y, self._w, rounds.margins, self.eta)
        if not np.isfinite(rounds.margins).all():
            raise NumericalError(f"{self.title}: inputs too large for their waves to be told apart: scale the inputs")
        return rounds

    def _state(self) -> Values:
        return self._w

    def _size(self) -> int:
        return 0

    def _decide(self, inputs: Floats) -> Values:
        assert self._features is not None
        values = np.empty(len(inputs))
        for start in range(0, len(inputs), BLOCK):  # not all features at once
            some = slice(start, start + BLOCK)
            values[some] = inner_products(self._features.of(inputs[some]), self._w)
        return values
