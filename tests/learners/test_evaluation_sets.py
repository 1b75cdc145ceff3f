"""The evaluation sets of the Tighter Budget Perceptron, and the removals they lead to, against plain transcriptions."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from budgetbench.engine.kernel_access import Streamed
from budgetbench.errors import ParameterError
from budgetbench.learners import Perceptron, TighterBudgetPerceptron

Margins = Callable[[list[int]], NDArray[np.float64]]


class All:
    """Every example seen."""

    def __init__(self, q: int | None, random: np.random.Generator) -> None:
        self.seen: list[int] = []

    def meet(self, t: int, epoch: int) -> None:
        if t not in self.seen:
            self.seen.append(t)

    def admit(self, t: int, margin: float, margin_error: bool) -> None:
        pass

    def end_of_round(self, margins: Margins) -> None:
        pass

    def examples(self, alpha: dict[int, float]) -> list[int]:
        return self.seen


class Support(All):
    """Equation 3."""

    def examples(self, alpha: dict[int, float]) -> list[int]:
        return list(alpha)


class Reservoir(All):
    """Equation 4, with Q_t a uniform sample of the examples seen (Waterman's algorithm, in Knuth 3.4.2)."""

    def __init__(self, q: int, random: np.random.Generator) -> None:
        self.q, self.random, self.number, self.Q = q, random, 0, list[int]()

    def meet(self, t: int, epoch: int) -> None:
        if epoch > 0:
            return
        self.number += 1
        drawn = self.random.random()
        if len(self.Q) < self.q:
            self.Q.append(t)
        elif drawn < self.q / self.number:
            self.Q[int(drawn * self.number)] = t

    def examples(self, alpha: dict[int, float]) -> list[int]:
        return self.Q


class Flips(All):
    """Figure 5, with arg min."""

    every = False

    def __init__(self, q: int, random: np.random.Generator) -> None:
        self.q, self.now = q, 0
        self.Q: list[int] = []
        self.sides: dict[int, list[bool]] = {}  # at its coming, then at the end of each round

    def meet(self, t: int, epoch: int) -> None:
        self.now += 1

    def rate(self, k: int) -> float:
        sides = self.sides[k]
        return sum(a != b for a, b in pairwise(sides)) / (len(sides) - 1)

    def admit(self, t: int, margin: float, margin_error: bool) -> None:
        if t in self.Q or not (margin_error or self.every):
            return
        if len(self.Q) == self.q:
            leaving = min(self.Q, key=self.rate)  # of equal ones the first, which is the oldest
            self.Q.remove(leaving)
        self.Q.append(t)
        self.sides[t] = [margin > 0]

    def end_of_round(self, margins: Margins) -> None:
        for k, margin in zip(self.Q, margins(self.Q), strict=True):
            self.sides[k].append(margin > 0)

    def examples(self, alpha: dict[int, float]) -> list[int]:
        return self.Q


class FlipsOfAll(Flips):
    """The same where every example enters."""

    every = True


SETS: dict[str, Any] = {
    "all": All, "support": Support, "random": Reservoir, "flips": Flips, "flips_of_all": FlipsOfAll
}  # fmt: skip


@pytest.fixture
def twin(course: Any, rule: Any) -> Callable[..., Any]:
    """Weston, Bordes, Bottou 2005, Figure 3 with section 3.2, every error counted anew for every candidate."""

    def tighter_budget_perceptron(
        K: Any, y: Any, order: Any, budget: int, evaluate: str = "all", evaluation_size: int | None = None,
        removal: str = "after_insertion", candidates: int | None = None, remove_at_once: int = 1,
        ties: str = "oldest", epochs: int = 1, random_state: int = 0, **how: Any,
    ) -> Any:  # fmt: skip
        done, update = course(), rule(**how)
        Q = SETS[evaluate](evaluation_size, np.random.default_rng(random_state))
        alpha, first, random = done.alpha, [0], np.random.default_rng(random_state)

        def margins(examples: list[int], without: int | None = None) -> NDArray[np.float64]:
            left = [i for i in alpha if i != without]
            return y[examples] * ((np.array([alpha[i] for i in left]) * y[left]) @ K[np.ix_(left, examples)])

        def margin(t: int) -> float:
            return float(margins([t])[0])

        def leaving(equal: list[int], chance: float) -> int:
            if ties == "largest_margin":
                return max(equal, key=lambda j: margins([j], without=j)[0])  # of equal ones the oldest
            return equal[{"oldest": 0, "newest": -1, "random": int(chance * len(equal))}[ties]]

        def remove(newcomer: int | None, chance: float) -> None:
            old = [i for i in alpha if i != newcomer]
            m = candidates or budget
            looked_at = [i for n, i in enumerate(old) if (n - first[0]) % len(old) < m]
            first[0] = (first[0] + m) % len(old)
            looked_at += [] if newcomer is None else [newcomer]
            errors = {j: int((margins(Q.examples(alpha), without=j) <= 0).sum()) for j in looked_at}
            for _ in range(min(remove_at_once, len(errors))):
                chance = 16807 * chance % 1
                fewest = min(errors.values())
                j = leaving([j for j in alpha if errors.get(j) == fewest], chance)
                del alpha[j], errors[j]
                done.removed.append(j)

        for epoch in range(epochs):
            for t in order:
                Q.meet(t, epoch)
                before, chance = margin(t), random.random()
                due = update.is_due(before, t in alpha)
                Q.admit(t, before, due)
                if due:
                    if removal == "before_insertion" and len(alpha) == budget and t not in alpha:
                        remove(None, chance)
                    if update.apply(alpha, t, margin(t), K) == "removed":
                        done.removed.append(t)
                    if len(alpha) > budget:
                        remove(t, chance)
                Q.end_of_round(margins)
                if epoch == 0:
                    done.margins.append(before)
                    done.sizes.append(len(alpha))
        return done

    return tighter_budget_perceptron


WAYS_TO_EVALUATE = [
    {"evaluate": "support", "budget": 8},
    {"evaluate": "support", "budget": 1},
    {"evaluate": "support", "budget": 6, "removal": "before_insertion"},
    {"evaluate": "support", "budget": 6, "epochs": 3},
    {"evaluate": "random", "evaluation_size": 20, "budget": 8, "random_state": 3},
    {"evaluate": "random", "evaluation_size": 1, "budget": 3, "random_state": 4},
    {"evaluate": "random", "evaluation_size": 15, "budget": 8, "removal": "before_insertion", "random_state": 5},
    {"evaluate": "random", "evaluation_size": 10, "budget": 5, "epochs": 3, "random_state": 6},
    {"evaluate": "random", "evaluation_size": 1000, "budget": 5, "random_state": 7},
    {"evaluate": "flips", "evaluation_size": 12, "budget": 8},
    {"evaluate": "flips", "evaluation_size": 1, "budget": 3},
    {"evaluate": "flips", "evaluation_size": 30, "budget": 8, "removal": "before_insertion"},
    {"evaluate": "flips", "evaluation_size": 10, "budget": 5, "epochs": 3},
    {"evaluate": "flips", "evaluation_size": 1000, "budget": 5},
    {"evaluate": "flips", "evaluation_size": 10, "budget": 5, "beta": 0.3},
    {"evaluate": "flips_of_all", "evaluation_size": 12, "budget": 8},
    {"evaluate": "flips_of_all", "evaluation_size": 30, "budget": 6, "removal": "before_insertion"},
    {"evaluate": "flips_of_all", "evaluation_size": 10, "budget": 5, "epochs": 3},
    {"ties": "newest", "budget": 8, "evaluate": "support"},
    {"ties": "largest_margin", "budget": 8, "evaluate": "support"},
    {"ties": "random", "budget": 8, "evaluate": "support", "random_state": 9},
    {"ties": "random", "remove_at_once": 3, "budget": 8, "evaluate": "random", "evaluation_size": 9, "random_state": 1},
    {"ties": "largest_margin", "candidates": 3, "budget": 8, "evaluate": "flips", "evaluation_size": 9},
    {"ties": "newest", "remove_at_once": 4, "candidates": 3, "budget": 8, "evaluate": "all"},
    {"candidates": 3, "budget": 8, "evaluate": "all"},
    {"candidates": 1, "budget": 6, "removal": "before_insertion", "evaluate": "all"},
    {"candidates": 2, "budget": 6, "evaluate": "flips", "evaluation_size": 15},
    {"remove_at_once": 4, "budget": 8, "evaluate": "all"},
    {"remove_at_once": 6, "budget": 6, "removal": "before_insertion", "evaluate": "all"},
    {"remove_at_once": 3, "candidates": 5, "budget": 8, "evaluate": "random", "evaluation_size": 20, "random_state": 8},
]


few_streams = pytest.mark.parametrize("stream", ["rbf", "linear, ties", "polynomial, ties"])


@few_streams
@pytest.mark.parametrize("parameters", WAYS_TO_EVALUATE, ids=str)
def test_agrees_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, stream: str, way: str, parameters: dict[str, Any]
) -> None:
    done = agree(TighterBudgetPerceptron, twin, problem(stream, 0, n=90), way, parameters, exact="ties" in stream)
    assert done.removed


