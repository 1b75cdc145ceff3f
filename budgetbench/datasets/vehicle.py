"""Vehicle (SensIT): which vehicle passes, by acoustic and seismic sensors."""

from __future__ import annotations

from budgetbench.datasets.base import Examples, labelled, register
from budgetbench.datasets.cache import File
from budgetbench.datasets.fingerprint import Fingerprint
from budgetbench.datasets.parse import read_libsvm
from budgetbench.datasets.published import Form, Published, Recipe

CLASSES = (1, 2, 3)
N_FEATURES = 100

LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/vehicle/"
FILES = (
    File("vehicle", "combined.bz2", (LIBSVM,), "md5:5716b20b0a3817429fc52ecb356f2897", part="train", size=40_000_000),
    File("vehicle", "combined.t.bz2", (LIBSVM,), "md5:966abb2dfc7c82836fa3b55effd537f4", part="test", size=10_000_000),
)


def read_file(content: bytes) -> Examples:
    return labelled(*read_libsvm(content, n_features=N_FEATURES), CLASSES)


# Shape only: there was no copy from which to take class counts and averages. The content rests on the
# checksums of the files, and the classes on the reader, which accepts no other.
FINGERPRINTS = {"train": Fingerprint(78823, N_FEATURES, ()), "test": Fingerprint(19705, N_FEATURES, ())}


@register
class Vehicle(Published):
    name = "vehicle"
    aliases = ("sensit",)
    title = "Vehicle"
    summary = "vehicles by acoustic and seismic sensors, 100 inputs, three classes (3: noise)"
    source = "LIBSVM data (SensIT Vehicle, combined)"
    licence = "none stated; distributed for research"
    citation = "M. Duarte, Y. H. Hu, Vehicle classification in distributed sensor networks, JPDC 64(7), 2004"
    references = ("duarte2004",)
    preparation = "as published"
    classes = CLASSES
    forms = (Form("", (Recipe(FILES, read_file),), FINGERPRINTS),)
