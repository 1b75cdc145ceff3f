"""From a dataset to the stream of a run: preparation, splits, noise and order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetbench.config import load
from budgetbench.config.dataset import SECTION
from budgetbench.datasets import Cache, Data, Examples
from budgetbench.errors import ConfigError, DataError
from budgetbench.experiment import Experiment
from budgetbench.parameters import check
from budgetbench.sections import DatasetSection, LabelNoise
from budgetbench.streams import LearningProblem, load_problem, prepare, split, stream_of, with_noise

CONFIG = """\
name: streams
dataset: {name: toy_noisy, n: 200, n_test: 50}
kernel: {name: linear}
permutations: 4
algorithms: [{name: perceptron}]
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Callable[..., Experiment]:
    def experiment(*overrides: str, permutations: int | None = None) -> Experiment:
        path = tmp_path / "c.yaml"
        path.write_text(CONFIG, encoding="utf-8")
        return load(path, overrides, permutations)

    return experiment


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "data", quiet=True)


def section(**values: Any) -> DatasetSection:
    return DatasetSection(**check(SECTION, {"name": "made_up"} | values))


def data(n: int = 60, n_test: int = 20, classes: tuple[Any, ...] = ("a", "b", "c")) -> Data:
    random = np.random.default_rng(0)
    parts = [Examples(random.normal(3, 2, (size, 4)), np.resize(np.arange(len(classes)), size)) for size in (n, n_test)]
    return Data(parts[0], parts[1], classes, "made up")


# -- preparation --------------------------------------------------------------------------------------------------


def test_without_a_positive_class_labels_are_as_published() -> None:
    problem = prepare(data(), section())
    assert problem.classes.tolist() == ["a", "b", "c"]
    assert problem.labels[:5].tolist() == [0, 1, 2, 0, 1]
    assert problem.n_train == 60
    assert problem.X.dtype == np.float32
    assert problem.X.shape == (80, 4)
    assert problem.X.flags.c_contiguous


@pytest.mark.parametrize(("positive", "expected"), [("b", [0, 1, 0]), (["a", "c"], [1, 0, 1])])
def test_positive_classes_stand_against_the_rest(positive: Any, expected: list[int]) -> None:
    problem = prepare(data(), section(positive=positive))
    assert problem.classes.tolist() == [-1, 1]
    assert problem.labels[:3].tolist() == expected


def test_a_class_that_the_data_lacks_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"dataset\.positive: found 'd'; accepted: a class of made_up: a, b, c"):
        prepare(data(), section(positive=["a", "d"]))
    with pytest.raises(ConfigError, match=r"found 1; accepted"):
        prepare(data(classes=("1", "2")), section(positive=1))


def test_a_training_set_of_one_class_is_refused() -> None:
    with pytest.raises(DataError, match=r"one class only.*dataset\.limit"):
        prepare(data(), section(limit=1))
    with pytest.raises(DataError, match="one class only"):
        prepare(data(), section(positive="c", limit=2))


def test_a_limit_takes_the_first_training_rows_and_all_test_rows() -> None:
    problem = prepare(data(), section(limit=7))
    assert problem.n_train == 7
    assert len(problem.X) == 27
    assert np.array_equal(problem.X[:7], data().train.X[:7])
    assert len(prepare(data(), section(limit=10**6)).X) == 80


def test_sizes_beyond_the_data_are_refused() -> None:
    assert prepare(data(), section(train_size=50, test_size=30)).n_train == 80
    with pytest.raises(ConfigError, match=r"dataset\.train_size: found 51; accepted: at most 80 together with test_"):
        prepare(data(), section(train_size=51, test_size=30))


