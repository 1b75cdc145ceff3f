"""A fingerprint tells content, not order or container."""

from __future__ import annotations

import numpy as np
import pytest

from budgetbench.datasets.base import Examples
from budgetbench.datasets.fingerprint import EXACT, Fingerprint, fingerprint
from budgetbench.datasets.parse import read_table
from budgetbench.datasets.usps import raw, read_libsvm_file, smooth, smoothed


def example_set(n: int = 2000, d: int = 20) -> Examples:
    random = np.random.default_rng(0)
    return Examples(random.integers(0, 16, (n, d)).astype(np.float32), random.integers(0, 3, n))


def test_it_follows_its_formula() -> None:
    X = np.array([[0.5, -1.0], [2.0, 0.25]], dtype=np.float32)
    y = np.array([1, 0])
    expected = [
        np.mean([np.cos(np.sin(1 * r) * a + np.sin(4 * r) * b + (k + 1) * r) for (a, b), k in zip(X, y, strict=True)])
        for r in np.sqrt([2.0, 3.0, 5.0, 7.0])
    ]
    found = fingerprint(Examples(X, y), 2)
    np.testing.assert_allclose(found.statistics, expected, atol=1e-12)
    assert (found.rows, found.inputs, found.classes) == (2, 2, (1, 1))


def test_the_order_of_rows_does_not_matter() -> None:
    examples = example_set(5000)
    order = np.random.default_rng(1).permutation(len(examples))
    shuffled = Examples(examples.X[order], examples.y[order])
    assert not fingerprint(examples, 3).difference(fingerprint(shuffled, 3), 1e-11)


@pytest.mark.parametrize("change", ["label", "exchanged labels", "value", "exchanged values", "row", "column", "nan"])
def test_a_change_is_noticed(change: str) -> None:
    examples = example_set()
    X, y = examples.X.copy(), examples.y.copy()
    other = int(np.argmax(y != y[0]))
    if change == "label":
        y[0] = (y[0] + 1) % 3
    elif change == "exchanged labels":
        y[[0, other]] = y[[other, 0]]
    elif change == "value":
        X[7, 3] += 1
    elif change == "exchanged values":
        column = int(np.argmax(X[0] != X[1]))
        X[[0, 1], column] = X[[1, 0], column]
    elif change == "row":
        X, y = X[1:], y[1:]
    elif change == "column":
        X = X[:, ::-1]
    else:
        X[0, 0] = np.nan
    assert fingerprint(examples, 3).difference(fingerprint(Examples(X, y), 3))


def test_exact_agreement_is_asked_of_whole_numbers() -> None:
    examples = example_set()
    X = examples.X.copy()
    X[0, 0] += 1e-3
    moved = fingerprint(Examples(X, examples.y), 3)
    assert not fingerprint(examples, 3).difference(moved)
    assert fingerprint(examples, 3).difference(moved, EXACT)


def test_counts_alone() -> None:
    """Where no copy was at hand, only the shape is known."""
    examples = example_set()
    assert not Fingerprint(2000, 20, ()).difference(fingerprint(examples, 3))
    assert "2000 rows" in Fingerprint(1999, 20, ()).difference(fingerprint(examples, 3))


def digit_images(n: int) -> np.ndarray:
    """Strokes in [-1, 1] with three decimals, as in the ESL files."""
    random = np.random.default_rng(2)
    images = np.where(random.random((n, 256)) < 0.3, random.uniform(-1, 1, (n, 256)), -1)
    return np.asarray(images.round(3))


def test_both_forms_of_usps_are_one_dataset() -> None:
    """LIBSVM's text of the smoothed images, in another order and with six digits, against the ESL text, smoothed."""
    images, digits = digit_images(300), np.arange(300) % 10
    esl = "".join(f"{y} {' '.join(f'{v:g}' for v in x)} \n" for x, y in zip(images, digits, strict=True))
    rows = [
        f"{y + 1} " + " ".join(f"{j}:{v:.6g}" for j, v in enumerate(x, start=1)) + " \n"
        for x, y in zip(smooth(images), digits, strict=True)
    ]
    libsvm = "".join(np.random.default_rng(3).permutation(np.array(rows)))
    from_esl = fingerprint(smoothed(read_table(esl.encode())), 10)
    from_libsvm = fingerprint(read_libsvm_file(libsvm.encode()), 10)
    assert not from_esl.difference(from_libsvm, 1e-5)
    assert from_esl.difference(fingerprint(raw(read_table(esl.encode())), 10), 1e-5)


def test_smoothing_treats_the_outside_as_background() -> None:
    blank = np.full((2, 256), -1.0)
    np.testing.assert_array_equal(smooth(blank), blank)
    dot = blank.copy()
    dot[0, 8 * 16 + 8] = 1.0
    spread = smooth(dot)[0].reshape(16, 16) + 1
    assert spread.sum() == pytest.approx(2, abs=1e-3)
    assert spread[8, 8] == spread.max()
    np.testing.assert_allclose(spread, spread.T, atol=1e-12)
