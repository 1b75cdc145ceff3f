"""Banana: an artificial set of two banana-shaped classes in the plane."""

from __future__ import annotations

from budgetbench.datasets import raetsch
from budgetbench.datasets.base import Examples, labelled, register
from budgetbench.datasets.cache import File
from budgetbench.datasets.fingerprint import Fingerprint, Rounding
from budgetbench.datasets.parse import read_keel
from budgetbench.datasets.published import Form, Published, Recipe

KEEL = "https://sci2s.ugr.es/keel/dataset/data/classification/"
KEEL_FILE = File("banana", "banana.dat", (KEEL + "banana.zip#",), size=88_797)
SPLIT_SHA256 = {
    "train_data": "d9ae475e6aa77ef0faa1fdad1d9f476756cb466445a3e65c760988d8a45c1753",
    "train_labels": "d009b24035b8af68f2683a27b9e14abe20c6b0984d3647f5168ec0d5843d2f65",
    "test_data": "e9979e1ffeb52f3a4c541eca4f2967ab2dee22e768e775229d954ee725acfdf5",
    "test_labels": "979ec19fc7f08a2e91f6f6d449362f83b07031c0d44a0e4c640b03ee73659e77",
}
RECIPES = raetsch.recipes("banana", SPLIT_SHA256)


def read_file(content: bytes) -> Examples:
    table = read_keel(content)
    return labelled(table[:, :-1], table[:, -1], raetsch.CLASSES)


FINGERPRINTS = {
    "train": Fingerprint(5300, 2, (2924, 2376), (-0.214516453409, -0.239966815238, -0.321973191897, -0.086075447739)),
}
TOLERANCE = 1e-3  # KEEL's copy is rounded to three digits
ROUNDING = Rounding(
    unit=0.01,
    low=-3.09,
    high=3.19,
    digest="850dd239dda9662b11f3ea47dea25d7d586d03ba664872c881f2a91c71441e1a",
    digits=3,
    full=0.90311,
)


@register
class Banana(Published):
    name = "banana"
    title = "Banana"
    summary = "two banana-shaped classes in the plane"
    source = "KEEL (banana.dat), or Rätsch's benchmark collection"
    licence = "none stated; distributed for research"
    citation = "G. Rätsch, T. Onoda, K.-R. Müller, Soft margins for AdaBoost, Machine Learning 42(3), 2001"
    references = ("ratsch2001",)
    preparation = "as published: inputs of mean 0 and deviation 1; KEEL's are rounded to three digits"
    classes = raetsch.CLASSES
    forms = (Form("", (Recipe((KEEL_FILE,), read_file), *RECIPES), FINGERPRINTS, TOLERANCE, ROUNDING),)