@pytest.mark.parametrize("update", ["mira", "no_bias_svm"])
@pytest.mark.parametrize("parameters", [{"evaluate": "support"}, {"evaluate": "flips", "evaluation_size": 9}], ids=str)
def test_other_update_rules_agree_with_the_pseudo_code(
    agree: Any, problem: Any, twin: Any, continuous_stream: str, way: str, update: str, parameters: dict[str, Any]
) -> None:
    how = {"budget": 7, "update": update, "beta": 0.2 if update == "mira" else 1.0, **parameters}
    agree(TighterBudgetPerceptron, twin, problem(continuous_stream, 0, n=90), way, how, exact=False)


@pytest.mark.parametrize("stream", ["rbf", "linear, ties"])
@pytest.mark.parametrize("evaluate", SETS)
@pytest.mark.parametrize("removal", ["after_insertion", "before_insertion"])
def test_the_same_examples_are_removed_in_the_same_rounds(
    problem: Any, twin: Any, stream: str, evaluate: str, removal: str
) -> None:
    """The plain double loop counts every error; the learner looks near the boundary only and gives up early."""
    given = problem(stream, 0, n=120, noise=0.3)
    parameters: dict[str, Any] = {"budget": 7, "evaluate": evaluate, "removal": removal, "random_state": 0}
    if evaluate not in ("all", "support"):
        parameters["evaluation_size"] = 17
    model: Any = TighterBudgetPerceptron(**parameters, **given.kernel)
    stored: set[int] = set()
    removed: list[int] = []
    for number, t in enumerate(given.order):
        model.partial_fit(given.X[[t]], given.y[[t]], classes=[-1, 1])
        now = {int(given.order[s]) for s in model.support_}
        gone = stored - now
        if model.removals_ > len(removed) and not gone:
            gone = {int(t)}  # came and went in one round
        removed += gone
        stored = now
        assert len(removed) == model.removals_, f"round {number}"
    expected = twin(given.K, given.y, given.order, **parameters)
    assert removed == expected.removed
    assert len(removed) > 10


