"""Waveform: Breiman's noisy mixtures of two of three triangular waves, the published draw of 5000.

The binary form of Rätsch's collection, which Weston et al. use, is the same draw: class 1 against the others, with
every input standardised. So it is made from the UCI file, too.

`waveform_generated` is the same distribution with no download, and as many examples as wanted. Source: L. Breiman,
J. H. Friedman, R. A. Olshen, C. J. Stone, Classification and Regression Trees, 1984, section 2.6. An example is
u·a + (1 - u)·b plus unit Gaussian noise on each of 21 inputs, u uniform on [0, 1]; its class says which two of three
triangular waves a and b are. The classes are numbered as in the UCI file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets import raetsch
from budgetbench.datasets.base import Drawn, Examples, Generated, Options, labelled, register
from budgetbench.datasets.cache import File
from budgetbench.datasets.fingerprint import ROUNDED, Fingerprint, Rounding, confirmed
from budgetbench.datasets.parse import read_table
from budgetbench.datasets.published import Form, Published, Recipe, by_part

CITATION = "L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone, Classification and Regression Trees, 1984"
CLASSES = (0, 1, 2)
INPUTS = 21
PEAKS = np.array([7, 11, 15])
WAVES = np.maximum(6 - np.abs(np.arange(1, INPUTS + 1) - PEAKS[:, None]), 0)
MIXED = np.array([(0, 2), (0, 1), (1, 2)])  # by class: which two waves

POSITIVE = 1  # the UCI class that is Rätsch's positive one
UCI = "https://archive.ics.uci.edu/"
ARCHIVE = UCI + "static/public/107/waveform+database+generator+version+1.zip#"

# No checksum: it is not known for the packed file, and copies of the unpacked one differ in the order of rows.
PLAIN_FILE = File("waveform", "waveform.data", (ARCHIVE,), size=555_497)
PACKED = (ARCHIVE, UCI + "ml/machine-learning-databases/waveform/")
PACKED_FILE = File("waveform", "waveform.data.Z", PACKED, size=250_000)
DECIMALS, ROWS = 2, "82320c9517c9b0dceea4c72069600a47cde4858a0024bb40dba1ef3e6bc5a32f"  # the row_digest of both
SPLIT_SHA256 = {
    "train_data": "95d3bf737b404c5cb8c35d78ef13230af719aeab1eff34e5b81512572d9deb14",
    "train_labels": "5147bbd2ad8d36c5fffac0f1b89f7004a174651dc80bfa753f31a17e9283831d",
    "test_data": "e16e07f1e6f8ed6768fb13b06671c0c6063560406d2fc0e7f4f5451e67fc2a7e",
    "test_labels": "211d973e19911c9d35f0a64905cd0b0c797e9da7ab99c74f68eabd860eb03794",
}
RECIPES = raetsch.recipes("waveform", SPLIT_SHA256)


def read_file(content: bytes) -> NDArray[np.float64]:
    return confirmed(read_table(content, ","), DECIMALS, [ROWS])


def three_classes(table: NDArray[np.float64]) -> Examples:
    return labelled(table[:, :-1], table[:, -1], CLASSES)


def standardised(table: NDArray[np.float64]) -> Examples:
    X = table[:, :-1]
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    labels = np.where(table[:, -1] == POSITIVE, 1, -1)
    return labelled(X, labels, raetsch.CLASSES)


def from_uci(make: Callable[[NDArray[np.float64]], Examples]) -> tuple[Recipe, ...]:
    return tuple(Recipe((file,), read_file, lambda table: by_part(make(table))) for file in (PLAIN_FILE, PACKED_FILE))


THREE = Fingerprint(5000, 21, (1657, 1647, 1696), (-0.030668648696, -0.003581720803, 0.01322730366, -0.002786605759))
BINARY = Fingerprint(5000, 21, (3353, 1647), (0.008928769594, -0.023486320196, -0.00050282089, -0.008520707694))
# Rätsch's values and those made of UCI's differ by 1.4e-7 at most.
ROUNDING = Rounding(unit=1e-5, low=-4.10149, high=4.04325)


@register
class Waveform(Published):
    name = "waveform"
    title = "Waveform"
    summary = "noisy mixtures of triangular waves, 21 inputs, three classes (binary: class 1 against the rest)"
    source = "UCI Machine Learning Repository, waveform version 1 (107); binary also from Rätsch's collection"
    licence = "CC BY 4.0"
    citation = CITATION
    references = ("breiman1984",)
    preparation = "classes: as published; binary: class 1 against the rest, inputs of mean 0 and deviation 1"
    classes = CLASSES
    forms = (
        Form("classes", from_uci(three_classes), {"train": THREE}),
        Form("binary", from_uci(standardised) + RECIPES, {"train": BINARY}, ROUNDED, ROUNDING, raetsch.CLASSES),
    )


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
    citation = CITATION
    references = ("breiman1984",)
    classes = CLASSES
    n_train, n_features = 5000, INPUTS
    pooled = True
    options = Size

    def draw(self, random: np.random.Generator, n: int) -> Examples:
        y = random.integers(0, len(MIXED), n)
        u = random.random((n, 1))
        noise = random.standard_normal((n, INPUTS))
        first, second = WAVES[MIXED[y]].transpose(1, 0, 2)
        return Examples(u * first + (1 - u) * second + noise, y)
