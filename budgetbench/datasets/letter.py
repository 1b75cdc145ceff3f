"""Letter: images of capital letters in twenty fonts, as sixteen whole-number attributes."""

from __future__ import annotations

from string import ascii_uppercase

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets.base import labelled, register
from budgetbench.datasets.cache import File
from budgetbench.datasets.fingerprint import EXACT, Fingerprint
from budgetbench.datasets.parse import read_letters
from budgetbench.datasets.published import Form, Parts, Published, Recipe, by_part

LETTERS = tuple(ascii_uppercase)
N_TRAIN = 16000  # the split that the donor and both papers use: the first 16000 rows train

# Not OpenML's copy: its rows are in another order, which makes it another split.
UCI = "https://archive.ics.uci.edu/"
SOURCES = (UCI + "static/public/59/letter+recognition.zip#", UCI + "ml/machine-learning-databases/letter-recognition/")
SHA256 = "2b89f3602cf768d3c8355267d2f13f2417809e101fc2b5ceee10db19a60de6e2"
FILE = File("letter", "letter-recognition.data", SOURCES, f"sha256:{SHA256}", size=712_565)


def split(table: tuple[NDArray[np.str_], NDArray[np.float64]]) -> Parts:
    labels, attributes = table
    parts = slice(N_TRAIN), slice(N_TRAIN, None)
    return by_part(*(labelled(attributes[rows], labels[rows], LETTERS) for rows in parts))


# fmt: off
TRAIN_COUNTS = (
    633, 630, 594, 638, 616, 622, 609, 583, 590, 599, 593, 604, 648,
    617, 614, 635, 615, 597, 587, 645, 645, 628, 613, 628, 641, 576,
)
TEST_COUNTS = (
    156, 136, 142, 167, 152, 153, 164, 151, 165, 148, 146, 157, 144,
    166, 139, 168, 168, 161, 161, 151, 168, 136, 139, 159, 145, 158,
)
# fmt: on
FINGERPRINTS = {
    "train": Fingerprint(16000, 16, TRAIN_COUNTS, (-0.01150198604, 0.017891325504, 0.013599687107, -0.001957835611)),
    "test": Fingerprint(4000, 16, TEST_COUNTS, (-0.010699825576, 0.018269238085, 0.012443358042, -0.000629322647)),
}


@register
class Letter(Published):
    name = "letter"
    title = "Letter"
    summary = "capital letters, 16 attributes from 0 to 15, 26 classes"
    source = "UCI Machine Learning Repository, letter recognition (59)"
    licence = "CC BY 4.0"
    citation = "P. W. Frey, D. J. Slate, Letter recognition using Holland-style adaptive classifiers, ML 6(2), 1991"
    references = ("frey1991",)
    preparation = "attributes as published; the first 16000 rows train, the last 4000 test"
    classes = LETTERS
    forms = (Form("", (Recipe((FILE,), read_letters, split),), FINGERPRINTS, EXACT),)
