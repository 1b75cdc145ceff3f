"""Adult9: does a person of the 1994 census earn more than 50000 dollars? In Platt's coding by yes-or-no inputs."""

from __future__ import annotations

from budgetbench.datasets.base import Examples, labelled, register
from budgetbench.datasets.cache import File
from budgetbench.datasets.fingerprint import EXACT, Fingerprint
from budgetbench.datasets.parse import read_libsvm
from budgetbench.datasets.published import Form, Published, Recipe

CLASSES = (-1, 1)
N_FEATURES = 123  # must be given: the test file happens not to use the last input

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
COPY = "https://raw.githubusercontent.com/djurikom/BudgetedSVM/cce05ffcf9720fdb0201d804335d09cdd82a7e92/"
TRAIN_SHA256 = "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906"
TEST_SHA256 = "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9"
FILES = (
    File("a9a", "a9a", (LIBSVM, COPY + "a9a_train.txt"), f"sha256:{TRAIN_SHA256}", part="train", size=2_329_875),
    File("a9a", "a9a.t", (LIBSVM, COPY + "a9a_test.txt"), f"sha256:{TEST_SHA256}", part="test", size=1_164_628),
)
FINGERPRINTS = {
    "train": Fingerprint(32561, 123, (24720, 7841), (-0.038718361922, 0.180800792298, 0.057930409826, 0.078714489315)),
    "test": Fingerprint(16281, 123, (12435, 3846), (-0.039486717619, 0.186558834146, 0.052805547477, 0.062645239171)),
}


def read_file(content: bytes) -> Examples:
    return labelled(*read_libsvm(content, n_features=N_FEATURES), CLASSES)


@register
class Adult9(Published):
    name = "adult9"
    aliases = ("a9a",)
    title = "Adult9"
    summary = "census records, 123 yes-or-no inputs, two classes"
    source = "LIBSVM data (a9a, a9a.t), from UCI Adult"
    licence = "CC BY 4.0 (UCI Adult)"
    citation = (
        "J. C. Platt, Fast training of SVMs using sequential minimal optimization, 1998; R. Kohavi, B. Becker, Adult"
    )
    references = ("platt1998", "kohavi1996")
    preparation = "as published: 0 or 1"
    classes = CLASSES
    forms = (Form("", (Recipe(FILES, read_file),), FINGERPRINTS, EXACT),)
