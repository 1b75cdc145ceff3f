"""What learners are charged for kernel values, by a clock that goes on by one second for each value computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from budgetbench.engine import arrivals, metering
from budgetbench.engine.arrivals import Arrivals, SharedBlock
from budgetbench.engine.base import Rounds
from budgetbench.engine.kernel_access import Gram, KernelAccess, Streamed
from budgetbench.engine.one_vs_rest import OneVsRest
from budgetbench.engine.online import OnlineLearner, drive
from budgetbench.kernels import RBF
from budgetbench.learners import learners

N, BLOCK = 130, 20
X = np.random.default_rng(0).normal(size=(N, 4)).astype(np.float32)
LABELS = (X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0).astype(np.int64)
ORDER = np.random.default_rng(1).permutation(N)
KERNEL = RBF(gamma=0.5)

ONLINE: list[tuple[str, dict[str, Any]]] = [
    ("perceptron", {}),
    ("budget_perceptron", {"budget": 9}),
    ("tighter_budget_perceptron", {"budget": 9, "evaluate": "flips", "evaluation_size": 12}),
    ("mira", {"size": "unlimited", "epochs": 2}),
]
BATCH: list[tuple[str, dict[str, Any]]] = [
    ("svm", {}),
    ("kernel_matching_pursuit", {"budget": 9}),
    ("multiclass_svm", {}),
    ("condense", {}),
    ("multi_edit", {}),
]


class Clock:
    """Seconds that pass when they are told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock, matrix = Clock(), RBF.matrix

    def slow(kernel: RBF, X: Any, Z: Any, out: Any = None) -> Any:
        clock.now += len(X) * len(Z)
        return matrix(kernel, X, Z, out)

    monkeypatch.setattr(RBF, "matrix", slow)
    monkeypatch.setattr(metering, "clock", clock)
    monkeypatch.setattr(arrivals, "BLOCK", BLOCK)
    return clock


def started(name: str, values: dict[str, Any]) -> Any:
    model = learners[name](**values, kernel=KERNEL, random_state=0)
    model.start(np.array([-1, 1]), X.shape[1])
    return model


def gram() -> Gram:
    return Gram(KERNEL.matrix(X, X), X, KERNEL)


def alone(name: str, values: dict[str, Any], access: KernelAccess) -> Any:
    model = started(name, values)
    model.learn(access, LABELS, ORDER)
    return model


def test_who_is_alone_is_charged_for_each_block_with_itself_and_with_what_is_kept(clock: Clock) -> None:
    model = alone("perceptron", {}, Streamed(KERNEL, X))
    starts = np.arange(0, N, BLOCK)
    sizes, stored = np.minimum(BLOCK, N - starts), np.concatenate([[0], model.sizes_])[starts]
    assert model.kernel_seconds_ == (sizes * (sizes + stored)).sum() == clock.now
    assert model.train_seconds_ == model.kernel_seconds_


@pytest.mark.parametrize(("name", "values"), ONLINE, ids=str)
def test_nobody_is_charged_less_because_the_values_are_at_hand(clock: Clock, name: str, values: dict[str, Any]) -> None:
    streamed = alone(name, values, Streamed(KERNEL, X))
    at_hand = alone(name, values, gram())
    assert at_hand.kernel_seconds_ == pytest.approx(streamed.kernel_seconds_)
    assert at_hand.train_seconds_ == pytest.approx(streamed.train_seconds_)


def test_who_keeps_room_to_spare_is_charged_for_it_on_a_stream_alone(clock: Clock) -> None:
    values = {"budget": 9}
    streamed, at_hand = alone("forgetron", values, Streamed(KERNEL, X)), alone("forgetron", values, gram())
    assert 0.8 * streamed.train_seconds_ < at_hand.train_seconds_ <= streamed.train_seconds_


def test_a_cohort_is_charged_as_if_each_were_alone_and_so_for_more_than_it_takes(clock: Clock) -> None:
    expected = [alone(name, values, Streamed(KERNEL, X)).kernel_seconds_ for name, values in ONLINE]
    cohort = [started(name, values) for name, values in ONLINE]
    begun = clock.now
    drive(cohort, Streamed(KERNEL, X), LABELS, ORDER)
    assert [model.kernel_seconds_ for model in cohort] == pytest.approx(expected)
    assert [model.train_seconds_ for model in cohort] == pytest.approx(expected)
    assert sum(expected) > 1.5 * (clock.now - begun)


