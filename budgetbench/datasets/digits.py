"""Digits: the small set of handwritten digits that comes with scikit-learn, so that a first run needs no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from budgetbench.datasets.base import Data, Dataset, Examples, Request, register
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from sklearn import datasets as sklearn_datasets
else:
    sklearn_datasets = lazy("sklearn.datasets")


@register
class Digits(Dataset):
    name = "digits"
    title = "Digits"
    summary = "handwritten digits, 8 × 8 pixels, ten classes; comes with scikit-learn"
    source = "scikit-learn's load_digits: the test part of UCI optical recognition of handwritten digits (80)"
    licence = "CC BY 4.0"
    citation = "E. Alpaydin, C. Kaynak, Optical recognition of handwritten digits, UCI, 1998"
    references = ("alpaydin1998",)
    preparation = "pixels divided by 16: 0 to 1"
    classes = tuple(range(10))
    n_train, n_features = 1797, 64
    pooled = True

    def _load(self, request: Request) -> Data:
        images, labels = sklearn_datasets.load_digits(return_X_y=True)
        return Data(Examples(images / 16, labels), None, tuple(range(10)), "digits")
