"""What holds for every dataset, the generated ones' statistics, and the real ones where their files are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from budgetbench.datasets import Cache, Data, Dataset, Examples, datasets
from budgetbench.datasets.plane import ACROSS, MARGIN
from budgetbench.datasets.published import Published
from budgetbench.datasets.usps import by_content
from budgetbench.errors import ParameterError, RequestError

PROJECT = Path(__file__).resolve().parents[2]
GENERATED = [name for name in datasets if datasets[name].generated]
PUBLISHED = [name for name in datasets if isinstance(datasets[name], Published)]
EXPECTED = (
    "usps mnist letter adult9 vehicle waveform waveform_generated banana gaussian toy_separable toy_noisy "
    "toy_nonlinear digits libsvm csv npz openml parquet"
)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path, quiet=True)


def check(dataset: Dataset, data: Data, variant: str | None = None) -> None:
    for part, size in ((data.train, dataset.n_train), (data.test, dataset.n_test)):
        assert (part is None) == (size is None)
        if part is None:
            continue
        assert part.X.shape == (size, dataset.n_features)
        assert part.X.dtype == np.float32
        assert part.X.flags.c_contiguous
        assert part.y.dtype == np.int64
        assert np.isfinite(part.X).all()
        assert set(np.unique(part.y)) == set(range(len(data.classes)))
    if variant in (None, *dataset.variants[:1]):
        assert data.classes == dataset.classes


def test_all_are_there() -> None:
    assert set(datasets) == set(EXPECTED.split())
    assert datasets["a9a"] is datasets["adult9"]
    with pytest.raises(RequestError, match="'usps'"):
        datasets["upsp"]


@pytest.mark.parametrize("name", list(datasets))
def test_each_says_what_it_is(name: str) -> None:
    dataset = datasets[name]
    assert dataset.name == name
    for text in (dataset.title, dataset.summary, dataset.source, dataset.licence, dataset.preparation):
        assert text
    assert dataset.citation or name in ("libsvm", "csv", "npz", "parquet")
    for parameter in dataset.parameters().values():
        assert parameter.accepted
        assert parameter.meaning


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_have_several_sources_and_something_to_check(name: str) -> None:
    dataset = datasets[name]
    assert isinstance(dataset, Published)
    assert dataset.files
    for form in dataset.forms:
        files = [file for recipe in form.recipes for file in recipe.files]
        assert {file.place for file in files} <= set(dataset.files)
        assert all(source.startswith(("https://", "http://")) for file in files for source in file.sources)
        assert len({source for file in files for source in file.sources}) > 1
        train = form.fingerprints["train"]
        assert (train.rows, train.inputs) == (dataset.n_train, dataset.n_features)
        assert train.statistics or all(file.checksum for file in files)


def test_variants_and_options_are_checked(cache: Cache) -> None:
    with pytest.raises(ParameterError, match="smoothed, raw"):
        datasets["usps"].load(cache, "rough")
    with pytest.raises(ParameterError, match="no variant"):
        datasets["digits"].load(cache, "raw")
    with pytest.raises(ParameterError, match="no parameter"):
        datasets["digits"].load(cache, size=3)
    for bad in (1, 2.5, "many", True, None):
        with pytest.raises(ParameterError, match="an integer of at least 2 and at most"):
            datasets["gaussian"].load(cache, n=bad)
    for bad in (-0.1, 1.1, "x", float("nan")):
        with pytest.raises(ParameterError, match="0 to 1"):
            datasets["gaussian"].load(cache, flips=bad)


def test_numbers_of_numpy_are_numbers(cache: Cache) -> None:
    data = datasets["gaussian"].load(cache, n=np.int64(50), flips=np.float32(0.25))
    assert data.identity == "gaussian/1/n=50/flips=0.25/seed=0/run=0"


def test_digits(cache: Cache) -> None:
    data = datasets["digits"].load(cache)
    check(datasets["digits"], data)
    assert data.train.X.min() == 0
    assert data.train.X.max() == 1


@pytest.mark.parametrize("name", GENERATED)
def test_a_draw_depends_on_seed_and_run_alone(cache: Cache, name: str) -> None:
    dataset = datasets[name]
    data = dataset.load(cache, seed=1, run=2)
    check(dataset, data)
    again = dataset.load(cache, seed=1, run=2)
    assert (again.identity, again.checksum) == (data.identity, data.checksum)
    others = [dataset.load(cache, seed=1, run=3), dataset.load(cache, seed=2, run=2)]
    assert len({other.checksum for other in (data, *others)}) == 3
    assert len({other.identity for other in (data, *others)}) == 3
    small = dataset.load(cache, n=50)
    assert len(small.train) == 50
    assert small.identity != dataset.load(cache).identity


def test_gaussian(cache: Cache) -> None:
    data = datasets["gaussian"].load(cache, n=200_000, flips=0.0).train
    for k, sign in enumerate((-1, 1)):
        X = data.X[data.y == k]
        assert len(X) == pytest.approx(100_000, abs=1500)
        np.testing.assert_allclose(X.mean(axis=0), (sign, sign), atol=0.03)
        np.testing.assert_allclose(np.cov(X.T), np.diag((0.2, 2.0)), atol=0.04)


def test_the_labels_of_gaussian_are_flipped_and_nothing_else_changes(cache: Cache) -> None:
    clean = datasets["gaussian"].load(cache, n=100_000, flips=0.0).train
    noisy = datasets["gaussian"].load(cache, n=100_000).train
    np.testing.assert_array_equal(clean.X, noisy.X)
    assert np.mean(clean.y != noisy.y) == pytest.approx(0.1, abs=0.005)


def test_generated_waveform(cache: Cache) -> None:
    data = datasets["waveform_generated"].load(cache, n=60_000).train
    i = np.arange(1, 22)
    waves = [np.maximum(6 - abs(i - peak), 0) for peak in (7, 11, 15)]
    for k, (a, b) in enumerate(((0, 2), (0, 1), (1, 2))):
        X = data.X[data.y == k]
        assert len(X) == pytest.approx(20_000, abs=600)
        np.testing.assert_allclose(X.mean(axis=0), (waves[a] + waves[b]) / 2, atol=0.06)
        # unit noise, and u(1 - u)-mixing, whose variance is 1/12
        np.testing.assert_allclose(X.var(axis=0), 1 + (waves[a] - waves[b]) ** 2 / 12, atol=0.15)


def test_the_separable_toy_has_its_margin(cache: Cache) -> None:
    data = datasets["toy_separable"].load(cache, n=20_000).train
    margins = (data.X @ ACROSS) * (2 * data.y - 1)
    assert MARGIN - 1e-6 <= margins.min() < 1.2 * MARGIN
    assert margins.max() <= 1 + 1e-6
    assert data.y.mean() == pytest.approx(0.5, abs=0.02)


def test_the_best_rule_of_the_noisy_toy(cache: Cache) -> None:
    data = datasets["toy_noisy"].load(cache, n=50_000).train
    assert np.mean((data.X @ ACROSS > 0) != (data.y == 1)) == pytest.approx(0.1056, abs=0.006)


def test_the_nonlinear_toy_can_be_separated_but_not_by_a_line(cache: Cache) -> None:
    from sklearn.svm import SVC

    data = datasets["toy_nonlinear"].load(cache)
    X, y = data.train.X, data.train.y
    assert SVC(kernel="rbf", gamma=2, C=1e6).fit(X, y).score(X, y) == 1
    assert SVC(kernel="linear", C=1e4).fit(X, y).score(X, y) < 1


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, mirror: str) -> Cache:
    return Cache(tmp_path_factory.mktemp("data"), mirror, quiet=True)


@pytest.mark.parametrize("name", [name for name in PUBLISHED if name != "vehicle"])
def test_real_data(real: Cache, name: str) -> None:
    """Shapes here; counts and fingerprints are confirmed on loading."""
    dataset = datasets[name]
    assert isinstance(dataset, Published)
    for form in dataset.forms:
        variant = form.variant or None
        data = dataset.load(real, variant)
        check(dataset, data, variant)
        assert all(path.is_file() for path in data.files)
        parts = {"train": data.train} if data.test is None else {"train": data.train, "test": data.test}
        assert not dataset.problems(parts, form)
        assert dataset.load(real, variant).checksum == data.checksum


def test_real_usps_is_smoothed_unless_raw_is_asked_for(real: Cache) -> None:
    smoothed, raw = (datasets["usps"].load(real, variant).train for variant in ("smoothed", "raw"))
    assert (raw.X.min(), raw.X.max()) == (-1, 1)
    assert smoothed.X.std() < raw.X.std()
    np.testing.assert_array_equal(np.bincount(smoothed.y), np.bincount(raw.y))


def test_real_waveform_in_its_binary_form(real: Cache) -> None:
    three, two = (datasets["waveform"].load(real, variant) for variant in ("classes", "binary"))
    assert two.classes == (-1, 1)
    np.testing.assert_array_equal(two.train.y == 1, three.train.y == 1)
    np.testing.assert_allclose(two.train.X.std(axis=0, ddof=1), 1, atol=1e-5)


def test_usps_rows_come_in_an_order_of_their_own() -> None:
    random = np.random.default_rng(0)
    examples = Examples(random.random((50, 256)), np.arange(50) % 10)
    shuffled = random.permutation(50)
    again = Examples(examples.X[shuffled], examples.y[shuffled])
    ordered, same = by_content(examples), by_content(again)
    np.testing.assert_array_equal(ordered.X, same.X)
    np.testing.assert_array_equal(ordered.y, same.y)
