"""USPS: handwritten digits from envelopes, 16 × 16 pixels.

Two forms circulate. The one of the Elements of Statistical Learning (ESL) holds the images as they were scanned and
normalised. The Tübingen form, to which Weston et al. and Crammer et al. refer and which LIBSVM hands out, is the
same images smoothed by a Gaussian of 0.75 pixels with background (-1) outside of the image.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets.base import Examples, labelled, register
from budgetbench.datasets.cache import File
from budgetbench.datasets.fingerprint import Fingerprint, confirmed
from budgetbench.datasets.parse import read_libsvm, read_table
from budgetbench.datasets.published import Form, Published, Recipe, by_part
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from scipy import ndimage
else:
    ndimage = lazy("scipy.ndimage")

DIGITS = tuple(range(10))
SIDE = 16
SMOOTHING = 0.75  # standard deviation in pixels

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/"
TRAIN_SHA256 = "3771e9dd6ba685185f89867b6e249233dd74652389f263963b3b741e994b034f"
TEST_SHA256 = "a9c0164e797d60142a50604917f0baa604f326e9a689698763793fa5d12ffc4e"
LIBSVM_FILES = (
    File("usps", "usps.bz2", (LIBSVM,), f"sha256:{TRAIN_SHA256}", part="train", size=7_000_000),
    File("usps", "usps.t.bz2", (LIBSVM,), f"sha256:{TEST_SHA256}", part="test", size=2_000_000),
)

ESL = ("https://hastie.su.domains/ElemStatLearn/datasets/", "https://web.stanford.edu/~hastie/ElemStatLearn/datasets/")
# No checksum: copies are compressed anew and their rows reordered. The digest of the rows tells.
ESL_FILES = (
    File("usps", "zip.train.gz", ESL, part="train", size=1_829_071),
    File("usps", "zip.test.gz", ESL, part="test", size=439_208),
)
ESL_DECIMALS = 3
ESL_ROWS = (
    "e6b85083c6037dd11ae4b9601f4046f30b641e1e82e260637e20a3b620673bba",
    "60eabae435bbd46a3c1c58b1374f00b23a5d02a89e384f81c8e9ae95eb8b9205",
)


def smooth(images: NDArray[np.float64]) -> NDArray[np.float64]:
    """The Tübingen form of ESL images, both (n, 256) in [-1, 1]."""
    squares = images.reshape(-1, SIDE, SIDE)
    smoothed = ndimage.gaussian_filter(squares, sigma=(0, SMOOTHING, SMOOTHING), mode="constant", cval=-1.0)
    return np.asarray(smoothed.reshape(images.shape))


def read_libsvm_file(content: bytes) -> Examples:
    X, labels = read_libsvm(content, n_features=SIDE * SIDE)
    return by_content(labelled(X, labels - 1, DIGITS))  # the file counts classes from 1


def read_esl_file(content: bytes) -> NDArray[np.float64]:
    return confirmed(read_table(content), ESL_DECIMALS, ESL_ROWS)


def raw(table: NDArray[np.float64]) -> Examples:
    return by_content(labelled(table[:, 1:], table[:, 0], DIGITS))


def smoothed(table: NDArray[np.float64]) -> Examples:
    return by_content(labelled(smooth(table[:, 1:]), table[:, 0], DIGITS))


def by_content(examples: Examples) -> Examples:
    """The rows in an order that depends on what they hold: copies differ in theirs, and some are sorted by class.

    The same permutation then gives the same stream whatever the source. The fraction of a projection mixes the classes.
    """
    directions = np.cos(np.sqrt(2.0) * np.arange(1, SIDE * SIDE + 1) ** 2)
    order = np.argsort(4 * (examples.X.astype(np.float64) @ directions) % 1, kind="stable")
    return Examples(examples.X[order], examples.y[order])


def from_esl(make: Callable[[NDArray[np.float64]], Examples]) -> Recipe:
    return Recipe(ESL_FILES, read_esl_file, lambda train, test: by_part(make(train), make(test)))


TRAIN_COUNTS = (1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644)
TEST_COUNTS = (359, 264, 198, 166, 200, 160, 170, 147, 166, 177)
SMOOTHED = {
    "train": Fingerprint(7291, 256, TRAIN_COUNTS, (0.002813404045, 0.030109101965, -0.074750023819, 0.062310434869)),
    "test": Fingerprint(2007, 256, TEST_COUNTS, (-0.01351098178, 0.035393917573, -0.058077346576, 0.03038635636)),
}
RAW = {
    "train": Fingerprint(7291, 256, TRAIN_COUNTS, (0.026960609978, -0.004845539326, -0.014048466598, -0.009435420058)),
    "test": Fingerprint(2007, 256, TEST_COUNTS, (0.021276721292, -0.019234187042, -0.010956372862, 0.000850600947)),
}


@register
class USPS(Published):
    name = "usps"
    title = "USPS"
    summary = "handwritten digits, 16 × 16 pixels, ten classes"
    source = "LIBSVM data (usps.bz2) or Elements of Statistical Learning (zip.train.gz)"
    licence = "none stated; distributed for research"
    citation = "J. J. Hull, A database for handwritten text recognition research, IEEE PAMI 16(5), 1994"
    references = ("hull1994",)
    preparation = "pixels in [-1, 1]; smoothed: as in the LIBSVM files; raw: as in the ESL files"
    classes = DIGITS
    forms = (
        Form("smoothed", (Recipe(LIBSVM_FILES, read_libsvm_file), from_esl(smoothed)), SMOOTHED),
        Form("raw", (from_esl(raw),), RAW),
    )
