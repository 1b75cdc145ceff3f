"""MNIST: handwritten digits, 28 × 28 pixels."""

from __future__ import annotations

import io
import zipfile

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets.base import Examples, labelled, register
from budgetbench.datasets.cache import File
from budgetbench.datasets.fingerprint import EXACT, Fingerprint
from budgetbench.datasets.parse import read_idx
from budgetbench.datasets.published import Form, Parts, Published, Recipe, by_part

DIGITS = tuple(range(10))
BASES = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/")


def _idx(name: str, md5: str, part: str, size: int) -> File:
    # The checksum is of the content, as copies differ in their compression.
    return File("mnist", name, BASES, content_checksum=f"md5:{md5}", part=part, size=size)


IDX_FILES = (
    _idx("train-images-idx3-ubyte.gz", "6bbc9ace898e44ae57da46a324031adb", "train", 9_912_422),
    _idx("train-labels-idx1-ubyte.gz", "a25bea736e30d166cdddb491f175f624", "train", 28_881),
    _idx("t10k-images-idx3-ubyte.gz", "2646ac647ad5339dbf082846283269ea", "test", 1_648_877),
    _idx("t10k-labels-idx1-ubyte.gz", "27ae3e4e09519cfbb04c329615203637", "test", 4_542),
)
KERAS = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
KERAS_SHA256 = "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"
KERAS_FILE = File("mnist", "mnist.npz", (KERAS,), f"sha256:{KERAS_SHA256}", size=11_490_434)


def examples(images: NDArray[np.uint8], labels: NDArray[np.uint8]) -> Examples:
    pixels = images.reshape(len(images), -1).astype(np.float32)
    pixels /= np.float32(255)
    return labelled(pixels, labels, DIGITS)


def pair_up(*arrays: NDArray[np.uint8]) -> Parts:
    train_images, train_labels, test_images, test_labels = arrays
    return by_part(examples(train_images, train_labels), examples(test_images, test_labels))


def read_keras_file(content: bytes) -> list[NDArray[np.uint8]]:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return [arrays[name] for name in ("x_train", "y_train", "x_test", "y_test")]
    except (zipfile.BadZipFile, EOFError, KeyError) as error:
        raise ValueError("not Keras' file of MNIST") from error


RECIPES = (
    Recipe(IDX_FILES, read_idx, pair_up),
    Recipe((KERAS_FILE,), read_keras_file, lambda four: pair_up(*four)),
)
TRAIN_COUNTS = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)
TEST_COUNTS = (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)
FINGERPRINTS = {
    "train": Fingerprint(60000, 784, TRAIN_COUNTS, (-0.006906722105, -0.005749121657, -0.000611087014, 0.001035998483)),
    "test": Fingerprint(10000, 784, TEST_COUNTS, (-0.007958087393, -0.01067424251, 0.001730996952, 0.008765048353)),
}


@register
class MNIST(Published):
    name = "mnist"
    title = "MNIST"
    summary = "handwritten digits, 28 × 28 pixels, ten classes"
    source = "the four IDX files, or the same arrays in Keras' mnist.npz"
    licence = "CC BY-SA 3.0"
    citation = "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, Gradient-based learning, Proc. IEEE 86(11), 1998"
    references = ("lecun1998",)
    preparation = "pixels divided by 255: 0 (background) to 1"
    classes = DIGITS
    forms = (Form("", RECIPES, FINGERPRINTS, EXACT),)
