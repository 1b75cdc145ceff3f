"""Points in the plane: the synthetic set of Orabona et al., and some like those of Weston et al., Figures 6, 7 and 8.

The set of Orabona et al. is two flat Gaussian clouds with a share of the labels flipped: y = ±1 equally likely; x has
mean (y, y) and covariance diag(0.2, 2); then y changes sign with probability 0.1. Source: F. Orabona, J. Keshet,
B. Caputo, The Projectron, ICML 2008, section 5, after Dekel, Shalev-Shwartz and Singer.

The paper of Weston et al. shows its toy sets and does not define them, so these follow its words (sections 4.1 and
4.2): 1000 points of two classes "separated by a very small margin" by a line; "a similar dataset, but with overlapping
classes" and "Gaussian noise in one dimension"; and a small set with a curved boundary that a Gaussian kernel can
separate. The line passes through the origin, since the linear kernel has no offset. A test set of the same kind comes
with each, as the paper speaks of how close to the best rule a solution is. Source: J. Weston, A. Bordes, L. Bottou,
Online (and offline) on an even tighter budget, AISTATS 2005.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budgetbench.datasets.base import Drawn, Examples, Generated, Options, register
from budgetbench.parameters import Fraction

VARIANCES = np.array([0.2, 2.0])

#: Unit vectors across and along the line that separates the classes: x₁ + x₂ = 0.
ACROSS = np.array([1.0, 1.0]) / np.sqrt(2.0)
ALONG = np.array([-1.0, 1.0]) / np.sqrt(2.0)

MARGIN = 0.01  # distance of the nearest possible point from the line, where the farthest is 1
CENTRE, SPREAD = 0.5, 0.4  # of a noisy class across the line: the best rule errs on Φ(-1.25) = 10.6 %
THICKNESS = 0.25  # largest distance of a point from its half circle; the two are 0.5 apart


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
    references = ("orabona2008",)
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


@dataclass(frozen=True)
class Sizes(Options):
    """How many examples.

    Parameters
    ----------
    n : training examples.
    n_test : test examples.
    """

    n: Drawn = 1000
    n_test: Drawn = 10000


@dataclass(frozen=True)
class FewSizes(Sizes):
    """Few of them to learn from."""

    n: Drawn = 100


class Toy(Generated):
    """A toy set.

    Attributes
    ----------
    best_line : vector across the line through the origin that separates the classes best; None where no line does.
    """

    citation = "J. Weston, A. Bordes, L. Bottou, Online (and offline) on an even tighter budget, AISTATS 2005"
    references = ("weston2005",)
    classes = (-1, 1)
    n_train, n_test, n_features = 1000, 10000, 2
    options = Sizes
    best_line: np.ndarray | None = ACROSS


@register
class Separable(Toy):
    name = "toy_separable"
    title = "Separable toy"
    summary = "two classes in the plane, a line between them (generated)"

    def draw(self, random: np.random.Generator, n: int) -> Examples:
        """Uniform on both sides of a strip of half-width `MARGIN` around the line."""
        y = random.integers(0, 2, n)
        across = (2 * y - 1) * random.uniform(MARGIN, 1, n)
        return _in_plane(across, random.uniform(-1, 1, n), y)


@register
class Noisy(Toy):
    name = "toy_noisy"
    title = "Noisy toy"
    summary = "two overlapping classes in the plane (generated)"

    def draw(self, random: np.random.Generator, n: int) -> Examples:
        """Gaussian across the line, so that the classes overlap; uniform along it."""
        y = random.integers(0, 2, n)
        across = (2 * y - 1) * CENTRE + SPREAD * random.standard_normal(n)
        return _in_plane(across, random.uniform(-1, 1, n), y)


@register
class Nonlinear(Toy):
    name = "toy_nonlinear"
    title = "Nonlinear toy"
    summary = "two interleaved half circles in the plane (generated)"
    n_train = 100
    options = FewSizes
    best_line = None

    def draw(self, random: np.random.Generator, n: int) -> Examples:
        """Two half circles of radius 1, each reaching into the other, with bounded noise: separable by a curve."""
        y = random.integers(0, 2, n)
        angle = random.uniform(0, np.pi, n)
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        circle[y == 1] = np.array([1.0, 0.5]) - circle[y == 1]
        radius, turn = random.uniform(0, THICKNESS, n), random.uniform(0, 2 * np.pi, n)
        return Examples(circle + radius[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1), y)


def _in_plane(across: np.ndarray, along: np.ndarray, y: np.ndarray) -> Examples:
    return Examples(across[:, None] * ACROSS + along[:, None] * ALONG, y)