def test_nobody_pays_for_having_values_handed_over(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    between = SharedBlock.between

    def slow(block: SharedBlock, rows: Any, columns: Any) -> Any:
        clock.now += 1000
        return between(block, rows, columns)

    monkeypatch.setattr(SharedBlock, "between", slow)
    cohort = [started(name, values) for name, values in ONLINE]
    drive(cohort, Streamed(KERNEL, X), LABELS, ORDER)
    assert [model.train_seconds_ for model in cohort] == [model.kernel_seconds_ for model in cohort]


@pytest.mark.parametrize(("name", "values"), BATCH, ids=str)
def test_batch_learners_are_charged_for_what_they_ask_for(clock: Clock, name: str, values: dict[str, Any]) -> None:
    streamed, at_hand = alone(name, values, Streamed(KERNEL, X)), alone(name, values, gram())
    assert streamed.train_seconds_ == streamed.kernel_seconds_ > 0
    assert at_hand.train_seconds_ == pytest.approx(streamed.train_seconds_)
    if name in ("svm", "kernel_matching_pursuit", "multiclass_svm"):
        assert streamed.kernel_seconds_ == N**2


def test_what_a_learner_does_itself_is_no_kernel_value(clock: Clock) -> None:
    class Slow(OnlineLearner):
        def _see(self, arrivals: Arrivals) -> Rounds:
            clock.now += len(arrivals.rows)
            return Rounds(np.ones(len(arrivals.rows)), np.zeros(len(arrivals.rows), dtype=np.int64))

        def _state(self) -> Any:
            return np.zeros(1)

        def _size(self) -> int:
            return 0

        def _decide(self, inputs: Any) -> Any:
            return np.zeros(len(inputs))

    Slow.title = "Slow"
    for access in (Streamed(KERNEL, X), gram()):
        model: Any = Slow(kernel=KERNEL)
        model.start(np.array([-1, 1]), X.shape[1])
        model.learn(access, LABELS, ORDER)
        assert (model.train_seconds_, model.kernel_seconds_) == (N, 0.0)


def test_calls_of_partial_fit_add_up(clock: Clock) -> None:
    model: Any = learners["perceptron"](kernel=KERNEL)
    for rows in np.split(ORDER, [1, 50]):
        model.partial_fit(X[rows], LABELS[rows], classes=[0, 1])
    assert model.train_seconds_ == model.kernel_seconds_ == clock.now


def test_kernel_values_in_float64_count(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    row = RBF.row

    def slow(kernel: RBF, x: Any, Z: Any) -> Any:
        clock.now += len(Z)
        return row(kernel, x, Z)

    monkeypatch.setattr(RBF, "row", slow)
    near = np.concatenate([X, X + np.float32(1e-5)])
    model = learners["projectron"](kernel=KERNEL, eta=0.0).fit(near, np.concatenate([LABELS, 1 - LABELS]))
    assert model.kernel_seconds_ == model.train_seconds_ == clock.now


@pytest.mark.parametrize(("name", "values"), [("perceptron", {}), ("nogd", {"budget": 9, "rank": 4})])
def test_who_learns_for_each_class_pays_once_for_what_they_share(
    clock: Clock, name: str, values: dict[str, Any]
) -> None:
    classes = np.digitize(X[:, 0], [-0.5, 0.5])

    def seconds(access: KernelAccess) -> tuple[float, int]:
        together = OneVsRest(learners[name](**values, kernel=KERNEL, random_state=0))
        together.start(np.arange(3), X.shape[1])
        together.learn(access, classes, ORDER)
        return together.kernel_seconds_, len(together.kept())

    at_hand, kept = seconds(gram())
    streamed, _ = seconds(Streamed(KERNEL, X))
    least = sum(len(block) ** 2 for block in arrivals.blocks(ORDER))
    assert at_hand == pytest.approx(streamed)
    assert least < at_hand <= least + N * kept
