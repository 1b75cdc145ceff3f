"""Random Fourier features: numbers whose inner products are, on average, the values of a Gaussian kernel.

exp(-γ ‖x - z‖²) is the mean of cos ω·(x - z) over normal ω of variance 2γ (Rahimi, Recht 2007, NIPS, *Random features
for large-scale kernel machines*), and cos ω·(x - z) = cos ω·x cos ω·z + sin ω·x sin ω·z. As with kernel values,
features are a function of their row alone: not of the block in which they are asked for, the machine, or its BLAS.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from budgetbench.compiled import compiled
from budgetbench.kernels import RBF
from budgetbench.kernels.products import Floats, Scratch, Values, products, tiles

#: sin 2πa ≈ a (SINE[0] + a² (SINE[1] + a² (…))) for |a| ≤ 1/4, with a relative error below 2⁻³⁵.
SINE = (
    6.283185307072272, -41.34170211674456, 81.60522617404156, -76.70427987584699, 42.00977929357986,
    -14.393966206085862,
)  # fmt: skip


@dataclass(frozen=True)
class FourierFeatures:
    """z(x) = (cos ω₁·x, …, cos ω_D·x, sin ω₁·x, …, sin ω_D·x) / √D, so that ‖z(x)‖ = 1.

    Attributes
    ----------
    turns : ω/2π, float32 of shape (D, d): how often a wave turns along each input.
    """

    turns: Floats

    @classmethod
    def drawn(cls, kernel: RBF, n_components: int, n_inputs: int, random: np.random.Generator) -> FourierFeatures:
        """Features of D frequencies ω, each normal with variance 2γ."""
        deviation = math.sqrt(2 * kernel.gamma) / (2 * math.pi)
        return cls((deviation * random.standard_normal((n_components, n_inputs))).astype(np.float32))

    def of(self, X: Floats) -> Floats:
        """The features of each row of X (n, d): float32 of shape (n, 2D)."""
        D = len(self.turns)
        features, scratch = np.empty((len(X), 2 * D), dtype=np.float32), Scratch()
        cosines, sines = features[:, :D], features[:, D:]
        for rows, columns, some, panel in tiles(np.asarray(X, dtype=np.float32), self.turns):
            turned = products(some, panel, scratch)
            waves(turned, cosines[rows, columns], sines[rows, columns], 1 / math.sqrt(D))
        return features


@compiled
def waves(turned: Values, cosines: Floats, sines: Floats, height: float) -> None:
    """cos 2πu and sin 2πu times a height, for each u; our own, as NumPy's differ between processors.

    No branches: the loop is compiled to vector instructions.
    """
    for i in range(len(turned)):
        u, cosine, sine = turned[i], cosines[i], sines[i]
        for j in range(len(u)):
            rest = u[j] - np.rint(u[j])  # whole turns change nothing; this is exact
            rising = 0.25 - abs(rest)
            cosine[j] = height * sine_of_turns(rising)
            sine[j] = height * np.copysign(sine_of_turns(0.25 - abs(rising)), rest)


@compiled
def sine_of_turns(a: float) -> float:
    """sin 2πa for |a| ≤ 1/4."""
    s = a * a
    return a * (SINE[0] + s * (SINE[1] + s * (SINE[2] + s * (SINE[3] + s * (SINE[4] + s * SINE[5])))))