def test_scaling_is_learnt_from_the_training_rows_alone() -> None:
    Z = prepare(data(), section(scale="standard")).X
    np.testing.assert_allclose(Z[:60].mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(Z[:60].std(axis=0), 1, atol=1e-6)
    assert np.abs(Z[60:].mean(axis=0)).max() > 0.02
    Z = prepare(data(), section(scale="minmax")).X
    assert Z[:60].min(axis=0).tolist() == [0.0] * 4
    assert Z[:60].max(axis=0).tolist() == [1.0] * 4
    other = data()
    assert other.test is not None
    far = replace(other, test=Examples(other.test.X * 100, other.test.y))
    assert np.array_equal(prepare(far, section(scale="minmax")).X[:60], Z[:60])


SPLIT = {"train_size": 30, "test_size": 20}


@pytest.mark.parametrize("step", ["standard", "minmax", "range"])
def test_scaling_of_a_split_is_learnt_from_the_runs_own_training_rows(experiment: Any, step: str) -> None:
    resplit = section(scale=step, **SPLIT)
    assert resplit.inputs_differ
    raw = np.concatenate([data().train.X, data().test.X]).astype(np.float64)  # type: ignore[union-attr]
    for run in (0, 1):
        train, test = split(resplit, 80, 80, 5, run)
        Z = prepare(data(), resplit, 5, run).X
        if step == "standard":
            expected = (raw - raw[train].mean(axis=0)) / raw[train].std(axis=0)
        else:
            axis = 0 if step == "minmax" else None
            expected = (raw - raw[train].min(axis=axis)) / (raw[train].max(axis=axis) - raw[train].min(axis=axis))
        np.testing.assert_allclose(Z, expected, atol=1e-5)
        far = data()
        assert far.test is not None
        moved = raw.copy()
        moved[test] *= 100  # what is tested on has no say
        parts = Examples(moved[:60], far.train.y), Examples(moved[60:], far.test.y)
        Z_moved = prepare(replace(far, train=parts[0], test=parts[1]), resplit, 5, run).X
        assert np.array_equal(Z_moved[train], Z[train])


def test_scaling_on_all_rows_is_the_same_in_every_run() -> None:
    wanted = section(scale="standard", scale_on="all", **SPLIT)
    assert not wanted.inputs_differ
    Z = prepare(data(), wanted, 5, 0).X
    assert np.array_equal(prepare(data(), wanted, 5, 1).X, Z)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(prepare(data(), section(scale="minmax", scale_on="all")).X.max(axis=0), 1, atol=1e-6)


def test_what_looks_at_no_other_row_is_the_same_in_every_run() -> None:
    assert not section(scale="unit", **SPLIT).inputs_differ
    assert not section(scale="standard").inputs_differ
    assert section(redraw=True).inputs_differ


def test_steps_of_scaling_are_done_in_order() -> None:
    X = data().train.X.astype(np.float64)
    low, high = X.min(axis=0), X.max(axis=0)
    expected = (X - low) / (high - low)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    Z = prepare(data(), section(scale=["minmax", "unit"])).X[:60]
    np.testing.assert_allclose(Z, expected, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(prepare(data(), section(scale="unit")).X, axis=1), 1, atol=1e-6)
    other = prepare(data(), section(scale=["unit", "minmax"])).X[:60]
    assert not np.allclose(other, Z, atol=1e-3)


@pytest.mark.parametrize("step", ["standard", "minmax", "unit"])
def test_constant_inputs_and_zero_rows_do_no_harm(step: str) -> None:
    plain = data()
    X = plain.train.X.copy()
    X[:, 1] = 0.1  # whose mean over many rows is not exactly 0.1
    X[7] = 0 if step == "unit" else X[7]
    Z = prepare(replace(plain, train=Examples(X, plain.train.y)), section(scale=step)).X
    assert np.isfinite(Z).all()
    if step == "unit":
        assert Z[7].tolist() == [0.0] * 4
    else:
        np.testing.assert_allclose(Z[:60, 1], 0, atol=1e-6)


def test_no_scaling_leaves_the_values_as_they_are() -> None:
    assert np.array_equal(prepare(data(), section(scale="none")).X[:60], data().train.X)


# -- noise --------------------------------------------------------------------------------------------------------


@given(
    n=st.integers(1, 200),
    rate=st.floats(0, 1),
    n_classes=st.integers(2, 5),
    seed=st.integers(0, 1000),
)
def test_exact_noise_flips_exactly_so_many(n: int, rate: float, n_classes: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    labels = random.integers(0, n_classes, 250)
    rows = random.permutation(250)[:n]
    kept = labels.copy()
    noisy = with_noise(labels, rows, n_classes, LabelNoise(rate=rate, mode="exact"), random)
    assert np.count_nonzero(noisy != labels) == round(rate * n)
    assert set(np.flatnonzero(noisy != labels)) <= set(rows)
    assert noisy.min() >= 0
    assert noisy.max() < n_classes
    assert np.array_equal(labels, kept)


def test_bernoulli_noise_flips_each_with_that_probability() -> None:
    labels, rows = np.zeros(5000, dtype=np.int64), np.arange(4000)
    noise = LabelNoise(rate=0.3, mode="bernoulli")
    flips = [
        np.count_nonzero(with_noise(labels, rows, 2, noise, np.random.default_rng(seed)) != labels)
        for seed in range(20)
    ]
    assert len(set(flips)) > 10
    assert abs(np.mean(flips) / 4000 - 0.3) < 0.01
    assert 4000 * 0.3 * 0.7 / 4 < np.var(flips) < 4000 * 0.3 * 0.7 * 4
    assert not with_noise(labels, rows, 2, noise, np.random.default_rng(0))[4000:].any()


def test_a_wrong_label_is_any_other_class_with_equal_chances() -> None:
    labels = np.zeros(6000, dtype=np.int64)
    noisy = with_noise(labels, np.arange(6000), 4, LabelNoise(rate=1.0), np.random.default_rng(0))
    assert np.bincount(noisy, minlength=4)[0] == 0
    np.testing.assert_allclose(np.bincount(noisy)[1:], 2000, rtol=0.08)


@pytest.mark.parametrize("mode", ["exact", "bernoulli"])
def test_test_labels_are_flipped_only_when_asked(experiment: Any, cache: Cache, mode: str) -> None:
    train_only = experiment(f"label_noise={{rate: 0.4, mode: {mode}}}")
    problem, _ = load_problem(train_only, cache)
    stream = stream_of(problem, train_only, 0)
    assert np.array_equal(stream.labels[stream.test], problem.labels[stream.test])
    both = stream_of(problem, experiment(f"label_noise={{rate: 0.4, mode: {mode}, on: all}}"), 0)
    changed = both.labels != problem.labels
    assert changed[both.test].any()
    assert np.array_equal(both.labels[both.order], stream.labels[stream.order])
    if mode == "exact":
        assert (np.count_nonzero(changed[both.test]), np.count_nonzero(changed[both.order])) == (20, 80)


# -- splits and orders --------------------------------------------------------------------------------------------


def test_a_run_has_an_order_of_its_own(experiment: Any, cache: Cache) -> None:
    wanted = experiment()
    problem, _ = load_problem(wanted, cache)
    orders = [stream_of(problem, wanted, run).order.tolist() for run in range(4)]
    assert all(sorted(order) == list(range(200)) for order in orders)
    assert len({tuple(order) for order in orders}) == 4
    assert stream_of(problem, wanted, 2).test.tolist() == list(range(200, 250))


def test_the_given_order_is_the_files(experiment: Any, cache: Cache) -> None:
    wanted = experiment("order=given", "label_noise={rate: 0.1}")
    problem, _ = load_problem(wanted, cache)
    one, other = (stream_of(problem, wanted, run) for run in (0, 1))
    assert one.order.tolist() == other.order.tolist() == list(range(200))
    assert not np.array_equal(one.labels, other.labels)


def test_splits_are_disjoint_and_drawn_anew_in_each_run(experiment: Any, cache: Cache) -> None:
    wanted = experiment("dataset.train_size=120", "dataset.test_size=100")
    problem, _ = load_problem(wanted, cache)
    seen = set()
    for run in range(4):
        stream = stream_of(problem, wanted, run)
        assert (len(stream.order), len(stream.test)) == (120, 100)
        assert not set(stream.order) & set(stream.test)
        assert len(set(stream.order)) == 120
        seen.add(tuple(sorted(stream.test)))
    assert len(seen) == 4
    given = replace(wanted, order="given")
    assert stream_of(problem, given, 0).order.tolist() == sorted(stream_of(problem, wanted, 0).order.tolist())


def parts(problem: LearningProblem, wanted: Experiment, run: int) -> tuple[list[int], list[int], list[int]]:
    stream = stream_of(problem, wanted, run)
    return stream.order.tolist(), stream.test.tolist(), stream.labels.tolist()


def test_what_a_run_sees_depends_on_the_seed_and_its_number_alone(experiment: Any, cache: Cache) -> None:
    noise, split = "label_noise={rate: 0.2}", ("dataset.train_size=120", "dataset.test_size=100")
    wanted = experiment(noise, *split)
    problem, _ = load_problem(wanted, cache)
    order, test, labels = parts(problem, wanted, 2)
    assert parts(problem, wanted, 2) == (order, test, labels)
    # other learners, another number of runs: the same; without noise: the same split and order
    others = experiment(noise, *split, "algorithms=[{name: budget_perceptron, budget: [3, 5]}]", permutations=9)
    assert parts(problem, others, 2) == (order, test, labels)
    quiet = parts(problem, experiment(*split), 2)
    assert quiet[:2] == (order, test)
    assert quiet[2] == problem.labels.tolist()
    # in the given order: the same split and noise
    assert parts(problem, replace(wanted, order="given"), 2)[1:] == (test, labels)
    assert parts(problem, experiment(noise, *split, "seed=1"), 2) != (order, test, labels)


def test_generated_data_is_drawn_once_or_in_each_run(experiment: Any, cache: Cache) -> None:
    once, anew = experiment(), experiment("dataset.redraw=true")
    assert np.array_equal(load_problem(once, cache, 1)[0].X, load_problem(once, cache, 0)[0].X)
    first, second = load_problem(anew, cache, 0)[0], load_problem(anew, cache, 1)[0]
    assert not np.array_equal(first.X, second.X)
    assert first.identity != second.identity
    data = load_problem(once, cache)[1]
    assert load_problem(once, cache, 1, data)[1] is data
    assert load_problem(anew, cache, 1, data)[0].identity == second.identity


# -- digits that float32 does not have ----------------------------------------------------------------------------


def far_away(offset: float, n: int = 60) -> Data:
    random = np.random.default_rng(3)
    X, y = np.column_stack([offset + random.normal(0, 1, n), random.normal(0, 1, n)]), np.arange(n) % 2
    return Data(Examples(X, y, np.float64), Examples(X[:9], y[:9], np.float64), (0, 1), "far away")


@pytest.mark.parametrize("limit", [None, 30])
def test_own_inputs_keep_their_digits_until_they_are_scaled(
    limit: int | None, recwarn: pytest.WarningsRecorder
) -> None:
    problem = prepare(far_away(1e9), section(scale="standard", limit=limit))
    expected = prepare(far_away(0), section(scale="standard", limit=limit)).X
    np.testing.assert_allclose(problem.X, expected, atol=1e-6)
    assert problem.X.dtype == np.float32
    assert not [warning for warning in recwarn if issubclass(warning.category, UserWarning)]


@pytest.mark.parametrize("scale", ["none", "range"])
def test_inputs_that_float32_merges_are_told_once_with_the_remedy(scale: str) -> None:
    with pytest.warns(UserWarning, match=r"input 1 varies by .*dataset.scale: standard") as caught:
        prepare(far_away(1e9), section(scale=scale))
    assert len(caught) == 1


def test_nothing_is_told_of_inputs_that_float32_holds_well_enough(recwarn: pytest.WarningsRecorder) -> None:
    prepare(far_away(100), section(scale="none"))
    constant = replace(far_away(0), train=Examples(np.full((60, 2), 0.1), np.arange(60) % 2, np.float64), test=None)
    prepare(constant, section(scale="none"))
    assert not [warning for warning in recwarn if issubclass(warning.category, UserWarning)]


# -- validation ---------------------------------------------------------------------------------------------------


def test_held_out_examples_are_of_the_training_set_and_the_others_arrive_as_without(
    experiment: Any, cache: Cache
) -> None:
    wanted = experiment("dataset.validation_size=0.25")
    problem, _ = load_problem(wanted, cache)
    seen = []
    for run in (0, 1):
        plain, stream = stream_of(problem, experiment(), run), stream_of(problem, wanted, run)
        assert len(stream.validation) == 50
        assert sorted([*stream.order, *stream.validation]) == sorted(plain.order)
        assert [row for row in plain.order if row not in stream.validation] == stream.order.tolist()
        assert np.array_equal(stream.test, plain.test)
        seen.append(stream.validation.tolist())
    assert seen[0] != seen[1]


@pytest.mark.parametrize(("size", "count"), [(1, 1), (199, 199), (0.001, 1), (0.5, 100)])
def test_how_many_are_held_out(experiment: Any, cache: Cache, size: float, count: int) -> None:
    wanted = experiment(f"dataset.validation_size={size}")
    assert len(stream_of(load_problem(wanted, cache)[0], wanted, 0).validation) == count


def test_something_is_left_to_learn_from(experiment: Any, cache: Cache) -> None:
    with pytest.raises(ConfigError, match=r"dataset\.validation_size: found 200; accepted: fewer than the 200"):
        load_problem(experiment("dataset.validation_size=200"), cache)
