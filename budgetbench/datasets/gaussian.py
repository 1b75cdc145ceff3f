"""Orabona's synthetic set: two flat Gaussian clouds in the plane, and a share of the labels flipped.

Source: F. Orabona, J. Keshet, B. Caputo, The Projectron, ICML 2008, section 5, after Dekel, Shalev-Shwartz and
Singer. y = ±1 equally likely; x has mean (y, y) and covariance diag(0.2, 2); then y changes sign with probability 0.1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from budgetbench.datasets.base import Data, Dataset, Examples, Option, Request, count, fraction, register
from budgetbench.datasets.limits import MOST_DRAWN
from budgetbench.seeds import Role, generator

VARIANCES = np.array([0.2, 2.0])


def draw(random: np.random.Generator, n: int, flips: float) -> Examples:
    y = random.integers(0, 2, n)
    signs = 2.0 * y - 1.0
    X = signs[:, None] + random.standard_normal((n, 2)) * np.sqrt(VARIANCES)
    flipped = random.random(n) < flips
    return Examples(X, np.where(flipped, 1 - y, y))


@register
class Gaussian(Dataset):
    name = "gaussian"
    title = "Synthetic"
    summary = "two Gaussian clouds in the plane with a tenth of the labels flipped (generated)"
    source = "generated"
    licence = "not applicable"
    citation = "F. Orabona, J. Keshet, B. Caputo, The Projectron: a bounded kernel-based Perceptron, ICML 2008"
    preparation = "none"
    classes = (-1, 1)
    n_train, n_features = 10000, 2
    generated = True
    pooled = True
    options: Mapping[str, Option] = {
        "n": Option(count(2, MOST_DRAWN), 10000, f"a whole number from 2 to {MOST_DRAWN}", "examples"),
        "flips": Option(fraction, 0.1, "a number from 0 to 1", "probability that a label is flipped"),
    }

    def _load(self, request: Request) -> Data:
        n, flips = request.options["n"], request.options["flips"]
        examples = draw(generator(request.seed, Role.DATA, request.run), n, flips)
        identity = f"gaussian/1/n={n}/flips={flips}/seed={request.seed}/run={request.run}"
        return Data(examples, None, (-1, 1), identity)