def seen_by(model: Any) -> NDArray[np.int64]:
    return model._pool.ids[model._pool.companions]


def test_each_example_has_the_same_chance_to_be_in_the_reservoir() -> None:
    n, q, draws = 30, 8, 1500
    X = np.linspace(-1, 1, n, dtype=np.float32)[:, None]
    y = np.where(X[:, 0] > 0, 1, -1)
    found = np.zeros(n)
    for seed in range(draws):
        model: Any = TighterBudgetPerceptron(budget=5, evaluate="random", evaluation_size=q, random_state=seed)
        model.start(np.array([-1, 1]), 1)
        model.learn(Streamed(model._kernel, X), (y + 1) // 2, np.arange(n))
        held = seen_by(model)
        assert len(set(held)) == q
        found[held] += 1
    expected, spread = draws * q / n, np.sqrt(draws * q / n * (1 - q / n))
    assert np.abs(found - expected).max() < 4.5 * spread


@pytest.mark.parametrize(
    ("parameters", "most"),
    [
        ({"evaluate": "support"}, 20),
        ({"evaluate": "random", "evaluation_size": 30}, 50),
        ({"evaluate": "flips", "evaluation_size": 30}, 50),
        ({"evaluate": "flips_of_all", "evaluation_size": 30}, 50),
    ],
    ids=str,
)
def test_what_is_kept_does_not_grow_with_the_stream(parameters: dict[str, Any], most: int) -> None:
    random = np.random.default_rng(0)
    model: Any = TighterBudgetPerceptron(budget=20, gamma=1.0, random_state=0, **parameters)
    sizes = []
    for _ in range(12):
        X = random.normal(size=(300, 2)).astype(np.float32)
        y = np.where((X[:, 0] > 0) ^ (random.random(300) < 0.2), 1, -1)
        model.partial_fit(X, y, classes=[-1, 1])
        assert len(model._memory.X) == len(model._pool.ids) <= most
        assert model._pool.K.shape[0] <= 20
        assert model._pool.K.shape[1] <= most
        sizes.append(len(pickle.dumps(model)))
    assert max(sizes[6:]) <= 1.02 * max(sizes[:6])  # of all that the learner holds


def test_with_everything_in_the_cache_all_three_are_the_same(problem: Any) -> None:
    """A reservoir with room for all is `all`; so is any set as long as nothing has to be removed."""
    given = problem("rbf", 1)
    X, y = given.X[given.order], given.y[given.order]
    whole: Any = TighterBudgetPerceptron(budget=10, **given.kernel).fit(X, y)
    roomy: Any = TighterBudgetPerceptron(budget=10, evaluate="random", evaluation_size=500, **given.kernel).fit(X, y)
    assert whole.support_.tolist() == roomy.support_.tolist()
    plain: Any = Perceptron(**given.kernel).fit(X, y)
    for evaluate, size in (("support", None), ("random", 5), ("flips", 5)):
        free: Any = TighterBudgetPerceptron(budget=500, evaluate=evaluate, evaluation_size=size, **given.kernel)
        assert free.fit(X, y).support_.tolist() == plain.support_.tolist()


def test_looking_at_all_candidates_is_the_default(problem: Any) -> None:
    given = problem("rbf, ties", 2)
    every: Any = TighterBudgetPerceptron(budget=9, candidates=9, **given.kernel).fit(given.X, given.y)
    default: Any = TighterBudgetPerceptron(budget=9, **given.kernel).fit(given.X, given.y)
    assert every.support_.tolist() == default.support_.tolist()


@pytest.mark.parametrize(
    ("wrong", "parameter", "accepted"),
    [
        ({"evaluate": "random"}, "evaluation_size", "for evaluate: random"),
        ({"evaluate": "flips"}, "evaluation_size", "for evaluate: flips"),
        ({"evaluate": "flips", "evaluation_size": 0}, "evaluation_size", "at least 1"),
        ({"evaluate": "all", "evaluation_size": 5}, "evaluation_size", "nothing where evaluate is all"),
        ({"evaluation_size": 5, "evaluate": "support"}, "evaluation_size", "nothing where evaluate is support"),
        ({"evaluate": "some"}, "evaluate", "all, support, random, flips, flips_of_all"),
        ({"remove_at_once": 11}, "remove_at_once", "at most the budget"),
        ({"ties": "youngest"}, "ties", "oldest, newest, largest_margin, random"),
        ({"candidates": 0}, "candidates", "at least 1"),
    ],
)
def test_refuses_what_does_not_go_together(wrong: dict[str, Any], parameter: str, accepted: str) -> None:
    with pytest.raises(ParameterError) as caught:
        TighterBudgetPerceptron.checked({"budget": 10} | wrong)
    assert caught.value.parameter == parameter
    assert accepted in caught.value.accepted
