"""Orabona's synthetic set: two flat Gaussian clouds in the plane, and a share of the labels flipped.

Source: F. Orabona, J. Keshet, B. Caputo, The Projectron, ICML 2008, section 5, after Dekel, Shalev-Shwartz and
Singer. y = ±1 equally likely; x has mean (y, y) and covariance diag(0.2, 2); then y changes sign with probability 0.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budgetbench.datasets.base import Drawn, Examples, Generated, Options, register
from budgetbench.parameters import Fraction

VARIANCES = np.array([0.2, 2.0])


@dataclass(frozen=True)
class Flipped(Options):
    """How many examples, and how many of them labelled wrong.

    Parameters
    ----------
    n : how many are drawn.
    flips : the probability that a label is flipped.
    """

    n: Drawn = 10000
    flips: Fraction = 0.1


@register
class Gaussian(Generated):
    name = "gaussian"
    title = "Synthetic"
    summary = "two Gaussian clouds in the plane with a tenth of the labels flipped (generated)"
    citation = "F. Orabona, J. Keshet, B. Caputo, The Projectron: a bounded kernel-based Perceptron, ICML 2008"
    classes = (-1, 1)
    n_train, n_features = 10000, 2
    pooled = True
    options = Flipped

    def draw(self, random: np.random.Generator, n: int, flips: float) -> Examples:
        y = random.integers(0, 2, n)
        signs = 2.0 * y - 1.0
        X = signs[:, None] + random.standard_normal((n, 2)) * np.sqrt(VARIANCES)
        flipped = random.random(n) < flips
        return Examples(X, np.where(flipped, 1 - y, y))
