"""Labels of the user's own files: whole numbers, exactly, or names. Never two classes for one, nor one for two."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetbench.datasets.base import Label
from budgetbench.errors import DataError

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
#: What stands for a value that is not known.
MISSING = ("", "na", "n/a", "nan", "null", "none", "?", "-", "inf", "+inf", "-inf")
#: The largest whole number that a label can be.
LARGEST = 2**63 - 1
#: Characters of the longest name of a class.
LONGEST = 200

EXPECTED = "a class: a whole number or a name"


def shown(value: Any) -> str:
    """A value as messages name it, cut where it is long."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 60 else f"{text[:50]}…{text[-1]}"


def is_number(text: str, kind: type[int | float] = float) -> bool:
    """Whether a text is a number as files write it; Python reads more."""
    try:
        kind(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()


def as_objects(values: Iterable[Any]) -> NDArray[Any]:
    """An array of the values as they are, even where these are sequences, of shape (n,)."""
    return np.array([*values, None], dtype=object)[:-1]


def readable_labels(path: Path, labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as whole numbers (int64) where all are such, otherwise as strings; DataError for fractions."""
    if labels.ndim != 1:
        raise DataError(f"{path}: labels of shape {labels.shape}; expected one for each example")
    if labels.dtype.kind in "OUS":
        return _of_text(path, as_text(path, labels))
    if labels.dtype.kind not in "biuf":
        raise DataError(f"{path}: labels hold {labels.dtype}; expected whole numbers or names")
    # Beyond its mantissa a float is one for several whole numbers.
    largest = 2 ** (np.finfo(labels.dtype).nmant + 1) if labels.dtype.kind == "f" else LARGEST
    if labels.dtype.kind == "f":
        _refuse(path, labels, ~(np.isfinite(labels) & (labels == np.round(labels))), EXPECTED)
        _refuse(path, labels, np.abs(labels) > largest, f"at most {largest} in size, as {labels.dtype} holds no more")
    if labels.dtype.kind == "u":
        _refuse(path, labels, labels > LARGEST, f"at most {LARGEST}")
    return labels.astype(np.int64)


def as_text(path: Path, labels: NDArray[Any]) -> NDArray[Any]:
    """Labels as an array of str objects, so that a long one costs its own length only."""
    try:
        text = [label.decode() if isinstance(label, bytes) else str(label) for label in labels.tolist()]
    except UnicodeDecodeError:
        raise DataError(f"{path}: a label is not text in UTF-8") from None
    for row, label in enumerate(text):
        if len(label) > LONGEST:
            found = f"example {row + 1}: found a label of {len(label)} characters"
            raise DataError(f"{path}: {found}; expected at most {LONGEST}")
    return as_objects(text)


def _of_text(path: Path, labels: NDArray[Any]) -> NDArray[Any]:
    kinds = sorted(set(labels))
    names = [kind for kind in kinds if not NUMBER.fullmatch(kind)]
    if not names:
        numbers = {kind: _whole(path, labels, kind) for kind in kinds}
        return np.array([numbers[label] for label in labels], dtype=np.int64)
    if all(name.lower() in MISSING for name in names):
        _refuse(path, labels, labels == names[0], EXPECTED)
    return labels.astype(str)


def _whole(path: Path, labels: NDArray[Any], text: str) -> int:
    number = Decimal(text)
    if number.adjusted() > 18 or (number.adjusted() >= 0 and abs(number) > LARGEST):
        _refuse(path, labels, labels == text, f"at most {LARGEST} in size, or a name")
    if number != number.to_integral_value():
        _refuse(path, labels, labels == text, EXPECTED)
    return int(number)


def _refuse(path: Path, labels: NDArray[Any], wrong: NDArray[np.bool_], expected: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(f"{path}: example {row + 1}: found label {shown(labels[row])}; expected {expected}")


def known_labels(path: Path, labels: NDArray[Any], classes: tuple[Label, ...]) -> NDArray[Any]:
    """The test set's labels, in the form of the training set's."""
    named = isinstance(classes[0], str)
    readable = as_text(path, labels).astype(str) if named else readable_labels(path, labels)
    unknown = sorted(set(readable.tolist()) - set(classes), key=str)
    if unknown:
        listed = ", ".join(map(str, classes[:12])) + (", …" if len(classes) > 12 else "")
        raise DataError(f"{path}: label {shown(unknown[0])} does not occur in the training set ({listed})")
    return readable
