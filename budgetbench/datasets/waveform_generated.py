"""Breiman's waveform generator: the distribution of `waveform` with no download, and as many examples as wanted.

Source: L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone, Classification and Regression Trees, 1984, section 2.6.
An example is u·a + (1 - u)·b plus unit Gaussian noise on each of 21 inputs, u uniform on [0, 1]; its class says which
two of three triangular waves a and b are. The classes are numbered as in the UCI file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budgetbench.datasets.base import Examples, Options, register
from budgetbench.datasets.generated import Drawn, Generated

INPUTS = 21
PEAKS = np.array([7, 11, 15])
WAVES = np.maximum(6 - np.abs(np.arange(1, INPUTS + 1) - PEAKS[:, None]), 0)
MIXED = np.array([(0, 2), (0, 1), (1, 2)])  # by class: which two waves


@dataclass(frozen=True)
class Size(Options):
    """How many examples.

    Parameters
    ----------
    n : how many are drawn.
    """

    n: Drawn = 5000


@register
class GeneratedWaveform(Generated):
    name = "waveform_generated"
    title = "Waveform (generated)"
    summary = "noisy mixtures of triangular waves, 21 inputs, three classes (generated)"
    citation = "L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone, Classification and Regression Trees, 1984"
    classes = (0, 1, 2)
    n_train, n_features = 5000, INPUTS
    pooled = True
    options = Size

    def draw(self, random: np.random.Generator, n: int) -> Examples:
        y = random.integers(0, len(MIXED), n)
        u = random.random((n, 1))
        noise = random.standard_normal((n, INPUTS))
        first, second = WAVES[MIXED[y]].transpose(1, 0, 2)
        return Examples(u * first + (1 - u) * second + noise, y)
